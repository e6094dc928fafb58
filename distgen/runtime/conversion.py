"""Objects made elsewhere, as objects of this package."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import Any

import distrax
import jax
import jax.numpy as jnp

from . import nesting
from .finished import Finished

__all__ = ["as_bijector", "as_distribution", "build", "counterpart", "from_distrax"]


# The classes by which distrax and TFP take each other's objects.
_BRIDGES = frozenset(
    {"BijectorFromTFP", "DistributionFromTFP", "TFPCompatibleBijector", "TFPCompatibleDistribution"}
)


def from_distrax(x: Any) -> Any:
    """An object of distrax or TFP as one of this package, nested objects included.

    The values of its parameters stay as they are. Objects of this package are returned as they are, and
    so are those of classes that it has no counterpart for.

    Raises:
        TypeError: for what is neither a distribution nor a bijector nor a model.
    """
    if isinstance(x, Finished):
        return x
    if not isinstance(x, distrax.HMM) and not nesting.is_object(x):
        raise TypeError(
            f"Only distributions, bijectors and models can be converted, and not a {type(x).__name__}."
        )
    if nesting.is_of_tfp(x) or type(x).__name__ in _BRIDGES:
        return import_module(".tfp", __package__).from_tfp(x)
    ours = _counterpart_of(x)
    return x if ours is type(x) else ours._from_distrax(x)


def _counterpart_of(x: Any) -> Any:
    cls: Any = type(x)
    if cls.__name__.startswith("StraighThrough"):
        # distrax makes a class by this name at each call of its wrapper.
        return import_module(".straight_through", __package__).straight_through_wrapper(cls.__base__)
    return counterpart(cls)


def as_distribution(x: Any) -> Any:
    """A distribution of this package, from one of it, of distrax or of TFP.

    Raises:
        TypeError: for anything else.
    """
    if not (isinstance(x, distrax.Distribution) or nesting.is_of_tfp(x, "Distribution")):
        raise TypeError(
            f"A distribution of this package, of distrax or of TFP is expected, and not a {type(x).__name__}."
        )
    return from_distrax(x)


def as_bijector(x: Any) -> Any:
    """A bijector of this package, from one of it, of distrax or of TFP, or from a function.

    Raises:
        TypeError: for anything else.
        ValueError: for a function that captures arrays.
    """
    if isinstance(x, distrax.Bijector) or nesting.is_of_tfp(x, "Bijector"):
        return from_distrax(x)
    if x is jax.nn.sigmoid:
        return build(distrax.Sigmoid)
    if x is jnp.tanh:
        return build(distrax.Tanh)
    if callable(x):
        return counterpart(distrax.Lambda)(x)
    raise TypeError(f"A bijector or a function is expected, and not a {type(x).__name__}.")


@functools.cache
def counterpart(cls: Any) -> Any:
    """The class of this package that takes the place of `cls`, or `cls` where there is none."""
    package = import_module(__package__.rpartition(".")[0])
    for name, wrapped in package.WRAPPED.items():
        module, _, attribute = wrapped.rpartition(".")
        # A class whose module is not imported is that of no object.
        if getattr(sys.modules.get(module), attribute, None) is cls:
            return getattr(package, name)
    return cls


def build(cls: Any, **finished: Any) -> Any:
    """An object of the counterpart of a class of distrax, from finished parameters."""
    ours = counterpart(cls)
    return ours(**finished) if ours is cls else ours.from_finished(**finished)

"""Straight-through gradients: one class for each class that is wrapped, made when it is asked for.

Each has a name by which it can be imported from this module, so that objects of it can be pickled.
"""

from __future__ import annotations

import inspect
from typing import Any

import distrax
import jax
import jax.numpy as jnp
from jax import Array

from .conversion import counterpart
from .derived import DerivedClasses
from .finished import Finished

__all__ = ["straight_through_wrapper"]


def straight_through_wrapper(Distribution: Any) -> Any:
    """The subclass of a one-hot distribution whose draws have the gradient of their probabilities.

    A draw has the dtype of the distribution if that is a floating one, and else that of its probabilities: an
    integer has no gradient. https://arxiv.org/abs/1308.3432

    Args:
        Distribution: OneHotCategorical of this package or of distrax, or a subclass.

    Raises:
        TypeError: for other classes, whose draws do not have the shape of the probabilities, and for one that
            this package has no counterpart of.
    """
    ours = counterpart(Distribution)
    bases = getattr(ours, "__mro__", ())
    name = getattr(Distribution, "__name__", Distribution)
    if distrax.OneHotCategorical not in bases:
        raise TypeError(
            f"A class of one-hot distributions is expected, such as OneHotCategorical, but not {name}, whose "
            "draws have another shape than probs."
        )
    if Finished not in bases:
        raise TypeError(f"{name} has no counterpart in this package: write a spec that wraps it.")
    return _classes.of(ours)


def _make(cls: Any, names: dict[str, Any]) -> Any:
    def sample(self: Any, seed: Any, sample_shape: Any = ()) -> Array:
        """Draws that have the gradient of the probabilities."""
        drawn = cls.sample(self, seed=seed, sample_shape=sample_shape)
        probs = jnp.broadcast_to(self.probs, drawn.shape).astype(self.dtype)
        result: Array = drawn.astype(self.dtype) + probs - jax.lax.stop_gradient(probs)
        return result

    def dtype(self: Any) -> Any:
        """The dtype of draws."""
        inherited = cls.dtype.fget(self)
        return inherited if jnp.issubdtype(inherited, jnp.floating) else self._present.dtype

    def to_distrax(self: Any) -> Any:
        """The object of distrax with the same parameters."""
        other = cls.to_distrax(self)
        other.__class__ = distrax.straight_through_wrapper(type(other))
        return other

    body = {**names, "sample": sample, "dtype": property(dtype), "to_distrax": to_distrax}
    # With these it is registered as a generated class is, and not as one that users derive.
    body |= {name: inspect.getattr_static(cls, name) for name in ("tree_flatten", "tree_unflatten")}
    # The name is that of distrax.
    made: Any = type(cls)(f"StraighThrough{cls.__name__}", (cls,), body)
    made._wrapped = cls._wrapped
    return made


_classes = DerivedClasses(__name__, _make, distrax.OneHotCategorical)


def __getattr__(name: str) -> Any:
    return _classes.named(name)

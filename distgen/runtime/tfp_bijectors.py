"""Bijectors of TFP, as bijectors that are safe under every transformation.

`Exp` in this module is made of `tfb.Exp` when it is first asked for, and so on. A class of TFP that
does not stand in `tfb` is found by the name of its module: `package:module::Class`. Import a class before you
deserialise an exported function that takes or returns its objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import distrax
import jax
from jax import Array
from tensorflow_probability.substrates import jax as tfp

from .derived import DerivedClasses
from .finished import FinishedBijector
from .tfp_objects import FromTFP, derive

__all__ = ["BijectorFromTFP", "from_tfp"]

tfb = tfp.bijectors


def from_tfp(x: Any) -> Any:
    """The bijector with the parameters of one of TFP; see `tfp.from_tfp`."""
    return _classes.of(type(x))._of(x)


def _method(name: str) -> Callable[..., Any]:
    def method(self: BijectorFromTFP, value: Array) -> Any:
        return getattr(self.to_distrax(), name)(value)

    method.__name__ = name
    method.__doc__ = getattr(distrax.Bijector, name).__doc__
    return method


class BijectorFromTFP(FromTFP, FinishedBijector, distrax.Bijector):
    """A bijector of TFP with the interface of distrax, which makes it of the one of TFP at each call."""

    @property
    def event_ndims_in(self) -> int:
        """The number of dimensions of what is mapped."""
        return int(self.to_tfp().forward_min_event_ndims)

    @property
    def event_ndims_out(self) -> int:
        """The number of dimensions of what it is mapped to."""
        return int(self.to_tfp().inverse_min_event_ndims)

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian is promised to be constant."""
        return bool(self.to_tfp().is_constant_jacobian)

    @property
    def is_constant_log_det(self) -> bool:
        """Whether the determinant of the Jacobian is promised to be constant."""
        return self.is_constant_jacobian

    @property
    def name(self) -> str:
        """The name that TFP gives the bijector."""
        return str(self.to_tfp().name)

    forward = _method("forward")
    inverse = _method("inverse")
    forward_log_det_jacobian = _method("forward_log_det_jacobian")
    inverse_log_det_jacobian = _method("inverse_log_det_jacobian")
    forward_and_log_det = _method("forward_and_log_det")
    inverse_and_log_det = _method("inverse_and_log_det")

    def to_distrax(self) -> Any:
        """The bijector that distrax makes of the one of TFP."""
        return distrax.as_bijector(self.to_tfp())

    def _adopt(self, x: Any) -> None:
        for ndims in x.forward_min_event_ndims, x.inverse_min_event_ndims:
            if not jax.tree_util.treedef_is_leaf(jax.tree.structure(ndims)):
                raise TypeError(f"{type(x).__name__} maps events of several parts, which distrax has not.")
        super()._adopt(x)


_classes = DerivedClasses(__name__, functools.partial(derive, BijectorFromTFP), tfb.Bijector, tfb)


def __getattr__(name: str) -> Any:
    return _classes.named(name)

"""Distributions of TFP, as distributions that are safe under every transformation.

`Poisson` in this module is made of `tfd.Poisson` when it is first asked for, and so on. A class of TFP that
does not stand in `tfd` is found by the name of its module: `package:module::Class`. Import a class before you
deserialise an exported function that takes or returns its objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import distrax
import jax
import jax.numpy as jnp
from jax import Array
from tensorflow_probability.substrates import jax as tfp

from . import conversion, nesting
from .derived import DerivedClasses, forwarded
from .finished import FinishedDistribution
from .tfp_layouts import Shape
from .tfp_objects import FromTFP, derive

__all__ = ["DistributionFromTFP", "from_tfp"]

tfd = tfp.distributions


def from_tfp(x: Any) -> Any:
    """The distribution with the parameters of one of TFP; see `tfp.from_tfp`."""
    return _classes.of(type(x))._of(x)


def _result_of(name: str) -> Callable[..., Array]:
    def method(self: DistributionFromTFP, *args: Any, **kwargs: Any) -> Array:
        return jnp.asarray(getattr(self.to_tfp(), name)(*args, **kwargs))

    method.__name__ = name
    method.__doc__ = getattr(distrax.Distribution, name).__doc__
    return method


class DistributionFromTFP(FromTFP, FinishedDistribution, distrax.Distribution):
    """A distribution of TFP with the interface of distrax.

    What distrax does not know of is what the class of TFP makes of it.
    """

    log_prob = _result_of("log_prob")
    prob = _result_of("prob")
    log_cdf = _result_of("log_cdf")
    cdf = _result_of("cdf")
    entropy = _result_of("entropy")
    mean = _result_of("mean")
    median = _result_of("median")
    variance = _result_of("variance")
    stddev = _result_of("stddev")
    mode = _result_of("mode")

    @property
    def batch_shape(self) -> Shape:
        """The shape of the batch."""
        is_batched, _ = self._parameterization
        return super().batch_shape if is_batched else tuple(self.to_tfp().batch_shape)

    @property
    def event_shape(self) -> Shape:
        """The shape of events."""
        return tuple(self.to_tfp().event_shape)

    @property
    def dtype(self) -> Any:
        """The dtype of events."""
        return self.to_tfp().dtype

    @property
    def name(self) -> str:
        """The name that TFP gives the distribution."""
        return str(self.to_tfp().name)

    def kl_divergence(self, other_dist: Any, *args: Any, **kwargs: Any) -> Array:
        """The divergence from another distribution, which may be one of TFP."""
        return jnp.asarray(tfd.kl_divergence(self.to_tfp(), _as_tfp(other_dist), *args, **kwargs))

    def cross_entropy(self, other_dist: Any, **kwargs: Any) -> Array:
        """The cross entropy with another distribution, which may be one of TFP."""
        return jnp.asarray(self.to_tfp().cross_entropy(_as_tfp(other_dist), **kwargs))

    def to_distrax(self) -> Any:
        """The distribution that distrax makes of the one of TFP."""
        return distrax.as_distribution(self.to_tfp())

    def _adopt(self, x: Any) -> None:
        if not jax.tree_util.treedef_is_leaf(jax.tree.structure(x.dtype)):
            raise TypeError(f"{type(x).__name__} has events of several parts, which distrax has not.")
        super()._adopt(x)

    def _sample_n(self, key: Array, n: int) -> Array:
        return _draw(self.to_tfp(), key, n)

    def _sample_n_and_log_prob(self, key: Array, n: int) -> tuple[Array, Array]:
        # One object of TFP for both: its bijectors know what they have mapped, and invert it without loss.
        distribution = self.to_tfp()
        samples = _draw(distribution, key, n)
        return samples, jnp.asarray(distribution.log_prob(samples))

    def _at(self, index: Any, inner: int = 0) -> Any:
        is_batched, _ = self._parameterization
        return super()._at(index, inner) if is_batched or inner else from_tfp(self.to_tfp()[index])


def _draw(distribution: Any, key: Array, n: int) -> Array:
    return jnp.asarray(distribution.sample(seed=key, sample_shape=(n,)), dtype=distribution.dtype)


def _as_tfp(x: Any) -> Any:
    """The other distribution, with parameters that are broadcast too: TFP compares those of bijectors."""
    try:
        return conversion.from_distrax(x).to_tfp() if nesting.is_of_tfp(x) else x
    except TypeError:  # It is of a class that cannot be converted.
        return x


def _make(cls: Any, names: dict[str, Any]) -> Any:
    others = forwarded(cls, FromTFP.to_tfp, but=dir(DistributionFromTFP))
    return derive(DistributionFromTFP, cls, others | names, bases=(cls,))


_classes = DerivedClasses(__name__, _make, tfd.Distribution, tfd)


def __getattr__(name: str) -> Any:
    return _classes.named(name)

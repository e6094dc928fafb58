"""Where parameters and events live.

A constraint is a predicate with a name. Bounds are numbers, or names of attributes of the distribution
at hand, so that `interval("low", "high")` is the support of every uniform distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from . import nesting

__all__ = [
    "Constraint",
    "boolean",
    "circular",
    "counts",
    "greater_than",
    "in_all",
    "in_any",
    "in_either",
    "in_image",
    "integer",
    "integer_above",
    "integers_below",
    "integers_within",
    "interval",
    "invertible",
    "nonnegative",
    "nonnegative_integer",
    "nonzero",
    "one_hot",
    "positive",
    "positive_definite",
    "real",
    "real_vector",
    "simplex",
    "singleton",
    "supported",
    "triangular_matrix",
    "unit_interval",
]

Bound = float | str


@dataclass(frozen=True)
class Constraint:
    """A set of values.

    Attributes:
        name: the name it has in a spec.
        predicate: called with a value and the bounds; True where the value lies in the set.
        bounds: numbers, or names of attributes of the distribution.
        event_ndims: how many of the last dimensions of a value belong to one element of the set.
        is_discrete: whether the set is countable.
    """

    name: str
    predicate: Callable[..., Array]
    bounds: tuple[Bound, ...] = ()
    event_ndims: int = 0
    is_discrete: bool = False

    def check(self, value: ArrayLike, distribution: Any = None) -> Array:
        """True where `value` lies in the set: booleans of its shape without the event dimensions."""
        bounds = (getattr(distribution, b) if isinstance(b, str) else b for b in self.bounds)
        inside = self.predicate(jax.tree.map(jnp.asarray, value), *bounds)
        if distribution is None or not isinstance(distribution.event_shape, tuple):
            return inside
        # A nested distribution may have more event dimensions than an element of its support.
        extra = inside.ndim - (jnp.ndim(value) - len(distribution.event_shape))
        return jnp.all(inside, axis=tuple(range(-extra, 0))) if extra > 0 else inside

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.bounds))})" if self.bounds else self.name


def _is_integer(x: Array) -> Array:
    return jnp.isfinite(x) & (jnp.floor(x.astype(jnp.result_type(x, float))) == x)


def _is_simplex(x: Array) -> Array:
    # A sum of K rounded terms errs by at most K units in the last place.
    tolerance = 4 * x.shape[-1] * jnp.finfo(jnp.promote_types(x.dtype, jnp.bfloat16)).eps
    return jnp.all(x >= 0, axis=-1) & (jnp.abs(jnp.sum(x, axis=-1) - 1) <= tolerance)


def _is_positive_definite(x: Array) -> Array:
    return jnp.all(jnp.isfinite(jnp.linalg.cholesky(x)), axis=(-2, -1))


def _is_triangular(x: Array) -> Array:
    half = jnp.all(jnp.tril(x, -1) == 0, axis=(-2, -1)) | jnp.all(jnp.triu(x, 1) == 0, axis=(-2, -1))
    return half & jnp.all(jnp.diagonal(x, axis1=-2, axis2=-1) != 0, axis=-1)


def _are_counts(x: Array, total: Array) -> Array:
    return jnp.all((x >= 0) & _is_integer(x), axis=-1) & (jnp.sum(x, axis=-1) == total)


real = Constraint("real", jnp.isfinite)
positive = Constraint("positive", lambda x: x > 0)
nonzero = Constraint("nonzero", lambda x: x != 0)
nonnegative = Constraint("nonnegative", lambda x: x >= 0)
unit_interval = Constraint("unit_interval", lambda x: (x >= 0) & (x <= 1))
circular = Constraint("circular", lambda x: (x >= -math.pi) & (x <= math.pi))
boolean = Constraint("boolean", lambda x: (x == 0) | (x == 1), is_discrete=True)
nonnegative_integer = Constraint("nonnegative_integer", lambda x: (x >= 0) & _is_integer(x), is_discrete=True)
integer = Constraint("integer", _is_integer, is_discrete=True)
invertible = Constraint("invertible", lambda x: jnp.isfinite(jnp.linalg.slogdet(x)[1]), event_ndims=2)
real_vector = Constraint("real_vector", lambda x: jnp.all(jnp.isfinite(x), axis=-1), event_ndims=1)
simplex = Constraint("simplex", _is_simplex, event_ndims=1)
one_hot = Constraint(
    "one_hot",
    lambda x: jnp.all((x == 0) | (x == 1), axis=-1) & (jnp.sum(x, axis=-1) == 1),
    event_ndims=1,
    is_discrete=True,
)
positive_definite = Constraint("positive_definite", _is_positive_definite, event_ndims=2)
triangular_matrix = Constraint("triangular_matrix", _is_triangular, event_ndims=2)


def greater_than(lower: Bound) -> Constraint:
    """Real numbers above `lower`."""
    return Constraint("greater_than", lambda x, low: x > low, (lower,))


def integer_above(lower: Bound) -> Constraint:
    """Integers above `lower`."""
    return Constraint("integer_above", lambda x, low: (x > low) & _is_integer(x), (lower,), is_discrete=True)


def interval(lower: Bound, upper: Bound) -> Constraint:
    """Real numbers from `lower` to `upper`, both included."""
    return Constraint("interval", lambda x, low, high: (x >= low) & (x <= high), (lower, upper))


def integers_below(count: Bound) -> Constraint:
    """The integers 0, 1, ..., count - 1."""
    return Constraint(
        "integers_below", lambda x, n: (x >= 0) & (x < n) & _is_integer(x), (count,), is_discrete=True
    )


def counts(total: Bound) -> Constraint:
    """Vectors of nonnegative integers that sum to `total`."""
    return Constraint("counts", _are_counts, (total,), event_ndims=1, is_discrete=True)


def singleton(element: Bound) -> Constraint:
    """The one value `element`."""
    return Constraint("singleton", lambda x, point: x == point, (element,), is_discrete=True)


def integers_within(low: Bound, high: Bound) -> Constraint:
    """The integers from `low` to `high`, both included; a bound that is None does not hold."""
    return Constraint("integers_within", _is_integer_within, (low, high), is_discrete=True)


def supported(distribution: Bound) -> Constraint:
    """The support of a nested distribution."""
    return Constraint("supported", _in_support, (distribution,))


def in_any(components: Bound) -> Constraint:
    """The union of the supports of a batch of components, whose last axis numbers them."""
    return Constraint("in_any", _in_any, (components,))


def in_either(first: Bound, second: Bound) -> Constraint:
    """The union of the supports of two distributions."""
    return Constraint("in_either", lambda x, a, b: _in_support(x, a) | _in_support(x, b), (first, second))


def in_all(distributions: Bound) -> Constraint:
    """Pytrees of events, each in the support of its distribution."""
    return Constraint("in_all", _in_all, (distributions,))


def in_image(distribution: Bound, bijector: Bound) -> Constraint:
    """The image of the support of a distribution under a bijector."""
    return Constraint("in_image", lambda y, d, b: _in_support(b.inverse(y), d), (distribution, bijector))


def _is_integer_within(x: Array, low: Any, high: Any) -> Array:
    above = True if low is None else x >= low
    below = True if high is None else x <= high
    return _is_integer(x) & above & below


def _in_support(x: Any, distribution: Any) -> Array:
    return getattr(distribution, "support", real).check(x, distribution)


def _in_any(x: Array, components: Any) -> Array:
    axis = -1 - len(components.event_shape)
    return jnp.any(_in_support(jnp.expand_dims(x, axis), components), axis=-1)


def _in_all(x: Any, distributions: Any) -> Array:
    inside = nesting.map_objects(lambda d, value: _in_support(value, d), distributions, x)
    return jnp.all(jnp.stack(jax.tree.leaves(inside)), axis=0)

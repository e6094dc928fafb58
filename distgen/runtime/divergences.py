"""Kullback-Leibler divergences where distrax's are not right."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from .conversion import as_bijector
from .nesting import have_equal_structures

__all__ = ["transformed_divergence"]


def transformed_divergence(p: Any, q: Any, *unused: Any, input_hint: Any = None, **ignored: Any) -> Array:
    """The divergence of two transformed distributions, which a bijection that they share leaves as it is.

    Where the parameters of the bijectors are traced, whether they are equal is not known yet: the divergence
    is then NaN if they are not.

    Raises:
        ValueError: for distributions over events of different shapes.
        NotImplementedError: for bijectors of another structure, or with other parameters.
    """
    if p.distribution.event_shape != q.distribution.event_shape:
        raise ValueError(
            f"The base distributions have the event shapes {p.distribution.event_shape} and "
            f"{q.distribution.event_shape}, which must be equal."
        )
    first, second = as_bijector(p.bijector), as_bijector(q.bijector)
    equal = _are_equal(first, second)
    is_known = not isinstance(equal, jax.core.Tracer)
    if is_known and not equal:
        raise NotImplementedError(
            "The divergence of two transformed distributions is known only if their bijectors are equal, but "
            f"these are not: {first} and {second}."
        )
    divergence: Array = p.distribution.kl_divergence(q.distribution)
    return divergence if is_known else jnp.where(equal, divergence, jnp.nan)


def _are_equal(first: Any, second: Any) -> Any:
    """Whether two bijectors have the same structure and equal parameters, those of one batch broadcast."""
    if first is second:
        return True
    if not have_equal_structures(first, second):
        return False
    pairs = [*zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)]
    try:
        _ = [jnp.broadcast_shapes(a.shape, b.shape) for a, b in pairs]
    except ValueError:
        return False
    return functools.reduce(operator.and_, (jnp.all(a == b) for a, b in pairs if a is not b), True)

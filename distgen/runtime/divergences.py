"""Kullback-Leibler divergences where distrax's are not right."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from .conversion import as_bijector

__all__ = ["transformed_divergence"]


def transformed_divergence(p: Any, q: Any, *unused: Any, input_hint: Any = None, **ignored: Any) -> Array:
    """The divergence of two transformed distributions, which a bijection that they share leaves as it is.

    Where the parameters of the bijectors are traced, whether they are equal is not known yet: the divergence
    is then NaN where they are not.

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
    equal = _equal(first, second, len(p.batch_shape), len(q.batch_shape))
    is_known = not isinstance(equal, jax.core.Tracer)
    if equal is None or (is_known and not jnp.all(equal)):
        raise NotImplementedError(
            f"The divergence of two transformed distributions is known only if their bijectors are equal, but "
            f"these are not: {first} and {second}."
        )
    divergence: Array = p.distribution.kl_divergence(q.distribution)
    return divergence if is_known else jnp.where(equal, divergence, jnp.nan)


def _equal(first: Any, second: Any, first_ndims: int, second_ndims: int) -> Any:
    """Where in the batch two bijectors have equal parameters; None if they are of another structure."""
    if first is second:
        return True
    if jax.tree.structure(first) != jax.tree.structure(second):
        return None
    equal: Any = True
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        if a is b:
            continue
        event_ndims = max(a.ndim - first_ndims, 0)
        if (
            event_ndims != max(b.ndim - second_ndims, 0)
            or a.shape[a.ndim - event_ndims :] != b.shape[b.ndim - event_ndims :]
        ):
            return None
        equal &= jnp.all(a == b, axis=tuple(range(-event_ndims, 0)))
    return equal

"""Parameters that are not given: made from event shape and dtype."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike

__all__ = ["identity", "ones", "zeros"]


def zeros(event_shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    return jnp.zeros(event_shape, dtype)


def ones(event_shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    return jnp.ones(event_shape, dtype)


def identity(event_shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    rows, columns = event_shape
    return jnp.eye(rows, columns, dtype=dtype)

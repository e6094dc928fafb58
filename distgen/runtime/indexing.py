"""Indexing the batch dimensions of arrays that also have event dimensions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

__all__ = ["index_batch"]


def index_batch(array: Array, index: Any, event_ndims: int) -> Array:
    """`array[index]`, where the index sees all dimensions but the last `event_ndims` ones.

    The index is one of NumPy's, with traced arrays too; as everywhere in JAX, an array of indices is
    clamped to the bounds.

    Raises:
        IndexError: where a static index is out of bounds or there are too many indices.
    """
    parts = tuple(map(_as_array, _as_tuple(index)))
    batch_shape = array.shape[: array.ndim - event_ndims]
    if not any(isinstance(part, jax.core.Tracer) and part.dtype == bool for part in parts):
        try:
            # NumPy checks the static part, and JAX integers as if they were zero.
            np.broadcast_to(False, batch_shape)[tuple(map(_static, parts))]
        except IndexError as error:
            raise IndexError(f"Batch shape {batch_shape} is not compatible with index {index!r}.") from error
    result: Array = array[(*parts, *[slice(None)] * event_ndims) if Ellipsis in map(_plain, parts) else parts]
    return result


def _as_tuple(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _as_array(part: Any) -> Any:
    """A sequence of indices as an array; JAX takes no others."""
    if not isinstance(part, list | range):
        return part
    if any(isinstance(i, jax.Array) for i in part):
        return jnp.asarray(part)
    return np.asarray(part, dtype=None if len(part) else int)


def _static(part: Any) -> Any:
    is_dynamic = isinstance(part, jax.Array) and jnp.issubdtype(part.dtype, jnp.integer)
    return np.zeros(part.shape, int) if is_dynamic else part


def _plain(part: Any) -> Any:
    """What can be compared with `Ellipsis` by `in`: comparing an array would give an array."""
    return part if part is Ellipsis else None

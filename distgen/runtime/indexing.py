"""Indexing the batch dimensions of arrays that also have event dimensions."""

from __future__ import annotations

from typing import Any

import jax
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
    parts = tuple(np.asarray(i) if isinstance(i, list) else i for i in _as_tuple(index))
    batch_shape = array.shape[: array.ndim - event_ndims]
    try:
        # NumPy checks the static part, and traced integers as if they were zero.
        np.broadcast_to(False, batch_shape)[tuple(map(_static, parts))]
    except IndexError as error:
        raise IndexError(f"Batch shape {batch_shape} is not compatible with index {index!r}.") from error
    result: Array = array[(*parts, *[slice(None)] * event_ndims) if Ellipsis in map(_plain, parts) else parts]
    return result


def _as_tuple(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _static(part: Any) -> Any:
    return np.zeros(part.shape, int) if isinstance(part, jax.Array) and part.dtype != bool else part


def _plain(part: Any) -> Any:
    """What can be compared with `Ellipsis` by `in`: comparing an array would give an array."""
    return part if part is Ellipsis else None

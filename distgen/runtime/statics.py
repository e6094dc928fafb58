"""Structural arguments: converted to hashable values that compare by value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

__all__ = ["binary_dtype", "discrete_dtype", "flag"]


def discrete_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The canonical dtype of integral samples, which an integer or a floating dtype holds.

    Raises:
        ValueError: for any other dtype.
    """
    return _canonical(dtype, {"integer": jnp.integer, "floating": jnp.floating})


def binary_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The canonical dtype of samples in {0, 1}, which a boolean, an integer or a floating dtype holds.

    Raises:
        ValueError: for any other dtype.
    """
    return _canonical(dtype, {"boolean": jnp.bool_, "integer": jnp.integer, "floating": jnp.floating})


def flag(value: bool) -> bool:
    return bool(value)


def _canonical(dtype: DTypeLike, kinds: dict[str, Any]) -> np.dtype[Any]:
    if not any(jnp.issubdtype(dtype, kind) for kind in kinds.values()):
        raise ValueError(f"`dtype` must be {' or '.join(kinds)}, but is {dtype}.")
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))

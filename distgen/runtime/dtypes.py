"""Results in the dtype of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

__all__ = ["keep_dtype", "widened"]


def keep_dtype(result: Any, dtype: Any) -> Any:
    """`result` with its floating arrays in `dtype`."""

    def cast(x: Array) -> Array:
        return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(cast, result)


def widened(
    method: Callable[..., Any], distribution: Any, dtype: Any, *arguments: Any, **keywords: Any
) -> Any:
    """`method(distribution, ...)`, in float32 where `dtype`, that of the parameters, is narrower.

    Some functions of JAX exist for 32 and 64 bits only.
    """
    if not jnp.issubdtype(dtype, jnp.floating) or jnp.finfo(dtype).bits >= 32:
        return method(distribution, *arguments, **keywords)
    return keep_dtype(method(keep_dtype(distribution, jnp.float32), *arguments, **keywords), dtype)

"""Results in the dtype of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

__all__ = ["cast", "keep_dtype", "leaf_dtype", "widened"]


def keep_dtype(result: Any, dtype: Any, *arguments: Any) -> Any:
    """`result` with its floating arrays in `dtype`, or in that of an argument which is wider."""
    arrays = [x for x in jax.tree.leaves(arguments) if isinstance(x, jax.Array | np.ndarray | float)]
    target = jnp.result_type(dtype, *(x for x in arrays if jnp.issubdtype(jnp.result_type(x), jnp.floating)))
    return cast(result, target)


def leaf_dtype(tree: Any) -> Any:
    """The common floating dtype of the leaves, the default one if there is none."""
    dtypes = [x.dtype for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.floating)]
    return jnp.result_type(*(dtypes or [float]))


def widened(call: Callable[[Any], Any], distribution: Any, dtype: Any, *arguments: Any) -> Any:
    """`call(distribution)`, in float32 where `dtype`, that of the parameters, is narrower.

    Some functions of JAX exist for 32 and 64 bits only.
    """
    if not jnp.issubdtype(dtype, jnp.floating) or jnp.finfo(dtype).bits >= 32:
        return call(distribution)
    return keep_dtype(call(cast(distribution, jnp.float32)), dtype, *arguments)


def cast(tree: Any, dtype: Any) -> Any:
    """A pytree with its floating leaves in `dtype`."""

    def astype(x: Array) -> Array:
        return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(astype, tree)

"""How a batch is sharded over explicit axes of a mesh, where shardings are part of the types of arrays.

JAX maps only over arrays that are sharded alike, so what is broadcast takes the sharding of the parameters
that have the batch already. Where axes are not explicit, the compiler chooses, and nothing is done here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import PartitionSpec

__all__ = ["Spec", "array_spec", "broadcast_to", "common_spec", "has_explicit_axes", "without_shardings"]

# The mesh axes of each dimension, or None, as in a PartitionSpec.
Spec = tuple[Any, ...]

# None in versions of JAX that have no explicit axes, or cannot broadcast to them.
_EXPLICIT = (
    jax.sharding.AxisType.Explicit
    if hasattr(jax.sharding, "AxisType") and "out_sharding" in inspect.signature(jnp.broadcast_to).parameters
    else None
)


def has_explicit_axes() -> bool:
    """Whether arrays are made under a mesh with explicit axes, which `jax.set_mesh` sets."""
    return _EXPLICIT is not None and _EXPLICIT in jax.sharding.get_abstract_mesh().axis_types


def array_spec(array: Array) -> Spec:
    """How an array is sharded, as its type says."""
    return tuple(jax.typeof(array).sharding.spec)


def common_spec(specs: Iterable[Spec]) -> Spec:
    """How what these broadcast to is sharded: each dimension as in the first that shards it."""
    specs = list(specs)
    rank = max(map(len, specs), default=0)
    padded = [(None,) * (rank - len(spec)) + spec for spec in specs]
    return tuple(next((axes for axes in dim if axes is not None), None) for dim in zip(*padded, strict=True))


def broadcast_to(array: Array, shape: tuple[int, ...], spec: Spec) -> Array:
    """`array` broadcast to a shape whose first dimensions are sharded like `spec`.

    A dimension that is sharded already stays so. Without `spec`, nothing is said about shardings.
    """
    if not any(axes is not None for axes in spec):
        return jnp.broadcast_to(array, shape)
    whole = spec + (None,) * (len(shape) - len(spec))
    return jnp.broadcast_to(
        array, shape, out_sharding=PartitionSpec(*common_spec([array_spec(array), whole]))
    )


def without_shardings(tree: Any) -> Any:
    """Shapes and dtypes of the leaves, for abstract evaluation."""
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), tree)

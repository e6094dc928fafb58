"""Objects inside objects: distributions and bijectors of this package, and foreign ones as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import distrax
import jax

__all__ = [
    "at",
    "batch_shape",
    "batch_spec",
    "broadcast",
    "have_equal_structures",
    "is_object",
    "is_of_tfp",
    "map_objects",
    "objects",
]


def is_object(x: Any) -> bool:
    """Whether `x` is a distribution or a bijector, be it of distrax or of TFP, and not a pytree of them."""
    return isinstance(x, distrax.Distribution | distrax.Bijector) or is_of_tfp(x)


def is_of_tfp(x: Any, kind: str = "Distribution|Bijector") -> bool:
    """Whether `x` is a distribution or a bijector of TFP. It need not be imported for that."""
    return any(
        base.__module__.startswith("tensorflow_probability.") and base.__name__ in kind.split("|")
        for base in type(x).__mro__
    )


def objects(tree: Any) -> list[Any]:
    """The objects in a pytree of objects."""
    return jax.tree.leaves(tree, is_leaf=_is_single)


def map_objects(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Maps over the objects in a pytree of objects, which may be a single one."""
    return jax.tree.map(function, tree, *others, is_leaf=_is_single)


def _is_single(x: Any) -> bool:
    # A function stands for a bijector.
    return is_object(x) or callable(x)


def have_equal_structures(a: Any, b: Any) -> bool:
    """Whether two pytrees differ in their leaves only."""
    first: Any = jax.tree.structure(a)
    return bool(first == jax.tree.structure(b))


def batch_shape(x: Any) -> tuple[int, ...]:
    """The batch shape of an object. A bijector has that to which its parameters broadcast."""
    if hasattr(x, "batch_shape"):
        return tuple(x.batch_shape)
    return tuple(getattr(x, "_batch_shape", ()))


def batch_spec(x: Any) -> tuple[Any, ...]:
    """How the batch of an object is sharded over explicit axes (see `sharding`), as far as it tells."""
    return x._batch_spec() if hasattr(x, "_batch_spec") else ()


def broadcast(x: Any, shape: tuple[int, ...], spec: tuple[Any, ...]) -> Any:
    """The object with its parameters broadcast to a batch shape that is sharded like `spec`.

    Foreign objects stay as they are.
    """
    return x._broadcast(shape, spec) if hasattr(x, "_broadcast") else x


def at(x: Any, index: Any, inner: int) -> Any:
    """The object at `index` of its batch dimensions without the last `inner` ones.

    Raises:
        NotImplementedError: for a foreign object that cannot be indexed so.
    """
    if hasattr(x, "_at"):
        return x._at(index, inner)
    if isinstance(x, distrax.Distribution) and not inner:
        return x[index]
    if isinstance(x, distrax.Bijector):
        return x
    raise NotImplementedError(f"{type(x).__name__} cannot be indexed inside another distribution.")

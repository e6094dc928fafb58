"""What a table of parameters lists: arrays, nested objects, functions, pytrees, and statics.

The first four are leaves or hold leaves. Each knows how its value is broadcast to a batch shape and
indexed along it, so that a composite treats arrays and nested objects alike. The last `inner` batch
dimensions of a value belong to the events of its owner, as those that Independent reinterprets do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import Array

from . import nesting, sharding
from .functions import NO_FUNCTION, NO_PARAMS, FunctionParameter, as_function, with_strong_leaves
from .indexing import index_batch
from .sharding import Spec

__all__ = ["Child", "Field", "Function", "Pytree", "Static"]

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Stored:
    """What all kinds have in common.

    Attributes:
        name: the finished name.
        attribute: where the object stores the value; `_<name>` if empty.
        argument: the constructor argument that it is made from, where that has another name.
        optional: without argument it is absent, which is part of the parameterisation.
        requires: another argument that must be given with this one.
        source: where distrax keeps the value: an attribute, or a function of the object; `_<name>` if empty.
        inner: how many of its last batch dimensions belong to events: a number, or a function of the owner.
    """

    name: str
    attribute: str = field(default="", kw_only=True)
    argument: str = field(default="", kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    requires: str = field(default="", kw_only=True)
    source: str | Callable[[Any], Any] = field(default="", kw_only=True)
    inner: int | Callable[[Any], int] = field(default=0, kw_only=True)

    expected: ClassVar[str] = "a value"

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", self.attribute or f"_{self.name}")
        object.__setattr__(self, "argument", self.argument or self.name)
        object.__setattr__(self, "source", self.source or f"_{self.name}")

    def read(self, other: Any) -> Any:
        """The value in an object of distrax."""
        return _read(self.source, other)

    def inner_ndims(self, owner: Any) -> int:
        return self.inner(owner) if callable(self.inner) else self.inner


@dataclass(frozen=True, eq=False)
class Field(_Stored):
    """One finished parameter: an array of shape `batch_shape + event dimensions`, a leaf of the pytree.

    Attributes:
        event: the names of its event dimensions, the last ones of its shape.
        argument_event: the event dimensions of the argument, where they differ. `"1"` stands for a
            singleton that finishing drops; a scalar may then be given without it.
        finish: the function that finishes it, called with the array and the values in `finish_with`.
        default: makes the array, from event shape and dtype, where no argument is given.
        dtype: `"floating"`, the common floating dtype; `"own"`, the dtype of the argument; or the name of a
            static that holds a dtype, or of a nested object that has a floating one.
        extends_batch: whether the batch shape grows to that of the argument; otherwise the
            argument must fit the batch shape of the others.
        shared: whether distrax takes a single one for the whole batch.
    """

    event: tuple[str, ...] = ()
    argument_event: tuple[str, ...] = ()
    finish: Callable[..., Array] | None = None
    finish_with: tuple[str, ...] = ()
    default: Callable[[Shape, Any], Array] | None = None
    dtype: str = "floating"
    extends_batch: bool = True
    shared: bool = False

    expected: ClassVar[str] = "a number or an array"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "argument_event", self.argument_event or self.event)

    def event_ndims(self, owner: Any) -> int:
        return len(self.event) + self.inner_ndims(owner)

    def batch_shape(self, value: Array, owner: Any) -> Shape:
        return value.shape[: max(value.ndim - self.event_ndims(owner), 0)]

    def batch_spec(self, value: Array, owner: Any) -> Spec:
        return sharding.array_spec(value)[: max(value.ndim - self.event_ndims(owner), 0)]

    def broadcast(self, value: Array, shape: Shape, owner: Any, spec: Spec) -> Array:
        ndims = self.event_ndims(owner)
        event = value.shape[max(value.ndim - ndims, 0) :]
        target = (*shape, *(1,) * (ndims - len(event)), *event)
        return value if value.shape == target else sharding.broadcast_to(value, target, spec)

    def at(self, value: Array, index: Any, owner: Any, inner: int) -> Array:
        return index_batch(value, index, self.event_ndims(owner) + inner)


@dataclass(frozen=True, eq=False)
class Child(_Stored):
    """A nested distribution or bijector, or a pytree of them.

    Attributes:
        convert: makes an object of this package of an argument, such as a distribution of TFP.
        is_list: whether it is a list of objects, which may be given as any sequence.
        extends_batch: always true: a composite has the batch shape that its children have together.
    """

    convert: Callable[[Any], Any] = field(kw_only=True)
    is_list: bool = field(default=False, kw_only=True)
    extends_batch: bool = field(default=True, init=False)

    expected: ClassVar[str] = "a distribution or a bijector"

    def prepare(self, value: Any) -> Any:
        if self.is_list:
            return [self.convert(x) for x in value]
        return nesting.map_objects(self.convert, value)

    def batch_shape(self, value: Any, owner: Any) -> Shape:
        inner = self.inner_ndims(owner)
        shapes = (nesting.batch_shape(x) for x in nesting.objects(value))
        return jnp.broadcast_shapes(*(shape[: max(len(shape) - inner, 0)] for shape in shapes))

    def batch_spec(self, value: Any, owner: Any) -> Spec:
        inner = self.inner_ndims(owner)
        specs = (nesting.batch_spec(x) for x in nesting.objects(value))
        return sharding.common_spec(spec[: max(len(spec) - inner, 0)] for spec in specs)

    def broadcast(self, value: Any, shape: Shape, owner: Any, spec: Spec) -> Any:
        inner = self.inner_ndims(owner)

        def broadcast(x: Any) -> Any:
            own = nesting.batch_shape(x)
            kept = own[max(len(own) - inner, 0) :]
            return nesting.broadcast(x, (*shape, *(1,) * (inner - len(kept)), *kept), spec)

        return nesting.map_objects(broadcast, value)

    def at(self, value: Any, index: Any, owner: Any, inner: int) -> Any:
        inner += self.inner_ndims(owner)
        return nesting.map_objects(lambda x: nesting.at(x, index, inner), value)


@dataclass(frozen=True, eq=False)
class _Unbatched(_Stored):
    """What has no batch dimensions: it is one for all.

    Attributes:
        required: whether it must be given; what is not given holds no leaves.
    """

    required: bool = field(default=True, kw_only=True)
    extends_batch: bool = field(default=True, init=False)

    def batch_shape(self, value: Any, owner: Any) -> Shape:
        return ()

    def batch_spec(self, value: Any, owner: Any) -> Spec:
        return ()

    def broadcast(self, value: Any, shape: Shape, owner: Any, spec: Spec) -> Any:
        return value

    def at(self, value: Any, index: Any, owner: Any, inner: int) -> Any:
        return value


@dataclass(frozen=True, eq=False)
class Function(_Unbatched):
    """A function: a pytree that is called, such as a module of Equinox, or a plain one, which is static."""

    expected: ClassVar[str] = "a function"

    def prepare(self, value: Any) -> FunctionParameter:
        return as_function(value, self.argument)

    def absent(self) -> FunctionParameter:
        return NO_FUNCTION


@dataclass(frozen=True, eq=False)
class Pytree(_Unbatched):
    """A pytree of arrays that is handed to functions as it is."""

    def prepare(self, value: Any) -> Any:
        return jax.tree.map(with_strong_leaves, value)

    def absent(self) -> Any:
        return NO_PARAMS


@dataclass(frozen=True, eq=False)
class Static:
    """A structural argument: hashable, part of the treedef.

    Attributes:
        name: the name of the argument.
        finish: the function that finishes it, called with the argument and the values in `finish_with`. It
            leaves what it returns as it is.
        attribute: where the object stores it; `_<name>` if empty.
        source: where distrax keeps it: an attribute, or a function of the object; `_<name>` if empty.
    """

    name: str
    finish: Callable[..., Any]
    finish_with: tuple[str, ...] = ()
    attribute: str = field(default="", kw_only=True)
    source: str | Callable[[Any], Any] = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", self.attribute or f"_{self.name}")
        object.__setattr__(self, "source", self.source or f"_{self.name}")

    def read(self, other: Any) -> Any:
        """The value in an object of distrax."""
        return _read(self.source, other)


def _read(source: str | Callable[[Any], Any], other: Any) -> Any:
    return source(other) if callable(source) else getattr(other, source, None)

"""From constructor arguments to finished parameters.

`Parameters` is the table of a class: which parameters it has, how each is finished and how they fit
together. Finishing happens once, in the constructor, in this order:

1. check which arguments were given;
2. convert to one concrete floating dtype (strong, so that Python numbers and arrays give one treedef);
3. check event dimensions;
4. finish each parameter by its own function (normalise, factorise, ...);
5. fill in defaults;
6. broadcast, so that every array reads `batch_shape + event dimensions`;
7. copy what would share a buffer, so that an object can be donated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

__all__ = ["Field", "MissingArgumentError", "Parameters", "Static"]

Shape = tuple[int, ...]


class MissingArgumentError(ValueError, AssertionError):
    """None of several arguments is given: in distrax a ValueError, or an AssertionError of chex."""


@dataclass(frozen=True)
class Field:
    """One finished parameter: an array of shape `batch_shape + event dimensions`, a leaf of the pytree.

    Attributes:
        name: the finished name; the object stores the array as `_<name>`.
        event: the names of its event dimensions, the last ones of its shape.
        argument: the constructor argument that it is made from, where that has another name.
        argument_event: the event dimensions of the argument, where they differ. `"1"` stands for a
            singleton that finishing drops; a scalar may then be given without it.
        finish: the function that finishes it, called with the array and the statics in `finish_with`.
        default: makes the array, from event shape and dtype, where no argument is given.
        optional: without argument the parameter is absent, which is part of the parameterisation.
        requires: another argument that must be given with this one.
        dtype: `"floating"`, the common floating dtype; `"own"`, the dtype of the argument; or the
            name of a static that holds a dtype.
        extends_batch: whether the batch shape grows to that of the argument; otherwise the
            argument must fit the batch shape of the others.
    """

    name: str
    event: tuple[str, ...] = ()
    argument: str = ""
    argument_event: tuple[str, ...] = ()
    finish: Callable[..., Array] | None = None
    finish_with: tuple[str, ...] = ()
    default: Callable[[Shape, Any], Array] | None = None
    optional: bool = False
    requires: str = ""
    dtype: str = "floating"
    extends_batch: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "argument", self.argument or self.name)
        object.__setattr__(self, "argument_event", self.argument_event or self.event)

    def batch_shape(self, array: Array) -> Shape:
        return array.shape[: array.ndim - len(self.event)]


@dataclass(frozen=True)
class Static:
    """A structural argument: hashable, part of the treedef, stored as `_<name>`."""

    name: str
    finish: Callable[[Any], Any]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a class.

    Attributes:
        fields: the finished parameters, in the order of the leaves.
        statics: the structural arguments.
        exactly_one_of: arguments of which one and only one is given.
        at_least_one_of: arguments of which one or more are given.
        smallest: the smallest size of an event dimension, where that is more than zero.
    """

    fields: tuple[Field, ...]
    statics: tuple[Static, ...] = ()
    exactly_one_of: tuple[str, ...] = ()
    at_least_one_of: tuple[str, ...] = ()
    smallest: Mapping[str, int] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(f.argument for f in self.fields) + tuple(s.name for s in self.statics)

    def parameterization(self, present: Mapping[str, Any]) -> str:
        """The name of the parameterisation whose optional fields are those `present` (not None).

        Raises:
            ValueError: unless exactly one of the alternatives is present.
        """
        names = {name for name, value in present.items() if value is not None}
        self._check_alternatives({f.argument for f in self.fields if f.name in names})
        return "+".join(f.name for f in self.fields if f.optional and f.name in names) or "default"

    def finish(self, arguments: Mapping[str, Any], kept: Mapping[str, Array] | None = None) -> dict[str, Any]:
        """The attributes of an object built from `arguments`.

        Args:
            arguments: the constructor arguments by name; None where one is not given.
            kept: finished parameters by name, which are not finished again (see `replace`).

        Raises:
            ValueError: for a wrong selection of arguments, or wrong shapes or dtypes.
        """
        kept = kept or {}
        values = {f: kept.get(f.name, arguments[f.argument]) for f in self.fields}
        values = {f: value for f, value in values.items() if value is not None}
        self._check_selection({f.argument for f in values})
        statics = {s.name: s.finish(arguments[s.name]) for s in self.statics}
        arrays, dtype = _convert(values, statics)
        sizes = self._event_sizes(arrays, kept)
        for f in self.fields:
            if f in values and f.name not in kept:
                array = _drop_singletons(f, arrays[f.name])
                arrays[f.name] = f.finish(array, *map(statics.get, f.finish_with)) if f.finish else array
            elif f not in values and f.default is not None:
                arrays[f.name] = f.default(tuple(sizes.get(dim, 1) for dim in f.event), dtype)
        present = {f: arrays[f.name] for f in self.fields if f.name in arrays}
        attributes = {f"_{name}": value for name, value in statics.items()}
        if any(f.optional for f in self.fields):
            attributes["_parameterization"] = self.parameterization(arrays)
        return attributes | {f"_{f.name}": x for f, x in _unaliased(_broadcast(present)).items()}

    def _check_selection(self, given: set[str]) -> None:
        self._check_alternatives(given)
        for f in self.fields:
            if f.argument not in given and not f.optional and f.default is None:
                raise ValueError(f"`{f.argument}` must be a number or an array, but is None.")
        if self.at_least_one_of and not given & set(self.at_least_one_of):
            names = ", ".join(f"`{name}`" for name in self.at_least_one_of)
            raise MissingArgumentError(f"At least one of {names} must be given.")
        for f in self.fields:
            if f.requires and f.argument in given and f.requires not in given:
                raise ValueError(f"`{f.argument}` can be given only together with `{f.requires}`.")

    def _check_alternatives(self, given: set[str]) -> None:
        if self.exactly_one_of and len(given & set(self.exactly_one_of)) != 1:
            names = " and ".join(f"`{name}`" for name in self.exactly_one_of)
            found = " and ".join(f"`{n}`" for n in self.exactly_one_of if n in given) or "none of them"
            raise ValueError(f"Exactly one of {names} must be given, but got {found}.")

    def _event_sizes(self, arrays: Mapping[str, Array], kept: Mapping[str, Array]) -> dict[str, int]:
        """The size of each event dimension, checked to be the same in every parameter."""
        sizes: dict[str, int] = {}
        origin: dict[str, str] = {}
        for f in self.fields:
            if f.name not in arrays:
                continue
            name, event = (f.name, f.event) if f.name in kept else (f.argument, f.argument_event)
            shape = arrays[f.name].shape
            if not shape and event == ("1",):
                continue
            if len(shape) < len(event):
                raise ValueError(
                    f"`{name}` must have at least {len(event)} dimension(s), ({', '.join(event)}), "
                    f"but its shape is {shape}."
                )
            if event == ("1",) and shape[-1] != 1:
                raise ValueError(
                    f"`{name}` must be a scalar, or an array with a last axis of length 1 (write "
                    f"`{name}[..., None]`), but its shape is {shape}."
                )
            for dim, size in zip(event, shape[len(shape) - len(event) :], strict=True):
                expected = 1 if dim == "1" else sizes.setdefault(dim, size)
                like = f" as in `{origin[dim]}`" if dim in origin else ""
                at_least = self.smallest.get(dim, 0)
                if size != expected or size < at_least:
                    wanted = f"at least {at_least}" if size == expected else f"{expected}{like}"
                    raise ValueError(
                        f"Event dimension {dim} of `{name}` must be {wanted}, but its shape is {shape}."
                    )
                origin.setdefault(dim, name)
        return sizes


def _convert(values: Mapping[Field, Any], statics: Mapping[str, Any]) -> tuple[dict[str, Array], Any]:
    """Arrays by name and their common floating dtype, which Python numbers never widen."""
    numbers = {f: _as_number(f, value) for f, value in values.items()}
    floating = [
        _as_floating(x)
        for f, x in numbers.items()
        if f.dtype == "floating" or (f.dtype == "own" and _is_floating(x))
    ]
    dtype = jnp.result_type(*(floating or [float]))

    def dtype_of(f: Field, x: Any) -> Any:
        if f.dtype == "own":
            return dtype if _is_floating(x) else jnp.result_type(x)
        return statics.get(f.dtype, dtype)

    return {f.name: jnp.asarray(x, dtype=dtype_of(f, x)) for f, x in numbers.items()}, dtype


def _as_number(f: Field, value: Any) -> Any:
    """`value` as a Python number or as a JAX array that shares no memory with the caller's."""
    x = value if isinstance(value, jax.Array | int | float) else jnp.array(value)
    dtype = jnp.result_type(x)
    if f.dtype != "own" and not (jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer)):
        raise ValueError(f"`{f.argument}` must be of a floating or integer dtype, but is of {dtype}.")
    return x


def _is_floating(x: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(x), jnp.floating)


def _as_floating(x: Any) -> Any:
    """What stands for `x` in type promotion: an integer array counts as one of the default float."""
    if isinstance(x, int | float):
        return 0.0
    return x if _is_floating(x) else float if x.weak_type else jnp.result_type(float)


def _drop_singletons(f: Field, array: Array) -> Array:
    """Takes the singleton event axes off an argument that was given with them."""
    if f.argument_event == f.event or not array.ndim:
        return array
    rank = len(f.argument_event)
    return jnp.squeeze(array, tuple(i - rank for i, dim in enumerate(f.argument_event) if dim == "1"))


def _broadcast(arrays: Mapping[Field, Array]) -> dict[Field, Array]:
    shapes = {f: f.batch_shape(array) for f, array in arrays.items()}
    try:
        batch_shape = jnp.broadcast_shapes(*(shape for f, shape in shapes.items() if f.extends_batch))
    except ValueError:
        found = ", ".join(f"`{f.argument}` {shape}" for f, shape in shapes.items() if f.extends_batch)
        raise ValueError(f"The batch shapes of the parameters cannot be broadcast: {found}.") from None
    result = {}
    for f, array in arrays.items():
        if jnp.broadcast_shapes(shapes[f], batch_shape) != batch_shape:
            raise ValueError(
                f"`{f.argument}` must fit the batch shape of the other parameters, {batch_shape}, "
                f"but its own is {shapes[f]}."
            )
        shape = batch_shape + array.shape[len(shapes[f]) :]
        result[f] = array if array.shape == shape else jnp.broadcast_to(array, shape)
    return result


def _unaliased(arrays: Mapping[Field, Array]) -> dict[Field, Array]:
    """Copies an array that stands in two fields: a buffer can be donated only once."""
    seen: set[int] = set()
    result = {}
    for f, array in arrays.items():
        result[f] = jnp.array(array, copy=True) if id(array) in seen else array
        seen.add(id(array))
    return result

"""From constructor arguments to finished parameters.

`Parameters` is the table of a class: which parameters it has, how each is finished and how they fit
together. Finishing happens once, in the constructor, in this order:

1. check which arguments were given;
2. make nested objects and functions nodes of the pytree;
3. finish the structural arguments;
4. convert arrays to one concrete floating dtype (strong, so that Python numbers and arrays give one treedef);
5. check event dimensions, and what else the class asks of its arguments;
6. finish each array by its own function (normalise, factorise, ...);
7. fill in defaults;
8. broadcast, so that every array reads `batch_shape + event dimensions`, in nested objects too, and is
   sharded like those that have the batch;
9. copy what would share a buffer, so that an object can be donated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from . import nesting
from .dtypes import cast
from .fields import Child, Field, Function, Pytree, Static
from .sharding import Spec, common_spec, has_explicit_axes

__all__ = ["ArgumentError", "Check", "Parameters", "unaliased"]

Shape = tuple[int, ...]
Stored = Field | Child | Function | Pytree


class ArgumentError(ValueError, AssertionError):
    """Arguments that do not fit together: in distrax a ValueError, or an AssertionError of chex."""


@dataclass(frozen=True)
class Check:
    """A function that raises ValueError for values, by name, that do not fit together."""

    function: Callable[..., None]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a class.

    Attributes:
        fields: the finished parameters, in the order of the leaves.
        statics: the structural arguments.
        settings: arguments that finishing functions take, and of which nothing else is kept.
        exactly_one_of: arguments of which one and only one is given.
        at_least_one_of: arguments of which one or more are given.
        at_most_one_of: arguments of which none or one is given.
        smallest: the smallest size of an event dimension, where that is more than zero.
        checks: what else is asked of the arguments.
    """

    fields: tuple[Stored, ...]
    statics: tuple[Static, ...] = ()
    settings: tuple[str, ...] = ()
    exactly_one_of: tuple[str, ...] = ()
    at_least_one_of: tuple[str, ...] = ()
    at_most_one_of: tuple[str, ...] = ()
    smallest: Mapping[str, int] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        names = [f.argument for f in self.fields]
        return tuple(dict.fromkeys([*names, *(s.name for s in self.statics), *self.settings]))

    def parameterization(self, present: Mapping[str, Any]) -> str:
        """The name of the parameterisation whose optional fields are those `present` (not None).

        Raises:
            ValueError: for a wrong selection of alternatives.
        """
        names = {name for name, value in present.items() if value is not None}
        self._check_alternatives({f.argument for f in self.fields if f.name in names})
        return "+".join(f.name for f in self.fields if f.optional and f.name in names) or "default"

    def finish(self, owner: Any, arguments: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> None:
        """Gives `owner` the attributes of an object that is built from `arguments`.

        Args:
            owner: the object.
            arguments: the constructor arguments by name; None where one is not given.
            kept: finished parameters by name, which are not finished again (see `replace`).

        Raises:
            ValueError: for a wrong selection of arguments, or wrong shapes or dtypes.
            TypeError: for what is neither an array, nor an object, nor a function where one is expected.
        """
        kept = kept or {}
        values = {f: kept.get(f.name, arguments[f.argument]) for f in self.fields}
        given = {f: value for f, value in values.items() if value is not None}
        self._check_selection({f.argument for f in given})
        numbers = {f: value for f, value in given.items() if isinstance(f, Field)}
        known = {name: arguments.get(name) for name in self.settings}
        known |= {f.name: f.prepare(value) for f, value in given.items() if not isinstance(f, Field)}
        known |= {
            f.name: f.absent() for f in self.fields if isinstance(f, Function | Pytree) and f not in given
        }
        absent = {name: None for f in self.fields if f not in given for name in (f.name, f.argument)}
        for s in self.statics:
            sources = {**absent, **arguments, **known}
            known[s.name] = s.finish(arguments[s.name], *map(sources.get, s.finish_with))
            owner.__dict__[s.attribute] = known[s.name]
        arrays, dtype = _convert(numbers, known, owner)
        known |= arrays
        for check in self.checks:
            check.function(*map({**absent, **known}.get, check.names))
        sizes = self._event_sizes(arrays, kept)
        for f in self.fields:
            if not isinstance(f, Field):
                continue
            if f in given and f.name not in kept:
                array = _drop_singletons(f, arrays[f.name])
                known[f.name] = f.finish(array, *map(known.get, f.finish_with)) if f.finish else array
            elif f not in given and f.default is not None:
                known[f.name] = f.default(tuple(sizes.get(dim, 1) for dim in f.event), dtype)
        present = {f: known[f.name] for f in self.fields if f.name in known}
        if any(f.optional for f in self.fields):
            owner.__dict__["_parameterization"] = self.parameterization(
                {f.name: x for f, x in present.items()}
            )
        for f, value in unaliased(self._broadcast(present, owner)).items():
            owner.__dict__[f.attribute] = value

    def present(self, owner: Any) -> dict[Stored, Any]:
        """The fields of an object and their values."""
        values = owner.finished()
        return {f: values[f.name] for f in self.fields if f.name in values}

    def batch_shape(self, owner: Any) -> Shape:
        """The batch shape that the fields of an object have together."""
        return jnp.broadcast_shapes(*(f.batch_shape(x, owner) for f, x in self.present(owner).items()))

    def batch_spec(self, owner: Any) -> Spec:
        """How the batch of an object is sharded over explicit axes."""
        return common_spec(f.batch_spec(x, owner) for f, x in self.present(owner).items())

    def _check_selection(self, given: set[str]) -> None:
        self._check_alternatives(given)
        for f in self.fields:
            if f.argument not in given and not f.optional and _is_required(f):
                raise ValueError(f"`{f.argument}` must be {f.expected}, but is None.")
        if self.at_least_one_of and not given & set(self.at_least_one_of):
            names = ", ".join(f"`{name}`" for name in self.at_least_one_of)
            raise ArgumentError(f"At least one of {names} must be given.")
        for f in self.fields:
            if f.requires and f.argument in given and f.requires not in given:
                raise ValueError(f"`{f.argument}` can be given only together with `{f.requires}`.")

    def _check_alternatives(self, given: set[str]) -> None:
        def listed(names: Iterable[str]) -> str:
            return " and ".join(f"`{name}`" for name in names)

        found = [name for name in (*self.exactly_one_of, *self.at_most_one_of) if name in given]
        if self.exactly_one_of and len(found) != 1:
            got = listed(found) or "none of them"
            raise ValueError(f"Exactly one of {listed(self.exactly_one_of)} must be given, but got {got}.")
        if self.at_most_one_of and len(found) > 1:
            raise ValueError(f"At most one of {listed(self.at_most_one_of)} can be given.")

    def _event_sizes(self, arrays: Mapping[str, Array], kept: Mapping[str, Any]) -> dict[str, int]:
        """The size of each event dimension, checked to be the same in every parameter."""
        sizes: dict[str, int] = {}
        origin: dict[str, str] = {}
        for f in self.fields:
            if f.name not in arrays or not isinstance(f, Field):
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

    def _broadcast(self, values: Mapping[Stored, Any], owner: Any) -> dict[Stored, Any]:
        shapes = {f: f.batch_shape(value, owner) for f, value in values.items()}
        try:
            batch_shape = jnp.broadcast_shapes(*(shape for f, shape in shapes.items() if f.extends_batch))
        except ValueError:
            found = ", ".join(f"`{f.argument}` {shape}" for f, shape in shapes.items() if f.extends_batch)
            raise ValueError(f"The batch shapes of the parameters cannot be broadcast: {found}.") from None
        for f, shape in shapes.items():
            if not f.extends_batch and not _fits(shape, batch_shape):
                raise ArgumentError(
                    f"`{f.argument}` must fit the batch shape of the other parameters, {batch_shape}, "
                    f"but its own is {shape}."
                )
        spec: Spec = ()
        if has_explicit_axes():
            spec = common_spec(f.batch_spec(value, owner) for f, value in values.items())
        return {f: f.broadcast(value, batch_shape, owner, spec) for f, value in values.items()}


def _is_required(f: Stored) -> bool:
    match f:
        case Field():
            return f.default is None
        case Child():
            return True
        case Function() | Pytree():
            return f.required


def _fits(shape: Shape, batch_shape: Shape) -> bool:
    try:
        return jnp.broadcast_shapes(shape, batch_shape) == batch_shape
    except ValueError:
        return False


def _convert(values: Mapping[Field, Any], known: dict[str, Any], owner: Any) -> tuple[dict[str, Array], Any]:
    """Arrays by name and their common floating dtype, which Python numbers never widen.

    Nested objects that were made of Python numbers alone get that dtype too.
    """
    numbers = {f: _as_number(f, value) for f, value in values.items()}
    floating = [
        _as_floating(x)
        for f, x in numbers.items()
        if f.dtype == "floating" or (f.dtype == "own" and _is_floating(x))
    ]
    children = [x for value in known.values() for x in nesting.objects(value)]
    floating += [leaf for x in children for leaf in _strong_leaves(x)]
    dtype = jnp.result_type(*(floating or [float]))
    if not any(map(_is_strong, floating)):
        # Made of Python numbers alone: an owner with arrays may choose the dtype.
        owner.__dict__["_is_weak"] = True
    else:
        known.update({name: _settled(value, dtype) for name, value in known.items()})

    def dtype_of(f: Field, x: Any) -> Any:
        chosen = known.get(f.dtype, dtype)
        if nesting.is_object(chosen) and jnp.issubdtype(chosen.dtype, jnp.floating):
            return chosen.dtype
        if f.dtype == "own" or nesting.is_object(chosen):
            return dtype if _is_floating(x) else jnp.result_type(x)
        return chosen

    return {f.name: jnp.asarray(x, dtype=dtype_of(f, x)) for f, x in numbers.items()}, dtype


def _settled(value: Any, dtype: Any) -> Any:
    """Nested objects, with those that were made of Python numbers alone in `dtype`."""
    if not any(getattr(x, "_is_weak", False) for x in nesting.objects(value)):
        return value
    return nesting.map_objects(lambda x: cast(x, dtype) if getattr(x, "_is_weak", False) else x, value)


def _strong_leaves(x: Any) -> list[Any]:
    """The floating leaves of a nested object that was not made of Python numbers alone."""
    if not nesting.is_object(x) or getattr(x, "_is_weak", False):
        return []
    return [leaf for leaf in jax.tree.leaves(x) if _is_floating(leaf)]


def _is_strong(x: Any) -> bool:
    return not isinstance(x, int | float) and x is not float and not getattr(x, "weak_type", False)


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
    if f.argument_event == f.event or not array.ndim or "1" not in f.argument_event:
        return array
    rank = len(f.argument_event)
    return jnp.squeeze(array, tuple(i - rank for i, dim in enumerate(f.argument_event) if dim == "1"))


def unaliased(values: Mapping[Stored, Any]) -> Mapping[Stored, Any]:
    """Copies an array that stands in two places: a buffer can be donated only once."""
    leaves = jax.tree.leaves([*values.values()])
    if len({*map(id, leaves)}) == len(leaves):
        return values
    seen: set[int] = set()

    def copy_again(x: Any) -> Any:
        known = id(x) in seen
        seen.add(id(x))
        return jnp.array(x, copy=True) if known and isinstance(x, jax.Array) else x

    return {f: jax.tree.map(copy_again, value) for f, value in values.items()}

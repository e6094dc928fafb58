"""Functions as parameters.

A pytree that can be called, such as a module of Equinox or `jax.tree_util.Partial`, keeps its arrays as
leaves. A plain function is static: it is a part of the treedef, and compared by identity.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.tree_util import FlattenedIndexKey, GetAttrKey, register_pytree_with_keys

__all__ = ["NO_FUNCTION", "NO_PARAMS", "FunctionParameter", "as_function", "bind", "with_strong_leaves"]


class FunctionParameter:
    """A callable as a node of a pytree: its arrays are leaves, all else is static."""

    def __init__(self, arrays: tuple[Any, ...], static: Any) -> None:
        self.arrays = arrays
        # The plain function, or the treedef and the leaves that are no arrays, with None where one is.
        self.static = static

    @property
    def function(self) -> Any:
        """The callable itself, None where there is none."""
        function, treedef, rest = self.static
        if treedef is None:
            return function
        arrays = iter(self.arrays)
        return treedef.unflatten([next(arrays) if x is None else x.value for x in rest])

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> Any:
        # A treedef does not survive pickling where its static data is compared by identity; a callable does.
        function, treedef, rest = self.static
        if treedef is not None:
            function = treedef.unflatten([_Slot() if x is None else x.value for x in rest])
        return _restore, (function, self.arrays)

    def __repr__(self) -> str:
        function, treedef, _ = self.static
        named = function if treedef is None else treedef.node_data()[0]
        return getattr(named, "__qualname__", str(named))


class _Slot:
    """Where an array belongs in a callable that is pickled without them."""


class _Constant:
    """A leaf that is no array, such as the activation function of a module: equal to what equals it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Constant)
            and type(self.value) is type(other.value)
            and bool(self.value is other.value or self.value == other.value)
        )

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return id(self.value)


def as_function(value: Any, argument: str) -> FunctionParameter:
    """`value` as a node of a pytree.

    Raises:
        TypeError: if it cannot be called.
        ValueError: if it is a plain function that captures arrays.
    """
    if isinstance(value, FunctionParameter):
        return value
    if not callable(value):
        raise TypeError(f"`{argument}` must be a function, but is a {type(value).__name__}.")
    leaves, treedef = jax.tree.flatten(value)
    if jax.tree_util.treedef_is_leaf(treedef):
        if captured := next(_captured_arrays(value), None):
            raise ValueError(_refusal(value, argument, captured))
        return FunctionParameter((), (value, None, ()))
    leaves = [with_strong_leaves(x) if isinstance(x, float | complex) else x for x in leaves]
    arrays = tuple(with_strong_leaves(x) for x in leaves if _is_array(x))
    rest = tuple(None if _is_array(x) else _Constant(x) for x in leaves)
    return FunctionParameter(arrays, (None, treedef, rest))


NO_FUNCTION = FunctionParameter((), (None, None, ()))
# An empty tuple rather than None, which could stand in place of an array.
NO_PARAMS = ()


def _restore(function: Any, arrays: tuple[Any, ...]) -> FunctionParameter:
    leaves, treedef = jax.tree.flatten(function)
    if function is None or jax.tree_util.treedef_is_leaf(treedef):
        return FunctionParameter((), (function, None, ()))
    rest = tuple(None if isinstance(x, _Slot) else _Constant(x) for x in leaves)
    return FunctionParameter(arrays, (None, treedef, rest))


def bind(function: FunctionParameter, params: Any) -> Any:
    """The callable, which takes `params` first where they are given; None where there is no function."""
    call = function.function
    if call is None or (isinstance(params, tuple) and not params):
        return call
    # Not functools.partial: where the callable is handed on, its arrays stay leaves.
    return jax.tree_util.Partial(call, params)


def with_strong_leaves(x: Any) -> Any:
    """A leaf as an array of a concrete dtype, if it is a number."""
    if isinstance(x, bool | int | float | complex | np.ndarray | np.generic):
        x = jnp.array(x)
    if isinstance(x, jax.Array) and x.weak_type:
        return jax.lax.convert_element_type(x, x.dtype)
    return x


def _is_array(x: Any) -> bool:
    return isinstance(x, jax.Array | np.ndarray | np.generic)


def _captured_arrays(function: Any, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """The names of variables in which a function has captured arrays, or objects that hold them."""
    for name, value in _captured(function):
        if id(value) in seen:
            continue
        if any(map(_is_array, jax.tree.leaves(value))):
            yield name
        elif callable(value):
            yield from _captured_arrays(value, seen | {id(function)})


def _captured(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function has captured, by name: variables around it, defaults, and bound arguments."""
    if isinstance(function, functools.partial):
        yield from ((f"argument {i} of partial", value) for i, value in enumerate(function.args))
        yield from function.keywords.items()
        yield getattr(function.func, "__name__", "func"), function.func
        return
    if inspect.ismethod(function):
        yield "self", function.__self__
        function = function.__func__
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # The variable is not assigned yet.
            continue
    names = inspect.signature(function).parameters
    yield from ((name, p.default) for name, p in names.items() if p.default is not p.empty)


def _refusal(function: Any, argument: str, captured: str) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    given = f"params={captured}" if captured.isidentifier() else "it as params"
    return (
        f"`{argument}` captures an array in the variable '{captured}' of {name}, where no transformation of "
        f"JAX would see it. Hand the array over: write a function of (params, x), and give {given} "
        f"beside `{argument}`; or make the function a pytree, such as an Equinox module or a "
        "jax.tree_util.Partial."
    )


def _flatten(f: FunctionParameter) -> tuple[tuple[Any, ...], Any]:
    return f.arrays, f.static


def _flatten_with_keys(f: FunctionParameter) -> tuple[list[tuple[Any, Any]], Any]:
    _, treedef, rest = f.static
    if treedef is None:
        return [], f.static
    paths = jax.tree_util.tree_leaves_with_path(treedef.unflatten([object()] * len(rest)))
    places = (path for (path, _), x in zip(paths, rest, strict=True) if x is None)
    # Some classes of JAX have no names for their parts.
    named = ([key for key in path if not isinstance(key, FlattenedIndexKey)] for path in places)
    names = [jax.tree_util.keystr(tuple(path)).removeprefix(".") for path in named]
    return [(GetAttrKey(name), x) for name, x in zip(names, f.arrays, strict=True)], f.static


def _unflatten(static: Any, arrays: Any) -> FunctionParameter:
    return FunctionParameter(tuple(arrays), static)


def _serialize(static: Any) -> bytes:
    function, treedef, _ = static
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    if treedef is not None or _find(name) is not function:
        raise TypeError(
            f"{function or treedef} cannot be serialised with an exported function: only functions that can "
            "be imported by name are."
        )
    return name.encode()


def _deserialize(data: bytes | bytearray) -> Any:
    return (_find(bytes(data).decode()), None, ())


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        return functools.reduce(getattr, path.split("."), import_module(module))
    except (ImportError, AttributeError, ValueError):
        return None


register_pytree_with_keys(FunctionParameter, _flatten_with_keys, _unflatten, _flatten)
export.register_pytree_node_serialization(
    FunctionParameter,
    serialized_name=f"{FunctionParameter.__module__}.{FunctionParameter.__qualname__}",
    serialize_auxdata=_serialize,
    deserialize_auxdata=_deserialize,
)

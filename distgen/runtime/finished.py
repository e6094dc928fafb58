"""The bases of generated classes, which make them pytrees."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import jax
import numpy as np

from .functions import FunctionParameter
from .nesting import have_equal_structures
from .parameters import Parameters
from .registration import own_attributes, register
from .sharding import Spec

__all__ = ["Finished", "FinishedBijector", "FinishedDistribution"]


class Finished:
    """An object that is nothing but its finished parameters.

    An instance stores finished parameters and structural statics. What distrax stores beside them is a
    property that computes it. Each subclass is a pytree whose leaves are the finished parameters; one
    that users derive keeps its own attributes as well (see `registration`).
    """

    _parameters: ClassVar[Parameters]
    _wrapped: ClassVar[Any]
    # What distrax stores on an instance of the wrapped class.
    _distrax_attributes: ClassVar[tuple[str, ...]]
    # Whether it was made of Python numbers alone, so that an owner with arrays may choose the dtype.
    _is_weak = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        # Not distrax's, which registers the class as a pytree again whenever it is called.
        return object.__new__(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "tree_flatten" in cls.__dict__:
            cls._wrapped = cls.__bases__[-1]
        register(cls)

    def finished(self) -> dict[str, Any]:
        """The finished parameters by name, in the order of the leaves."""
        raise NotImplementedError

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        raise NotImplementedError

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Iterable[Any]) -> Self:
        raise NotImplementedError

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape to which the parameters broadcast, without their event dimensions."""
        return self._parameters.batch_shape(self)

    def replace(self, **arguments: Any) -> Self:
        """A copy with other constructor arguments. Only what they change is finished again.

        Raises:
            TypeError: for a name that the constructor lacks.
            ValueError: where the constructor would raise it.
        """
        table = self._parameters
        if unknown := sorted(arguments.keys() - set(table.arguments)):
            names = ", ".join(table.arguments)
            raise TypeError(f"{type(self).__name__} has no parameter '{unknown[0]}'; it has {names}.")
        merged = dict.fromkeys(table.arguments) | {s.name: getattr(self, s.attribute) for s in table.statics}
        # A setting is not kept.
        merged |= {name: default for name in table.settings if (default := self._default(name)) is not None}
        kept = self.finished()
        rivals = {*table.exactly_one_of, *table.at_most_one_of}
        for f in table.fields:
            rival = f.argument in rivals and not rivals.isdisjoint(arguments)
            depends = {*getattr(f, "finish_with", ()), getattr(f, "dtype", "")}
            if f.name in kept and (f.argument in arguments or rival):
                del kept[f.name]
            elif f.name in kept and arguments.keys() & depends:
                merged[f.argument] = kept.pop(f.name)
        copy = self._with({})
        table.finish(copy, merged | arguments, kept)
        return copy

    @classmethod
    def _default(cls, argument: str) -> Any:
        """What distrax takes where the argument is not given; None for an argument that it asks for."""
        default = inspect.signature(cls._wrapped).parameters[argument].default
        return None if default is inspect.Parameter.empty else default

    def to_distrax(self) -> Any:
        """The object of distrax with the same parameters, nested objects included."""
        other = self._wrapped.__new__(self._wrapped)
        for name in self._distrax_attributes:
            other.__dict__[name] = jax.tree.map(_as_distrax, getattr(self, name), is_leaf=_is_ours)
        for f in self._parameters.fields:
            if getattr(f, "shared", False):
                other.__dict__[f.attribute] = _as_one(other.__dict__[f.attribute])
        return other

    @classmethod
    def _from_distrax(cls, other: Any) -> Self:
        """The object with the parameters of one of distrax, which are not finished again."""
        table = cls._parameters
        self = object.__new__(cls)
        kept = {f.name: value for f in table.fields if (value := f.read(other)) is not None}
        statics = {s.name: s.read(other) for s in table.statics}
        table.finish(self, dict.fromkeys(table.arguments) | statics, kept)
        return self

    def __repr__(self) -> str:
        statics = {s.name: getattr(self, s.attribute) for s in self._parameters.statics}
        parts = [f"{name}={_brief(value)}" for name, value in (self.finished() | statics).items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _finish(self, **arguments: Any) -> None:
        self._parameters.finish(self, arguments)

    def _with(self, attributes: Mapping[str, Any]) -> Self:
        copy = object.__new__(type(self))
        kept = {s.attribute for s in self._parameters.statics} | {"_parameterization"}
        copy.__dict__.update({k: v for k, v in self.__dict__.items() if k in kept}, **own_attributes(self))
        copy.__dict__.update(attributes)
        return copy

    def _batch_spec(self) -> Spec:
        """How the batch is sharded over explicit axes."""
        return self._parameters.batch_spec(self)

    def _broadcast(self, batch_shape: tuple[int, ...], spec: Spec = ()) -> Self:
        fields = self._parameters.present(self).items()
        return self._with({f.attribute: f.broadcast(value, batch_shape, self, spec) for f, value in fields})

    def _at(self, index: Any, inner: int = 0) -> Self:
        """The object at `index` of its batch dimensions but the last `inner` ones."""
        fields = self._parameters.present(self).items()
        return self._with({f.attribute: f.at(value, index, self, inner) for f, value in fields})


class FinishedDistribution(Finished):
    """A distribution that is nothing but its finished parameters."""

    def __getitem__(self, index: Any) -> Self:
        """The distribution at `index` of the batch, which may be traced.

        Raises:
            IndexError: where a static index is out of bounds or there are too many.
        """
        return self._at(index)


class FinishedBijector(Finished):
    """A bijector that is nothing but its finished parameters."""

    def same_as(self, other: Any) -> bool:
        """Whether `other` is a bijector of the same structure with equal parameters.

        Parameters that are traced are equal only if they are identical.
        """
        if not have_equal_structures(self, other):
            return False
        pairs = zip(jax.tree.leaves(self), jax.tree.leaves(other), strict=True)
        return all(a is b or _are_equal(a, b) for a, b in pairs)


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, jax.core.Tracer) or isinstance(b, jax.core.Tracer):
        return False
    return bool(np.array_equal(a, b))


def _as_one(x: Any) -> Any:
    """A single element of an array, if all are known to be equal."""
    if isinstance(x, jax.core.Tracer) or not x.size:
        return x
    first = x.ravel()[0]
    return first if bool((x == first).all()) else x


def _is_ours(x: Any) -> bool:
    return isinstance(x, Finished | FunctionParameter)


def _as_distrax(x: Any) -> Any:
    if isinstance(x, Finished):
        return x.to_distrax()
    return x.function if isinstance(x, FunctionParameter) else x


def _brief(value: Any) -> str:
    if isinstance(value, Finished):
        return repr(value)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{dtype}[{','.join(map(str, shape))}]"
    match value:
        case dict():
            return f"{{{', '.join(f'{key!r}: {_brief(part)}' for key, part in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_brief, value))}]"
    return str(value)

"""The base of every generated distribution, and its registration as a pytree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from jax import Array

from .indexing import index_batch
from .parameters import Parameters
from .registration import own_attributes, register

__all__ = ["FinishedDistribution"]


class FinishedDistribution:
    """A distribution that is nothing but its finished parameters.

    An instance stores finished parameters and structural statics. What distrax stores beside them is a
    property that computes it. Each subclass is a pytree whose leaves are the finished parameters; one
    that users derive keeps its own attributes as well (see `registration`).
    """

    _parameters: ClassVar[Parameters]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        # Not distrax's, which registers the class as a pytree again whenever it is called.
        return object.__new__(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register(cls)

    def finished(self) -> dict[str, Array]:
        """The finished parameters by name, in the order of the leaves."""
        raise NotImplementedError

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        raise NotImplementedError

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Iterable[Any]) -> Self:
        raise NotImplementedError

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
        merged = dict.fromkeys(table.arguments) | {s.name: getattr(self, f"_{s.name}") for s in table.statics}
        kept = self.finished()
        for f in table.fields:
            rival = f.argument in table.exactly_one_of and any(a in arguments for a in table.exactly_one_of)
            if f.name in kept and (f.argument in arguments or rival):
                del kept[f.name]
            elif f.name in kept and arguments.keys() & {*f.finish_with, f.dtype}:
                merged[f.argument] = kept.pop(f.name)
        return self._with(table.finish(merged | arguments, kept))

    def __getitem__(self, index: Any) -> Self:
        """The distribution at `index` of the batch, which may be traced.

        Raises:
            IndexError: where a static index is out of bounds or there are too many.
        """
        events = {f.name: len(f.event) for f in self._parameters.fields}
        leaves = self.finished().items()
        return self._with({f"_{name}": index_batch(array, index, events[name]) for name, array in leaves})

    def __repr__(self) -> str:
        statics = {s.name: getattr(self, f"_{s.name}") for s in self._parameters.statics}
        parts = [f"{name}={_brief(value)}" for name, value in (self.finished() | statics).items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _finish(self, **arguments: Any) -> None:
        self.__dict__.update(self._parameters.finish(arguments))

    def _with(self, attributes: Mapping[str, Any]) -> Self:
        copy = object.__new__(type(self))
        kept = {f"_{s.name}" for s in self._parameters.statics} | {"_parameterization"}
        copy.__dict__.update({k: v for k, v in self.__dict__.items() if k in kept}, **own_attributes(self))
        copy.__dict__.update(attributes)
        return copy


def _brief(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return str(value)
    return f"{dtype}[{','.join(map(str, shape))}]"

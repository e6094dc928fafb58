"""Cases: a class, its constructor arguments, and the precision in which they are given.

Shapes come from a small set, so that compiled functions are used again; values come from a seed and the
constraints of the spec.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from distgen.plan import FieldPlan
from distgen.spec import Parameter
from distgen.verify.subjects import Subject
from distgen.verify.values import draw_values

BATCH_SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3))
EVENT_SIZES = {"K": 4, "D": 3, "R": 2}
STATICS: Mapping[str, tuple[Any, ...]] = {
    "discrete_dtype": (int, jnp.float32),
    "binary_dtype": (int, bool),
    "flag": (True, False),
}


@dataclass(frozen=True)
class Precision:
    """The dtype of parameters, and whether JAX works with 64 bits."""

    dtype: Any
    x64: bool = False

    def __repr__(self) -> str:
        return str(jnp.dtype(self.dtype)) + (" under x64" if self.x64 else "")

    @property
    def natural(self) -> Precision:
        """The precision in which distrax stays in the dtype: with x64 it widens parameters of 32 bits."""
        return replace(self, x64=self.dtype is jnp.float64)

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        """What a case must be built and used in."""
        # JAX before 0.8 has it in jax.experimental alone.
        home: Any = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
        with home.enable_x64(self.x64):
            yield


FLOAT32 = Precision(jnp.float32)
PRECISIONS = (
    FLOAT32,
    Precision(jnp.bfloat16),
    Precision(jnp.float64, x64=True),
    Precision(jnp.float32, x64=True),
)


@dataclass(frozen=True)
class Case:
    """A class and the arguments of its constructor, as NumPy arrays in double precision."""

    subject: Subject
    variant: str
    precision: Precision
    batch_shape: tuple[int, ...]
    values: Mapping[str, np.ndarray[Any, Any]]
    statics: Mapping[str, Any]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(value.shape)}" for name, value in self.values.items())
        statics = "".join(f", {name}={value}" for name, value in self.statics.items())
        return f"{self.subject}({shapes}{statics}) in {self.precision}, {self.variant}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # The protocol by which hypothesis shows an example.
        printer.text(repr(self))

    @property
    def fields(self) -> tuple[FieldPlan, ...]:
        """The fields that are leaves in this case."""
        (variant,) = (v for v in self.subject.plan.variants if v.label == self.variant)
        return variant.fields

    @property
    def arrays(self) -> dict[str, jax.Array]:
        """The arguments that are arrays, in the precision of the case."""
        return {name: self._array(name, value) for name, value in self.values.items()}

    @property
    def arguments(self) -> dict[str, Any]:
        return self.arrays | dict(self.statics)

    def build(self) -> Any:
        """An object of the generated class."""
        return self.subject.generated(**self.arguments)

    def reference(self) -> Any:
        """The object of distrax, with all arguments broadcast, which is where distrax is right.

        Where distrax takes a Python number only, a scalar stays one; where it has no such object in a
        narrow dtype, it is one of float32. A case of which distrax has no object at all is not drawn.
        """
        rounded = {name: np.asarray(array, np.float64) for name, array in self.arrays.items()}
        wide = replace(self, values=rounded, precision=FLOAT32)
        for case, keeps_scalars in product((self, wide), (False, True)):
            with contextlib.suppress(TypeError, NotImplementedError):
                return case._reference(keeps_scalars)
        return reject()

    def _reference(self, keeps_scalars: bool) -> Any:
        def broadcast(name: str, array: jax.Array) -> jax.Array:
            event_ndims = self.event_ndims(name)
            if not array.ndim and (keeps_scalars or event_ndims):
                return array
            return jnp.broadcast_to(array, self.batch_shape + array.shape[array.ndim - event_ndims :])

        arrays = {name: broadcast(name, array) for name, array in self.arrays.items()}
        return self.subject.wrapped(**arrays, **self.statics)

    def redrawn(self, seed: int = 1) -> Case:
        """A case of the same shapes with other values."""
        rng = np.random.default_rng(seed)
        values: dict[str, np.ndarray[Any, Any]] = {}
        for name, value in self.values.items():
            values[name] = draw_values(self._parameter(name).constraint, rng, value.shape, values)
        return replace(self, values=values)

    def event_ndims(self, name: str) -> int:
        """How many dimensions of the argument are not batch dimensions."""
        parameter = self._parameter(name)
        return len(parameter.argument_event or parameter.event)

    def _array(self, name: str, value: np.ndarray[Any, Any]) -> jax.Array:
        is_integer = np.issubdtype(value.dtype, np.integer)
        return jnp.asarray(value, dtype=None if is_integer else self.precision.dtype)

    def _parameter(self, name: str) -> Parameter:
        parameter = self.subject.spec.parameters[name]
        assert isinstance(parameter, Parameter)
        return parameter


def make_case(
    subject: Subject,
    *,
    variant: str | None = None,
    precision: Precision = FLOAT32,
    batch_shape: tuple[int, ...] = (),
    ranks: Mapping[str, int] | None = None,
    omitted: frozenset[str] = frozenset(),
    statics: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Case:
    """The case with these choices. `ranks` are how many batch dimensions an argument has, if not all."""
    rng = np.random.default_rng(seed)
    labels = {v.label: v.fields for v in subject.plan.variants}
    label = variant or next(iter(labels))
    values: dict[str, np.ndarray[Any, Any]] = {}
    for f in labels[label]:
        if f.argument in omitted:
            continue
        parameter = subject.spec.parameters[f.argument]
        assert isinstance(parameter, Parameter)
        rank = (ranks or {}).get(f.argument, len(batch_shape))
        own = batch_shape[len(batch_shape) - rank :]
        dims = parameter.argument_event or parameter.event
        event = () if dims == ("1",) and not own else tuple(EVENT_SIZES.get(dim, 1) for dim in dims)
        values[f.argument] = draw_values(parameter.constraint, rng, own + event, values)
    chosen = dict(statics) if statics is not None else {}
    return Case(subject, label, precision, batch_shape, values, chosen)


@st.composite
def cases(draw: st.DrawFn, subject: Subject, precisions: tuple[Precision, ...] = PRECISIONS) -> Case:
    """Cases over parameterisations, batch shapes, ranks, omitted defaults, statics, precisions and values."""
    plan = subject.plan
    variant = draw(st.sampled_from([v.label for v in plan.variants]))
    fields = next(v.fields for v in plan.variants if v.label == variant)
    batch_shape = draw(st.sampled_from(BATCH_SHAPES))
    carriers = [f.argument for f in fields if _extends_batch(subject, f.argument)]
    full = draw(st.sampled_from(carriers))
    ranks = {
        f.argument: len(batch_shape)
        if f.argument == full
        else draw(st.sampled_from(range(len(batch_shape) + 1)))
        for f in fields
    }
    optional = {name for name, a in _constructor(subject).items() if a.default is not inspect.Parameter.empty}
    omissible = [
        f.argument for f in fields if f.argument in optional and not f.is_optional and f.argument != full
    ]
    required = {name for f in fields for name in _mentioned(subject, f.argument)}
    omitted = draw(st.sets(st.sampled_from(omissible))) - required if omissible else set()
    statics = {s.name: draw(st.sampled_from(STATICS[s.finish_code])) for s in plan.statics}
    return make_case(
        subject,
        variant=variant,
        precision=draw(st.sampled_from(precisions)),
        batch_shape=batch_shape,
        ranks=ranks,
        omitted=frozenset(omitted),
        statics=statics,
        seed=draw(st.integers(0, 999)),
    )


def _constructor(subject: Subject) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(subject.generated).parameters


def _extends_batch(subject: Subject, argument: str) -> bool:
    parameter = subject.spec.parameters[argument]
    return isinstance(parameter, Parameter) and parameter.extends_batch


def _mentioned(subject: Subject, argument: str) -> set[str]:
    """The arguments without which this one cannot be chosen, itself included where there are some."""
    parameter = subject.spec.parameters[argument]
    assert isinstance(parameter, Parameter)
    names = {*parameter.constraint.names} | ({parameter.requires} if parameter.requires else set())
    return names | {argument} if names else names

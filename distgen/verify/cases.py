"""Cases: a class, its constructor arguments, and the precision in which they are given.

Shapes come from a small set, so that compiled functions are used again; values come from a seed and the
constraints of the spec. Arguments that are objects are cases themselves (see `trees`).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import product, zip_longest
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from distgen.expression import Expression
from distgen.plan import FieldPlan
from distgen.spec import Parameter
from distgen.verify.subjects import Subject
from distgen.verify.values import draw_values

BATCH_SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3))
EVENT_SIZES = {"K": 4, "D": 3, "R": 2, "P": 10}
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
        return self.name + (" under x64" if self.x64 else "")

    @property
    def name(self) -> str:
        """The name of the dtype."""
        return str(jnp.dtype(self.dtype))

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

# The functions that are called with params.
_WITH_PARAMS = ("forward", "inverse", "conditioner")


@dataclass(frozen=True)
class Case:
    """A class and the arguments of its constructor.

    Attributes:
        variant: the parameterisation.
        batch_shape: the batch shape of the object.
        values: the arguments that are arrays, and those that functions take, in double precision.
        statics: the structural arguments and settings, and the functions.
        children: the arguments that are objects: cases, or lists or dicts of them.
        event_shape: of a bijector, the shape of the events that it is put to.
    """

    subject: Subject
    variant: str
    precision: Precision
    batch_shape: tuple[int, ...]
    values: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    statics: Mapping[str, Any] = field(default_factory=dict)
    children: Mapping[str, Any] = field(default_factory=dict)
    event_shape: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"{self._call()} in {self.precision}, batch shape {self.batch_shape}, {self.variant}"

    def _call(self) -> str:
        parts = [f"{name}={_map(Case._call, child)}" for name, child in self.children.items()]
        parts += [f"{name}{list(value.shape)}" for name, value in self.values.items()]
        parts += [f"{n}={getattr(value, '__name__', value)}" for n, value in self.statics.items()]
        return f"{self.subject}({', '.join(parts)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # The protocol by which hypothesis shows an example.
        printer.text(repr(self))

    @property
    def fields(self) -> tuple[FieldPlan, ...]:
        """The fields that are there in this case."""
        (variant,) = (v for v in self.subject.plan.variants if v.label == self.variant)
        return variant.fields

    @property
    def levels(self) -> list[list[Case]]:
        """The case, the cases of its children, those of their children, and so on."""
        nested = [x for x in jax.tree.leaves([*self.children.values()], is_leaf=_is_case) if _is_case(x)]
        below = [case.levels for case in nested]
        merged = zip_longest(*below, fillvalue=())
        return [[self], *([case for part in level for case in part] for level in merged)]

    @property
    def arrays(self) -> dict[str, jax.Array]:
        """The arguments that are arrays, in the precision of the case."""
        return {name: self._array(name, value) for name, value in self.values.items()}

    def inputs(self) -> Any:
        """All arrays that the object is built from, those of nested objects included, as a pytree."""
        return self.arrays, {name: _map(Case.inputs, child) for name, child in self.children.items()}

    def build_from(self, inputs: Any) -> Any:
        """An object of the generated class, from arrays like `inputs()`."""
        arrays, nested = inputs
        children = {n: _map(Case.build_from, child, nested[n]) for n, child in self.children.items()}
        return self._construct(self.subject.generated, arrays, children)

    def axes(self, least: int | None = None) -> Any:
        """0 for each of `inputs()` that has all dimensions of the batch, None for the others.

        What is nested without a batch of the `least` rank, that of its owner, has none of them.
        """
        rank = len(self.batch_shape)
        least = rank if least is None else least
        ranks = {name: array.ndim - self.event_ndims(name) for name, array in self.arrays.items()}
        arrays = {name: 0 if own == rank >= least else None for name, own in ranks.items()}
        return arrays, {name: _map(lambda c: c.axes(least), child) for name, child in self.children.items()}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        children = {name: _map(Case.build, child) for name, child in self.children.items()}
        return self._arguments(self.subject.generated, self.arrays, children)

    def build(self) -> Any:
        """An object of the class."""
        return self.subject.generated(**self.arguments)

    def reference(self) -> Any:
        """The object of distrax, with all arguments broadcast, which is where distrax is right.

        Where distrax takes a Python number only, a scalar stays one; where it has no such object in a
        narrow dtype, it is one of float32. A case of which distrax has no object at all is not drawn.
        """
        for case, keeps_scalars in product((self, self._widened()), (False, True)):
            with contextlib.suppress(TypeError, ValueError, NotImplementedError):
                return case._reference(keeps_scalars)
        return reject()

    def in_precision(self, precision: Precision) -> Case:
        """The case with its values in another precision."""
        children = {name: _map(lambda c: c.in_precision(precision), c) for name, c in self.children.items()}
        return replace(self, children=children, precision=precision)

    def _widened(self) -> Case:
        """The case with its values, as they were rounded, in float32."""
        rounded = {name: np.asarray(array, np.float64) for name, array in self.arrays.items()}
        children = {name: _map(Case._widened, child) for name, child in self.children.items()}
        return replace(self, values=rounded, children=children, precision=FLOAT32)

    def _reference(self, keeps_scalars: bool) -> Any:
        def broadcast(name: str, array: jax.Array) -> jax.Array:
            event_ndims = self.event_ndims(name)
            if not array.ndim and (keeps_scalars or event_ndims or not _extends_batch(self.subject, name)):
                return array
            return jnp.broadcast_to(array, self.batch_shape + array.shape[array.ndim - event_ndims :])

        arrays = {name: broadcast(name, array) for name, array in self.arrays.items()}
        children = {
            name: _map(lambda case: case._reference(keeps_scalars), child)
            for name, child in self.children.items()
        }
        return self._construct(self.subject.wrapped, arrays, children)

    def _construct(self, cls: Any, arrays: Mapping[str, Any], children: Mapping[str, Any]) -> Any:
        return cls(**self._arguments(cls, arrays, children))

    def _arguments(self, cls: Any, arrays: Mapping[str, Any], children: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the constructor of `cls`. Functions capture the params that it does not take."""
        arguments = {**arrays, **children, **self.statics}
        if "params" in arguments and "params" not in inspect.signature(cls).parameters:
            params = arguments.pop("params")
            functions = {n: f for n, f in self.statics.items() if n in _WITH_PARAMS}
            arguments |= {n: jax.tree_util.Partial(f, params) for n, f in functions.items()}
        return arguments

    def redrawn(self, seed: int = 1) -> Case:
        """A case of the same shapes with other values."""
        rng = np.random.default_rng(seed)
        values: dict[str, np.ndarray[Any, Any]] = {}
        for name, value in self.values.items():
            values[name] = draw_values(self._constraint(name), rng, value.shape, values)
        children = {name: _map(lambda case: case.redrawn(seed), c) for name, c in self.children.items()}
        return replace(self, values=values, children=children)

    def event_ndims(self, name: str) -> int:
        """How many dimensions of the argument are not batch dimensions."""
        parameter = self.subject.spec.parameters[name]
        if not isinstance(parameter, Parameter):
            return self.values[name].ndim
        if parameter.inner != 0:
            return len(self.event_shape)
        return len(parameter.argument_event or parameter.event)

    def _array(self, name: str, value: np.ndarray[Any, Any]) -> jax.Array:
        is_floating = np.issubdtype(value.dtype, np.floating)
        return jnp.asarray(value, dtype=self.precision.dtype if is_floating else None)

    def _constraint(self, name: str) -> Expression:
        parameter = self.subject.spec.parameters[name]
        return parameter.constraint if isinstance(parameter, Parameter) else Expression("real")


def _map(function: Callable[..., Any], children: Any, *others: Any) -> Any:
    """Maps over the cases in a case, or in a list or dict of cases."""
    return jax.tree.map(function, children, *others, is_leaf=_is_case)


def _is_case(x: Any) -> bool:
    return isinstance(x, Case)


def make_case(
    subject: Subject,
    *,
    variant: str | None = None,
    precision: Precision = FLOAT32,
    batch_shape: tuple[int, ...] = (),
    ranks: Mapping[str, int] | None = None,
    omitted: frozenset[str] = frozenset(),
    statics: Mapping[str, Any] | None = None,
    children: Mapping[str, Any] | None = None,
    event_shape: tuple[int, ...] = (),
    params: tuple[int, ...] | None = None,
    seed: int = 0,
) -> Case:
    """The case with these choices. `ranks` are how many batch dimensions an argument has, if not all;
    `params` is the shape of an array that functions take."""
    rng = np.random.default_rng(seed)
    labels = {v.label: v.fields for v in subject.plan.variants}
    label = variant or next(iter(labels))
    values: dict[str, np.ndarray[Any, Any]] = {}
    for argument in dict.fromkeys(f.argument for f in labels[label] if f.is_array):
        if argument in omitted:
            continue
        parameter = subject.spec.parameters[argument]
        assert isinstance(parameter, Parameter)
        rank = (ranks or {}).get(argument, len(batch_shape))
        own = batch_shape[len(batch_shape) - rank :]
        dims = parameter.argument_event or parameter.event
        event = () if dims == ("1",) and not own else tuple(EVENT_SIZES.get(dim, 1) for dim in dims)
        if parameter.inner != 0:
            event = event_shape
        values[argument] = draw_values(parameter.constraint, rng, own + event, values)
    if params is not None:
        values["params"] = draw_values(Expression("real"), rng, params, values)
    return Case(subject, label, precision, batch_shape, values, statics or {}, children or {}, event_shape)


def plain_case(draw: st.DrawFn, subject: Subject, precision: Precision) -> Case:
    """A case of a class that takes arrays and statics only: over parameterisations, batch shapes, ranks,
    omitted defaults, statics and values."""
    plan = subject.plan
    variant = draw(st.sampled_from([v.label for v in plan.variants]))
    fields = next(v.fields for v in plan.variants if v.label == variant)
    batch_shape = draw(st.sampled_from(BATCH_SHAPES))
    carriers = [f.argument for f in fields if _extends_batch(subject, f.argument)]
    full = draw(st.sampled_from(carriers)) if carriers else ""
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
        precision=precision,
        batch_shape=batch_shape if fields else (),
        ranks=ranks,
        omitted=frozenset(omitted),
        statics=statics,
        event_shape=plain_event_shape(subject),
        seed=draw(st.integers(0, 999)),
    )


def plain_event_shape(subject: Subject) -> tuple[int, ...]:
    """The shape of the events that a bijector without nested objects is put to."""
    ndims = subject.spec.derived.get("_event_ndims_in", 0)
    return (EVENT_SIZES["D"],) * ndims if isinstance(ndims, int) else ()


def _constructor(subject: Subject) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(subject.generated).parameters


def _extends_batch(subject: Subject, argument: str) -> bool:
    parameter = subject.spec.parameters[argument]
    return not isinstance(parameter, Parameter) or parameter.extends_batch


def _mentioned(subject: Subject, argument: str) -> set[str]:
    """The arguments without which this one cannot be chosen, itself included where there are some."""
    parameter = subject.spec.parameters[argument]
    assert isinstance(parameter, Parameter)
    names = {*parameter.constraint.names} | ({parameter.requires} if parameter.requires else set())
    return names | {argument} if names else names

"""Supports in numbers: an interval, a list of points, or a space of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.cases import Case
from distgen.verify.statistics import SIMPLEX, VECTORS, Chart

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Interval:
    """Real numbers from `low` to `high`, with a density; the ends may be atoms."""

    low: float
    high: float


@dataclass(frozen=True)
class Circle(Interval):
    """Angles, of which mean and variance are circular."""


@dataclass(frozen=True)
class Points:
    """Finitely many events, one a row, numbers in ascending order.

    Attributes:
        values: the events.
        labels: the numbers by which they are shown.
    """

    values: Array
    labels: Array


@dataclass(frozen=True)
class Space:
    """Vectors with a density, and a chart of all of them."""

    chart: Chart


@dataclass(frozen=True)
class Unknown:
    """A set of which nothing is used."""


Support = Interval | Points | Space | Unknown


def support_of(case: Case, d: Any, seen: Array) -> Support:
    """The support of `d`, an object of the case.

    Where integers have no bound, it reaches beyond the draws that were `seen` by as much as they do.
    """
    constraint = case.subject.support
    nested, plain = _NESTED.get(constraint.name), _PLAIN.get(constraint.name)
    if nested is not None:
        return nested(case, d, seen, *constraint.bounds)
    if plain is not None:
        return plain(d, seen, *(getattr(d, b) if isinstance(b, str) else b for b in constraint.bounds))
    return Unknown()


def _interval(d: Any, seen: Array, low: Any, high: Any) -> Support:
    return Interval(float(np.min(low)), float(np.max(high)))


def _numbers(values: Array) -> Points:
    column = np.asarray(values, np.float64).reshape(-1, 1)
    return Points(column, column[:, 0])


def _integers_within(d: Any, seen: Array, low: Any, high: Any) -> Support:
    least, greatest = float(np.min(seen)), float(np.max(seen))
    reach = greatest - least + 1
    first = least - reach if low is None else float(np.min(low))
    last = greatest + reach if high is None else float(np.max(high))
    return _numbers(np.arange(first, last + 1))


def _one_hot(d: Any, seen: Array) -> Support:
    size = d.event_shape[-1]
    return Points(np.eye(size), np.arange(float(size)))


def _counts(d: Any, seen: Array, total: Any) -> Support:
    """All ways to put `total` balls into bins, with the walls between the bins at places among the balls."""
    total, walls = int(np.max(total)), d.event_shape[-1] - 1
    places = [(-1, *c, total + walls) for c in combinations(range(total + walls), walls)]
    values = np.diff(np.array(places), axis=-1) - 1.0
    return Points(values, values[:, 0])


_PLAIN: Mapping[str, Callable[..., Support]] = {
    "boolean": lambda d, seen: _numbers(np.arange(2)),
    "circular": lambda d, seen: Circle(-math.pi, math.pi),
    "counts": _counts,
    "greater_than": lambda d, seen, low: _interval(d, seen, low, math.inf),
    "integer": lambda d, seen: _integers_within(d, seen, None, None),
    "integers_below": lambda d, seen, count: _numbers(np.arange(int(count))),
    "integers_within": _integers_within,
    "interval": _interval,
    "nonnegative": lambda d, seen: Interval(0.0, math.inf),
    "nonnegative_integer": lambda d, seen: _integers_within(d, seen, 0, None),
    "one_hot": _one_hot,
    "positive": lambda d, seen: Interval(0.0, math.inf),
    "real": lambda d, seen: Interval(-math.inf, math.inf),
    "real_vector": lambda d, seen: Space(VECTORS),
    "simplex": lambda d, seen: Space(SIMPLEX),
    "singleton": lambda d, seen, point: _numbers(np.asarray(point)),
    "unit_interval": lambda d, seen: Interval(0.0, 1.0),
}


def _of_child(case: Case, d: Any, seen: Array, name: str) -> Support:
    # Objects of distrax do not all have their children as attributes.
    return support_of(case.children[name], case.children[name].build(), seen)


def _supported(case: Case, d: Any, seen: Array, name: str) -> Support:
    child = _of_child(case, d, seen, name)
    is_same = d.event_shape == case.children[name].build().event_shape
    return child if is_same else _vectors_of([child])


def _in_either(case: Case, d: Any, seen: Array, first: str, second: str) -> Support:
    a, b = (_of_child(case, d, seen, name) for name in (first, second))
    if isinstance(a, Interval) and isinstance(b, Interval):
        return Interval(min(a.low, b.low), max(a.high, b.high))
    return a if a == b else Unknown()


def _in_image(case: Case, d: Any, seen: Array, distribution: str, bijector: str) -> Support:
    base, function = _of_child(case, d, seen, distribution), case.children[bijector].build()
    if isinstance(base, Interval):
        # The function is monotonic.
        ends = [float(function.forward(jnp.asarray(end, d.dtype))) for end in (base.low, base.high)]
        return Interval(min(ends), max(ends))
    is_space = base == Space(VECTORS) and function.is_constant_jacobian
    return base if is_space else Unknown()


def _in_all(case: Case, d: Any, seen: Array, name: str) -> Support:
    cases = jax.tree.leaves(case.children[name], is_leaf=lambda x: isinstance(x, Case))
    return _vectors_of([support_of(child, child.build(), seen) for child in cases])


def _vectors_of(parts: list[Support]) -> Support:
    """The vectors with real numbers and vectors as parts."""
    is_all = all(part in (Interval(-math.inf, math.inf), Space(VECTORS)) for part in parts)
    return Space(VECTORS) if is_all else Unknown()


_NESTED: Mapping[str, Callable[..., Support]] = {
    "in_all": _in_all,
    "in_any": _of_child,
    "in_either": _in_either,
    "in_image": _in_image,
    "supported": _supported,
}

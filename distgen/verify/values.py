"""Valid values for parameters, by the constraint that their spec names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from distgen.expression import Expression
from distgen.runtime.constraints import Constraint

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def _positive(rng: Generator, shape: Shape) -> Array:
    return 0.25 + rng.gamma(2.0, 0.5, shape)


def _simplex(rng: Generator, shape: Shape) -> Array:
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


def _positive_definite(rng: Generator, shape: Shape) -> Array:
    factor = rng.normal(size=shape)
    return factor @ np.swapaxes(factor, -1, -2) + np.eye(shape[-1])


def _triangular_matrix(rng: Generator, shape: Shape) -> Array:
    """A full matrix, of which finishing takes a triangle, with a diagonal away from zero."""
    return 0.5 * rng.normal(size=shape) + 2.5 * np.eye(shape[-1])


GENERATORS: Mapping[str, Callable[[Generator, Shape], Array]] = {
    "boolean": lambda rng, shape: rng.integers(0, 2, shape).astype(bool),
    "integer": lambda rng, shape: rng.integers(-3, 0, shape).astype(float),
    "invertible": _triangular_matrix,
    "nonzero": lambda rng, shape: _positive(rng, shape) * rng.choice([-1.0, 1.0], shape),
    "real": lambda rng, shape: rng.normal(size=shape),
    "positive": _positive,
    "nonnegative": lambda rng, shape: 0.1 * rng.gamma(2.0, 0.5, shape),
    "unit_interval": lambda rng, shape: rng.uniform(0.05, 0.95, shape),
    "nonnegative_integer": lambda rng, shape: rng.integers(0, 6, shape),
    "simplex": _simplex,
    "positive_definite": _positive_definite,
    "triangular_matrix": _triangular_matrix,
}


def _counts(rng: Generator, shape: Shape, total: Array) -> Array:
    return rng.multinomial(np.broadcast_to(total, shape[:-1]).astype(int), np.full(shape[-1], 1 / shape[-1]))


EVENTS: Mapping[str, Callable[..., Array]] = {
    "boolean": lambda rng, shape: rng.integers(0, 2, shape),
    "circular": lambda rng, shape: rng.uniform(-np.pi, np.pi, shape),
    "counts": _counts,
    "integers_below": lambda rng, shape, count: rng.integers(0, count, shape),
    "interval": lambda rng, shape, low, high: low + (high - low) * rng.uniform(size=shape),
    "one_hot": lambda rng, shape: np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])],
    "positive": _positive,
    "real": lambda rng, shape: rng.normal(size=shape),
    "real_vector": lambda rng, shape: rng.normal(size=shape),
    "simplex": _simplex,
    "singleton": lambda rng, shape, point: np.broadcast_to(point, shape),
    "unit_interval": lambda rng, shape: rng.uniform(0.05, 0.95, shape),
}


def draw_event(d: Any, support: Constraint, seed: int = 0) -> Array:
    """One event for each distribution of the batch, from the support.

    Raises:
        KeyError: for a support without a generator.
    """
    bounds = (getattr(d, b) if isinstance(b, str) else b for b in support.bounds)
    wide = (b if isinstance(b, int) else _as_numpy(b) for b in bounds)
    return EVENTS[support.name](np.random.default_rng(seed), d.batch_shape + d.event_shape, *wide)


def _as_numpy(x: Any) -> Array:
    array = np.asarray(x)
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


def draw_values(constraint: Expression, rng: Generator, shape: Shape, others: Mapping[str, Array]) -> Array:
    """Values of the given shape that meet `constraint`, where `others` are parameters drawn before.

    Raises:
        KeyError: for a constraint without a generator.
    """
    if constraint.function == "greater_than" and constraint.arguments:
        (bound,) = constraint.arguments
        lower = np.max(others[bound]) if isinstance(bound, str) else bound
        return np.asarray(lower + _positive(rng, shape))
    if constraint.function == "integer_above":
        return np.asarray(rng.integers(1, 4, shape), float)
    return np.asarray(GENERATORS[constraint.function](rng, shape))

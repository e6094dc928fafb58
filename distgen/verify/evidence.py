"""What statistical tests and plots know of a case: its support, its draws, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.acting import OF_NOTHING
from distgen.verify.cases import Case
from distgen.verify.sampling import Draws, answers, asked, draw, widened
from distgen.verify.statistics import Quadrature, Whitening, line
from distgen.verify.supports import Interval, Points, Space, Support, support_of

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]

# The least share of draws at an end of an interval that makes it an atom.
ATOM = 1e-4
# The interquartile range of the normal law of unit variance.
_NORMAL_RANGE = 1.349


@dataclass(frozen=True)
class Measure:
    """A distribution over an interval: masses at its ends, and a density at the nodes of a quadrature.

    Attributes:
        ends: the masses at the lower and the upper end.
        exponentials: the exponential of the log density at the nodes.
    """

    interval: Interval
    quadrature: Quadrature
    ends: tuple[float, float]
    density: Array
    exponentials: Array

    @property
    def total(self) -> float:
        """The mass of the interval."""
        return sum(self.ends) + self.quadrature.integral(self.density)

    def cdf(self, x: Array) -> Array:
        """The mass up to and including x."""
        inside = np.interp(x, self.quadrature.nodes, self.quadrature.cumulative(self.density))
        low, high = self.ends
        return np.asarray(inside + low * (x >= self.interval.low) + high * (x >= self.interval.high))


@dataclass(frozen=True)
class Evidence:
    """A case, its support and its draws, and what is computed from them where it is first asked for."""

    case: Case
    support: Support
    draws: Draws

    @property
    def values(self) -> Array:
        """The draws, one a row."""
        return self.draws.values

    @property
    def numbers(self) -> Array:
        """The draws of a distribution of numbers."""
        return self.draws.values[:, 0]

    @property
    def inner(self) -> Array:
        """The draws that are inside of an interval and not at its ends."""
        assert isinstance(self.support, Interval)
        return self.numbers[(self.numbers > self.support.low) & (self.numbers < self.support.high)]

    @cached_property
    def moments(self) -> Mapping[str, Array]:
        """Mean, variance and whatever else the class says of itself, as vectors."""
        return asked(self.case, OF_NOTHING)

    @cached_property
    def densities(self) -> Function:
        """The density or the probability of events, and the exponential of its logarithm, in two columns."""
        return widened(self.case, lambda d, x: jnp.stack([d.prob(x), jnp.exp(d.log_prob(x))], axis=-1))

    def prob(self, points: Array) -> Array:
        """The density, or the probability, of events, one a row."""
        return np.asarray(self.densities(points)[:, 0])

    @cached_property
    def cdf(self) -> Function | None:
        """The distribution function of events, one a row; None where the class has none."""
        return widened(self.case, lambda d, x: d.cdf(x)) if answers(self.case, "cdf") else None

    @cached_property
    def slope(self) -> Function:
        """The derivative of the distribution function of numbers."""
        return widened(self.case, lambda d, x: jax.vmap(jax.grad(d.cdf))(x))

    @cached_property
    def points(self) -> Array:
        """All events of a finite support, one a row."""
        assert isinstance(self.support, Points)
        return self.support.values

    @cached_property
    def measure(self) -> Measure:
        """The distribution over an interval, from its density."""
        assert isinstance(self.support, Interval)
        low, high = self.support.low, self.support.high
        ends = np.array([low, high])
        inner = self.inner
        first, centre, last = np.quantile(inner, [0.25, 0.5, 0.75]) if len(inner) else np.zeros(3)
        quadrature = line(low, high, centre, (last - first) / _NORMAL_RANGE or 1.0)
        rows = self.densities(np.concatenate([quadrature.nodes, ends])[:, None])
        masses = [
            float(mass) if np.mean(self.numbers == end) >= ATOM else 0.0
            for mass, end in zip(rows[-2:, 0], ends, strict=True)
        ]
        return Measure(self.support, quadrature, (masses[0], masses[1]), rows[:-2, 0], rows[:-2, 1])

    @cached_property
    def whitening(self) -> Whitening:
        """That of draws in a space, in the coordinates of its chart."""
        assert isinstance(self.support, Space)
        return Whitening.of(self.support.chart.inverse(self.values))


def evidence_of(case: Case, seed: int, count: int) -> Evidence:
    """The evidence of so many draws."""
    draws = draw(case, seed, count)
    with case.precision.context():
        return Evidence(case, support_of(case, case.build(), draws.values), draws)

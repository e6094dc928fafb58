"""Numerical tools for statistical tests: critical values for a stated rate of false alarms, and quadrature.

All of them take NumPy arrays of double precision, and know nothing of distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import scipy.stats

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]

# The probability that any test of any class raises a false alarm, in a run of all of them with a fresh seed.
FALSE_ALARM = 1e-4
# A bound on the number of random tests in such a run, which tests/test_statistics.py counts.
TESTS = 500
# What is left for each of them, by Bonferroni's inequality.
LEVEL = FALSE_ALARM / TESTS

# What rounding to float32 may add to a result of the order of one.
ROUNDING = 1e-6
# At how many of the draws an empirical distribution function is compared: the distance is short by
# 1 / CHECKPOINTS at most, and never too long.
CHECKPOINTS = 2**15
# The asymptotic law of counts holds at LEVEL for cells with as many expected draws: at z standard deviations,
# the tail of a Poisson law of mean m is exp(z^3 / (6 sqrt(m))) times the normal one, or twice at z = 5.
LEAST_EXPECTED = 1000.0

NODES = 2**18
# How far the variable t of `line` runs: sinh(12) = 81000 and sinh(5) = 74.
_EXTENT, _EXTENT_OF_LOG = 12.0, 5.0
GRID_NODES = 200_000
# Of a grid in several dimensions: how many standard deviations it reaches in each direction, and how far
# apart nodes may be. For a normal density, the trapezoidal rule errs by 2 exp(-2 pi^2 / h^2), or 1e-13 at
# h = 0.8 (Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56, 2014).
_REACH, _WIDEST = 8.0, 0.8


def z_bound(comparisons: int = 1) -> float:
    """How many standard errors the worst of so many means may be off, in one two-sided test at LEVEL."""
    return float(scipy.stats.norm.isf(LEVEL / (2 * comparisons)))


def standard_errors(values: Array, expected: Array) -> Array:
    """How many standard errors the mean of `values` over the first axis is from what was expected.

    Differences of the size of rounding errors count as none.
    """
    # Infinite values make a NaN, which no bound allows.
    with np.errstate(divide="ignore", invalid="ignore"):
        error = values.std(axis=0, dtype=np.float64) / np.sqrt(len(values))
        gap = np.abs(values.mean(axis=0, dtype=np.float64) - expected) - ROUNDING * (1 + np.abs(expected))
        return np.asarray(np.where(gap <= 0, 0.0, gap / error))


def ks_bound(count: int) -> float:
    """The critical Kolmogorov-Smirnov distance of `count` draws at LEVEL, by its asymptotic law."""
    return float(scipy.stats.kstwobign.isf(LEVEL)) / float(np.sqrt(count))


def ks_distance(values: Array, cdf: Function, checkpoints: int = CHECKPOINTS) -> float:
    """The greatest difference between cdf(x) and the share of values up to x, over quantiles x of the values.

    Values may be tied: at an atom, the share up to and including it is compared.
    """
    ordered = np.sort(values)
    steps = np.linspace(0, len(ordered) - 1, min(checkpoints, len(ordered))).astype(int)
    x = ordered[steps]
    shares = np.searchsorted(ordered, x, side="right") / len(ordered)
    return float(np.max(np.abs(shares - cdf(x.astype(np.float64)))))


def neyman_components(values: Array, cdf: Function, checkpoints: int = CHECKPOINTS) -> tuple[Array, Array]:
    """The first components of Neyman's smooth test, in standard errors, and their greatest slopes.

    They are the means over the draws of Legendre's polynomials of u = cdf(x), which is uniform, scaled to
    unit variance: sqrt(3) (2u - 1) sees a shift, and sqrt(5) (6 (u - 1/2)^2 - 1/2) a change of scale (Neyman,
    Smooth test for goodness of fit, 1937). A mean is taken over the middles of as many equal shares of the
    ordered draws as there are checkpoints. A slope is that of the polynomial in u.
    """
    ordered = np.sort(values)
    count = min(checkpoints, len(ordered))
    middles = ((np.arange(count) + 0.5) * len(ordered) / count).astype(int)
    u = cdf(ordered[middles].astype(np.float64)) - 0.5
    means = np.array([np.mean(math.sqrt(3) * 2 * u), np.mean(math.sqrt(5) * (6 * u**2 - 0.5))])
    return means * math.sqrt(len(ordered)), np.array([2 * math.sqrt(3), 6 * math.sqrt(5)])


def count_rows(values: Array, points: Array) -> Array:
    """How often each of the distinct rows `points` is there among the rows of `values`."""
    # No two vectors of integers have the same sum with powers of e as weights.
    keys, drawn = (sum(column * math.e**i for i, column in enumerate(x.T)) for x in (points, values))
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys[order], drawn), len(points) - 1)]
    is_there = np.all(points[places] == values, axis=-1)
    return np.bincount(places[is_there], minlength=len(points))


def chi_square(observed: Array, probabilities: Array, least: float = LEAST_EXPECTED) -> tuple[float, int]:
    """Pearson's statistic of counts, and its degrees of freedom.

    Cells with fewer than `least` expected are pooled into one, and that one with the smallest other cell
    where it is still below. The statistic is infinite where something without a probability was observed.
    """
    expected = np.asarray(probabilities, np.float64) * observed.sum()
    if np.any((expected <= 0) & (observed > 0)):
        return float("inf"), 1
    order = np.argsort(-expected)
    observed, expected = observed[order], expected[order]
    large = max(int(np.sum(expected >= least)), 1)
    if 0 < expected[large:].sum() < least and large > 1:
        large -= 1
    cells = [
        np.append(x[:large], x[large:].sum()) if expected[large:].sum() > 0 else x[:large]
        for x in (observed, expected)
    ]
    return float(np.sum((cells[0] - cells[1]) ** 2 / cells[1])), len(cells[0]) - 1


def chi_square_bound(degrees: int) -> float:
    """The critical value of Pearson's statistic at LEVEL; of a single cell, what is more than rounding."""
    return float(scipy.stats.chi2.isf(LEVEL, degrees)) if degrees else 1.0


@dataclass(frozen=True)
class Quadrature:
    """Nodes in ascending order and their weights: the integral of f is the sum of weights * f(nodes)."""

    nodes: Array
    weights: Array

    def integral(self, density: Array) -> float:
        """The integral of a function with these values at the nodes."""
        return float(np.sum(self.weights * density))

    def cumulative(self, density: Array) -> Array:
        """The integral up to each node."""
        parts = self.weights * density
        return np.cumsum(parts) - parts / 2


def line(low: float, high: float, centre: float, scale: float, count: int = NODES) -> Quadrature:
    """A quadrature over an interval, with no node at its ends.

    It is the trapezoidal rule in t, where x = centre + scale sinh(t) on the real line,
    log((x - low) / (centre - low)) = sinh(t) on a half-line, and logit((x - low) / (high - low)) = sinh(t) on
    a bounded interval: nodes gather where poles and tails are (Takahasi and Mori, Double exponential formulas
    for numerical integration, 1974). At a jump of the integrand, it errs by the spacing times the jump at
    most, and elsewhere by next to nothing.
    """
    is_real = np.isinf(low) and np.isinf(high)
    extent = _EXTENT if is_real else _EXTENT_OF_LOG
    t, step = np.linspace(-extent, extent, count, retstep=True)
    s, slope = np.sinh(t), np.cosh(t) * step
    if is_real:
        x, weights = centre + scale * s, scale * slope
    elif np.isinf(high):
        distance = (centre - low) * np.exp(s)
        x, weights = low + distance, distance * slope
    elif np.isinf(low):
        mirrored = line(-high, np.inf, -centre, scale, count)
        return Quadrature(-mirrored.nodes[::-1], mirrored.weights[::-1])
    else:
        share = scipy.special.expit(s)
        x = low + (high - low) * share
        weights = (high - low) * share * scipy.special.expit(-s) * slope
    inside = (x > low) & (x < high)
    return Quadrature(x[inside], weights[inside])


@dataclass(frozen=True)
class Whitening:
    """The map z -> mean + factor z, by which `mean` and factor factor^T are the moments of a standard z."""

    mean: Array
    factor: Array

    @classmethod
    def of(cls, values: Array) -> Whitening:
        """That with the sample moments of `values`, one a row."""
        covariance = np.atleast_2d(np.cov(values, rowvar=False))
        return cls(values.mean(axis=0), np.linalg.cholesky(covariance))

    def __call__(self, z: Array) -> Array:
        return np.asarray(self.mean + z @ self.factor.T)

    def inverse(self, y: Array) -> Array:
        return np.linalg.solve(self.factor, (y - self.mean).T).T

    @property
    def log_det(self) -> float:
        """The logarithm of the determinant of the factor."""
        return float(np.sum(np.log(np.diag(self.factor))))

    def normal_log_density(self, y: Array, spread: float) -> Array:
        """The log density of the normal law with the same mean, and `spread` times the factor."""
        z = self.inverse(y) / spread
        dimensions = len(self.mean)
        constant = dimensions * (np.log(spread) + np.log(2 * np.pi) / 2) + self.log_det
        return np.asarray(-np.sum(z**2, axis=-1) / 2 - constant)


def grid_axis(dimensions: int, count: int = GRID_NODES) -> Array | None:
    """The nodes along each axis of a grid in standardised coordinates; None where they would be too few."""
    nodes = np.linspace(-_REACH, _REACH, max(int(count ** (1 / max(dimensions, 1))), 2))
    return nodes if nodes[1] - nodes[0] <= _WIDEST else None


def product_grid(*axes: Array) -> Array:
    """All combinations of the nodes of the axes, one a row, those of the last axis running fastest."""
    return np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=-1)


@dataclass(frozen=True)
class Chart:
    """A smooth one-to-one map of all vectors of R^k to the events of a support.

    Attributes:
        forward: vectors, one a row, to events, one a row.
        inverse: the way back.
        log_det: of events, log |d event / d vector|.
        first: from the first element of a vector to that of the event, which no other element changes, and to
            its derivative.
    """

    forward: Function
    inverse: Function
    log_det: Function
    first: Callable[[Array], tuple[Array, Array]]


def _stick_forward(y: Array) -> Array:
    taken, left = scipy.special.expit(y), scipy.special.expit(-y)
    before = np.cumprod(np.column_stack([np.ones(len(y)), left]), axis=-1)
    return np.column_stack([before[:, :-1] * taken, before[:, -1]])


def _remainders(x: Array) -> Array:
    """What is left of the stick before each part: sums from the end, in which nothing cancels."""
    return np.asarray(np.cumsum(x[:, ::-1], axis=-1)[:, ::-1])


def _stick_inverse(x: Array) -> Array:
    return np.asarray(np.log(x[:, :-1]) - np.log(_remainders(x)[:, 1:]))


def _stick_log_det(x: Array) -> Array:
    left = _remainders(x)
    return np.asarray(np.sum(np.log(x[:, :-1]) + np.log(left[:, 1:]) - np.log(left[:, :-1]), axis=-1))


VECTORS = Chart(
    forward=lambda y: y,
    inverse=lambda x: x,
    log_det=lambda x: np.zeros(len(x)),
    first=lambda y: (y, np.ones_like(y)),
)
# Stick breaking: each part is a share of what is left, and the vector has the logits of the shares (Stan
# Reference Manual, Unit simplex). A density is one with respect to all parts but the last.
SIMPLEX = Chart(
    forward=_stick_forward,
    inverse=_stick_inverse,
    log_det=_stick_log_det,
    first=lambda y: (scipy.special.expit(y), scipy.special.expit(y) * scipy.special.expit(-y)),
)

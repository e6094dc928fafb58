"""Draws of a class beside its density, or beside its probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from distgen.verify.cases import Case
from distgen.verify.evidence import Evidence, evidence_of
from distgen.verify.results import Plot
from distgen.verify.specimens import specimens
from distgen.verify.statistics import count_rows, product_grid
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.supports import Circle, Interval, Points, Space, Unknown

Array = np.ndarray[Any, Any]

SEED = 20
SAMPLES = 100_000
BINS = 60
POINTS = 121
# The share of draws that a histogram leaves out on each side where a class has no end.
TAIL = 5e-4
# The least probability of a value that is shown though it was not drawn.
NEGLIGIBLE = 1e-6
# The nodes along the axes that a marginal density is integrated over, in standardised coordinates.
AXIS = np.linspace(-8.0, 8.0, 17)
MOST_AXES = 3


def plot(subject: Subject, subjects: Subjects) -> Plot | None:
    """Draws of the first specimen of a class beside what it says of their law.

    Of vectors, the first element is shown, and of one-hot vectors the category. Of what has a density and
    atoms, the density is shown; the title says what the atoms have.

    Returns:
        None for classes that are not sampled, and where no density of one dimension is known.
    """
    cases = specimens(subject, subjects)
    if not cases:
        return None
    with cases[0].precision.context():
        evidence = evidence_of(cases[0], SEED, SAMPLES)
        return _PLOTS[type(evidence.support)](evidence)


def _of_interval(evidence: Evidence) -> Plot:
    assert isinstance(evidence.support, Interval)
    ends = np.array([evidence.support.low, evidence.support.high])
    low, high = np.where(np.isfinite(ends), ends, np.quantile(evidence.inner, [TAIL, 1 - TAIL]))
    # At the ends themselves, there may be a pole or an atom.
    points = np.linspace(low, high, POINTS + 2)[1:-1]
    atoms = [
        f"{mass:.3g} at {end:.3g}" for mass, end in zip(evidence.measure.ends, ends, strict=True) if mass
    ]
    title = "; ".join([_title(evidence.case), *([f"with {' and '.join(atoms)}"] if atoms else [])])
    bins = np.histogram(evidence.inner, BINS, (low, high))
    return _histogram(evidence, title, bins, points, evidence.prob(points[:, None]))


def _of_points(evidence: Evidence) -> Plot:
    """Probabilities, and shares of the draws, added up for points that are shown in one place."""
    assert isinstance(evidence.support, Points)
    values, place = np.unique(evidence.support.labels, return_inverse=True)
    shares = count_rows(evidence.values, evidence.points) / len(evidence.values)
    heights, masses = (
        np.bincount(place, weights=x, minlength=len(values)) for x in (shares, evidence.prob(evidence.points))
    )
    shown = (heights > 0) | (masses > NEGLIGIBLE)
    return Plot(
        subject=repr(evidence.case.subject),
        title=_title(evidence.case),
        is_discrete=True,
        edges=_floats(values[shown]),
        heights=_floats(heights[shown]),
        points=_floats(values[shown]),
        density=_floats(masses[shown]),
        samples=len(evidence.values),
    )


def _of_space(evidence: Evidence) -> Plot | None:
    """The density of the first element: that of the event, integrated over the other coordinates."""
    assert isinstance(evidence.support, Space)
    chart, whitening = evidence.support.chart, evidence.whitening
    others = len(whitening.mean) - 1
    if others > MOST_AXES:
        return None
    low, high = np.quantile(chart.inverse(evidence.values)[:, 0], [TAIL, 1 - TAIL])
    first = np.linspace(low, high, POINTS)
    scale = whitening.factor[0, 0]
    # The factor is triangular, so that the first coordinate alone determines the first element.
    events = chart.forward(whitening(product_grid((first - whitening.mean[0]) / scale, *[AXIS] * others)))
    joint = evidence.prob(events) * np.exp(chart.log_det(events) + whitening.log_det) / scale
    density = joint.reshape(POINTS, -1).sum(axis=-1) * (AXIS[1] - AXIS[0]) ** others
    points, slope = chart.first(first)
    bins = np.histogram(evidence.numbers, BINS, (points[0], points[-1]))
    return _histogram(evidence, f"First element of {_title(evidence.case)}", bins, points, density / slope)


def _histogram(
    evidence: Evidence, title: str, bins: tuple[Array, Array], points: Array, density: Array
) -> Plot:
    counts, edges = bins
    return Plot(
        subject=repr(evidence.case.subject),
        title=title,
        is_discrete=False,
        edges=_floats(edges),
        heights=_floats(counts / np.diff(edges) / len(evidence.values)),
        points=_floats(points),
        density=_floats(density),
        samples=len(evidence.values),
    )


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _title(case: Case) -> str:
    """The call of the constructor, with three digits of the values."""
    children = [f"{name}={_nested(child)}" for name, child in case.children.items()]
    values = [f"{name}={_rounded(value)}" for name, value in case.values.items()]
    statics = [f"{name}={getattr(value, '__name__', value)}" for name, value in case.statics.items()]
    return f"{case.subject}({', '.join([*children, *values, *statics])})"


def _nested(child: Any) -> str:
    if isinstance(child, Case):
        return _title(child)
    cases = jax.tree.leaves(child, is_leaf=lambda x: isinstance(x, Case))
    return f"[{', '.join(map(_title, cases))}]"


def _rounded(value: Array) -> str:
    if value.ndim == 0:
        return f"{value:.3g}"
    return f"[{', '.join(map(_rounded, value))}]"


_PLOTS: Mapping[type, Callable[[Evidence], Plot | None]] = {
    Circle: _of_interval,
    Interval: _of_interval,
    Points: _of_points,
    Space: _of_space,
    Unknown: lambda evidence: None,
}

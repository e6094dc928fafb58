"""Plots of samples beside a density, as shapes of SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from distgen.verify.page.wording import count
from distgen.verify.results import Plot

# The area that bars and lines stand in, and the whole with the margins to its left and above it.
ACROSS, UPWARDS = 272, 166
SIZE = {"width": 340, "height": 210, "left": 60, "top": 8, "across": ACROSS, "upwards": UPWARDS}

# A density may have a pole: the axis ends at so many times the highest bar.
HIGHEST = 1.6

Scale = Callable[[float], float]


@dataclass(frozen=True)
class Tick:
    """A tick of an axis, at a position in the area."""

    at: str
    label: str


@dataclass(frozen=True)
class Dot:
    """The probability of a value."""

    x: str
    y: str


@dataclass(frozen=True)
class Drawing:
    """A plot, ready to be written down. Positions count from the upper left of the area.

    Attributes:
        anchor: the identifier of its figure.
        subject: the name of the class.
        title: the class with the parameters that were drawn from.
        description: what can be seen, in words.
        across: the label of the horizontal axis.
        upwards: the label of the vertical axis.
        ticks_across: of the horizontal axis.
        ticks_upwards: of the vertical axis.
        bars: the path of the histogram.
        line: the path of the density; of a discrete class, the stems.
        dots: the probabilities of a discrete class.
    """

    anchor: str
    subject: str
    title: str
    description: str
    across: str
    upwards: str
    ticks_across: tuple[Tick, ...]
    ticks_upwards: tuple[Tick, ...]
    bars: str
    line: str
    dots: tuple[Dot, ...]


def drawing_of(plot: Plot, anchor: str) -> Drawing:
    """The drawing of a plot. What is not finite is left out."""
    bars = _bars(plot)
    curve = [(x, y) for x, y in zip(plot.points, plot.density, strict=False) if math.isfinite(x)]
    dots = [(x, y) for x, y in curve if math.isfinite(y)]
    low, high = _range([x for bar in bars for x in bar[:2]] + [x for x, _ in curve])
    top = _top([h for *_, h in bars], [y for _, y in dots])
    across, upwards = _scale(low, high, 0, ACROSS), _scale(0, top, UPWARDS, 0)
    values = sorted({x for x, _ in dots} | {_middle(bar) for bar in bars}) if plot.is_discrete else []
    return Drawing(
        anchor=anchor,
        subject=plot.subject,
        title=plot.title,
        description=_description(plot, bars, dots, top),
        across="value",
        upwards="probability" if plot.is_discrete else "density",
        ticks_across=tuple(Tick(_at(across(x)), label) for x, label in _ticks(low, high, 6, values)),
        ticks_upwards=tuple(Tick(_at(upwards(y)), label) for y, label in _ticks(0, top, 4)),
        bars="".join(_bar(across, upwards, *bar) for bar in bars if bar[2] > 0),
        line=_stems(across, upwards, dots) if plot.is_discrete else _curve(across, upwards, curve, top),
        dots=tuple(Dot(_at(across(x)), _at(upwards(y))) for x, y in dots) if plot.is_discrete else (),
    )


def _bars(plot: Plot) -> list[tuple[float, float, float]]:
    """The left, the right and the height of each bar."""
    if plot.is_discrete:
        values = sorted({x for x in (*plot.edges, *plot.points) if math.isfinite(x)})
        gap = min((b - a for a, b in pairwise(values)), default=1.0)
        found = [(x - 0.4 * gap, x + 0.4 * gap, h) for x, h in zip(plot.edges, plot.heights, strict=False)]
    else:
        found = list(zip(plot.edges, plot.edges[1:], plot.heights, strict=False))
    return [bar for bar in found if all(map(math.isfinite, bar))]


def _middle(bar: tuple[float, float, float]) -> float:
    return (bar[0] + bar[1]) / 2


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _top(heights: Sequence[float], densities: Sequence[float]) -> float:
    highest, above = max(heights, default=0.0), max(densities, default=0.0)
    return 1.05 * max(highest, min(above, HIGHEST * highest) if highest > 0 else above) or 1.0


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda x: start + (x - low) / (high - low) * (end - start)


def _at(position: float) -> str:
    text = f"{position:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _bar(across: Scale, upwards: Scale, left: float, right: float, height: float) -> str:
    width = max(across(right) - across(left) - 0.5, 0.5)
    return f"M{_at(across(left))} {_at(UPWARDS)}V{_at(upwards(height))}h{_at(width)}V{_at(UPWARDS)}z"


def _stems(across: Scale, upwards: Scale, dots: Iterable[tuple[float, float]]) -> str:
    return "".join(f"M{_at(across(x))} {_at(UPWARDS)}V{_at(upwards(y))}" for x, y in dots)


def _curve(across: Scale, upwards: Scale, curve: Iterable[tuple[float, float]], top: float) -> str:
    """A line that goes out at the top where the density does, and is broken where it is undefined."""
    path, command = [], "M"
    for x, y in curve:
        if math.isnan(y):
            command = "M"
            continue
        path.append(f"{command}{_at(across(x))} {_at(upwards(min(max(y, 0.0), 2 * top)))}")
        command = "L"
    return "".join(path)


def _ticks(low: float, high: float, wanted: int, values: Sequence[float] = ()) -> list[tuple[float, str]]:
    """Round numbers in the range with their labels, or the values where they are few."""
    if 0 < len(values) <= 10 and all(x == round(x, 2) for x in values):
        return [(x, _label(x, 2)) for x in values]
    rough = (high - low) / wanted
    if not 1e-300 < rough < 1e300:
        return []
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= 0.7 * rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(i * step, _label(i * step, digits)) for i in range(first, last + 1)]


def _label(x: float, digits: int) -> str:
    text = f"{x:.{digits}f}" if abs(x) < 1e5 and digits < 5 else f"{x:.2g}"
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def _description(
    plot: Plot, bars: Sequence[tuple[float, float, float]], dots: Sequence[tuple[float, float]], top: float
) -> str:
    drawn = f"{count(plot.samples, 'sample')} of {plot.title or plot.subject}"
    if not bars:
        return f"{drawn}. There is no histogram."
    if plot.is_discrete:
        told = f"Bars: the shares of {drawn} at {count(len(bars), 'value')}. Dots: the probabilities."
    else:
        told = (
            f"Bars: {drawn} in {count(len(bars), 'bin')} from {bars[0][0]:.3g} to {bars[-1][1]:.3g}. "
            "Line: the density."
        )
    gaps = [
        (abs(height - expected), _middle((left, right, height)), height, expected)
        for left, right, height in bars
        if (expected := _between(dots, (left + right) / 2)) is not None
    ]
    if gaps:
        _, x, height, expected = max(gaps)
        told += f" They are furthest apart at {x:.3g}: {height:.3g} of the samples, {expected:.3g} computed."
    if any(y > top for _, y in dots):
        told += " The density goes beyond the top."
    return told


def _between(dots: Sequence[tuple[float, float]], x: float) -> float | None:
    """The density at a place, from the points to both sides of it."""
    for (a, y), (b, z) in pairwise(dots):
        if a <= x <= b and a < b:
            return y + (z - y) * (x - a) / (b - a)
    return next((y for a, y in dots if a == x), None)

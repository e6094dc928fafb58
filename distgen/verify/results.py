"""What a run of the laws found: cells, one for a class, a law and a backend, and what was run with what.

All of it is plain data, so that workers can send it and files can hold it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Result = Literal["kept", "departs", "exempt", "broken", "unfinished"]
Mode = Literal["executed", "lowered"]

# From best to worst; a cell of several answers has the worst.
RESULTS: tuple[Result, ...] = get_args(Result)


@dataclass(frozen=True)
class Cell:
    """What one law says of one class on one backend.

    Attributes:
        origin: whose class it is: "generated", "distrax", or the module that was named.
        subject: the name of the class.
        law: the number of the law.
        backend: the platform, such as "cpu" or "cuda".
        mode: whether methods ran there, or were lowered for it.
        result: "kept"; "departs": kept, but for what the spec departs in; "exempt": kept, but for what is
            exempt; "broken"; or "unfinished" where the run was stopped before.
        dtypes: the precisions that were tried.
        examples: how many cases were tried.
        seconds: how long it took.
        message: why it is broken.
        program: the smallest failing example, as a program.
        reasons: the departures, or the reasons of the exemptions.
    """

    origin: str
    subject: str
    law: int
    backend: str
    mode: Mode
    result: Result
    dtypes: tuple[str, ...] = ()
    examples: int = 0
    seconds: float = 0.0
    message: str = ""
    program: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        return self.result == "broken"


@dataclass(frozen=True)
class Plot:
    """Samples of a class beside its density, or its probabilities.

    Attributes:
        subject: the name of the class.
        title: the class with the parameters that were drawn from.
        is_discrete: whether `edges` are values with a mass each, and not edges of bins.
        edges: the edges of the bins of the histogram, one more than heights; of a discrete class, the values.
        heights: the density, or the share, of the samples in each bin.
        points: where the density was computed; of a discrete class, the values.
        density: the density, or the probability, at the points.
        samples: how many were drawn.
    """

    subject: str
    title: str
    is_discrete: bool
    edges: tuple[float, ...]
    heights: tuple[float, ...]
    points: tuple[float, ...]
    density: tuple[float, ...]
    samples: int


@dataclass(frozen=True)
class LawText:
    """A law as the report shows it."""

    number: int
    name: str
    statement: str


@dataclass(frozen=True)
class Report:
    """A run of the laws.

    Attributes:
        versions: of Python, JAX, distrax and whatever else the results depend on.
        options: what the run was asked for.
        laws: those that were asked about, in order.
        cells: what was found, in order of class, law and backend.
        plots: samples beside densities.
        is_complete: False where the run was stopped before its end.
        seconds: how long the run took.
    """

    versions: Mapping[str, str]
    options: Mapping[str, Any]
    laws: tuple[LawText, ...]
    cells: tuple[Cell, ...]
    plots: tuple[Plot, ...] = ()
    is_complete: bool = True
    seconds: float = 0.0
    origins: tuple[str, ...] = field(default=("generated",))

    @property
    def broken(self) -> tuple[Cell, ...]:
        """The broken cells of the classes under the laws; those of the baseline are no fault of theirs."""
        return tuple(c for c in self.cells if c.is_broken and c.origin != "distrax")

    def totals(self, origin: str) -> dict[str, int]:
        """How many cells of that origin have each result, in the order of `RESULTS`."""
        counted = Counter(cell.result for cell in self.cells if cell.origin == origin)
        return {result: counted[result] for result in RESULTS}


def to_json(report: Report) -> str:
    """The report as a JSON document."""
    return json.dumps(asdict(report), indent=1)


def from_json(text: str) -> Report:
    """The report of a JSON document that `to_json` wrote."""
    data = json.loads(text)
    return Report(
        **data
        | {
            "laws": tuple(LawText(**law) for law in data["laws"]),
            "cells": tuple(cell_of(cell) for cell in data["cells"]),
            "plots": tuple(Plot(**_with_tuples(plot)) for plot in data["plots"]),
            "origins": tuple(data["origins"]),
        }
    )


def cell_of(data: Mapping[str, Any]) -> Cell:
    """The cell of a mapping that came through JSON."""
    return Cell(**_with_tuples(data))


def worst(results: Iterable[Result]) -> Result:
    """The worst of the results."""
    return max(results, key=RESULTS.index)


def _with_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(x) if isinstance(x, list) else x for name, x in data.items()}

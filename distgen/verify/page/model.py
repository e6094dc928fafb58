"""What the page shows, worked out: the template writes it down and decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distgen.verify.page.details import clipped, details_of
from distgen.verify.page.matrix import Matrix, matrix_of
from distgen.verify.page.plots import Drawing, drawing_of
from distgen.verify.page.wording import BASELINE, MARKS, Mark, count, duration, number, pieces_of, style_of
from distgen.verify.results import RESULTS, Cell, LawText, Report

# How many broken cells the page lists in full outside of the matrix.
LISTED = 50


@dataclass(frozen=True)
class Count:
    """How many cells have a result.

    Attributes:
        text: the number.
        style: of what stands out: "none" for zero, else the style of the mark.
    """

    text: str
    style: str


@dataclass(frozen=True)
class TotalRow:
    """The totals of an origin."""

    origin: str
    note: str
    cells: str
    counts: tuple[Count, ...]


@dataclass(frozen=True)
class LawRow:
    """A law with its totals, for each origin in order; the pieces of its statement are code or not."""

    number: int
    name: str
    statement: tuple[tuple[str, bool], ...]
    counts: tuple[Count, ...]


@dataclass(frozen=True)
class BrokenCell:
    """A broken cell, in full."""

    anchor: str
    style: str
    subject: str
    where: str
    tried: str
    message: str
    program: str


@dataclass(frozen=True)
class Choice:
    """One choice of a filter; `mark` is the style of the mark beside it, or empty."""

    value: str
    label: str
    mark: str = ""


@dataclass(frozen=True)
class Filter:
    """A filter of several choices, of which none means any."""

    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class View:
    """The page.

    Attributes:
        title: of the document.
        verdict: the outcome, in a sentence.
        tone: "good", "bad" or "open", as the verdict is.
        summary: what was asked, in a sentence.
        warning: what the reader must know where the run was stopped early, or empty.
        marks: one for each result.
        origins: whose classes there are.
        has_baseline: whether distrax is one of them.
        totals: of each origin.
        laws: with their totals.
        matrix: classes by laws.
        law_choices: the choices of the filter by law.
        filters: the other filters of choices.
        broken: the broken cells that are listed.
        unlisted: a sentence on those that are not, or empty.
        plots: samples beside densities.
        versions: names and versions.
        options: names and values.
        data: the details of the cells, as JSON without "<".
    """

    title: str
    verdict: str
    tone: str
    summary: str
    warning: str
    marks: tuple[Mark, ...]
    origins: tuple[str, ...]
    has_baseline: bool
    totals: tuple[TotalRow, ...]
    laws: tuple[LawRow, ...]
    matrix: Matrix
    law_choices: tuple[Choice, ...]
    filters: tuple[Filter, ...]
    broken: tuple[BrokenCell, ...]
    unlisted: str
    plots: tuple[Drawing, ...]
    versions: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    data: str


def view_of(report: Report) -> View:
    """The view of a report."""
    laws, origins = _laws(report), _origins(report)
    matrix = matrix_of(report.cells, laws, origins)
    plots = tuple(drawing_of(plot, f"plot-{i}") for i, plot in enumerate(report.plots, 1))
    verdict, tone = _verdict(report)
    return View(
        title=f"{verdict} - distgen verify",
        verdict=verdict,
        tone=tone,
        summary=_summary(report, laws, matrix),
        warning=_warning(report),
        marks=MARKS,
        origins=origins,
        has_baseline=BASELINE in origins,
        totals=tuple(_total_row(report, origin) for origin in origins),
        laws=_law_rows(report, laws, origins),
        matrix=matrix,
        law_choices=tuple(Choice(str(law.number), f"{law.number} {law.name}".strip()) for law in laws),
        filters=_filters(report, origins),
        broken=tuple(
            _broken_cell(cell, laws, f"broken-{i}") for i, cell in enumerate(report.broken[:LISTED], 1)
        ),
        unlisted=_unlisted(report),
        plots=plots,
        versions=tuple((name, str(version)) for name, version in report.versions.items()),
        options=tuple((name, in_words(value)) for name, value in report.options.items()),
        data=details_of(report.cells, laws, matrix, plots),
    )


def in_words(value: Any) -> str:
    """The value of an option as the page shows it."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {in_words(x)}" for key, x in value.items()) or "none"
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(in_words, value))) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value)) or "none"
    return str(value)


def _laws(report: Report) -> tuple[LawText, ...]:
    """The laws that were asked about, and behind them any that only cells name."""
    known = {law.number for law in report.laws}
    others = sorted({cell.law for cell in report.cells} - known)
    return (*report.laws, *(LawText(number, "", "") for number in others))


def _origins(report: Report) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*report.origins, *(cell.origin for cell in report.cells)]))


def _verdict(report: Report) -> tuple[str, str]:
    unfinished = sum(c.result == "unfinished" for c in report.cells if c.origin != BASELINE)
    if report.broken:
        subjects = len({(c.origin, c.subject) for c in report.broken})
        return f"{count(len(report.broken), 'cell')} broken in {count(subjects, 'class', 'classes')}", "bad"
    if unfinished or not report.is_complete:
        return "No class breaks a law so far", "open"
    if not report.cells:
        return "Nothing was asked", "open"
    return "No class breaks a law", "good"


def _summary(report: Report, laws: Sequence[LawText], matrix: Matrix) -> str:
    asked = f"{count(len(matrix.rows), 'class', 'classes')} under {count(len(laws), 'law')}"
    return f"{asked}: {count(len(report.cells), 'cell')} in {duration(report.seconds)}."


def _warning(report: Report) -> str:
    if report.is_complete:
        return ""
    unfinished = sum(cell.result == "unfinished" for cell in report.cells)
    told = f"{count(unfinished, 'cell is', 'cells are')} unfinished, and cells" if unfinished else "Cells"
    return f"The run was stopped before its end. {told} may be missing: what is not here was not asked."


def _counts(cells: Iterable[Cell], origin: str) -> tuple[Count, ...]:
    counted = Counter(cell.result for cell in cells)
    return tuple(
        Count(
            number(counted[result]),
            style_of(result, origin).removeprefix("b ") if counted[result] else "none",
        )
        for result in RESULTS
    )


def _total_row(report: Report, origin: str) -> TotalRow:
    note = {"generated": "", BASELINE: "the baseline"}.get(origin, "a module")
    cells = [cell for cell in report.cells if cell.origin == origin]
    return TotalRow(origin, note, number(len(cells)), _counts(cells, origin))


def _law_rows(report: Report, laws: Sequence[LawText], origins: Sequence[str]) -> tuple[LawRow, ...]:
    cells: dict[tuple[int, str], list[Cell]] = {}
    for cell in report.cells:
        cells.setdefault((cell.law, cell.origin), []).append(cell)
    return tuple(
        LawRow(
            law.number,
            law.name,
            pieces_of(law.statement),
            tuple(c for origin in origins for c in _counts(cells.get((law.number, origin), ()), origin)),
        )
        for law in laws
    )


def _filters(report: Report, origins: Sequence[str]) -> tuple[Filter, ...]:
    backends = dict.fromkeys(cell.backend for cell in report.cells)
    modes = dict.fromkeys(cell.mode for cell in report.cells)
    found = (
        Filter("result", "Result", tuple(Choice(m.result, m.result, m.style) for m in MARKS)),
        Filter("backend", "Backend", tuple(Choice(b, b) for b in backends)),
        Filter("mode", "Mode", tuple(Choice(m, m) for m in modes)),
        Filter("origin", "Origin", tuple(Choice(o, o) for o in origins)),
    )
    # There is no choice in one mode.
    return tuple(f for f in found if f.name != "mode" or len(f.choices) > 1)


def _broken_cell(cell: Cell, laws: Sequence[LawText], anchor: str) -> BrokenCell:
    name = next(law.name for law in laws if law.number == cell.law)
    law = f"law {cell.law} {name}".strip()
    tried = [count(cell.examples, "example"), *filter(None, [", ".join(cell.dtypes)]), duration(cell.seconds)]
    return BrokenCell(
        anchor,
        style_of(cell.result, cell.origin, cell.mode),
        cell.subject,
        f"{law}, {cell.backend} {cell.mode}, {cell.origin}",
        ", ".join(tried),
        clipped(cell.message),
        cell.program,
    )


def _unlisted(report: Report) -> str:
    rest = len(report.broken) - LISTED
    return f"{count(rest, 'more is', 'more are')} in the matrix." if rest > 0 else ""

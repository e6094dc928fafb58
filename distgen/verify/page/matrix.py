"""The matrix: a row for each class; under each law a column for each backend, mode and origin that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from distgen.verify.page.wording import style_of, words_of
from distgen.verify.results import RESULTS, Cell, LawText


@dataclass(frozen=True)
class Column:
    """A column; a law that no cell was found for has one with nothing but its number."""

    law: int
    backend: str = ""
    mode: str = ""
    origin: str = ""


@dataclass(frozen=True)
class LawHead:
    """The head of the columns of a law."""

    number: int
    name: str
    statement: str
    span: int


@dataclass(frozen=True)
class GroupHead:
    """The head of the columns of a backend and a mode under a law, in which origins stand side by side."""

    backend: str
    mode: str
    span: int
    is_first: bool


@dataclass(frozen=True)
class OriginHead:
    """The head of a column."""

    origin: str
    is_first: bool


@dataclass(frozen=True)
class Slot:
    """A place of the matrix.

    Attributes:
        style: the classes of CSS.
        index: the position of the cell in the report, or None where there is no cell.
        text: the result and the mode.
    """

    style: str
    index: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Row:
    """The row of a class; `words` are the parts of its name, between which a line may break."""

    subject: str
    words: tuple[str, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Matrix:
    """Classes by laws. `origin_heads` is empty where there is one origin only."""

    columns: tuple[Column, ...]
    law_heads: tuple[LawHead, ...]
    group_heads: tuple[GroupHead, ...]
    origin_heads: tuple[OriginHead, ...]
    rows: tuple[Row, ...]


def matrix_of(cells: Sequence[Cell], laws: Sequence[LawText], origins: Sequence[str]) -> Matrix:
    """The matrix of the cells. Of several cells in one place, the worst stands there."""
    columns = _columns(cells, laws, origins)
    first = _firsts(columns)
    return Matrix(
        columns,
        tuple(LawHead(law.number, law.name, law.statement, _span(columns, law)) for law in laws),
        tuple(_group_heads(columns)),
        tuple(OriginHead(c.origin, i in first) for i, c in enumerate(columns)) if len(origins) > 1 else (),
        tuple(_rows(cells, columns, first)),
    )


def column_of(cell: Cell) -> Column:
    """The column that a cell stands in."""
    return Column(cell.law, cell.backend, cell.mode, cell.origin)


def _columns(cells: Sequence[Cell], laws: Sequence[LawText], origins: Sequence[str]) -> tuple[Column, ...]:
    backends = {backend: i for i, backend in enumerate(dict.fromkeys(cell.backend for cell in cells))}

    def place(column: Column) -> tuple[int, bool, int]:
        return backends[column.backend], column.mode != "executed", origins.index(column.origin)

    found: dict[int, set[Column]] = {law.number: set() for law in laws}
    for cell in cells:
        found[cell.law].add(column_of(cell))
    return tuple(
        column for law, of_law in found.items() for column in sorted(of_law, key=place) or [Column(law)]
    )


def _firsts(columns: Sequence[Column]) -> frozenset[int]:
    """The columns that are the first of their law."""
    return frozenset(i for i, c in enumerate(columns) if i == 0 or columns[i - 1].law != c.law)


def _span(columns: Sequence[Column], law: LawText) -> int:
    return sum(column.law == law.number for column in columns)


def _group_heads(columns: Sequence[Column]) -> list[GroupHead]:
    heads = []
    law = None
    for key, group in groupby(columns, key=lambda c: (c.law, c.backend, c.mode)):
        heads.append(GroupHead(key[1], key[2], len(list(group)), key[0] != law))
        law = key[0]
    return heads


def _rows(cells: Sequence[Cell], columns: Sequence[Column], first: frozenset[int]) -> list[Row]:
    places: dict[str, dict[Column, int]] = {}
    for i, cell in enumerate(cells):
        places.setdefault(cell.subject, {})
        before = places[cell.subject].get(column_of(cell))
        if before is None or RESULTS.index(cells[before].result) < RESULTS.index(cell.result):
            places[cell.subject][column_of(cell)] = i

    def slot(i: int, index: int | None) -> Slot:
        edge = " f" if i in first else ""
        if index is None:
            return Slot(edge.strip())
        cell = cells[index]
        return Slot(
            style_of(cell.result, cell.origin, cell.mode) + edge, index, f"{cell.result}, {cell.mode}"
        )

    return [
        Row(subject, words_of(subject), tuple(slot(i, of_class.get(c)) for i, c in enumerate(columns)))
        for subject, of_class in places.items()
    ]

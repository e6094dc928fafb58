"""What the page knows of each cell beyond its mark, as JSON that can stand in a script element."""

from __future__ import annotations

import json
from collections.abc import Sequence

from distgen.verify.page.matrix import Matrix, column_of
from distgen.verify.page.plots import Drawing
from distgen.verify.page.wording import BASELINE, MARKS, duration
from distgen.verify.results import RESULTS, Cell, LawText

# The lengths of the beginning and of the end of a message that are kept of a longer one.
BEGINNING, END = 12_000, 4_000


def clipped(message: str) -> str:
    """The message, without its middle where it is so long that nobody reads it."""
    left_out = len(message) - BEGINNING - END
    if left_out <= 0:
        return message
    return f"{message[:BEGINNING]}\n\n[{left_out:,} characters are left out]\n\n{message[-END:]}"


def details_of(
    cells: Sequence[Cell],
    laws: Sequence[LawText],
    matrix: Matrix,
    plots: Sequence[Drawing],
) -> str:
    """A JSON document without "<", so that no text in it can end the element that it stands in.

    Texts are kept once, and named by their position; of a cell there are its class, its column, its result,
    its precisions, examples, seconds, message, program and reasons.
    """
    texts: dict[str, int] = {"": 0}
    columns = {column: i for i, column in enumerate(matrix.columns)}
    subjects = {row.subject: i for i, row in enumerate(matrix.rows)}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    table = [
        [
            subjects[cell.subject],
            columns[column_of(cell)],
            RESULTS.index(cell.result),
            text(", ".join(cell.dtypes)),
            cell.examples,
            text(duration(cell.seconds)),
            text(clipped(cell.message)),
            text(cell.program),
            [text(reason) for reason in cell.reasons],
        ]
        for cell in cells
    ]
    first_plots: dict[str, str] = {}
    for plot in plots:
        first_plots.setdefault(plot.subject, plot.anchor)
    document = {
        "subjects": list(subjects),
        "laws": {str(law.number): [law.name, law.statement] for law in laws},
        "baseline": BASELINE,
        "columns": [[c.law, c.backend, c.mode, c.origin] for c in matrix.columns],
        "results": [[mark.result, mark.style, mark.meaning] for mark in MARKS],
        "plots": [first_plots.get(subject, "") for subject in subjects],
        "texts": list(texts),
        "cells": table,
    }
    return _inert(json.dumps(document, separators=(",", ":"), allow_nan=False))


def _inert(text: str) -> str:
    """JSON in which every character that HTML knows is escaped; outside of strings JSON has none of them."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

"""Words, numbers and marks that all parts of the page share."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from distgen.verify.results import Mode, Result


@dataclass(frozen=True)
class Mark:
    """How a result looks.

    Attributes:
        result: the result.
        style: the classes of CSS that draw it; the shape and the symbol stand in the style sheet.
        meaning: what it says, in a few words.
    """

    result: Result
    style: str
    meaning: str


# The origin that others are compared with.
BASELINE = "distrax"

MARKS: tuple[Mark, ...] = (
    Mark("kept", "k", "in every example"),
    Mark("departs", "d", "kept, but for what the spec departs in"),
    Mark("exempt", "e", "kept, but for what is exempt"),
    Mark("broken", "b", "an example breaks the law"),
    Mark("unfinished", "u", "the run was stopped before"),
)


def style_of(result: Result, origin: str, mode: Mode = "executed") -> str:
    """The classes of CSS of a mark.

    What was only lowered has an outline and no ground; what the baseline breaks is paler than what is a fault
    of the classes under the laws.
    """
    style = next(mark.style for mark in MARKS if mark.result == result)
    weak = " w" if result == "broken" and origin == BASELINE else ""
    return style + weak + ("" if mode == "executed" else " l")


def number(value: int) -> str:
    """A number with its thousands apart."""
    return f"{value:,}"


def count(value: int, one: str, many: str = "") -> str:
    """A number of things."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """A time as a reader likes it."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 99.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def pieces_of(text: str) -> tuple[tuple[str, bool], ...]:
    """The text in pieces, each with whether it stands in backquotes."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return ((text, False),)
    return tuple((piece, i % 2 == 1) for i, piece in enumerate(pieces) if piece)


def words_of(name: str) -> tuple[str, ...]:
    """The parts of a name, between which a line may break; together they are the name."""
    return tuple(re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])", name))

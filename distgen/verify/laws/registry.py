"""What a law is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from distgen.verify.cases import Case, Precision
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.trees import cases

Check = Callable[[Case], None]
Examined = Callable[[Subject, Subjects, Sequence[Precision]], Sequence[Case]]
Draw = Callable[[st.SearchStrategy[Case]], Case]


@dataclass(frozen=True)
class Law:
    """A property of every class under the laws.

    Attributes:
        number: its number in docs/laws.md.
        name: a few words.
        check: raises for a case that breaks it, AssertionError where nothing else does.
        examined: the cases that it is asked about, given the class, the classes for children and the
            precisions, or none where there is nothing to ask; None for a property of all cases, which
            hypothesis draws.
        platforms: those for which it lowers, if it lowers instead of executing.
    """

    number: int
    name: str
    check: Check
    examined: Examined | None = None
    platforms: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"{self.number}-{self.name}"

    @property
    def statement(self) -> str:
        """The law in a sentence."""
        return (inspect.getdoc(self.check) or "").partition("\n\n")[0].replace("\n", " ")

    def applies(self, subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> bool:
        """Whether it asks anything of a class."""
        return self.examined is None or bool(self.examined(subject, subjects, precisions))

    def cases(
        self, draw: Draw, subject: Subject, subjects: Subjects, precisions: Sequence[Precision]
    ) -> Sequence[Case]:
        """What it is asked about in one go: one case that is drawn, or all that are examined."""
        if self.examined is not None:
            return self.examined(subject, subjects, precisions)
        return [draw(cases(subject, subjects, tuple(precisions)))]


def law(number: int, **choices: Any) -> Callable[[Check], Law]:
    """Makes a law of a check; its name is that of the function. `choices` are further attributes."""

    def make(check: Check) -> Law:
        return Law(number, check.__name__.replace("_", "-"), check, **choices)

    return make


class NotEverywhere(AssertionError):
    """A law is broken on some of the platforms that it asks about."""

    def __init__(self, faults: dict[str, Any]) -> None:
        super().__init__("; ".join(f"{platform}: {fault}" for platform, fault in faults.items()))
        self.platforms = (*faults,)

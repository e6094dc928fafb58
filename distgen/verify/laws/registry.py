"""What a law is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from distgen.verify.cases import Case

Check = Callable[[Case], None]


@dataclass(frozen=True)
class Law:
    """A property of every generated class. `check` raises AssertionError for a case that breaks it."""

    number: int
    name: str
    check: Check

    def __repr__(self) -> str:
        return f"{self.number}-{self.name}"


def law(number: int) -> Callable[[Check], Law]:
    """Makes a law of a check; its name is that of the function."""

    def make(check: Check) -> Law:
        return Law(number, check.__name__.replace("_", "-"), check)

    return make

"""Diagnostics: what went wrong, where, and what to do about it, as plain values.

Every stage returns the diagnostics it found beside its result, so that one run shows every mistake of
every file. An exception that escapes a stage is a bug of distgen, never a message to the user.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_READABLE = 40


class Severity(enum.StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one line of a source file. Lines and columns count from 1; `end_column` is exclusive."""

    path: str
    line: int = 1
    column: int = 1
    end_column: int = 1
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is a key of `distgen.explanations.EXPLANATIONS`."""

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    severity: Severity = Severity.ERROR


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)


def did_you_mean(word: str, choices: Iterable[str], *, otherwise: str = "") -> str:
    """A hint that names the closest of `choices`, or `otherwise` when none is close."""
    close = difflib.get_close_matches(word, sorted(choices), n=1)
    return f"did you mean '{close[0]}'?" if close else otherwise


def valid_choices(choices: Iterable[str]) -> str:
    """The choices, unless there are more than anybody would read."""
    listed = sorted(choices)
    if len(listed) > _READABLE:
        return f"one of {len(listed)} words, which docs/spec-reference.md lists"
    return f"valid: {', '.join(listed)}"


def render_text(diagnostic: Diagnostic) -> str:
    """The diagnostic for a person: location, excerpt with a caret, hint."""
    span = diagnostic.span
    where = f"{span.path}:{span.line}:{span.column}: " if span else ""
    lines = [f"{where}{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    margin = " " * 4
    if span and span.excerpt:
        number = str(span.line)
        margin = " " * (len(number) + 3)
        # Tabs keep their width, so that the caret stands below what it points at.
        indent = "".join("\t" if c == "\t" else " " for c in span.excerpt[: span.column - 1])
        lines.append(f"  {number} | {span.excerpt}")
        lines.append(f"{margin}| {indent}{'^' * max(1, span.end_column - span.column)}")
    if diagnostic.hint:
        lines.append(f"{margin}= hint: {diagnostic.hint}")
    return "\n".join(lines)


def in_order(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """By file and line, so that the output does not depend on the order in which stages ran."""

    def key(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
        span = diagnostic.span or Span(path="")
        return (span.path, span.line, span.column, diagnostic.code, diagnostic.message)

    return sorted(dict.fromkeys(diagnostics), key=key)

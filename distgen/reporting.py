"""What the command line says: diagnostics and changes as text, as JSON, and as GitHub's workflow commands.

Data go to stdout. What is meant for a person goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from distgen.diagnostics import Diagnostic, render_text

if TYPE_CHECKING:
    from distgen.publish import Change

Style = Literal["text", "json", "github"]
PAST = {"create": "created", "update": "updated", "remove": "removed"}


def report(
    diagnostics: Sequence[Diagnostic],
    style: Style,
    classes: Sequence[str] = (),
    changes: Sequence[Change] = (),
) -> None:
    """Shows what a build found; classes and changes in JSON only."""
    match style:
        case "json":
            document = {
                "classes": list(classes),
                "changes": [{"path": change.path, "action": change.action} for change in changes],
                "diagnostics": list(map(_as_json, diagnostics)),
            }
            click.echo(json.dumps(document, indent=2))
        case "github":
            for diagnostic in diagnostics:
                click.echo(_as_github(diagnostic))
        case "text":
            for diagnostic in diagnostics:
                click.echo(_painted(diagnostic), err=True)


def report_drift(changes: Sequence[Change], style: Style, command: str) -> None:
    """Says that the output is not current, and what mends it."""
    files = "1 file differs" if len(changes) == 1 else f"{len(changes)} files differ"
    message = f"The output is not current: {files}. Run `{command}`."
    if style == "github":
        click.echo(f"::error title=distgen::{_escaped(message)}")
    else:
        click.echo(message, err=True)


def summary(classes: Sequence[str], changes: Sequence[Change], *, is_written: bool) -> str:
    """One line on what a build did, or would do."""
    if not changes:
        return "Nothing to do: the output is current."
    counts = {action: sum(change.action == action for change in changes) for action in PAST}
    parts = [
        f"{count} {PAST[action]}" if is_written else f"{count} to {action}"
        for action, count in counts.items()
        if count
    ]
    noun = "class" if len(classes) == 1 else "classes"
    return f"{len(classes)} {noun}; files: {', '.join(parts)}."


def _painted(diagnostic: Diagnostic) -> str:
    text = render_text(diagnostic)
    if os.environ.get("NO_COLOR") or not sys.stderr.isatty():
        return text
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    color = "red" if diagnostic.severity == "error" else "yellow"
    return text.replace(label, click.style(label, fg=color, bold=True), 1)


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "path": span.path if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_column": span.end_column if span else None,
    }


def _as_github(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    text = diagnostic.message + (f" (hint: {diagnostic.hint})" if diagnostic.hint else "")
    place = f"file={_property(span.path)},line={span.line},col={span.column}," if span else ""
    return f"::{diagnostic.severity} {place}title={diagnostic.code}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")

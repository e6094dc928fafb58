"""A report as text for a terminal, and as JUnit XML for a CI server."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from xml.etree import ElementTree as xml

from distgen.verify.results import RESULTS, Cell, Report, Result, worst
from distgen.verify.subjects import BASELINE

SYMBOLS: dict[Result, str] = {"kept": "·", "departs": "d", "exempt": "e", "broken": "X", "unfinished": "?"}
_WIDTH = 100


def as_text(report: Report) -> str:
    """The matrix of classes by laws, what is broken and how to see it again, and totals."""
    parts = [_matrix(report), _legend(report), *(_failure(report, cell) for cell in report.broken)]
    if not report.is_complete:
        parts.append("The run was stopped before its end: what is marked ? was not tried.")
    return "\n\n".join([*parts, _totals(report)]) + "\n"


def _matrix(report: Report) -> str:
    rows: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for cell in report.cells:
        rows.setdefault((cell.subject, cell.origin), {}).setdefault(cell.law, []).append(cell.result)
    titles = {key: _title(*key, several=len(report.origins) > 1) for key in rows}
    width = max(map(len, titles.values()), default=0)
    numbers = [law.number for law in report.laws]
    lines = [" " * width + "".join(f"{number:3}" for number in numbers)]
    for key, results in rows.items():
        marks = (SYMBOLS[worst(results[n])] if n in results else " " for n in numbers)
        lines.append((f"{titles[key]:{width}}" + "".join(f"{mark:>3}" for mark in marks)).rstrip())
    return "\n".join(lines)


def _title(subject: str, origin: str, *, several: bool) -> str:
    return f"{subject} ({origin})" if several else subject


def _legend(report: Report) -> str:
    present = {cell.result for cell in report.cells}
    marks = ", ".join(f"{SYMBOLS[r]} {r}" for r in RESULTS if r in present)
    laws = ", ".join(f"{law.number} {law.name.replace('-', ' ')}" for law in report.laws)
    return f"{marks}\n{textwrap.fill(f'Laws: {laws}.', _WIDTH)}"


def _failure(report: Report, cell: Cell) -> str:
    statement = next(law.statement for law in report.laws if law.number == cell.law)
    head = f"{cell.subject} breaks law {cell.law} on {cell.backend}: {statement}"
    body = cell.program or cell.message
    return f"{head}\n\n{textwrap.indent(body.strip(), '    ')}"


def _totals(report: Report) -> str:
    lines = []
    for origin in report.origins:
        counts = ", ".join(f"{n} {result}" for result, n in report.totals(origin).items() if n)
        lines.append(f"{origin}: {counts or 'nothing'}")
    executed = sorted({c.backend for c in report.cells if c.mode == "executed"})
    lowered = sorted({c.backend for c in report.cells if c.mode == "lowered"})
    places = [f"executed on {', '.join(executed)}"] if executed else []
    places += [f"lowered for {', '.join(lowered)}"] if lowered else []
    versions = ", ".join(f"{name} {report.versions[name]}" for name in ("jax", "distrax"))
    return "\n".join([*lines, f"{'; '.join(places)}; {versions}; {report.seconds:.0f} s"])


def as_junit(report: Report) -> str:
    """The report as JUnit XML: a test suite for each origin, a test case for each cell.

    The baseline is there to compare with, so what it breaks is skipped and not a failure.
    """
    root = xml.Element("testsuites", name="distgen verify", time=f"{report.seconds:.3f}")
    for origin in report.origins:
        root.append(_suite(origin, [cell for cell in report.cells if cell.origin == origin]))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(origin: str, cells: Iterable[Cell]) -> xml.Element:
    suite = xml.Element("testsuite", name=origin)
    counts = {"tests": 0, "failures": 0, "skipped": 0}
    for cell in cells:
        name = f"law {cell.law} on {cell.backend}, {cell.mode}"
        case = xml.SubElement(
            suite, "testcase", classname=f"{origin}.{cell.subject}", name=name, time=f"{cell.seconds:.3f}"
        )
        counts["tests"] += 1
        if cell.is_broken and origin != BASELINE:
            counts["failures"] += 1
            failure = xml.SubElement(case, "failure", message=_printable(cell.message.partition("\n")[0]))
            failure.text = _printable(cell.program or cell.message)
        elif cell.is_broken or cell.result == "unfinished":
            counts["skipped"] += 1
            xml.SubElement(
                case, "skipped", message=_printable(cell.message.partition("\n")[0] or cell.result)
            )
    suite.attrib |= {name: str(count) for name, count in counts.items()}
    return suite


def _printable(text: str) -> str:
    """The text without the control characters that XML has no way to write."""
    return "".join(c for c in text if c in "\t\n" or c.isprintable())

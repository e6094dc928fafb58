"""Formats and lints the generated sources with the pinned ruff and proves that every one of them is Python.

Neither PATH nor the user's configuration, environment or `.gitignore` has a say: equal sources give equal
texts on every machine. One call lints and one formats, whatever the number of files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from distgen.diagnostics import Diagnostic, Span, in_order
from distgen.publish import stays_inside

LINE_LENGTH = 110
RULES = "E,F,I,UP,B,W,RUF"
# "Ambiguous" characters are mathematics here. The rest is layout, which the formatter settles afterwards.
IGNORED_RULES = "RUF001,RUF002,RUF003,E101,E501,E70,W1,W29"
# For a checkout that is not installed; otherwise the package's own metadata says it.
RUFF_RANGE = ">=0.14,<0.18"
BUG_HINT = "this is a bug of distgen, not of the spec: please report it together with the spec"

COMMON_OPTIONS = (
    "--isolated",
    "--no-cache",
    f"--line-length={LINE_LENGTH}",
    "--target-version=py311",
    # Without these two, a file in a folder named `build` or under a `.gitignore` would be skipped in silence.
    "--config=exclude = []",
    "--no-respect-gitignore",
)
CHECK = (
    "check",
    "--fix",
    "--no-unsafe-fixes",
    f"--select={RULES}",
    f"--ignore={IGNORED_RULES}",
    "--output-format=json",
)
FORMAT = ("format", "--config=format.line-ending = 'lf'")


def format_sources(sources: Mapping[str, str]) -> tuple[dict[str, str], list[Diagnostic]]:
    """The sources with every `*.py` linted, fixed and formatted; other files pass through unchanged.

    Keys are POSIX paths relative to the output.

    Errors: DG401, ruff is missing, of another version or cannot run; DG402, a source that breaks a rule of
    ruff or that is no Python.
    """
    texts = dict(sources)
    # A path that leads out of the output is refused when it is published; here, too, it must not be written.
    python = {path: text for path, text in texts.items() if path.endswith(".py") and stays_inside(path)}
    if not python:
        return texts, []
    try:
        ruff = _find_ruff()
        if isinstance(ruff, Diagnostic):
            return texts, [ruff]
        with tempfile.TemporaryDirectory(prefix="distgen-") as temporary:
            root = Path(temporary).resolve()
            for path, text in python.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(text.encode("utf-8", "surrogatepass"))
            findings = _lint(ruff, root)
            failures = _format(ruff, root)
            python = {path: (root / path).read_bytes().decode("utf-8", "surrogatepass") for path in python}
    except OSError as error:
        return texts, [_unusable(f"it could not run: {error.strerror or error}", _required_range())]
    # The formatter refuses what the linter has reported already.
    problems = findings or failures
    reported = {problem.span.path for problem in problems if problem.span}
    for path, text in python.items():
        if path not in reported:
            problems += _defects(path, text)
    return texts | python, in_order(problems)


def _lint(ruff: str, root: Path) -> list[Diagnostic]:
    process = _run(root, ruff, *CHECK, *COMMON_OPTIONS, ".")
    try:
        return [_finding(root, finding) for finding in json.loads(process.stdout)]
    except ValueError:
        return [_failure("check", process)]


def _format(ruff: str, root: Path) -> list[Diagnostic]:
    process = _run(root, ruff, *FORMAT, *COMMON_OPTIONS, ".")
    return [_failure("format", process)] if process.returncode else []


def _run(root: Path | None, *command: str) -> subprocess.CompletedProcess[str]:
    # Ruff also takes options from RUFF_* variables.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    return subprocess.run(
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def _find_ruff() -> str | Diagnostic:
    required = _required_range()
    try:
        from ruff.__main__ import find_ruff_bin

        ruff = str(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return _unusable("it is not installed beside this Python", required)
    # The binary is asked, not its metadata: what is found may belong to another installation.
    version = _run(None, ruff, "--version").stdout.removeprefix("ruff ").strip()
    if not _admits(required, version):
        return _unusable(f"found ruff {version or 'of no version'}", required)
    return ruff


def _required_range() -> str:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        entries = requires("distgen-jax") or []
    except PackageNotFoundError:
        entries = []
    for entry in entries:
        if match := re.match(r"ruff\s*\(?([<>=][^;)]*)", entry):
            return ",".join(sorted(match[1].replace(" ", "").split(","), reverse=True))
    return RUFF_RANGE


def _admits(required: str, version: str) -> bool:
    """Whether `version` lies in a range of `>=` and `<` bounds."""
    found = _numbers(version)
    return bool(found) and all(
        found >= _numbers(bound) if operator == ">=" else found < _numbers(bound)
        for operator, bound in re.findall(r"(>=|<)([\d.]+)", required)
    )


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


def _defects(path: str, text: str) -> Iterator[Diagnostic]:
    """What only the finished text shows: whether Python compiles it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        yield _defect(path, text, (error.lineno or 1, error.offset or 1), f"invalid-syntax: {error.msg}")
    except (ValueError, RecursionError) as error:  # a null byte, a lone surrogate; too deeply nested
        yield _defect(path, text, (1, 1), f"invalid-syntax: {error}")


def _finding(root: Path, finding: dict[str, Any]) -> Diagnostic:
    """One entry of ruff's JSON. Its rows are those of the linted text, which still lies in `root`."""
    file, start = Path(finding["filename"]), finding["location"]
    text = file.read_bytes().decode("utf-8", "replace")
    path = file.relative_to(root).as_posix()
    return _defect(path, text, (start["row"], start["column"]), f"{finding['code']}: {finding['message']}")


def _defect(path: str, text: str, position: tuple[int, int], complaint: str) -> Diagnostic:
    row, column = position
    lines = text.split("\n")
    excerpt = lines[row - 1] if row <= len(lines) else ""
    return Diagnostic(
        "DG402",
        f"expected the generated '{path}' to pass ruff and to compile, but line {row} breaks {complaint}",
        Span(path, row, column, column + 1, excerpt),
        BUG_HINT,
    )


def _failure(verb: str, process: subprocess.CompletedProcess[str]) -> Diagnostic:
    reason = next(iter(process.stderr.strip().splitlines()), "no message")
    return Diagnostic(
        "DG402",
        f"expected `ruff {verb}` to take the generated sources, but it exited {process.returncode}: {reason}",
        hint=BUG_HINT,
    )


def _unusable(what_came: str, required: str) -> Diagnostic:
    return Diagnostic(
        "DG401",
        f"expected ruff {required} to format the generated sources, but {what_came}",
        hint=f"run `pip install 'ruff{required}'` in the environment that distgen runs in",
    )

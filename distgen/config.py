"""The configuration: `[tool.distgen]` of the nearest pyproject.toml at or above the working directory."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distgen.diagnostics import Diagnostic, Span, did_you_mean, valid_choices

FILE_NAME = "pyproject.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Where specs are read and where the output goes, relative to `root`, the directory of pyproject.toml."""

    root: Path
    specs: tuple[str, ...] = ("specs",)
    output: str = "generated"

    @property
    def spec_paths(self) -> tuple[Path, ...]:
        return tuple(self.root / spec for spec in self.specs)

    @property
    def output_path(self) -> Path:
        return self.root / self.output


KEYS = ("specs", "output")


def load_config(start: Path) -> tuple[Config, list[Diagnostic]]:
    """The configuration that holds in `start`; defaults stand in for whatever is wrong.

    Errors: DG601, an unknown key; DG602, a value of the wrong type; DG603, a file that does not read as TOML.
    """
    start = start.resolve()
    file = next((d / FILE_NAME for d in (start, *start.parents) if (d / FILE_NAME).is_file()), None)
    if file is None:
        return Config(root=start), []
    config = Config(root=file.parent)
    shown = Path(os.path.relpath(file, start)).as_posix()
    try:
        text = file.read_bytes().decode("utf-8").replace("\r\n", "\n")
        document = _parse(text)
    except OSError as error:
        return config, [_unreadable(shown, "", error.strerror or str(error))]
    except UnicodeDecodeError as error:
        return config, [_unreadable(shown, "", f"it is not UTF-8 (byte {error.start})")]
    except ValueError as error:
        return config, [_unreadable(shown, text, str(error))]
    return _read_table(document, config, _Source(shown, text))


def _parse(text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class _Source:
    path: str
    text: str

    def span(self, key: str) -> Span:
        """Where `key` stands in [tool.distgen], or else the table's header, or else the file."""
        inside, fallback = False, Span(self.path)
        for number, line in enumerate(self.text.split("\n"), start=1):
            if re.match(r"\s*\[\s*tool\s*\.\s*distgen\s*\]", line):
                inside, fallback = True, Span(self.path, number, 1, len(line) + 1, line)
            elif re.match(r"\s*\[+[\w\s.\"'-]+\]+\s*(#|$)", line):
                inside = False
            elif inside and re.match(rf"\s*([\"']?){re.escape(key)}\1\s*[=.]", line):
                column = line.index(key) + 1
                return Span(self.path, number, column, column + len(key), line)
        return fallback


def _read_table(document: dict[str, Any], config: Config, source: _Source) -> tuple[Config, list[Diagnostic]]:
    tool = document.get("tool", {})
    table = tool.get("distgen", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        return config, [_wrong_type("tool.distgen", "a table", table, source)]
    problems = []
    for key, value in table.items():
        if key not in KEYS:
            problems.append(_unknown_key(key, source))
        elif key == "output":
            if _is_text(value):
                config = replace(config, output=value)
            else:
                problems.append(_wrong_type(key, "a non-empty string", value, source))
        elif isinstance(value, list) and value and all(map(_is_text, value)):
            config = replace(config, specs=tuple(value))
        else:
            problems.append(_wrong_type(key, "a non-empty array of non-empty strings", value, source))
    return config, problems


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _unknown_key(key: str, source: _Source) -> Diagnostic:
    return Diagnostic(
        "DG601",
        f"unknown key '{key}' in [tool.distgen]",
        source.span(key),
        did_you_mean(key, KEYS, otherwise=valid_choices(KEYS)),
    )


def _wrong_type(key: str, expected: str, value: object, source: _Source) -> Diagnostic:
    return Diagnostic(
        "DG602",
        f"expected '{key}' to be {expected}, got {_describe(value)}",
        source.span(key),
        'for example: specs = ["specs"] and output = "generated"',
    )


def _describe(value: object) -> str:
    """The value's type in TOML's words; of an array also the type of what is wrong in it."""
    match value:
        case "":
            return "an empty string"
        case []:
            return "an empty array"
        case list():
            wrong = [item for item in value if not _is_text(item)]
            return f"an array with {_describe(wrong[0])}" if wrong else "an array of strings"
        case bool():
            return "a boolean"
        case str():
            return f"the string '{value}'"
        case int() | float():
            return "a number"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _unreadable(path: str, text: str, reason: str) -> Diagnostic:
    position = re.search(r"\s*\(at line (\d+), column (\d+)\)$", reason)
    span = Span(path)
    if position:
        line, column = int(position[1]), int(position[2])
        span = Span(path, line, column, column + 1, text.split("\n")[line - 1])
        reason = reason[: position.start()]
    return Diagnostic(
        "DG603", f"expected TOML, but cannot read it: {reason}", span, "correct the file and run again"
    )

"""Source: the text of a spec file as plain data, with the place of every node.

Scalars follow the YAML 1.2 core schema. What makes a file say something else than it seems to say (anchors,
tags, merge keys, duplicate keys, further documents) is refused.
"""

from __future__ import annotations

import re
import stat
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from distgen.diagnostics import Diagnostic, Span

NodePath = tuple[str | int, ...]
"""The keys and list positions that lead from the top of a document to a node."""

_MAX_BYTES = 1 << 20
_MAX_LEVELS = 64

_BOM = "\ufeff"
_BREAK = re.compile(r"\r\n|\r|\n")
_REFUSED = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PROPERTY = re.compile(r"([!&][^\s,\[\]{}]*)(?:\s+(?:#.*)?)*")

_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Python refuses to convert very long integers: those are read as floats.
_INTEGER = re.compile(r"[-+]?[0-9]{1,600}|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

_KINDS = {dict: "a mapping", list: "a list", str: "a string", bool: "a boolean", type(None): "nothing"}
_SYNTAX_HINTS = {
    "mapping values are not allowed": "quote a value that contains ': ', and indent all keys alike",
    "character '\\t'": "indent with spaces",
    "cannot start any token": "quote a value that starts with a special character",
    "could not find expected ':'": "write an entry as 'key: value'",
    "unknown escape character": "write the backslash twice, or quote with '...'",
    "expected <block end>": "indent all entries of the block that starts on line {line} alike",
    "expected ','": "separate the entries of the bracket that opens on line {line} with commas, and close it",
    "unexpected end of stream": "close the quote that opens on line {line}",
    "found an escape": "write the character itself",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A mapping read from YAML, and where each of its nodes stands in the file."""

    path: str
    data: Any
    spans: Mapping[NodePath, Span]
    key_spans: Mapping[NodePath, Span]

    def span(self, path: NodePath) -> Span:
        """Where the value at `path` stands, or the nearest value around it."""
        while path not in self.spans:
            path = path[:-1]
        return self.spans[path]

    def key_span(self, path: NodePath) -> Span:
        """Where the key of the value at `path` stands, or the nearest list item or key around it."""
        while path not in self.key_spans and path not in self.spans:
            path = path[:-1]
        return self.key_spans.get(path) or self.spans[path]


def read_document(file: Path, name: str) -> tuple[Document | None, list[Diagnostic]]:
    """The document in `file`, which diagnostics call `name`. Errors: DG101 to DG108."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return None, [_unreadable(name, "it is not a regular file")]
        with file.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        return None, [_unreadable(name, getattr(error, "strerror", None) or str(error))]
    text, diagnostics = decode(content, name)
    return (None, diagnostics) if text is None else parse_document(text, name)


def decode(content: bytes, name: str) -> tuple[str | None, list[Diagnostic]]:
    """The text of a file. Errors: DG102, DG107."""
    if len(content) > _MAX_BYTES:
        return None, [_too_large(name)]
    try:
        return content.decode(), []
    except UnicodeDecodeError as error:
        index = len(content[: error.start].decode())
        text = content.decode(errors="replace")
        marks = int(text.startswith(_BOM))
        span = _Lines(text[marks:], name).span(index - marks, index - marks + 1)
        message = f"expected UTF-8 text, got the byte 0x{content[error.start]:02x} at offset {error.start}"
        return None, [Diagnostic("DG102", message, span, "save the file as UTF-8 text")]


def parse_document(text: str, name: str) -> tuple[Document | None, list[Diagnostic]]:
    """The document in `text`, and everything that is wrong with it. Errors: DG102 to DG108.

    Duplicate keys, anchors and a second document leave the data whole, so that there is a document beside
    them and later stages can say what else is wrong. There is none beside any other error.
    """
    if len(text.encode(errors="surrogatepass")) > _MAX_BYTES:
        return None, [_too_large(name)]
    lines = _Lines(text.removeprefix(_BOM), name)
    if refused := _REFUSED.search(lines.text):
        message = f"expected printable text, got the character U+{ord(refused[0]):04X}"
        return None, [
            Diagnostic("DG102", message, lines.span(*refused.span()), "save the file as UTF-8 text")
        ]
    # libyaml is fast; PyYAML's own parser words its errors the same way on every machine.
    composer = _Composer(lines, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    document = composer.compose()
    if composer.broken:
        composer = _Composer(lines, yaml.BaseLoader)
        document = composer.compose()
    return document, composer.diagnostics


def resolve_plain(text: str) -> str | int | float | bool | None:
    """What an unquoted scalar means in the YAML 1.2 core schema."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def _unreadable(name: str, reason: str) -> Diagnostic:
    message = f"cannot be read: {reason}"
    return Diagnostic("DG101", message, Span(name), "check that it is a readable file")


def _too_large(name: str) -> Diagnostic:
    message = "expected a file of at most 1 MiB, got a larger one"
    return Diagnostic("DG107", message, Span(name), "write one class a file")


class _Lines:
    """A text and its lines."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.lines = _BREAK.split(_REFUSED.sub("\ufffd", text))
        self.starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def span(self, start: int, end: int) -> Span:
        """The characters from `start` to `end`, as far as they stand on the line of `start`."""
        row = bisect_right(self.starts, start) - 1
        line, offset = self.lines[row], self.starts[row]
        if end > offset + len(line):
            end = start + len(line[start - offset :].partition(" #")[0].rstrip())
        return Span(self.name, row + 1, start - offset + 1, max(start, end) - offset + 1, line)


class _TooDeepError(Exception):
    """Ends the composition of data that are nested too deeply."""


class _Composer:
    """Builds plain data and their spans from the events of a YAML parser."""

    def __init__(self, lines: _Lines, loader: Any) -> None:
        self.lines = lines
        self.loader = loader(lines.text)
        self.position = 0
        self.spans: dict[NodePath, Span] = {}
        self.key_spans: dict[NodePath, Span] = {}
        self.diagnostics: list[Diagnostic] = []
        self.broken = False
        self.whole = True

    def compose(self) -> Document | None:
        data = None
        try:
            data = self._document()
        except _TooDeepError:
            pass
        except yaml.MarkedYAMLError as error:
            self._report_syntax(error)
        # PyYAML's own parser lets these escape from numbers that it cannot convert.
        except (ArithmeticError, LookupError, ValueError):
            mark = self.loader.get_mark() if isinstance(self.loader, yaml.BaseLoader) else None
            problem = "found an escape or a directive with a number out of range"
            self._report_syntax(yaml.MarkedYAMLError(problem=problem, problem_mark=mark))
        return Document(self.lines.name, data, self.spans, self.key_spans) if self.whole else None

    def _next(self) -> Any:
        event = self.loader.get_event()
        _, self.position = _extent(event)
        return event

    def _document(self) -> Any:
        self._next()
        data, extent = None, (0, 0)
        if isinstance(self._next(), yaml.DocumentStartEvent):
            root = self._next()
            data, extent = self._node(root, (), 0), _extent(root)
            self._next()
            further = self._next()
            if isinstance(further, yaml.DocumentStartEvent):
                hint = "put each spec into a file of its own"
                self._refuse("a second document", hint, *_extent(further), harmless=True)
        if not isinstance(data, dict) and self.whole:
            message = f"expected a mapping at the top level, got {_kind(data)}"
            self._report("DG106", message, "start with 'distribution: Name' or 'bijector: Name'", *extent)
        return data

    def _node(self, event: Any, path: NodePath | None, level: int) -> Any:
        """The value that begins with `event`; `path` is None where the value is going to be dropped."""
        start, end = self._properties(event), event.end_mark.index
        value: Any = None
        match event:
            case yaml.AliasEvent():
                self._refuse(f"the alias '*{event.anchor}'", "write the value out", start, end)
            case yaml.ScalarEvent():
                text = self._scalar(event)
                value = text if event.style else resolve_plain(text)
            case _ if level == _MAX_LEVELS:
                message = f"expected at most {_MAX_LEVELS} levels of nesting, got more"
                self._report("DG107", message, "write a flatter spec", start, start + 1)
                raise _TooDeepError
            case yaml.SequenceStartEvent():
                value = []
                while not isinstance(item := self._next(), yaml.SequenceEndEvent):
                    value.append(self._node(item, None if path is None else (*path, len(value)), level + 1))
                end = self.position
            case yaml.MappingStartEvent():
                value = self._mapping(path, level)
                end = self.position
        if path is not None:
            self.spans[path] = self.lines.span(start, end)
        return value

    def _mapping(self, path: NodePath | None, level: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        first_lines: dict[str, int] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, level)
            entry = None
            if key in first_lines:
                hint = f"line {first_lines[key]} holds the first; remove or rename one of them"
                message = f"expected distinct keys, got {key!r} a second time"
                self._report("DG104", message, hint, *_extent(event), harmless=True)
            elif key is not None:
                span = self.lines.span(*_extent(event))
                first_lines[key] = span.line
                if path is not None:
                    entry = (*path, key)
                    self.key_spans[entry] = span
            value = self._node(self._next(), entry, level + 1)
            if key is not None:
                data.setdefault(key, value)
        return data

    def _key(self, event: Any, level: int) -> str | None:
        """The key that begins with `event`, or None if it is refused."""
        if isinstance(event, yaml.ScalarEvent) and (event.style or event.value not in ("", "<<")):
            self._properties(event)
            return self._scalar(event)
        key = self._node(event, None, level + 1)
        if key == "<<":
            self._refuse("the merge key '<<'", "write the merged keys out", *_extent(event))
        elif not isinstance(event, yaml.AliasEvent):
            message = f"expected a string as a key, got {_kind(key)}"
            self._report("DG108", message, "write an entry as 'key: value'", *_extent(event))
        return None

    def _scalar(self, event: Any) -> str:
        if _SURROGATE.search(event.value):
            problem = "found an escape for one half of a surrogate pair"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        return str(event.value)

    def _properties(self, event: Any) -> int:
        """Refuse the anchor and the tag of a node; where the node itself starts."""
        start, end = _extent(event)
        # The start event of a block collection has no extent, unless it has properties.
        while start < end and (found := _PROPERTY.match(self.lines.text, start, end)):
            if found[1].startswith("&"):
                what, hint = "the anchor", "write the value out wherever it is used"
            else:
                what, hint = "the tag", "remove it, and quote what has to be a string"
            self._refuse(f"{what} '{found[1]}'", hint, *found.span(1), harmless=what == "the anchor")
            start = found.end()
        return start

    def _report(
        self, code: str, message: str, hint: str, start: int, end: int, *, harmless: bool = False
    ) -> None:
        """Record a finding, `harmless` if the data are whole in spite of it."""
        self.diagnostics.append(Diagnostic(code, message, self.lines.span(start, end), hint))
        self.whole &= harmless

    def _refuse(self, what: str, hint: str, start: int, end: int, *, harmless: bool = False) -> None:
        self._report("DG105", f"expected plain data, got {what}", hint, start, end, harmless=harmless)

    def _report_syntax(self, error: yaml.MarkedYAMLError) -> None:
        self.broken = True
        problem, mark, context = error.problem or "", error.problem_mark, error.context_mark
        # The end of the file is best shown behind the last thing that stands in it.
        index = min(mark.index if mark else self.position, len(self.lines.text.rstrip()))
        line = self.lines.span(context.index, context.index).line if context else 1
        hint = next((hint for part, hint in _SYNTAX_HINTS.items() if part in problem), "")
        where = f" {error.context}" if error.context else ""
        self._report("DG103", f"invalid YAML{where}: {problem}", hint.format(line=line), index, index + 1)


def _extent(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a number")

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from distgen.diagnostics import Diagnostic, Span
from distgen.source import Document, NodePath, decode, parse_document, read_document, resolve_plain


def parse(text: str) -> Document:
    document, diagnostics = parse_document(text, "spec.yaml")
    assert diagnostics == []
    assert document is not None
    return document


def findings(text: str) -> list[tuple[str, int, int]]:
    """The code, line and column of each diagnostic."""
    return [locate(diagnostic) for diagnostic in parse_document(text, "spec.yaml")[1]]


def only(text: str) -> Diagnostic:
    _, [diagnostic] = parse_document(text, "spec.yaml")
    return diagnostic


def locate(diagnostic: Diagnostic) -> tuple[str, int, int]:
    assert diagnostic.span is not None
    return diagnostic.code, diagnostic.span.line, diagnostic.span.column


def marked(span: Span) -> str:
    """The text that a caret line would underline."""
    return span.excerpt[span.column - 1 : span.end_column - 1]


class TestScalars:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1e-3", 1e-3),
            ("1.", 1.0),
            (".5", 0.5),
            ("-2.5E+3", -2500.0),
            ("0x1f", 31),
            ("0o17", 15),
            ("010", 10),
            ("+7", 7),
            ("-0", 0),
            ("true", True),
            ("FALSE", False),
            ("null", None),
            ("~", None),
            ("", None),
            (".inf", math.inf),
            ("-.INF", -math.inf),
        ],
    )
    def test_core_schema(self, text: str, value: object) -> None:
        assert resolve_plain(text) == value
        assert type(resolve_plain(text)) is type(value)

    @pytest.mark.parametrize(
        "text",
        [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "12:30",
            "2024-01-31",
            "1_000",
            "0b1",
            "tRue",
            "1e",
            "-0x1f",
            "٣",
            ".",
        ],
    )
    def test_everything_else_is_a_string(self, text: str) -> None:
        assert resolve_plain(text) == text

    def test_nan(self) -> None:
        value = resolve_plain(".nan")
        assert isinstance(value, float)
        assert math.isnan(value)

    def test_integers_that_python_does_not_convert_are_floats(self) -> None:
        assert resolve_plain("9" * 5000) == math.inf

    def test_quoted_and_block_scalars_are_strings(self) -> None:
        assert parse("a: '1'\nb: \"true\"\nc: |\n  1\nd: >-\n  null\n").data == {
            "a": "1",
            "b": "true",
            "c": "1\n",
            "d": "null",
        }

    def test_keys_stay_the_text_they_were_written_as(self) -> None:
        assert list(parse("1: a\ntrue: b\nno: c\n~: d\n'<<': e\n1e-3: f\n").data) == [
            "1",
            "true",
            "no",
            "~",
            "<<",
            "1e-3",
        ]


class TestDocument:
    text = "name: Beta\nparameters:\n  alpha: {constraint: positive}  # > 0\n  list:\n    - 1\n    - [2, 3]\n"

    @pytest.mark.parametrize(
        ("path", "line", "column", "text"),
        [
            (("name",), 1, 7, "Beta"),
            (("parameters", "alpha"), 3, 10, "{constraint: positive}"),
            (("parameters", "alpha", "constraint"), 3, 23, "positive"),
            (("parameters", "list", 0), 5, 7, "1"),
            (("parameters", "list", 1, 1), 6, 11, "3"),
            # Only the first line of what stands on several, without its comment.
            ((), 1, 1, "name: Beta"),
            (("parameters",), 3, 3, "alpha: {constraint: positive}"),
            # The nearest value around what is not there.
            (("parameters", "alpha", "missing", 3), 3, 10, "{constraint: positive}"),
        ],
    )
    def test_span(self, path: NodePath, line: int, column: int, text: str) -> None:
        span = parse(self.text).span(path)
        assert (span.path, span.line, span.column, marked(span)) == ("spec.yaml", line, column, text)
        assert span.excerpt == self.text.splitlines()[line - 1]

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            (("name",), "name"),
            (("parameters", "alpha", "constraint"), "constraint"),
            (("parameters", "missing"), "parameters"),
            (("parameters", "list", 0), "1"),
            ((), "name: Beta"),
        ],
    )
    def test_key_span(self, path: NodePath, text: str) -> None:
        assert marked(parse(self.text).key_span(path)) == text

    def test_columns_count_characters(self) -> None:
        document = parse("é😀: {ß: '日本', x: y}\n")
        assert marked(document.key_span(("é😀",))) == "é😀"
        assert marked(document.span(("é😀", "ß"))) == "'日本'"
        assert document.span(("é😀", "x")).column == 18

    def test_byte_order_mark_and_crlf(self) -> None:
        document = parse("\ufeffa: 1\r\nb:\r\n  - c\r\n")
        assert document.data == {"a": 1, "b": ["c"]}
        assert document.span(("a",)) == Span("spec.yaml", 1, 4, 5, "a: 1")
        assert document.span(("b", 0)) == Span("spec.yaml", 3, 5, 6, "  - c")

    def test_multi_line_scalars(self) -> None:
        document = parse("a: |\n  text\nb: 'x\n  y'\n")
        assert marked(document.span(("a",))) == "|"
        assert marked(document.span(("b",))) == "'x"

    def test_empty_values(self) -> None:
        document = parse("a:\nb: {c: , d: 1}\n")
        assert document.data == {"a": None, "b": {"c": None, "d": 1}}
        assert (document.span(("a",)).column, marked(document.span(("a",)))) == (3, "")

    def test_explicit_document_markers(self) -> None:
        assert parse("%YAML 1.2\n---\na: 1\n...\n").data == {"a": 1}


class TestDiagnostics:
    def test_forbidden_character(self) -> None:
        diagnostic = only("a: 1\nb: \x00x\n")
        assert locate(diagnostic) == ("DG102", 2, 4)
        assert diagnostic.message == "expected printable text, got the character U+0000"
        assert diagnostic.span is not None
        assert diagnostic.span.excerpt == "b: \ufffdx"

    @pytest.mark.parametrize("character", ["\x07", "\x7f", "\ud800", "\ufffe", "\ufeff"])
    def test_other_forbidden_characters(self, character: str) -> None:
        assert findings(f"a: x{character}") == [("DG102", 1, 5)]

    @pytest.mark.parametrize(
        ("text", "line", "column", "message", "hint"),
        [
            (
                "a: {b: 1\n\n",
                1,
                9,
                "invalid YAML while parsing a flow mapping: expected ',' or '}', but got '<stream end>'",
                "separate the entries of the bracket that opens on line 1 with commas, and close it",
            ),
            (
                "a:\n\tb: 1\n",
                2,
                1,
                "invalid YAML while scanning for the next token: "
                "found character '\\t' that cannot start any token",
                "indent with spaces",
            ),
            (
                "a: b: c\n",
                1,
                5,
                "invalid YAML: mapping values are not allowed here",
                "quote a value that contains ': ', and indent all keys alike",
            ),
            (
                "a: 1\n b: 2\n",
                2,
                3,
                "invalid YAML: mapping values are not allowed here",
                "quote a value that contains ': ', and indent all keys alike",
            ),
            (
                "a: 'b\n",
                1,
                6,
                "invalid YAML while scanning a quoted scalar: found unexpected end of stream",
                "close the quote that opens on line 1",
            ),
            (
                'a: "\\ud800"\n',
                1,
                4,
                "invalid YAML: found an escape for one half of a surrogate pair",
                "write the character itself",
            ),
            (
                'a: "\\U00110000"\n',
                1,
                7,
                "invalid YAML: found an escape or a directive with a number out of range",
                "write the character itself",
            ),
        ],
    )
    def test_syntax(self, text: str, line: int, column: int, message: str, hint: str) -> None:
        diagnostic = only(text)
        assert locate(diagnostic) == ("DG103", line, column)
        assert (diagnostic.message, diagnostic.hint) == (message, hint)

    def test_syntax_errors_do_not_depend_on_libyaml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        texts = ["a: [1\n", "a: 1\nb\n", "- a\nb: c\n", "a: 1\na: 2\n&x b: *y\n"]
        fast = [parse_document(text, "spec.yaml") for text in texts]
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
        assert [parse_document(text, "spec.yaml") for text in texts] == fast

    def test_duplicate_key(self) -> None:
        document, [diagnostic] = parse_document("a: 1\nb: {c: 1}\nb: {d: 2}\n", "spec.yaml")
        assert locate(diagnostic) == ("DG104", 3, 1)
        assert diagnostic.message == "expected distinct keys, got 'b' a second time"
        assert diagnostic.hint == "line 2 holds the first; remove or rename one of them"
        # The rest of the file can still be checked, with the first value.
        assert document is not None
        assert document.data == {"a": 1, "b": {"c": 1}}
        assert ("b", "d") not in document.spans
        assert document.key_span(("b",)).line == 2

    @pytest.mark.parametrize(
        ("text", "column", "what"),
        [
            ("a: &x 1", 4, "the anchor '&x'"),
            ("&x a: 1", 1, "the anchor '&x'"),
            ("a: *x", 4, "the alias '*x'"),
            ("*x : 1", 1, "the alias '*x'"),
            ("a: !x 1", 4, "the tag '!x'"),
            ("a: ! 1", 4, "the tag '!'"),
            ("a: !!str", 4, "the tag '!!str'"),
            ("a: !!python/object/apply:os.system [ls]", 4, "the tag '!!python/object/apply:os.system'"),
            ("<<: {a: 1}", 1, "the merge key '<<'"),
        ],
    )
    def test_refused_features(self, text: str, column: int, what: str) -> None:
        diagnostic = only(text)
        assert locate(diagnostic) == ("DG105", 1, column)
        assert diagnostic.message == f"expected plain data, got {what}"
        assert diagnostic.hint

    def test_anchor_and_tag_of_one_node(self) -> None:
        assert findings("a: &x # why\n  !y\n  b: 1\n") == [("DG105", 1, 4), ("DG105", 2, 3)]

    def test_second_document(self) -> None:
        document, [diagnostic] = parse_document("a: 1\n---\nb: 2\n", "spec.yaml")
        assert locate(diagnostic) == ("DG105", 2, 1)
        assert document is not None
        assert document.data == {"a": 1}

    @pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n", "- a\n", "text\n", "1\n"])
    def test_top_level(self, text: str) -> None:
        assert parse_document(text, "spec.yaml")[0] is None
        assert only(text).code == "DG106"

    def test_depth(self) -> None:
        assert parse("a: " + "[" * 63 + "]" * 63).data
        assert findings("a: " + "[" * 64 + "]" * 64) == [("DG107", 1, 67)]
        assert findings("[" * 100_000) == [("DG107", 1, 65)]

    def test_size(self) -> None:
        assert only("a: " + "é" * (1 << 19)).code == "DG107"
        assert parse("a: " + "x" * ((1 << 20) - 3)).data

    @pytest.mark.parametrize(
        ("text", "found"), [("? {b: 1}\n: 2", "a mapping"), ("[x]: 2", "a list"), ("?\n: 2", "nothing")]
    )
    def test_keys_that_are_no_strings(self, text: str, found: str) -> None:
        diagnostic = only(text)
        assert diagnostic.code == "DG108"
        assert diagnostic.message == f"expected a string as a key, got {found}"

    def test_all_at_once(self) -> None:
        text = "a: 1\na: 2\nb: &x 1\nc: *x\nd: !t {[1]: 2}\n<<: 3\ne: [1\n"
        assert findings(text) == [
            ("DG104", 2, 1),
            ("DG105", 3, 4),
            ("DG105", 4, 4),
            ("DG105", 5, 4),
            ("DG108", 5, 8),
            ("DG105", 6, 1),
            ("DG103", 7, 6),
        ]


class TestFiles:
    def test_read(self, tmp_path: Path) -> None:
        file = tmp_path / "spec.yaml"
        file.write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
        document, diagnostics = read_document(file, "shown.yaml")
        assert diagnostics == []
        assert document is not None
        assert (document.path, document.data) == ("shown.yaml", {"a": "é"})

    def test_missing(self, tmp_path: Path) -> None:
        _, [diagnostic] = read_document(tmp_path / "none.yaml", "none.yaml")
        assert (diagnostic.code, diagnostic.message) == ("DG101", "cannot be read: No such file or directory")
        assert diagnostic.span == Span("none.yaml")

    def test_directory(self, tmp_path: Path) -> None:
        _, [diagnostic] = read_document(tmp_path, "folder")
        assert (diagnostic.code, diagnostic.message) == ("DG101", "cannot be read: it is not a regular file")

    def test_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        file = tmp_path / "spec.yaml"
        file.touch()
        monkeypatch.setattr(Path, "open", refuse)
        _, [diagnostic] = read_document(file, "spec.yaml")
        assert (diagnostic.code, diagnostic.message) == ("DG101", "cannot be read: Permission denied")

    def test_impossible_name(self) -> None:
        assert read_document(Path("a\0b"), "name")[1][0].code == "DG101"

    def test_not_utf8(self) -> None:
        text, [diagnostic] = decode(b"\xef\xbb\xbfa: 1\nb: \xc3\xa9\xff\n", "spec.yaml")
        assert text is None
        assert locate(diagnostic) == ("DG102", 2, 5)
        assert diagnostic.message == "expected UTF-8 text, got the byte 0xff at offset 13"

    def test_too_large(self, tmp_path: Path) -> None:
        file = tmp_path / "spec.yaml"
        file.write_bytes(b"#" * ((1 << 20) + 1))
        assert read_document(file, "spec.yaml")[1][0].code == "DG107"


FRAGMENTS = [
    "a",
    "1",
    ": ",
    ":",
    "- ",
    "? ",
    "\n",
    "\n  ",
    "\t",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&x ",
    "*x",
    "!t ",
    "!",
]
FRAGMENTS += [
    "'",
    '"',
    "|",
    ">",
    "#",
    "<<",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "%TAG ! x\n",
    "\\U",
    "\\x",
    "\r\n",
    "é",
]


class TestNothingEscapes:
    @settings(deadline=None, max_examples=200)
    @given(st.text() | st.lists(st.sampled_from(FRAGMENTS) | st.characters()).map("".join))
    def test_text(self, text: str) -> None:
        document, diagnostics = parse_document(text, "spec.yaml")
        assert document is not None or diagnostics
        spans = [diagnostic.span for diagnostic in diagnostics]
        if document is not None:
            assert isinstance(document.data, dict)
            spans += [*document.spans.values(), *document.key_spans.values()]
        for span in spans:
            assert span is not None
            assert 1 <= span.column <= span.end_column
            assert span.column <= len(span.excerpt) + 1

    @settings(deadline=None, max_examples=100)
    @given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass") + b"\xff"))
    def test_bytes(self, content: bytes) -> None:
        text, diagnostics = decode(content, "spec.yaml")
        assert (text is None) == bool(diagnostics)

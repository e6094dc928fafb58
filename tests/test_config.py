from __future__ import annotations

import os
from pathlib import Path

import pytest

from distgen.config import Config, load_config
from distgen.diagnostics import Diagnostic, render_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def load(root: Path, text: str) -> tuple[Config, list[Diagnostic]]:
    (root / "pyproject.toml").write_text(text)
    return load_config(root)


def test_defaults_without_a_pyproject(root: Path) -> None:
    config, problems = load_config(root)
    assert problems == []
    assert (config.specs, config.output) == (("specs",), "generated")
    # The directories above the test's own hold no pyproject.toml.
    assert config.root == root


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool.ruff]\n", "[tool.distgen]\n"])
def test_defaults_without_settings(root: Path, text: str) -> None:
    assert load(root, text) == (Config(root=root), [])


def test_reads_settings_and_takes_paths_from_the_file_s_directory(root: Path) -> None:
    config, problems = load(root, '[tool.distgen]\nspecs = ["a", "b/c.yaml"]\noutput = "src/out"\n')
    assert problems == []
    assert config == Config(root=root, specs=("a", "b/c.yaml"), output="src/out")
    assert config.spec_paths == (root / "a", root / "b/c.yaml")
    assert config.output_path == root / "src/out"


def test_an_absolute_path_stays_one(root: Path) -> None:
    config, _ = load(root, '[tool.distgen]\noutput = "/elsewhere"\n')
    assert config.output_path == Path("/elsewhere")


def test_the_nearest_file_at_or_above_counts(root: Path) -> None:
    (root / "inner/deep").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.distgen]\noutput = "outer"\n')
    assert load_config(root / "inner/deep")[0] == Config(root=root, output="outer")
    (root / "inner/pyproject.toml").write_text('[tool.distgen]\noutput = "inner"\n')
    assert load_config(root / "inner/deep")[0] == Config(root=root / "inner", output="inner")


def test_a_relative_start_is_taken_from_the_working_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "inner").mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.chdir(root / "inner")
    assert load_config(Path())[0].root == root


def test_a_directory_of_that_name_is_no_file(root: Path) -> None:
    (root / "pyproject.toml").mkdir()
    assert load_config(root) == (Config(root=root), [])


def test_an_unknown_key_is_shown_with_the_nearest_one(root: Path) -> None:
    _, [problem] = load(root, '[project]\nspec = 1\n\n[tool.distgen]\nspec = ["specs"]\n')
    assert render_text(problem) == (
        "pyproject.toml:5:1: error[DG601]: unknown key 'spec' in [tool.distgen]\n"
        '  5 | spec = ["specs"]\n'
        "    | ^^^^\n"
        "    = hint: did you mean 'specs'?"
    )


def test_an_unknown_key_near_none_is_shown_with_all(root: Path) -> None:
    _, [problem] = load(root, "[tool.distgen]\nzebra = 1\n")
    assert problem.hint == "valid: output, specs"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('[tool.distgen]\nspecs = [\n  "a",\n]\n  "outputs" = 1\n', 5, 4),
        ("[tool.distgen]\noutputs.x = 1\n", 2, 1),
        ("[ tool . distgen ] # comment\n# outputs = 1\noutputs = 1\n", 3, 1),
        ("[tool.distgen]\n[tool.distgen.outputs]\n", 1, 1),
        ("[tool]\ndistgen = {outputs = 1}\n", 1, 1),
    ],
)
def test_an_unknown_key_is_found(root: Path, text: str, line: int, column: int) -> None:
    _, [problem] = load(root, text)
    assert problem.span is not None
    assert (problem.code, problem.span.line, problem.span.column) == ("DG601", line, column)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("output = 3", "expected 'output' to be a non-empty string, got a number"),
        ("output = ''", "expected 'output' to be a non-empty string, got an empty string"),
        ("output = true", "expected 'output' to be a non-empty string, got a boolean"),
        ("output = 1979-05-27", "expected 'output' to be a non-empty string, got a date or time"),
        ("output = 0x" + "f" * 9999, "expected 'output' to be a non-empty string, got a number"),
        ("output = {}", "expected 'output' to be a non-empty string, got a table"),
        ("output = ['x']", "expected 'output' to be a non-empty string, got an array of strings"),
        ("specs = 'a'", "expected 'specs' to be a non-empty array of non-empty strings, got the string 'a'"),
        ("specs = []", "expected 'specs' to be a non-empty array of non-empty strings, got an empty array"),
        (
            "specs = ['a', 1.5]",
            "expected 'specs' to be a non-empty array of non-empty strings, got an array with a number",
        ),
        (
            "specs = ['a', '']",
            "expected 'specs' to be a non-empty array of non-empty strings, "
            "got an array with an empty string",
        ),
    ],
)
def test_a_wrong_type_is_refused(root: Path, setting: str, message: str) -> None:
    config, [problem] = load(root, f"[tool.distgen]\n{setting}\n")
    assert config == Config(root=root)
    assert (problem.code, problem.message) == ("DG602", message)
    assert problem.span is not None
    assert problem.span.line == 2
    assert problem.hint


def test_a_table_that_is_none_is_refused(root: Path) -> None:
    _, [problem] = load(root, "[tool]\ndistgen = 'x'\n")
    assert (problem.code, problem.message) == (
        "DG602",
        "expected 'tool.distgen' to be a table, got the string 'x'",
    )
    assert load(root, "tool = 1\n") == (Config(root=root), [])


def test_every_mistake_is_told_and_what_is_right_counts(root: Path) -> None:
    config, problems = load(root, "[tool.distgen]\nfoo = 1\noutput = 2\nspecs = ['a']\nbar = 3\n")
    assert [problem.code for problem in problems] == ["DG601", "DG602", "DG601"]
    assert config == Config(root=root, specs=("a",))


def test_what_is_no_toml_is_shown_at_its_line(root: Path) -> None:
    config, [problem] = load(root, "[tool.distgen]\r\noutput 3\r\n")
    assert config == Config(root=root)
    assert render_text(problem) == (
        "pyproject.toml:2:8: error[DG603]: expected TOML, but cannot read it: "
        "Expected '=' after a key in a key/value pair\n"
        "  2 | output 3\n"
        "    |        ^\n"
        "    = hint: correct the file and run again"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x = ", "Invalid value (at end of document)"),
        (b"x = '\xff'", "it is not UTF-8 (byte 5)"),
        (b"x = " + b"[" * 100_000, "it is nested too deeply"),
        (b"x = " + b"9" * 5000, "Exceeds the limit"),
    ],
)
def test_whatever_the_file_holds_there_is_no_crash(root: Path, content: bytes, reason: str) -> None:
    (root / "pyproject.toml").write_bytes(content)
    config, [problem] = load_config(root)
    assert config == Config(root=root)
    assert problem.code == "DG603"
    assert reason in problem.message


def test_a_file_that_may_not_be_read_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    _, [problem] = load(root, "")
    assert (problem.code, problem.message) == (
        "DG603",
        "expected TOML, but cannot read it: Permission denied",
    )


def test_the_path_is_shown_relative_to_the_working_directory(root: Path) -> None:
    (root / "inner").mkdir()
    (root / "pyproject.toml").write_text("[tool.distgen]\nfoo = 1\n")
    _, [problem] = load_config(root / "inner")
    assert problem.span is not None
    assert problem.span.path == "../pyproject.toml"

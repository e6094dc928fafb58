"""The documents say what is so: their code runs, their links resolve, and the reference is complete."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from commandline import run

from distgen import spec
from distgen.cli import main
from distgen.verify.laws import LAWS
from distgen.vocabulary import Vocabulary, Word, load_vocabulary

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "spec-reference.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@each_page
def test_links_resolve(page: Path) -> None:
    targets = [link.partition("#")[0] for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_architecture_has_every_module() -> None:
    modules = {path for path in (ROOT / "distgen").glob("[a-z]*") if path.suffix in {"", ".py"}}
    links = {ROOT / "docs" / link for link in LINK.findall((ROOT / "docs" / "architecture.md").read_text())}
    assert modules <= {link.resolve() for link in links}


@each_page
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks run in order: Python in one namespace, distgen in a directory with the files they name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.syspath_prepend(tmp_path)
    if page.name == "verify.md":
        # Its commands are for a project that has specs and a generated package.
        for name in ("specs", "generated"):
            (tmp_path / name).symlink_to(ROOT / name)
    namespace: dict[str, Any] = {"__name__": page.stem}
    for language, code in BLOCK.findall(page.read_text()):
        if file := re.match(r"# (\S+\.\w+)\n", code):
            (tmp_path / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file[1]).write_text(code)
        elif language == "python":
            _run(code, namespace)
        for command in re.findall(r"^distgen (.+)$", code, re.MULTILINE):
            if command.startswith("verify"):
                # Apart from this run of pytest.
                done = run(*shlex.split(command), "-j", "0", cwd=tmp_path)
                assert done.returncode == 0, done.stderr
                continue
            with pytest.raises(SystemExit) as left:
                main(shlex.split(command))
            assert not left.value.code, command


def _run(code: str, namespace: dict[str, Any]) -> None:
    """Runs `code`, statement by statement, and holds it to its comments `# -> repr` and `# raises Error`."""
    for statement in ast.parse(code).body:
        line = code.splitlines()[(statement.end_lineno or 1) - 1]
        claim = re.search(r"  # (->|raises) (.+)$", line)
        text = ast.unparse(statement)
        if claim is None:
            exec(text, namespace)
        elif claim[1] == "->":
            assert repr(eval(text, namespace)) == claim[2], line
        else:
            with pytest.raises(Exception) as raised:
                exec(text, namespace)
            assert raised.typename == claim[2], line


def test_laws_have_a_section_each() -> None:
    headings = re.findall(r"^### (\d+)\. (.+)$", (ROOT / "docs" / "laws.md").read_text(), re.MULTILINE)
    names = {int(number): heading.lower().replace(" ", "-") for number, heading in headings}
    assert [*names] == [*range(1, 22)]
    assert {law.number: law.name for law in LAWS}.items() <= names.items()


# A kind of class has the keys of all classes, which stand in one section, and those of its own.
SECTIONS = {
    "Class": spec.Class,
    "Distribution": spec.Distribution,
    "Bijector": spec.Bijector,
    "Model": spec.Other,
    "Parameter": spec.Parameter,
    "Made": spec.Made,
    "Nested": spec.Nested,
    "Static": spec.Static,
    "Method": spec.Method,
}


@pytest.mark.parametrize(("heading", "model"), SECTIONS.items(), ids=SECTIONS)
def test_reference_has_every_key(heading: str, model: type[spec.Model]) -> None:
    inherited = spec.Class.model_fields if spec.Class in model.__bases__ else {}
    rows = [(key, default, text) for key, _, default, text in _rows(heading)]
    assert rows == [
        (f"`{name}`", "required" if field.is_required() else _default(field.default), field.description)
        for name, field in model.model_fields.items()
        if name not in inherited
    ]


def test_reference_has_every_model() -> None:
    models = [
        model for model in vars(spec).values() if isinstance(model, type) and issubclass(model, spec.Model)
    ]
    assert {*models} - {spec.Model} == {*SECTIONS.values()}


def _default(value: Any) -> str:
    match value:
        case None | "":
            return "none"
        case bool():
            return f"`{value}`".lower()
        case ():
            return "`[]`"
        case _:
            return f"`{value}`"


# How many arguments of a word a spec does not write: the array that is finished, event shape and dtype, ...
IMPLICIT = {"finishing": 1, "defaults": 2, "statics": 1, "divergences": 2}
HEADINGS = {"finishing": "Finishing functions"}


@pytest.mark.parametrize("role", [role.name for role in fields(Vocabulary)])
def test_reference_has_every_word(role: str) -> None:
    words = getattr(load_vocabulary(), role).values()
    rows = _rows(HEADINGS.get(role, role.capitalize()))
    assert [call for call, _ in rows] == [_call(word, IMPLICIT.get(role, 0)) for word in words]
    summaries = [(word.summary, text) for word, (_, text) in zip(words, rows, strict=True)]
    # Where a word has no docstring, the reference has words of its own.
    assert all(text == summary if summary else text for summary, text in summaries)


def _call(word: Word, implicit: int) -> str:
    arguments = ", ".join((word.arguments or ())[implicit:])
    return f"`{word.name}({arguments})`" if arguments else f"`{word.name}`"


def _rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the reference."""
    section = re.search(rf"^### {heading}\n(.*?)(?=^##|\Z)", REFERENCE.read_text(), re.MULTILINE | re.DOTALL)
    assert section, heading
    lines = re.findall(r"^\| (.+) \|$", section[1], re.MULTILINE)
    return [line.split(" | ") for line in lines[1:]]

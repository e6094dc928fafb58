from __future__ import annotations

import errno
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from distgen import formatting
from distgen.diagnostics import render_text
from distgen.formatting import format_sources

UGLY = '''\
"""Doc."""
import os
from typing import Optional
import jax


def f(x:Optional[int] , yyyyyyyyyyyyyyyyyyyyyyyyyyyy = 1, zzzzzzzzzzzzzzzzzzzzzzzzzzzz = 2, wwwwwwwww = 3):
    """Return.

    trailing   
    """
    if x: return jax.numpy
'''  # noqa: W291
FINE = '''\
"""Doc."""

import jax


def f(x: int | None, yyyyyyyyyyyyyyyyyyyyyyyyyyyy=1, zzzzzzzzzzzzzzzzzzzzzzzzzzzz=2, wwwwwwwww=3):
    """Return.

    trailing
    """
    if x:
        return jax.numpy
'''


def codes(sources: dict[str, str]) -> list[str]:
    return [problem.code for problem in format_sources(sources)[1]]


def test_lints_fixes_and_formats() -> None:
    assert format_sources({"a.py": UGLY}) == ({"a.py": FINE}, [])


def test_is_idempotent_and_independent_of_neighbours() -> None:
    once, _ = format_sources({"a.py": UGLY, "sub/b.py": UGLY})
    assert once == {"a.py": FINE, "sub/b.py": FINE}
    assert format_sources(once) == (once, [])


def test_other_files_pass_through_in_place() -> None:
    sources = {"z.py": UGLY, "py.typed": "", "data.json": "{ }", "ruff.toml": "line-length = 40", "a.py": ""}
    formatted, problems = format_sources(sources)
    assert problems == []
    assert list(formatted) == list(sources)
    assert formatted == {**sources, "z.py": FINE}


def test_nothing_to_format_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    assert format_sources({"py.typed": ""}) == ({"py.typed": ""}, [])


def test_starts_one_linter_and_one_formatter_for_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    verbs, run = [], subprocess.run

    def record(command: Any, **kwargs: Any) -> Any:
        verbs.append(command[1])
        return run(command, **kwargs)

    monkeypatch.setattr(subprocess, "run", record)
    format_sources({f"m{i}.py": UGLY for i in range(20)})
    assert verbs == ["--version", "check", "format"]


@pytest.mark.parametrize("folder", ["build", "dist", "venv", "node_modules", "site-packages", ".hidden"])
def test_no_folder_is_skipped(folder: str) -> None:
    assert format_sources({f"{folder}/a.py": UGLY})[0] == {f"{folder}/a.py": FINE}


def test_the_user_s_surroundings_have_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ruff.toml").write_text("line-length = 40\nindent-width = 2\n")
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ruff").symlink_to("/bin/false")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "build"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("RUFF_OUTPUT_FILE", str(tmp_path / "report"))
    monkeypatch.setenv("RUFF_CONFIG", str(tmp_path / "ruff.toml"))
    assert format_sources({"a.py": UGLY}) == ({"a.py": FINE}, [])
    assert not (tmp_path / "report").exists()
    assert list((tmp_path / "build").iterdir()) == []


def test_line_ends_become_lf() -> None:
    assert format_sources({"a.py": FINE.replace("\n", "\r\n")}) == ({"a.py": FINE}, [])


def test_a_finding_names_file_line_and_rule() -> None:
    _, [problem] = format_sources({"sub/a.py": '"""Doc."""\n\nX = undefined\n', "b.py": FINE})
    assert render_text(problem) == (
        "sub/a.py:3:5: error[DG402]: expected the generated 'sub/a.py' to pass ruff and to compile, "
        "but line 3 breaks F821: Undefined name `undefined`\n"
        "  3 | X = undefined\n"
        "    |     ^\n"
        "    = hint: this is a bug of distgen, not of the spec: please report it together with the spec"
    )


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("def f(:\n", "invalid-syntax"),
        ("def f(a, a):\n    pass\n", "invalid-syntax"),
        ("return 3\n", "F706"),
        ("def f():\n    nonlocal x\n", "invalid-syntax"),
        ("X = '\udcff'\n", "E902"),
        ("def f(x=[]):\n    return x\n", "B006"),
        ("try:\n    pass\nexcept:\n    pass\n", "E722"),
    ],
)
def test_every_defect_is_found_once_and_does_not_hide_others(source: str, rule: str) -> None:
    formatted, problems = format_sources({"a.py": source, "b.py": "X = undefined\n", "c.py": UGLY})
    assert {problem.code for problem in problems} == {"DG402"}
    assert {problem.span.path for problem in problems if problem.span} == {"a.py", "b.py"}
    assert rule in problems[0].message
    assert formatted["c.py"] == FINE


@pytest.mark.parametrize(
    "source",
    [
        f"# {'a user may say much, ' * 10}and more\n",
        f'"""Doc.\n\n{"x" * 120}\n"""\n',
        "X = '\N{GREEK SMALL LETTER ALPHA} \N{MULTIPLICATION SIGN} \N{EN DASH}'  # \N{MINUS SIGN}\n".replace(
            "'", '"'
        ),
    ],
)
def test_what_cannot_be_mended_and_mathematics_are_no_defects(source: str) -> None:
    assert format_sources({"a.py": source}) == ({"a.py": source}, [])


def test_what_python_alone_objects_to_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "_lint", lambda *_: [])
    monkeypatch.setattr(formatting, "_format", lambda *_: [])
    for source in ("return\n", "X = 1 is 1\n", "\0", "X = '\ud800'\n"):
        assert codes({"a.py": source}) == ["DG402"], source


def test_the_sources_are_compiled_without_this_module_s_future_imports() -> None:
    assert codes({"a.py": "X: (yield) = 1\n"}) == ["DG402"]


def test_a_path_that_leads_out_is_written_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sources = {"../a.py": UGLY, str(tmp_path / "b.py"): UGLY}
    assert format_sources(sources) == (sources, [])
    assert list(tmp_path.iterdir()) == []


class TestRuff:
    def test_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "ruff.__main__", None)
        formatted, [problem] = format_sources({"a.py": UGLY})
        assert formatted == {"a.py": UGLY}
        assert problem.code == "DG401"
        assert "not installed" in problem.message
        assert problem.hint.startswith("run `pip install 'ruff>=")

    def test_without_its_binary(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lost() -> str:
            raise FileNotFoundError

        monkeypatch.setattr("ruff.__main__.find_ruff_bin", lost)
        assert codes({"a.py": UGLY}) == ["DG401"]

    @pytest.mark.parametrize("version", ["0.13.9", "0.18.0", "1.0", "nonsense"])
    def test_of_another_version(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
        binary = tmp_path / "ruff"
        binary.write_text(f"#!/bin/sh\necho ruff {version}\n")
        binary.chmod(0o755)
        monkeypatch.setattr("ruff.__main__.find_ruff_bin", lambda: str(binary))
        _, [problem] = format_sources({"a.py": UGLY})
        assert problem.code == "DG401"
        assert f"found ruff {version}" in problem.message

    def test_that_cannot_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "ruff").write_text("")
        monkeypatch.setattr("ruff.__main__.find_ruff_bin", lambda: str(tmp_path / "ruff"))
        _, [problem] = format_sources({"a.py": UGLY})
        assert problem.code == "DG401"
        assert "it could not run: Permission denied" in problem.message

    def test_that_crashes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        binary = tmp_path / "ruff"
        binary.write_text(
            "#!/bin/sh\n[ $1 = --version ] && echo ruff 0.15.0 && exit\necho panic >&2\nexit 101\n"
        )
        binary.chmod(0o755)
        monkeypatch.setattr("ruff.__main__.find_ruff_bin", lambda: str(binary))
        _, problems = format_sources({"a.py": FINE})
        assert [problem.code for problem in problems] == ["DG402"]
        assert problems[0].message.endswith(
            "`ruff check` to take the generated sources, but it exited 101: panic"
        )

    def test_a_full_disk_is_no_crash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_bytes", full)
        _, [problem] = format_sources({"a.py": FINE})
        assert "No space left on device" in problem.message


class TestRange:
    def test_the_constant_is_the_project_s(self) -> None:
        project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
        [ruff] = [entry for entry in project["project"]["dependencies"] if entry.startswith("ruff")]
        assert ruff == f"ruff{formatting.RUFF_RANGE}"
        assert re.fullmatch(r">=[\d.]+,<[\d.]+", formatting.RUFF_RANGE)

    def test_metadata_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        entries = ["ruff-lsp>=9", "rich>=13.9", "ruff<0.9,>=0.8", 'pytest>=8; extra == "test"']
        monkeypatch.setattr(importlib.metadata, "requires", lambda _: entries)
        assert formatting._required_range() == ">=0.8,<0.9"
        assert codes({"a.py": FINE}) == ["DG401"]

    def test_without_metadata_the_constant_holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def absent(name: str) -> None:
            raise importlib.metadata.PackageNotFoundError(name)

        monkeypatch.setattr(importlib.metadata, "requires", absent)
        assert formatting._required_range() == formatting.RUFF_RANGE

    @pytest.mark.parametrize(
        ("version", "admitted"),
        [
            ("0.14", True),
            ("0.14.0", True),
            ("0.17.99", True),
            ("0.9.0", False),
            ("0.18.0rc1", False),
            ("", False),
        ],
    )
    def test_admits(self, version: str, admitted: bool) -> None:
        assert formatting._admits(">=0.14,<0.18", version) is admitted

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from publishing import INPUTS, NEW, OLD, build, contents, plan, refusals

from distgen.diagnostics import render_text
from distgen.publish import MANIFEST, Artifact, is_current, plan_publication, unified_diff


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "project" / "generated"


class TestPlan:
    def test_a_first_build_creates_everything_and_the_plan_writes_nothing(self, output: Path) -> None:
        publication = plan(output, *OLD)
        assert [(c.path, c.action, c.before) for c in publication.changes] == [
            (path, "create", None) for path in ("__init__.py", "beta.py", "py.typed", "sub/gone.py")
        ]
        assert publication.unchanged == 0
        assert not output.parent.exists()

    def test_tells_what_a_second_build_changes(self, output: Path) -> None:
        build(output, OLD)
        publication = plan(output, *NEW)
        assert [(change.path, change.action) for change in publication.changes] == [
            ("__init__.py", "update"),
            ("new/gamma.py", "create"),
            ("py.typed", "update"),
            ("sub/gone.py", "remove"),
        ]
        assert publication.unchanged == 1

    def test_the_order_of_artifacts_does_not_matter(self, output: Path) -> None:
        assert plan(output, *OLD) == plan(output, *reversed(OLD))

    def test_the_manifest_is_sorted_json_of_inputs_and_hashes(self, output: Path) -> None:
        manifest = plan(output, *OLD).manifest
        document = json.loads(manifest)
        assert manifest == json.dumps(document, indent=2, sort_keys=True) + "\n"
        assert document["inputs"] == INPUTS
        assert document["files"] == {a.path: hashlib.sha256(a.text.encode()).hexdigest() for a in OLD}

    def test_crlf_of_a_checkout_is_no_difference(self, output: Path) -> None:
        build(output, OLD)
        for file in output.rglob("*.*"):
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        assert plan(output, *OLD).changes == ()
        assert is_current(output, INPUTS)


class TestHandEdits:
    def test_are_not_overwritten(self, output: Path) -> None:
        build(output, OLD)
        (output / "beta.py").write_text(OLD[1].text.replace("X = 1", "X = 7"))
        assert refusals(output, *OLD) == ["DG501"]
        assert refusals(output, *NEW) == ["DG501"]

    def test_are_told_with_the_place_to_move_them_to(self, output: Path) -> None:
        build(output, OLD)
        (output / "beta.py").write_text("X = 7\n")
        _, [problem] = plan_publication(output, OLD, INPUTS, force=False)
        assert render_text(problem).splitlines() == [
            "generated/beta.py:1:1: error[DG501]: expected 'beta.py' as distgen wrote it, "
            "but it was edited by hand and would now be replaced",
            "    = hint: undo the edit, move it to specs/beta.yaml or a template, "
            "or discard it with `--force`",
        ]

    def test_are_not_removed(self, output: Path) -> None:
        build(output, OLD)
        (output / "sub/gone.py").write_text(OLD[2].text + "Y = 2\n")
        assert refusals(output, *NEW) == ["DG501"]

    def test_are_discarded_with_force(self, output: Path) -> None:
        build(output, OLD)
        (output / "beta.py").write_text("\N{SNOWMAN}")
        (output / "sub/gone.py").write_bytes(b"\xff")
        assert build(output, NEW, force=True) == []
        assert (output / "beta.py").read_text() == NEW[1].text
        assert not (output / "sub").exists()

    def test_show_without_a_manifest(self, output: Path) -> None:
        build(output, OLD)
        (output / MANIFEST).unlink()
        (output / "beta.py").write_text(OLD[1].text + "Y = 2\n")
        assert refusals(output, *OLD) == ["DG501"]

    def test_show_in_a_file_without_a_header(self, output: Path) -> None:
        build(output, OLD)
        (output / "py.typed").write_text("mine\n")
        assert refusals(output, *NEW) == ["DG501"]

    def test_that_equal_the_new_text_are_welcome(self, output: Path) -> None:
        build(output, OLD)
        (output / "__init__.py").write_text(NEW[0].text)
        (output / "py.typed").write_text(NEW[3].text)
        assert build(output, NEW) == []

    def test_that_delete_a_file_are_mended(self, output: Path) -> None:
        build(output, OLD)
        (output / "beta.py").unlink()
        (output / "sub/gone.py").unlink()
        assert [(c.path, c.action) for c in plan(output, OLD[0], OLD[1], OLD[3]).changes] == [
            ("beta.py", "create")
        ]


class TestForeignFiles:
    def test_are_neither_touched_nor_removed(self, output: Path) -> None:
        build(output, OLD)
        (output / "mine.py").write_text("Y = 1\n")
        (output / "sub/mine.txt").write_text("mine")
        assert build(output, NEW) == []
        assert (output / "mine.py").read_text() == "Y = 1\n"
        assert [file.name for file in (output / "sub").iterdir()] == ["mine.txt"]

    @pytest.mark.parametrize("force", [False, True])
    def test_in_the_way_are_an_error_even_with_force(self, output: Path, force: bool) -> None:
        output.mkdir(parents=True)
        (output / "beta.py").write_text("Y = 1\n")
        assert refusals(output, *OLD, force=force) == ["DG502"]

    def test_in_the_way_may_be_directories_and_their_opposite(self, output: Path) -> None:
        (output / "beta.py").mkdir(parents=True)
        (output / "sub").write_text("")
        assert refusals(output, *OLD, force=True) == ["DG502", "DG502"]

    def test_in_the_place_of_the_manifest(self, output: Path) -> None:
        (output / MANIFEST).mkdir(parents=True)
        assert refusals(output, *OLD, force=True) == ["DG502"]

    def test_every_refusal_is_told_at_once(self, output: Path) -> None:
        build(output, OLD)
        (output / "beta.py").write_text("Y = 1\n")
        (output / "new").mkdir()
        (output / "new/gamma.py").write_text("Y = 1\n")
        assert refusals(output, *NEW) == ["DG501", "DG502"]


class TestDiff:
    def test_shows_every_change(self, output: Path) -> None:
        build(output, OLD)
        diff = re.sub(r"^[-+ ]#.*\n", "", unified_diff(plan(output, *NEW)), flags=re.MULTILINE)
        assert diff == textwrap.dedent(
            """\
            --- a/generated/__init__.py
            +++ b/generated/__init__.py
            @@ -1,5 +1,5 @@
            ~
            -X = 1
            +X = 2
            --- /dev/null
            +++ b/generated/new/gamma.py
            @@ -0,0 +1,5 @@
            +
            +X = 1
            --- a/generated/py.typed
            +++ b/generated/py.typed
            @@ -0,0 +1 @@
            +partial
            --- a/generated/sub/gone.py
            +++ /dev/null
            @@ -1,5 +0,0 @@
            -
            -X = 1
            """
        ).replace("~", " ")

    def test_is_empty_without_changes(self, output: Path) -> None:
        build(output, OLD)
        assert unified_diff(plan(output, *OLD)) == ""

    def test_names_the_output_as_it_was_given(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert "+++ b/build/gen/beta.py" in unified_diff(plan(Path("build/gen"), *OLD))
        assert "+++ b/beta.py" in unified_diff(plan(Path(), *OLD))

    def test_is_a_patch(self, output: Path, tmp_path: Path) -> None:
        build(output, OLD)
        old, new = tmp_path / "old", tmp_path / "new"
        for directory, artifacts in ((old, OLD), (new, NEW)):
            build(directory / "generated", artifacts)
        no_end = Artifact("py.typed", "no line end", "runtime", "")
        build(new / "generated", [*NEW[:3], no_end])
        patch = unified_diff(plan(old / "generated", *NEW[:3], no_end))
        subprocess.run(["git", "apply", "-p1"], input=patch, text=True, cwd=old, check=True)
        for directory in (old, new):
            (directory / "generated" / MANIFEST).unlink()
        assert contents(old) == contents(new)

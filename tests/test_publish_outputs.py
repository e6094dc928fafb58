from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from publishing import INPUTS, NEW, OLD, build, module, plan, refusals

from distgen.publish import MANIFEST, Artifact, plan_publication


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "project" / "generated"


class TestUnfitOutput:
    def test_a_file(self, output: Path) -> None:
        output.parent.mkdir()
        output.write_text("")
        assert refusals(output, *OLD) == ["DG503"]
        assert refusals(output / "deeper", *OLD) == ["DG503"]

    def test_a_dangling_symlink(self, output: Path) -> None:
        output.parent.mkdir()
        output.symlink_to("nowhere")
        assert refusals(output, *OLD) == ["DG503"]
        assert refusals(output / "deeper", *OLD) == ["DG503"]

    def test_a_symlink_loop(self, output: Path) -> None:
        output.parent.mkdir()
        output.symlink_to(output)
        assert refusals(output, *OLD) == ["DG503"]

    def test_a_symlink_to_a_directory_is_the_user_s_choice(self, output: Path, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        output.parent.mkdir()
        output.symlink_to(tmp_path / "real")
        assert build(output, OLD) == []
        assert output.is_symlink()
        assert (tmp_path / "real/sub/gone.py").exists()

    @pytest.mark.parametrize("link", ["sub", "beta.py", MANIFEST])
    @pytest.mark.parametrize("dangling", [False, True])
    def test_a_symlink_inside(self, output: Path, tmp_path: Path, link: str, dangling: bool) -> None:
        target = tmp_path / "elsewhere"
        if not dangling and link == "sub":
            target.mkdir()
        elif not dangling:
            target.write_text("{}")
        output.mkdir(parents=True)
        (output / link).symlink_to(target)
        assert refusals(output, *OLD, force=True) == ["DG503"]

    def test_a_stale_file_behind_a_symlink_is_not_removed(self, output: Path, tmp_path: Path) -> None:
        build(output, OLD)
        (output / "sub").rename(tmp_path / "elsewhere")
        (output / "sub").symlink_to(tmp_path / "elsewhere")
        assert refusals(output, *NEW, force=True) == ["DG503"]
        assert (tmp_path / "elsewhere/gone.py").exists()

    @pytest.mark.parametrize("path", ["../x.py", "/x.py", "a/../../x.py", "a\\x.py", "c:x.py", "", "a\0.py"])
    def test_a_path_that_leads_out(self, output: Path, path: str) -> None:
        assert refusals(output, Artifact(path, "", "specs/x.yaml", "")) == ["DG503"]

    def test_a_name_that_no_file_can_have(self, output: Path) -> None:
        assert [problem.code for problem in build(output, [module("x" * 300 + ".py")])] == ["DG503"]
        assert not output.exists()
        assert build(output.parent / "gen\0", OLD)[0].code == "DG503"

    def test_a_manifest_that_lists_what_lies_outside(self, output: Path, tmp_path: Path) -> None:
        outside = tmp_path / "precious.txt"
        outside.write_text("mine")
        output.mkdir(parents=True)
        files = dict.fromkeys(["../../precious.txt", str(outside)], hashlib.sha256(b"mine").hexdigest())
        (output / MANIFEST).write_text(json.dumps({"files": files, "inputs": {}}))
        assert build(output, OLD, force=True) == []
        assert outside.exists()

    def test_no_absolute_path_is_shown(self, output: Path) -> None:
        output.parent.mkdir()
        output.write_text("")
        _, [problem] = plan_publication(output, OLD, INPUTS, force=False)
        assert problem.message == (
            "expected 'generated' to be a directory that distgen can write to, but 'generated' is a file"
        )


class TestCollisions:
    @pytest.mark.parametrize(
        "paths",
        [
            ("beta.py", "Beta.py"),
            ("beta.py", "beta.py"),
            ("sub/a.py", "Sub/b.py"),
            ("beta.py", "beta.py/x.py"),
            ("stra\N{LATIN SMALL LETTER SHARP S}e.py", "STRASSE.py"),
            ("a.py", MANIFEST.upper()),
            (MANIFEST, "a.py"),
        ],
    )
    def test_are_refused(self, output: Path, paths: tuple[str, str]) -> None:
        assert refusals(
            output, *(module(path, origin=f"specs/{i}.yaml") for i, path in enumerate(paths))
        ) == ["DG504"]

    def test_name_both_origins(self, output: Path) -> None:
        artifacts = [module("beta.py", origin="specs/a.yaml"), module("Beta.py", origin="specs/b.yaml")]
        _, [problem] = plan_publication(output, artifacts, INPUTS, force=False)
        assert problem.message == (
            "expected outputs whose paths differ in more than case, "
            "but 'beta.py' from specs/a.yaml meets 'Beta.py' from specs/b.yaml"
        )

    def test_are_not_seen_in_neighbours(self, output: Path) -> None:
        assert (
            build(output, [module("sub/a.py"), module("sub/b.py"), module("sub/c/a.py"), module("a.py")])
            == []
        )

    def test_a_file_renamed_in_case_only_is_not_removed_where_case_does_not_count(self, output: Path) -> None:
        build(output, [module("Beta.py")])
        os.link(output / "Beta.py", output / "beta.py")  # such a file system shows one file under both names
        assert [change.action for change in plan(output, module("beta.py", "X = 2\n")).changes] == ["update"]

    def test_a_file_renamed_in_case_only_is_removed_where_case_counts(self, output: Path) -> None:
        build(output, [module("Beta.py")])
        changes = plan(output, module("beta.py")).changes
        assert [(change.path, change.action) for change in changes] == [
            ("Beta.py", "remove"),
            ("beta.py", "create"),
        ]

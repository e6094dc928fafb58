from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from publishing import INPUTS, NEW, OLD, build, contents, module, plan, snapshot

from distgen.publish import MANIFEST, is_current


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "project" / "generated"


class FailingCall:
    """Stands for a function of `os` and fails once, at the n-th call, counted from 0."""

    def __init__(self, function: Any, n: int, error: BaseException) -> None:
        self.function, self.n, self.error, self.calls = function, n, error, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls == self.n + 1:
            raise self.error
        return self.function(*args, **kwargs)


DISK_FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestApply:
    def test_makes_what_was_planned(self, output: Path) -> None:
        assert build(output, OLD) == []
        assert build(output, NEW) == []
        assert contents(output) == {
            **{artifact.path: artifact.text for artifact in NEW},
            MANIFEST: plan(output, *NEW).manifest,
        }
        assert not (output / "sub").exists()

    def test_leaves_no_staging_behind(self, output: Path) -> None:
        build(output, OLD)
        assert [file.name for file in output.parent.iterdir()] == ["generated"]

    def test_the_result_does_not_depend_on_history_or_place(self, tmp_path: Path) -> None:
        one, other = tmp_path / "one/generated", tmp_path / "two/deeper/gen"
        build(one, OLD)
        build(one, NEW)
        build(other, NEW[::-1])
        assert contents(one) == contents(other)

    def test_touches_nothing_when_nothing_changes(self, output: Path) -> None:
        build(output, OLD)
        before, changed = snapshot(output), output.stat().st_mtime_ns
        assert build(output, OLD) == []
        assert snapshot(output) == before
        assert output.stat().st_mtime_ns == changed

    def test_touches_the_manifest_alone_when_the_inputs_alone_change(self, output: Path) -> None:
        build(output, OLD)
        before = snapshot(output)
        build(output, OLD, {"distrax": "0.2.0"})
        after = snapshot(output)
        assert [path for path in after if after[path] != before[path]] == [MANIFEST]
        assert is_current(output, {"distrax": "0.2.0"})

    def test_touches_no_unchanged_file(self, output: Path) -> None:
        build(output, OLD)
        before = (output / "beta.py").stat()
        build(output, NEW)
        after = (output / "beta.py").stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)

    def test_removes_only_empty_directories_of_removed_files(self, output: Path) -> None:
        build(output, [module("a/b/c/x.py"), module("a/y.py"), module("d/z.py")])
        (output / "empty").mkdir()
        build(output, [module("a/y.py")])
        assert sorted(p.relative_to(output).as_posix() for p in output.rglob("*") if p.is_dir()) == [
            "a",
            "empty",
        ]

    @pytest.mark.parametrize("umask", [0o022, 0o077])
    def test_file_modes_honour_the_umask(self, output: Path, umask: int) -> None:
        previous = os.umask(umask)
        try:
            build(output, OLD)
            build(output, NEW)
        finally:
            os.umask(previous)
        modes = {file.stat().st_mode & 0o777 for file in output.rglob("*") if file.is_file()}
        assert modes == {0o666 & ~umask}
        assert output.stat().st_mode & 0o777 == 0o777 & ~umask

    def test_stages_inside_where_the_parent_is_not_writable(
        self, output: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert build(output, OLD) == []
        assert is_current(output, INPUTS)
        assert sorted(file.name for file in output.iterdir()) == [
            "__init__.py",
            "beta.py",
            MANIFEST,
            "py.typed",
            "sub",
        ]

    def test_sweeps_what_killed_builds_left(self, output: Path) -> None:
        output.parent.mkdir()
        old, young = (output.parent / f".generated.distgen-{name}" for name in ("old", "young"))
        for leftover in (old, young):
            (leftover / "new").mkdir(parents=True)
        os.utime(old, (0, 0))
        build(output, OLD)
        assert not old.exists()
        assert young.exists()


class TestInterruption:
    # Three writes and the manifest are staged and moved; one file is removed.
    @pytest.mark.parametrize(
        ("name", "n"), [*(("fsync", n) for n in range(4)), *(("replace", n) for n in range(4)), ("unlink", 0)]
    )
    def test_a_failing_file_system_leaves_everything_as_it_was(
        self, output: Path, monkeypatch: pytest.MonkeyPatch, name: str, n: int
    ) -> None:
        build(output, OLD)
        before = snapshot(output.parent)
        with monkeypatch.context() as patch:
            patch.setattr(os, name, FailingCall(getattr(os, name), n, DISK_FULL))
            [problem] = build(output, NEW)
        assert problem.code == "DG503"
        assert problem.message == (
            "expected 'generated' to be a directory that distgen can write to, "
            "but writing failed: No space left on device"
        )
        assert snapshot(output.parent) == before
        assert build(output, NEW) == []

    def test_a_failing_first_build_leaves_nothing(
        self, output: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "replace", FailingCall(os.replace, 2, DISK_FULL))
        assert [problem.code for problem in build(output, OLD)] == ["DG503"]
        assert not output.parent.exists()

    def test_a_keyboard_interrupt_leaves_everything_as_it_was(
        self, output: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build(output, OLD)
        before = snapshot(output.parent)
        monkeypatch.setattr(os, "replace", FailingCall(os.replace, 2, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            build(output, NEW)
        assert snapshot(output.parent) == before

    def test_a_read_only_file_system_is_reported_and_mended_later(
        self, output: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any) -> None:
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

        build(output, OLD)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", refuse)
            [problem] = build(output, NEW)
        assert "Read-only file system" in problem.message
        assert [file.name for file in output.parent.iterdir()] == ["generated"]
        assert build(output, NEW) == []

    @pytest.mark.parametrize("n", range(4))
    def test_a_killed_build_is_mended_by_the_next(self, output: Path, tmp_path: Path, n: int) -> None:
        build(output, OLD)
        script = f"""
            import os, sys
            from pathlib import Path
            sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parent.parent)]}
            from publishing import NEW, build
            replace, calls = os.replace, []
            def killed(*args):
                calls.append(args)
                os._exit(9) if len(calls) == {n + 1} else replace(*args)
            os.replace = killed
            build(Path({str(output)!r}), NEW)
        """
        assert subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False).returncode == 9
        assert not is_current(output, {**INPUTS, "specs": "other"})
        assert build(output, NEW) == []
        build(tmp_path / "fresh", NEW)
        assert contents(output) == contents(tmp_path / "fresh")

    def test_a_killed_build_is_mended_though_the_spec_changed_since(self, output: Path) -> None:
        build(output, OLD)
        (output / "__init__.py").write_text(
            NEW[0].text
        )  # moved into place before the kill, manifest still old
        assert build(output, [module("__init__.py", "X = 3\n")]) == []

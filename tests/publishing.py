"""What the tests of the publish stage share."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distgen.diagnostics import Diagnostic
from distgen.publish import Artifact, Publication, apply, plan_publication, with_header

INPUTS = {"distrax": "0.1.9", "specs": {"specs/beta.yaml": "12ab"}}


def module(path: str, body: str = "X = 1\n", origin: str = "specs/beta.yaml") -> Artifact:
    bare = Artifact(path, body, origin, hashlib.sha256(origin.encode()).hexdigest())
    return dataclasses.replace(bare, text=with_header(bare, "0.1.9", "distgen build"))


def build(
    directory: Path, artifacts: Sequence[Artifact], inputs: dict[str, Any] = INPUTS, *, force: bool = False
) -> list[Diagnostic]:
    publication, problems = plan_publication(directory, artifacts, inputs, force=force)
    return problems if publication is None else problems + apply(publication)


def plan(directory: Path, *artifacts: Artifact, force: bool = False) -> Publication:
    publication, problems = plan_publication(directory, artifacts, INPUTS, force=force)
    assert publication is not None, problems
    return publication


def refusals(directory: Path, *artifacts: Artifact, force: bool = False) -> list[str]:
    """The codes of the errors, having checked that nothing at all was touched."""
    before = snapshot(directory.parent)
    publication, problems = plan_publication(directory, artifacts, INPUTS, force=force)
    assert publication is None
    assert snapshot(directory.parent) == before
    assert all(problem.hint for problem in problems)
    return [problem.code for problem in problems]


def snapshot(directory: Path) -> dict[str, tuple[str | bytes, int]]:
    def content(file: Path) -> str | bytes:
        return str(file.readlink()) if file.is_symlink() else "" if file.is_dir() else file.read_bytes()

    return {
        file.relative_to(directory).as_posix(): (
            content(file),
            0 if file.is_dir() else file.lstat().st_mtime_ns,
        )
        for file in directory.rglob("*")
    }


def contents(directory: Path) -> dict[str, str]:
    files = (file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_text() for file in files}


OLD = (
    module("__init__.py"),
    module("beta.py"),
    module("sub/gone.py"),
    Artifact("py.typed", "", "runtime", ""),
)
NEW = (
    module("__init__.py", "X = 2\n"),
    module("beta.py"),
    module("new/gamma.py"),
    Artifact("py.typed", "partial\n", "runtime", ""),
)

"""The output depends on the specs, on distgen and on distrax, and on nothing else."""

from __future__ import annotations

import re
import shutil
import socket
from pathlib import Path

import pytest
from commandline import ROOT, run

from distgen.publish import MANIFEST

SPECS = [f"specs/distributions/{name}.yaml" for name in ("beta", "categorical", "normal", "von_mises")]
USER = "somebody-at-work"


def make_project(directory: Path) -> Path:
    (directory / "specs").mkdir(parents=True)
    shutil.copytree(ROOT / "specs" / "distributions", directory / "specs" / "distributions")
    hostile = ROOT / "tests" / "golden" / "good" / "hostile_text" / "normal.yaml"
    shutil.copy(hostile, directory / "specs" / "distributions")
    return directory


def read(directory: Path) -> dict[str, bytes]:
    files = (file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_bytes() for file in files}


def stamps(directory: Path) -> dict[Path, tuple[int, int]]:
    return {
        file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in (directory, *directory.rglob("*"))
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A build in an ordinary environment, which also checks that a second one does nothing."""
    project = make_project(tmp_path_factory.mktemp("reference"))
    first = run("build", *SPECS, cwd=project)
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    output = project / "generated"
    assert first.stderr == f"{len(SPECS)} classes; files: {len(read(output)) - 1} created.\n"
    before = stamps(output)
    for spec in project.rglob("*.yaml"):
        spec.touch()
    again = run("build", *reversed(SPECS), cwd=project)
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == "Nothing to do: the output is current.\n"
    assert stamps(output) == before
    return read(output)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "3", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
        {"PYTHONHASHSEED": "random", "PYTHONOPTIMIZE": "2", "RUFF_LINE_LENGTH": "80", "TERM": "dumb"},
    ],
    ids=lambda environment: "-".join(environment.values()).replace("/", "_"),
)
def test_builds_are_the_same_everywhere(
    environment: dict[str, str], reference: dict[str, bytes], tmp_path: Path
) -> None:
    project = make_project(tmp_path / USER / "a project")
    own = {
        "USER": USER,
        "LOGNAME": USER,
        "HOME": str(tmp_path / USER),
        "DISTGEN_CACHE_DIR": str(tmp_path / "c"),
    }
    done = run("build", *reversed(SPECS), cwd=project, env=own | environment)
    assert done.returncode == 0, done.stderr
    output = read(project / "generated")
    assert output == reference
    secrets = [str(tmp_path), str(ROOT), USER, "a project", socket.gethostname()]
    # As whole words: the name of a host can be a part of one.
    patterns = [re.compile(rb"(?<!\w)" + re.escape(secret.encode()) + rb"(?!\w)") for secret in secrets]
    assert [(path, p) for path, content in output.items() for p in patterns if p.search(content)] == []


def test_the_place_of_specs_and_output_does_not_matter(reference: dict[str, bytes], tmp_path: Path) -> None:
    """Absolute paths, from another working directory: only the command in the headers may differ."""
    project = make_project(tmp_path / "project")
    (project / "pyproject.toml").write_text("")
    (project / "deep" / "down").mkdir(parents=True)
    paths = [project / spec for spec in SPECS]
    output = project / "generated"
    done = run("build", *paths, "-o", output, cwd=project / "deep" / "down")
    assert done.returncode == 0, done.stderr
    assert read(output) == reference


def test_a_directory_means_the_specs_in_it(reference: dict[str, bytes], tmp_path: Path) -> None:
    project = make_project(tmp_path)
    for spec in project.rglob("*.yaml"):
        if spec.relative_to(project).as_posix() not in SPECS:
            spec.unlink()
    done = run("build", cwd=project)
    assert done.returncode == 0, done.stderr
    listed, searched = f"distgen build {' '.join(SPECS)}", "distgen build specs/"
    for path, content in read(project / "generated").items():
        if path != MANIFEST:
            assert unwrapped(content) == unwrapped(reference[path]).replace(listed, searched)


def unwrapped(content: bytes) -> str:
    return " ".join(content.decode().replace("\n#   ", " ").split())

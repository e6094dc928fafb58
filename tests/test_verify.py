"""`distgen verify`: what it runs, what it says of a broken class, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from commandline import ROOT, run
from subjects import SUBJECTS

from distgen.verify.laws import LAWS, for_pytest
from distgen.verify.laws.examining import plan, platforms
from distgen.verify.plugin import Request
from distgen.verify.results import RESULTS, Cell, LawText, Report, from_json, to_json, worst
from distgen.verify.showing import as_junit, as_text

OUTSIDE = Path(__file__).parent / "outside"
STRUCTURE = ("--law", "1", "--law", "named-leaves")
# A hand-written class that keeps a number that follows from its parameter.
HAND_WRITTEN = """
from acme.distributions import Rayleigh as Base

class Rayleigh(Base):
    def __init__(self, scale):
        super().__init__(scale)
        self.variance = 0.4292 * self._scale**2
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's project, with the package that is generated from its specs."""
    copy = tmp_path_factory.mktemp("verify") / "project"
    shutil.copytree(OUTSIDE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "handwritten.py").write_text(HAND_WRITTEN)
    assert run("build", cwd=copy).returncode == 0
    yield copy


def verify(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("verify", "-j", "0", *arguments, cwd=project)


def test_a_package_of_a_user_keeps_the_laws(project: Path) -> None:
    page = project / "report.html"
    done = verify(project, "--report", str(page), "--law", "1", "--law", "4", "--law", "19", "--law", "18")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["1", "4", "18", "19"],
        ["Leaky", *"····"],
        ["Rayleigh", *"····"],
    ]
    assert lines[-2] == "generated: 14 kept"
    assert lines[-1].startswith("executed on cpu; lowered for cpu, cuda, rocm, tpu; jax ")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "Rayleigh" in text
    assert [*page.parent.glob(".distgen-*")] == []


def test_a_broken_class_is_shown_as_a_program_that_breaks(project: Path) -> None:
    arguments = ("--module", "handwritten:Rayleigh", "--baseline", *STRUCTURE, "--format", "json")
    done = verify(project, *arguments)
    assert done.returncode == 1, done.stderr
    report = from_json(done.stdout)
    assert report.origins == ("handwritten", "distrax") and report.is_complete
    found = {(c.origin, c.subject, c.law): c for c in report.cells}
    # The spec of Leaky has no class in the place of its own, and is there in the baseline alone.
    assert [*found] == [
        ("distrax", "Leaky", 1),
        ("distrax", "Leaky", 4),
        ("handwritten", "Rayleigh", 1),
        ("handwritten", "Rayleigh", 4),
        ("distrax", "Rayleigh", 1),
        ("distrax", "Rayleigh", 4),
    ]
    broken = found["handwritten", "Rayleigh", 1]
    assert broken.message == "AssertionError: 2 leaves for the parameters ['scale']"
    assert {c.result for c in report.cells if c.law == 4} == {"broken"}
    assert found["distrax", "Rayleigh", 1].result == "kept"
    again = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", broken.program],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 1
    assert again.stderr.strip().splitlines()[-1] == broken.message


def test_what_failed_is_tried_first_the_next_time(project: Path) -> None:
    arguments = ("--module", "handwritten:Rayleigh", "--law", "1", "--format", "json", "--examples", "3")
    first = from_json(verify(project, *arguments).stdout)
    assert (project / ".hypothesis" / "examples").is_dir()
    again = from_json(verify(project, *arguments).stdout)
    assert [c.program for c in again.cells] == [c.program for c in first.cells]
    assert again.cells[0].examples <= first.cells[0].examples


def test_a_seed_draws_the_same_cases(project: Path) -> None:
    arguments = ("--module", "handwritten:Rayleigh", "--law", "1", "--format", "json", "--seed", "3")
    first, again = (from_json(verify(project, *arguments).stdout) for _ in range(2))
    assert [replace(c, seconds=0) for c in first.cells] == [replace(c, seconds=0) for c in again.cells]


def test_what_the_baseline_breaks_is_no_failure(project: Path) -> None:
    done = verify(project, "--class", "Rayleigh", "--law", "4", "--baseline", "--format", "junit")
    assert done.returncode == 0, done.stderr
    suites = xml.fromstring(done.stdout)
    assert [(s.get("name"), s.get("failures"), s.get("skipped")) for s in suites] == [
        ("generated", "0", "0"),
        ("distrax", "0", "1"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--law", "batch-frist"), "there is no law 'batch-frist'; did you mean 'batch-first'?"),
        (("--class", "Raleigh"), "no spec describes a class 'Raleigh'; did you mean 'Rayleigh'?"),
        (("--module", "acme.nowhere:Rayleigh"), "there is no class at 'acme.nowhere:Rayleigh'"),
        (("--module", "acme.distributions"), "expected 'package.module:Class'"),
        (("--module", "pathlib:Path"), "no spec describes 'pathlib:Path' or a class that it derives from"),
        (("-o", "acme/nowhere"), "no generated package at acme/nowhere; run distgen build first"),
        (("--report", "nowhere/report.html"), "there is no directory nowhere to write report.html to"),
        (("--backend", "abacus"), "'abacus' is not one of"),
        (("nowhere.yaml",), "nowhere.yaml"),
    ],
)
def test_a_mistake_is_told(project: Path, arguments: tuple[str, ...], message: str) -> None:
    done = verify(project, *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_package_of_other_specs_is_told(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    with (copy / "specs" / "leaky.yaml").open("a") as spec:
        spec.write("# Changed.\n")
    done = verify(copy, "--law", "4")
    assert done.returncode == 2
    assert "acme/safe is not made from specs/leaky.yaml as it is; run distgen build" in done.stderr
    # The other spec has not changed.
    assert verify(copy, "specs/rayleigh.yaml", "--law", "4").returncode == 0


def test_a_run_that_is_interrupted_reports_what_it_has_done(project: Path) -> None:
    page = project / "partial.html"
    command = [sys.executable, "-m", "distgen", "verify", "-j", "2", "--examples", "40"]
    process = subprocess.Popen(
        [*command, "--format", "json", "--report", str(page)],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    # The workers have started once their first examples are kept.
    time.sleep(15)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    report = from_json(output)
    assert not report.is_complete
    assert Counter(c.result for c in report.cells)["unfinished"] > 0
    assert "<!doctype html>" in page.read_text()


def test_a_user_puts_the_laws_to_a_package_under_pytest(project: Path) -> None:
    (project / "test_laws.py").write_text(
        "from distgen.verify import laws\n\n"
        'test_laws = laws.for_pytest(["specs"], "acme.safe", laws=[1, 4, 18], classes=["Rayleigh"])\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_laws.py"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(project)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_unknown_laws_and_classes_are_told() -> None:
    with pytest.raises(ValueError, match="there is no law or class 99, Nonesuch"):
        for_pytest([ROOT / "specs"], "generated", laws=[1, 99], classes=["Nonesuch"], root=ROOT)


def test_the_plan_has_every_law_that_applies_to_every_class() -> None:
    tasks = plan(SUBJECTS, "")
    places = {(repr(t.subject), t.law.number) for t in tasks}
    assert len(places) * len(platforms()) >= len(tasks) >= len(places)
    assert {n for _, n in places} == {law.number for law in LAWS}
    # Those on departures and on statistics do not ask about every class.
    assert {n for n in range(1, 22) for s in SUBJECTS if (repr(s), n) not in places} == {14, 20}
    (lowered,) = (t for t in plan(SUBJECTS, "", classes=["Normal"], backends=["tpu"]))
    assert lowered.backends == ("tpu",) and lowered.mode == "lowered"


CELLS = (
    Cell("generated", "Beta", 1, "cpu", "executed", "kept", ("float32",), 4, 0.5),
    Cell("generated", "Beta", 8, "cpu", "executed", "broken", message="No: \x00", program="raise No"),
    Cell("generated", "Beta", 8, "cuda", "executed", "kept"),
    Cell("generated", "Gamma", 1, "cpu", "executed", "unfinished"),
    Cell("distrax", "Beta", 1, "cpu", "executed", "broken", message="Three leaves"),
)
REPORT = Report(
    versions={"jax": "1", "distrax": "2"},
    options={"seed": 0},
    laws=(LawText(1, "one", "First."), LawText(8, "eight", "Second.")),
    cells=CELLS,
    is_complete=False,
    seconds=7.0,
    origins=("generated", "distrax"),
)


def test_a_report_as_text() -> None:
    assert as_text(REPORT) == (
        "                   1  8\n"
        "Beta (generated)   ·  X\n"
        "Gamma (generated)  ?\n"
        "Beta (distrax)     X\n"
        "\n"
        "· kept, X broken, ? unfinished\n"
        "Laws: 1 one, 8 eight.\n"
        "\n"
        "Beta breaks law 8 on cpu: Second.\n"
        "\n"
        "    raise No\n"
        "\n"
        "The run was stopped before its end: what is marked ? was not tried.\n"
        "\n"
        "generated: 2 kept, 1 broken, 1 unfinished\n"
        "distrax: 1 broken\n"
        "executed on cpu, cuda; jax 1, distrax 2; 7 s\n"
    )


def test_a_report_as_junit() -> None:
    generated, distrax = xml.fromstring(as_junit(REPORT))
    assert [case.get("classname") for case in generated] == [f"generated.{c.subject}" for c in CELLS[:4]]
    assert [[e.tag for e in case] for case in generated] == [[], ["failure"], [], ["skipped"]]
    assert [e.get("message") for case in distrax for e in case] == ["Three leaves"]


def test_a_report_goes_through_json() -> None:
    assert from_json(to_json(REPORT)) == REPORT
    assert json.loads(to_json(REPORT))["cells"][0]["dtypes"] == ["float32"]


def test_a_request_goes_through_json() -> None:
    request = Request(("specs",), "/", "generated", laws=(1, 2), classes=("Beta",))
    assert Request.from_text(request.to_text()) == request


def test_the_baseline_is_no_fault() -> None:
    assert [c.subject for c in REPORT.broken] == ["Beta"]
    assert replace(REPORT, cells=CELLS[4:]).broken == ()
    assert worst(RESULTS) == "unfinished" and worst(["broken", "kept"]) == "broken"

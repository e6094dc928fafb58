"""The list of deliberate faults: it fits the sources, and laws tell a fault from a harmless change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from subjects import ROOT, SUBJECTS

from distgen.verify.laws import LAWS
from mutants.faults import FAULTS, Edit, Fault
from mutants.running import Runner

HARMLESS = Fault(
    "harmless",
    "A comment is longer.",
    "distgen/runtime/finished.py",
    (Edit("# What distrax stores on an instance", "# All that distrax stores on an instance"),),
    ("Normal",),
    (4,),
)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def test_there_are_enough_faults_of_different_names() -> None:
    assert len(FAULTS) >= 30
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_fits_the_sources(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    for edit in fault.edits:
        assert text.count(edit.old) == edit.count
        assert edit.old != edit.new
    assert fault.classes and {*fault.classes} <= {*map(repr, SUBJECTS)}


def test_every_law_is_expected_to_catch_a_fault() -> None:
    expected = {number for fault in FAULTS for number in fault.laws}
    assert expected == {law.number for law in LAWS}


def test_fault_is_caught(runner: Runner) -> None:
    fault = next(fault for fault in FAULTS if fault.name == "keys-are-numbers")
    outcome = runner.run(fault)
    assert outcome.verdict == "caught"
    assert outcome.caught_by == fault.laws


def test_wrong_spec_is_caught_by_the_build(runner: Runner) -> None:
    outcome = runner.run(next(fault for fault in FAULTS if fault.name == "derived-left-out"))
    assert outcome.verdict == "caught"
    assert "DG308" in outcome.by_build


def test_harmless_change_survives(runner: Runner) -> None:
    outcome = runner.run(HARMLESS, is_thorough=False)
    assert outcome.verdict == "SURVIVED"


def test_fault_that_does_not_fit_is_refused(runner: Runner) -> None:
    fault = Fault("missing", "Nothing.", HARMLESS.file, (Edit("no such text", ""),), ("Normal",))
    with pytest.raises(ValueError, match="occurs 0 times"):
        runner.run(fault)

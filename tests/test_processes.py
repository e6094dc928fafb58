"""Law 11 over two processes of JAX's distributed runtime, and what becomes of processes that go wrong."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from subjects import ROOT, SUBJECTS

from distgen.verify.processes import ProcessesError, run_pair

SPECS = [ROOT / "specs"]

pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture(scope="module")
def faults() -> dict[str, str]:
    """What is wrong with each class over two processes."""
    return run_pair([], SPECS, "generated")


@pytest.mark.parametrize("name", [repr(s) for s in SUBJECTS])
def test_class_is_alike_over_processes(name: str, faults: dict[str, str]) -> None:
    assert faults[name] == ""


WRONG = """
import os

import jax
import generated


class Normal(generated.Normal):
    def __init__(self, loc, scale):
        super().__init__(loc, scale)
        self._scale = jax.numpy.ones(())


class Laplace(generated.Laplace):
    def log_prob(self, value):
        result = super().log_prob(value)
        return result - result.max()


class Gumbel(generated.Gumbel):
    def __init__(self, loc, scale):
        if jax.process_index() == 1:
            os._exit(3)
        super().__init__(loc, scale)


def __getattr__(name):
    return getattr(generated, name)
"""


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package in which some classes are wrong."""
    (tmp_path / "wrong.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    return "wrong"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that the test starts."""
    processes = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return processes


def test_broken_classes_are_reported(wrong: str) -> None:
    faults = run_pair(["Laplace", "Normal", "Uniform"], SPECS, wrong)
    assert "process 0: .scale has shape ()" in faults["Normal"]
    assert "an object in shard_map acts" in faults["Laplace"]
    assert faults["Uniform"] == ""


def test_death_is_an_error(wrong: str, started: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(ProcessesError, match=r"Process 1 of 2 died with exit status 3; .* was Deterministic"):
        run_pair(["Deterministic", "Gumbel"], SPECS, wrong)
    assert len(started) == 2 and None not in [p.returncode for p in started]


def test_unknown_class_is_an_error() -> None:
    with pytest.raises(ProcessesError, match="no spec describes a class Norma"):
        run_pair(["Norma"], SPECS, "generated")


def test_time_is_limited(started: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(ProcessesError, match=r"Process 0 and 1 of 2 did not come to an end within 0\.5 s"):
        run_pair(["Normal"], SPECS, "generated", limit=0.5)
    assert len(started) == 2 and None not in [p.returncode for p in started]


def test_interruption_leaves_nothing(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_pair(["Normal"], SPECS, "generated")
    assert len(started) == 2 and None not in [p.returncode for p in started]

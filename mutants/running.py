"""Putting a fault into a copy of the checkout, building there, and asking the laws there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants.faults import Fault

ROOT = Path(__file__).parent.parent
# What building and verifying read.
PARTS = ("distgen", "templates", "specs", "generated", "pyproject.toml")
TIMEOUT = 900.0

# Runs distgen as it stands in the working directory, which must not be the one that is installed. That a law
# is broken is enough: nobody reads the smallest example, which takes long to find.
_PROGRAM = """
import sys
from pathlib import Path

import distgen
from hypothesis import Phase, settings

here, found = Path.cwd().resolve(), Path(distgen.__file__).resolve()
if not found.is_relative_to(here):
    sys.exit(f"distgen is imported from {found}, and not from {here}")
settings.register_profile("unshrunk", phases=(Phase.explicit, Phase.generate))
settings.load_profile("unshrunk")
from distgen.cli import main

main()
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a fault.

    Attributes:
        fault: the fault.
        caught_by: the laws that it breaks, of those that were asked; empty where it survives.
        by_build: the complaint of the build, where that refuses the fault.
        asked: the laws that were asked last; empty for all.
        trouble: why nothing is known, where neither the build nor the laws came to an end.
        message: how the first of the laws is broken.
        seconds: how long it took.
    """

    fault: Fault
    caught_by: tuple[int, ...] = ()
    by_build: str = ""
    asked: tuple[int, ...] = ()
    trouble: str = ""
    message: str = ""
    seconds: float = 0.0

    @property
    def is_caught(self) -> bool:
        return bool(self.caught_by or self.by_build)

    @property
    def verdict(self) -> str:
        """What it comes to in a word."""
        return "UNKNOWN" if self.trouble else "caught" if self.is_caught else "SURVIVED"


class TroubleError(Exception):
    """A run that says nothing: it ran out of time, or crashed."""


class Runner:
    """Runs faults, each in a copy of one snapshot of the checkout, in which nothing changes meanwhile."""

    def __init__(self, root: Path = ROOT, timeout: float = TIMEOUT) -> None:
        self._root = root
        self._timeout = timeout
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._is_stopped = False

    def __enter__(self) -> Runner:
        self._home = Path(tempfile.mkdtemp(prefix="distgen-mutants-"))
        self._snapshot = self._home / "snapshot"
        _copy(self._root, self._snapshot)
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def stop(self) -> None:
        """Ends what runs, and lets nothing else start."""
        with self._lock:
            self._is_stopped = True
            running = [*self._running]
        for process in running:
            _kill(process)

    def run(self, fault: Fault, *, is_thorough: bool = True) -> Outcome:
        """Asks the laws that are expected to catch a fault, and then all, if those do not.

        Args:
            fault: the fault.
            is_thorough: whether to ask all, if there are some that are expected to catch it.
        """
        start = time.monotonic()
        expected = (fault.laws,) if fault.laws else ()
        everything: tuple[tuple[int, ...], ...] = ((),) if is_thorough or not expected else ()

        def outcome(**found: object) -> Outcome:
            return Outcome(fault, seconds=round(time.monotonic() - start, 1), **found)  # type: ignore[arg-type]

        with self._copied(fault.name) as copy:
            fault.inject(copy)
            try:
                if complaint := self._build(copy):
                    return outcome(by_build=complaint)
                for laws in expected + everything:
                    broken = self._verify(copy, fault.classes, laws, fault.dtypes if laws else ())
                    if broken:
                        return outcome(
                            caught_by=tuple(sorted(broken)), asked=laws, message=next(iter(broken.values()))
                        )
            except TroubleError as error:
                return outcome(trouble=str(error))
        return outcome()

    def control(self, name: str) -> dict[int, str]:
        """The laws that a class breaks where no fault was put in: there should be none.

        Raises:
            TroubleError: where the laws did not come to an end.
        """
        with self._copied(f"control-{name}") as copy:
            if complaint := self._build(copy):
                raise TroubleError(complaint)
            return self._verify(copy, (name,), ())

    @contextlib.contextmanager
    def _copied(self, name: str) -> Iterator[Path]:
        copy = self._home / name
        _copy(self._snapshot, copy)
        try:
            yield copy
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _build(self, copy: Path) -> str:
        """What the build complains of; nothing where it succeeds."""
        status, output, errors = self._distgen(copy, "build", "specs/")
        return (errors.strip() or output.strip() or f"status {status}")[-2000:] if status else ""

    def _verify(
        self, copy: Path, classes: Sequence[str], laws: Sequence[int], dtypes: Sequence[str] = ()
    ) -> dict[int, str]:
        """The laws that classes break, with the reason of each."""
        chosen = {"class": classes, "law": laws, "dtype": dtypes}
        options = [f"--{option}={value}" for option, values in chosen.items() for value in values]
        status, output, errors = self._distgen(copy, "verify", "--format=json", "--jobs=0", *options)
        try:
            report = json.loads(output[output.index("{") :])
        except ValueError:
            raise TroubleError(f"status {status}: {errors.strip()[-500:]}") from None
        unfinished = [cell["law"] for cell in report["cells"] if cell["result"] == "unfinished"]
        if unfinished or not report["cells"]:
            raise TroubleError(f"laws without an answer: {unfinished or 'all'}")
        return {c["law"]: c["message"] for c in reversed(report["cells"]) if c["result"] == "broken"}

    def _distgen(self, copy: Path, *arguments: str) -> tuple[int, str, str]:
        """The exit status, the output and the errors of distgen in a copy.

        Raises:
            TroubleError: if it takes too long.
        """
        with self._lock:
            if self._is_stopped:
                raise TroubleError("stopped")
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *arguments],
                cwd=copy,
                env=os.environ | {"PYTHONPATH": str(copy)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                # A group of its own, so that what it starts ends with it.
                start_new_session=True,
            )
            self._running.add(process)
        try:
            output, errors = process.communicate(timeout=self._timeout)
        except subprocess.TimeoutExpired:
            raise TroubleError(f"no answer within {self._timeout:.0f} s") from None
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)
        return process.returncode, output, errors


def _copy(root: Path, target: Path) -> None:
    target.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for part in PARTS:
        source = root / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=ignored)
        else:
            shutil.copy2(source, target / part)


def _kill(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

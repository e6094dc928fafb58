"""Running the laws: pytest and pytest-xdist do the work, and what they report becomes cells."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from distgen import __version__
from distgen.verify.exemptions import reasons_for
from distgen.verify.laws.departures import reasons
from distgen.verify.laws.examining import Task
from distgen.verify.laws.listing import LAWS
from distgen.verify.plots import plot
from distgen.verify.plugin import PROPERTY, Request
from distgen.verify.results import Cell, LawText, Plot, Report, Result
from distgen.verify.subjects import BASELINE

_PACKAGES = ("jax", "jaxlib", "distrax", "tfp-nightly", "tensorflow-probability", "numpy", "hypothesis")
# The laws that a departure from distrax touches.
_OF_AGREEMENT = (13, 14, 16)

# How a run can end whose tasks were put to the laws.
_ENDS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)

Progress = Callable[[int], None]


def run(
    request: Request,
    tasks: Sequence[Task],
    workers: str,
    progress: Progress = lambda done: None,
    *,
    with_plots: bool = False,
) -> Report:
    """Puts the laws to all classes that are asked for. ^C ends it, and what is done by then is reported.

    Args:
        request: what to verify.
        tasks: what that comes to (see `tasks_of`).
        workers: how many processes, or "auto" for one for each core.
        progress: called with the number of tasks that are done, each time that some are.
        with_plots: whether samples are drawn beside densities, once all is done.

    Raises:
        RuntimeError: if pytest does not get as far as the tasks.
    """
    start = time.monotonic()
    collector = Collector(tasks, progress)
    here = Path(__file__).parent
    status = pytest.main(
        [
            str(here / "suite.py"),
            *("-c", str(here / "pytest.ini"), "-n", workers, "--dist", "loadgroup"),
            *("-p", "distgen.verify.plugin", "-p", "no:cacheprovider", "-p", "no:terminal"),
            *("--distgen-request", request.to_text()),
        ],
        plugins=[collector],
    )
    if status not in _ENDS:
        raise RuntimeError(f"pytest ended with {status!r}: {'; '.join(collector.faults)}")
    laws = {task.law.number for task in tasks}
    return Report(
        versions=versions(),
        options={k: v for k, v in vars(request).items() if k != "root"},
        laws=tuple(LawText(law.number, law.name, law.statement) for law in LAWS if law.number in laws),
        cells=tuple(cell for task in tasks for cell in collector.cells(task)),
        plots=plots_of(tasks) if with_plots and collector.is_complete else (),
        is_complete=collector.is_complete,
        seconds=time.monotonic() - start,
        origins=tuple(sorted({task.subject.origin for task in tasks}, key=lambda o: (o == BASELINE, o))),
    )


def plots_of(tasks: Sequence[Task]) -> tuple[Plot, ...]:
    """Samples beside densities, for the classes under the laws."""
    examined = {repr(task.subject): task for task in tasks if task.subject.origin != BASELINE}
    plots = (plot(task.subject, task.subjects) for task in examined.values())
    return tuple(filter(None, plots))


def versions() -> dict[str, str]:
    """What the results depend on."""
    found = {"distgen": __version__, "python": platform.python_version()}
    return found | {name: v for name in _PACKAGES if (v := _version(name))}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class Collector:
    """A plugin of pytest's main process: keeps what the workers report of each task."""

    def __init__(self, tasks: Sequence[Task], progress: Progress) -> None:
        self._names = {str(task) for task in tasks}
        self._progress = progress
        self._reports: dict[str, pytest.TestReport] = {}
        self.faults: list[str] = []

    @property
    def is_complete(self) -> bool:
        return self._reports.keys() >= self._names

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(report.longreprtext)

    def pytest_internalerror(self, excrepr: object) -> None:
        self.faults.append(str(excrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # A worker that died reports a failure of another kind than "call".
        if report.when == "call" or report.failed:
            self._reports[report.nodeid.partition("[")[2].rpartition("]")[0]] = report
            self._progress(len(self._reports))

    def cells(self, task: Task) -> list[Cell]:
        """What is known of a task: a cell for each of its backends."""
        report = self._reports.get(str(task))
        entry = _entry(report)
        broken_on = entry.get("platforms") or task.backends
        return [
            Cell(
                origin=task.subject.origin,
                subject=repr(task.subject),
                law=task.law.number,
                backend=backend,
                mode=task.mode,
                result=_result(task, report, is_concerned=backend in broken_on),
                dtypes=tuple(entry.get("dtypes", ())),
                examples=entry.get("examples", 0),
                seconds=round(report.duration, 3) if report else 0.0,
                message=(entry.get("message") or report.longreprtext) if report and report.failed else "",
                program=entry.get("program", ""),
                reasons=_reasons(task),
            )
            for backend in task.backends
        ]


def _entry(report: pytest.TestReport | None) -> dict[str, Any]:
    """What the plugin of the worker sent along."""
    sent: dict[str, Any] = dict(report.user_properties) if report else {}
    return sent.get(PROPERTY) or {}


def _result(task: Task, report: pytest.TestReport | None, *, is_concerned: bool) -> Result:
    if report is None:
        return "unfinished"
    if report.failed and is_concerned:
        return "broken"
    if reasons_for(task.law.number, task.subject):
        return "exempt"
    return "departs" if _reasons(task) else "kept"


def _reasons(task: Task) -> tuple[str, ...]:
    if not task.subject.is_finished:
        return ()
    departures = reasons(task.subject) if task.law.number in _OF_AGREEMENT else {}
    named = [f"{name}: {because}" for name, because in departures.items()]
    return (*reasons_for(task.law.number, task.subject), *named)

"""The part of `distgen verify` that runs in every worker of pytest: options, and what was tried."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from distgen.diagnostics import did_you_mean, valid_choices
from distgen.verify.cases import PRECISIONS
from distgen.verify.laws import load_baseline, load_subjects, place
from distgen.verify.laws.examining import NOTE, UNHURRIED, Journal, Task, plan
from distgen.verify.laws.listing import LAWS
from distgen.verify.subjects import BASELINE, Subject

PROPERTY = "distgen"
JOURNAL = pytest.StashKey[Journal]()
TASKS = pytest.StashKey[list[Task]]()
REQUEST = pytest.StashKey["Request"]()


@dataclass(frozen=True)
class Request:
    """What a run is asked for. Empty choices stand for all.

    Attributes:
        specs: the files and directories of the specs.
        files: the names of the specs whose classes are examined; the others serve as children.
        root: the directory that paths are relative to.
        package: the generated package.
        modules: classes to put in the place of the generated ones, as `module:Class`.
        has_baseline: whether the wrapped classes are examined too.
        laws: the numbers of the laws.
        classes: the names of the classes.
        backends: the platforms.
        dtypes: the dtypes of parameters.
        examples: how many cases are drawn for a law and a class.
        seed: where the drawing starts; None for other cases in every run, after those that failed before.
    """

    specs: tuple[str, ...]
    root: str
    package: str
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    has_baseline: bool = False
    laws: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    examples: int = 4
    seed: int | None = None

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Request:
        choices: dict[str, Any] = json.loads(text)
        # JSON has lists for tuples.
        choices |= {name: tuple(value) for name, value in choices.items() if isinstance(value, list)}
        return cls(**choices)


def tasks_of(request: Request) -> list[Task]:
    """What the request comes to, in order of class, origin and law.

    Raises:
        ValueError: if the specs do not compile, or a module has no such class.
        ModuleNotFoundError, AttributeError: if the generated package, or one of its classes, is not there.
    """
    listed, root = [*request.specs], Path(request.root)
    baseline, of_baseline = load_baseline(listed, root), f"laws.load_baseline({listed!r})"
    # The classes to examine and to make children of, and the code that loads them.
    groups = []
    if request.modules:
        placed = [place(baseline, path) for path in request.modules]
        recipe = f"[*{of_baseline}, *(laws.place({of_baseline}, path) for path in {[*request.modules]!r})]"
        groups.append((placed, [*baseline, *placed], recipe))
    else:
        generated = load_subjects(listed, request.package, root)
        groups.append((generated, generated, f"laws.load_subjects({listed!r}, {request.package!r})"))
    if request.has_baseline:
        groups.append((baseline, baseline, of_baseline))
    tasks = [task for group in groups for task in _tasks_of(request, *group)]
    return sorted(tasks, key=lambda task: (repr(task.subject), task.subject.origin == BASELINE))


def _tasks_of(request: Request, subjects: list[Subject], children: list[Subject], recipe: str) -> list[Task]:
    names = [*map(repr, subjects)]
    unknown = next((name for name in request.classes if name not in names), None)
    if unknown is not None:
        hint = did_you_mean(unknown, names, otherwise=valid_choices(names))
        raise ValueError(f"no spec describes a class '{unknown}'; {hint}")
    chosen = {repr(s) for s in subjects if not request.files or s.source in request.files}
    return plan(
        subjects,
        recipe,
        laws=[law for law in LAWS if law.number in request.laws or not request.laws],
        children=children,
        classes=chosen & {*request.classes} if request.classes else chosen,
        backends=request.backends or None,
        precisions=tuple(p for p in PRECISIONS if p.name in request.dtypes or not request.dtypes),
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--distgen-request", help="What to verify, as JSON.")


def pytest_configure(config: pytest.Config) -> None:
    request = Request.from_text(config.getoption("--distgen-request"))
    # What failed is kept in the project that is examined, not where the suite is.
    database = DirectoryBasedExampleDatabase(Path(".hypothesis", "examples").absolute())
    settings.register_profile(
        PROPERTY, max_examples=request.examples, database=database, derandomize=False, **UNHURRIED
    )
    settings.load_profile(PROPERTY)
    config.stash[REQUEST] = request
    config.stash[TASKS] = tasks_of(request)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Sends along what was tried, and how it failed."""
    journal = item.stash.get(JOURNAL, None)
    if call.when != "call" or journal is None:
        return
    entry: dict[str, Any] = {"examples": journal.examples, "dtypes": sorted(journal.dtypes)}
    if call.excinfo is not None:
        error = call.excinfo.value
        notes = [note.removeprefix(NOTE) for note in getattr(error, "__notes__", ()) if note.startswith(NOTE)]
        entry |= {
            "message": f"{type(error).__name__}: {error}",
            "program": notes[-1] if notes else "",
            "platforms": [*getattr(error, "platforms", ())],
        }
    item.user_properties.append((PROPERTY, entry))

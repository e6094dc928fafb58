"""Putting laws to classes: a task is a law, a class and where it is tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distgen.verify.cases import PRECISIONS, Case, Precision
from distgen.verify.laws.listing import BY_NUMBER, LAWS
from distgen.verify.laws.registry import Draw, Law
from distgen.verify.programs import program
from distgen.verify.results import Mode
from distgen.verify.subjects import Subject, Subjects, load_subjects

# A case takes as long as what it compiles.
UNHURRIED: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}
NOTE = "This program shows it again:\n\n"


@dataclass(frozen=True)
class Task:
    """A law to put to a class.

    Attributes:
        law: the law.
        subject: the class.
        subjects: the classes to make children of.
        backends: the platform to execute on; of a law that lowers, all that are asked about.
        precisions: the precisions to draw from.
        recipe: the code that loads the classes, for the program that shows a failure again.
    """

    law: Law
    subject: Subject
    subjects: Subjects = field(repr=False, compare=False)
    backends: tuple[str, ...]
    precisions: tuple[Precision, ...] = PRECISIONS
    recipe: str = ""

    def __str__(self) -> str:
        return f"{self.group}-{self.law}-{'+'.join(self.backends)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # The protocol by which hypothesis shows an argument.
        printer.text(str(self))

    @property
    def group(self) -> str:
        """What the class has in common with no other."""
        return f"{self.subject.origin}-{self.subject}"

    @property
    def mode(self) -> Mode:
        return "lowered" if self.law.platforms else "executed"


def platforms() -> tuple[str, ...]:
    """The platforms of this machine: that of the default devices, and the CPU."""
    return tuple(dict.fromkeys(map(_platform, (jax.devices()[0], jax.devices("cpu")[0]))))


def _platform(device: jax.Device) -> str:
    # JAX calls CUDA and ROCm alike.
    version = str(getattr(device.client, "platform_version", "")).lower()
    return ("rocm" if "rocm" in version else "cuda") if device.platform == "gpu" else device.platform


def plan(
    subjects: Sequence[Subject],
    recipe: str,
    *,
    laws: Iterable[Law] = LAWS,
    children: Sequence[Subject] | None = None,
    classes: Collection[str] | None = None,
    backends: Collection[str] | None = None,
    precisions: tuple[Precision, ...] = PRECISIONS,
) -> list[Task]:
    """What there is to do: every law that applies, for every class, on every platform at hand.

    Args:
        subjects: the classes.
        recipe: the code that loads them.
        laws: the laws.
        children: the classes to make children of, if they are others.
        classes: the names of those to examine, if not all.
        backends: the platforms to examine, if not all.
        precisions: the precisions to draw from.
    """
    here = [p for p in platforms() if backends is None or p in backends]
    known = {s.wrapped: s for s in (*(children or ()), *subjects)}
    tasks = []
    for subject in (s for s in subjects if classes is None or repr(s) in classes):
        for law in (law for law in laws if law.applies(subject, known, precisions)):
            lowered = tuple(p for p in law.platforms if backends is None or p in backends)
            places = ([lowered] if lowered else []) if law.platforms else [(p,) for p in here]
            tasks += [Task(law, subject, known, place, precisions, recipe) for place in places]
    return tasks


class Journal:
    """What was tried in a task."""

    def __init__(self) -> None:
        self.examples = 0
        self.dtypes: set[str] = set()

    def note(self, case: Case) -> None:
        self.examples += 1
        self.dtypes.add(repr(case.precision))


def examine(task: Task, draw: Draw, journal: Journal) -> None:
    """Puts the law to one drawn case, or to all that it examines.

    Raises:
        Exception: whatever breaks the law, with a note that holds a program to show it again.
    """
    _turn_to(task.group)
    for case in task.law.cases(draw, task.subject, task.subjects, task.precisions):
        journal.note(case)
        backend = "cpu" if task.law.platforms else task.backends[0]
        try:
            check(task.law.number, case, backend)
        except Exception as error:
            error.add_note(NOTE + program(task.law, case, backend, task.recipe, error))
            raise


def check(number: int, case: Case, backend: str = "cpu") -> None:
    """Puts the law of that number to a case, on the first device of a platform.

    Raises:
        Exception: whatever breaks the law; AssertionError where nothing else does.
    """
    with jax.default_device(jax.devices(backend)[0]), case.precision.context():
        BY_NUMBER[number].check(case)


@lru_cache(maxsize=1)
def _turn_to(group: str) -> None:
    """All laws of one class share what is compiled for it; the next class needs the memory."""
    jax.clear_caches()


def parameters(tasks: Iterable[Task]) -> list[Any]:
    """The tasks as parameters of a test. The tasks of one class go to one worker."""
    return [pytest.param(t, id=str(t), marks=pytest.mark.xdist_group(t.group)) for t in tasks]


def for_pytest(
    specs: Sequence[str | Path],
    package: str,
    *,
    laws: Collection[int] = tuple(BY_NUMBER),
    classes: Collection[str] | None = None,
    root: Path | None = None,
) -> Callable[..., None]:
    """A test of pytest that puts the laws to the generated classes of a package.

    How many cases are drawn, and which, is a matter of the profile of hypothesis. Under pytest-xdist,
    `--dist loadgroup` keeps together what shares compiled functions.

    Args:
        specs: the files or directories of the specs.
        package: the generated package, as it is imported.
        laws: the numbers of the laws.
        classes: the names of the classes, if not all.
        root: the directory that paths in messages are relative to, that of pyproject.toml for instance.

    Returns:
        A test function, to be bound to a name that pytest collects.

    Raises:
        ValueError: if the specs do not compile, or a law or a class is unknown.
    """
    subjects = load_subjects(specs, package, root)
    unknown = [*({*laws} - {*BY_NUMBER}), *({*(classes or ())} - {*map(repr, subjects)})]
    if unknown:
        raise ValueError(f"there is no law or class {', '.join(map(str, unknown))}")
    recipe = f"laws.load_subjects({[*map(str, specs)]!r}, {package!r})"
    tasks = plan(subjects, recipe, laws=[BY_NUMBER[n] for n in sorted(laws)], classes=classes)

    @settings(**UNHURRIED)
    @given(data=st.data())
    def test_laws(task: Task, data: st.DataObject) -> None:
        examine(task, data.draw, Journal())

    parametrized: Callable[..., None] = pytest.mark.parametrize("task", parameters(tasks))(test_laws)
    return parametrized

"""The tests that `distgen verify` runs: one for each task."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from distgen.verify.laws.examining import Journal, Task, examine, parameters
from distgen.verify.plugin import JOURNAL, REQUEST, TASKS
from distgen.verify.subjects import BASELINE


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    of_baseline = metafunc.function is test_baseline
    tasks = [t for t in metafunc.config.stash[TASKS] if (t.subject.origin == BASELINE) == of_baseline]
    start = metafunc.config.stash[REQUEST].seed
    if start is not None:
        seed(start)(metafunc.function)
    metafunc.parametrize("task", parameters(tasks))


@given(data=st.data())
def test_law(task: Task, data: st.DataObject, request: pytest.FixtureRequest) -> None:
    examine(task, data.draw, request.node.stash.setdefault(JOURNAL, Journal()))


# Much of the baseline fails, and to shrink all of that would take hours.
@settings(phases=[Phase.reuse, Phase.generate])
@given(data=st.data())
def test_baseline(task: Task, data: st.DataObject, request: pytest.FixtureRequest) -> None:
    examine(task, data.draw, request.node.stash.setdefault(JOURNAL, Journal()))

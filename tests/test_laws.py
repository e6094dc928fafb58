"""Every law for every class that has a spec."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st
from subjects import BY_CLASS, SUBJECTS

from distgen.verify.laws import LAWS
from distgen.verify.laws.registry import Law
from distgen.verify.subjects import Subject
from distgen.verify.trees import cases


@pytest.fixture(
    scope="module",
    params=[pytest.param(s, marks=pytest.mark.xdist_group(repr(s))) for s in SUBJECTS],
    ids=repr,
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A class. All laws of one class share what one worker has compiled, and give the memory back."""
    yield request.param
    jax.clear_caches()


@pytest.mark.parametrize("law", LAWS, ids=repr)
@given(data=st.data())
def test_law(law: Law, subject: Subject, data: st.DataObject) -> None:
    case = data.draw(cases(subject, BY_CLASS))
    with case.precision.context():
        law.check(case)

"""Every law for every class that has a spec."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distgen.verify.cases import cases
from distgen.verify.laws import LAWS
from distgen.verify.laws.registry import Law
from distgen.verify.subjects import Subject, load_subjects

ROOT = Path(__file__).parent.parent
SUBJECTS = load_subjects([ROOT / "specs"], "generated", ROOT)


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
@pytest.mark.parametrize("law", LAWS, ids=repr)
@given(data=st.data())
def test_law(law: Law, subject: Subject, data: st.DataObject) -> None:
    case = data.draw(cases(subject))
    with case.precision.context():
        law.check(case)

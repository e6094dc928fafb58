"""The laws, and what it takes to put classes to them under pytest.

# test_laws.py
from distgen.verify import laws

test_laws = laws.for_pytest(["specs"], "mypackage.distributions")
"""

from __future__ import annotations

from distgen.verify.cases import Case, Precision
from distgen.verify.laws.examining import check, for_pytest
from distgen.verify.laws.listing import LAWS
from distgen.verify.laws.registry import Law
from distgen.verify.subjects import Subject, load_baseline, load_subjects, place

__all__ = [
    "LAWS",
    "Case",
    "Law",
    "Precision",
    "Subject",
    "check",
    "for_pytest",
    "load_baseline",
    "load_subjects",
    "place",
]

"""Law 14: where a class departs from distrax on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import jax
import jax.numpy as jnp

from distgen.verify.acting import Call, calls
from distgen.verify.agreement import assert_close, outcome
from distgen.verify.cases import Case, Precision
from distgen.verify.laws.registry import law
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.trees import first_case

# Methods that distrax computes from another one, and that are mended with it.
MENDED_WITH = {
    "_sample_n": ("sample", "sample_and_log_prob"),
    "forward": ("forward_and_log_det",),
    "inverse": ("inverse_and_log_det",),
    "cdf": ("log_cdf", "survival_function", "log_survival_function"),
}
FLOAT64 = Precision(jnp.float64, x64=True)
# The right value is computed with more digits; the method loses some of its own.
MENDED_ULP = 64


def reasons(subject: Subject) -> dict[str, str]:
    """Why each method departs, by its name."""
    return {method.name: method.reason for method in subject.plan.methods}


def mended(subject: Subject) -> set[str]:
    """The methods that a departure reaches."""
    declared = [*reasons(subject)]
    return {*declared, *chain(*(MENDED_WITH.get(name, ()) for name in declared))}


def of_departures(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> list[Case]:
    """A case in each of the precisions but that of the right value, of a class that departs at all."""
    if not subject.plan.methods:
        return []
    case = first_case(subject, subjects, (3,))
    return [case.in_precision(precision) for precision in precisions if precision != FLOAT64]


@law(14, examined=of_departures)
def departures(case: Case) -> None:
    """Where a method departs from distrax, the spec says why, and the value is right.

    The right value is that of the same parameters in double precision.
    """
    assert all(reasons(case.subject).values()), "a departure without a reason"
    d = case.build()
    asked = {name: call for name, call in calls(case, d).items() if name in reasons(case.subject)}
    got = jax.jit(lambda d: _answers(asked, d))(d)
    with FLOAT64.context():
        wide = jax.tree.map(lambda x: x.astype(jnp.float64) if x.dtype == case.precision.dtype else x, d)
        expected = jax.jit(lambda d: _answers(asked, d))(wide)
    assert got.keys() >= expected.keys(), f"methods that raise: {expected.keys() - got.keys()}"
    for name, right in expected.items():
        assert_close(got[name], right, name, ulp=MENDED_ULP, dtype=case.precision.dtype)


def _answers(asked: dict[str, Call], d: Any) -> dict[str, Any]:
    """What the methods return, but for those that raise."""
    answers = {name: outcome(lambda call=call: call(d)) for name, call in asked.items()}
    return {name: answer for name, answer in answers.items() if not isinstance(answer, Exception)}

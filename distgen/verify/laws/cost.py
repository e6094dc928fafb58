"""Law 17: what crossing a boundary costs, in leaves and equations; the benchmarks measure time."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from distgen.verify.cases import Case, Precision
from distgen.verify.laws.registry import law
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.trees import first_case


def simplest(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> list[Case]:
    """One case without a batch."""
    return [first_case(subject, subjects)]


@law(17, examined=simplest)
def cost(case: Case) -> None:
    """Crossing a boundary computes nothing, and an object has no more leaves than that of distrax."""
    d, r = case.build(), case.reference()
    crossing = jax.make_jaxpr(lambda d: d)(d)
    assert not crossing.eqns, f"crossing a boundary computes {crossing}"
    ours, theirs = len(jax.tree.leaves(d)), len(jax.tree.leaves(r))
    assert ours <= theirs, f"{ours} leaves instead of {theirs}"

"""Building, indexing and crossing boundaries in JAX's strict modes, and what laws say of pairs of classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from subjects import BY_CLASS, SUBJECTS

from distgen.verify.acting import act
from distgen.verify.cases import Case, make_case, plain_event_shape
from distgen.verify.exemptions import leaves_under
from distgen.verify.subjects import Subject
from distgen.verify.trees import first_case

MODELS = [s for s in SUBJECTS if s.plan.kind == "model"]


def case_of(subject: Subject, batch_shape: tuple[int, ...] = (), **choices: Any) -> Case:
    if subject.is_composite:
        return first_case(subject, BY_CLASS, batch_shape)
    statics = {"dtype": int, "is_lower": True}
    own = {s.name: statics[s.name] for s in subject.plan.statics}
    event_shape = plain_event_shape(subject)
    return make_case(subject, statics=own, batch_shape=batch_shape, event_shape=event_shape, **choices)


def at(d: Any, index: Any) -> Any:
    """Distributions alone are indexed by users; the others are where they are nested."""
    return d[index] if hasattr(d, "__getitem__") else d._at(index)


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_no_rank_is_promoted_no_key_used_twice_and_nothing_leaks(subject: Subject) -> None:
    fields = subject.plan.variants[0].fields
    ranks = {fields[-1].argument: 1} if len(fields) > 1 else {}
    choices = {} if subject.is_composite else {"ranks": ranks}
    case = case_of(subject, (2, 3) if fields else (), **choices)
    with jax.numpy_rank_promotion("raise"), jax.debug_key_reuse(True), jax.checking_leaks():
        d = case.build()
        leaves = [*leaves_under(8, d).values()]
        assert all(leaf.shape[: len(case.batch_shape)] == case.batch_shape for leaf in leaves)
        back = jax.jit(lambda d: d)(d)
        assert jax.tree.structure(d.replace()) == jax.tree.structure(d)
        if case.batch_shape:
            assert at(back, 0).batch_shape == ((3,) if leaves else ())
            assert at(back, (..., None, 1)).batch_shape == ((2, 1) if leaves else ())
        if case.batch_shape and len(leaves) == len(jax.tree.leaves(d)):
            assert jax.vmap(lambda d: d, axis_size=2)(d).batch_shape == d.batch_shape
    if subject.plan.kind == "distribution":
        # The samplers are distrax's, and promote ranks.
        with jax.debug_key_reuse(True), jax.checking_leaks():
            draw = d.sample(seed=jax.random.key(0))
        shapes = jax.tree.map(lambda _, s: (2, 3, *s), draw, d.event_shape)
        assert jax.tree.map(lambda x: x.shape, draw) == shapes


def test_objects_of_different_classes_never_have_equal_treedefs() -> None:
    treedefs = {repr(s): jax.tree.structure(case_of(s).build()) for s in SUBJECTS}
    for a, b in combinations(treedefs, 2):
        assert treedefs[a] != treedefs[b], f"{a} and {b}"


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s not in MODELS], ids=repr)
def test_an_empty_batch(subject: Subject) -> None:
    case = case_of(subject, (3,))
    d = at(case.build(), slice(0, 0))
    expected = (0,) if leaves_under(8, d) else ()
    assert d.batch_shape == expected
    assert jax.jit(lambda d: d)(d).batch_shape == expected
    if subject.plan.kind == "bijector":
        value: Any = jnp.zeros((0, *case.event_shape))
        assert all(x.shape[0] == 0 for x in act(d, value, "bijector"))
    else:
        is_shape = lambda x: isinstance(x, tuple) and all(isinstance(n, int) for n in x)  # noqa: E731
        value = jax.tree.map(
            lambda shape, dtype: np.zeros((0, *shape), dtype), d.event_shape, d.dtype, is_leaf=is_shape
        )
        assert d.log_prob(value).shape == (0,)

"""Building, indexing and crossing boundaries in JAX's strict modes, and what laws say of pairs of classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from subjects import SUBJECTS

from distgen.verify.cases import make_case
from distgen.verify.subjects import Subject


def build(subject: Subject, **choices: Any) -> Any:
    statics = {"dtype": int, "is_lower": True}
    own = {s.name: statics[s.name] for s in subject.plan.statics}
    return make_case(subject, statics=own, **choices).build()


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_no_rank_is_promoted_no_key_used_twice_and_nothing_leaks(subject: Subject) -> None:
    lower = subject.plan.fields[-1].argument
    ranks = {lower: 1} if len(subject.plan.variants[0].fields) > 1 else {}
    with jax.numpy_rank_promotion("raise"), jax.debug_key_reuse(True), jax.checking_leaks():
        d = build(subject, batch_shape=(2, 3), ranks=ranks)
        assert all(leaf.shape[:2] == (2, 3) for leaf in jax.tree.leaves(d))
        back = jax.jit(lambda d: d)(d)
        assert back[0].batch_shape == (3,)
        assert back[..., None, 1].batch_shape == (2, 1)
        assert jax.tree.structure(d.replace()) == jax.tree.structure(d)
        assert jax.vmap(lambda d: d)(d).batch_shape == (2, 3)
    # The samplers are distrax's, and promote ranks.
    with jax.debug_key_reuse(True), jax.checking_leaks():
        assert d.sample(seed=jax.random.key(0)).shape == (2, 3, *d.event_shape)


def test_objects_of_different_classes_never_have_equal_treedefs() -> None:
    treedefs = {repr(s): jax.tree.structure(build(s)) for s in SUBJECTS}
    for a, b in combinations(treedefs, 2):
        assert treedefs[a] != treedefs[b], f"{a} and {b}"


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_an_empty_batch(subject: Subject) -> None:
    d = build(subject, batch_shape=(3,))[:0]
    assert d.batch_shape == (0,)
    assert jax.jit(lambda d: d)(d).batch_shape == (0,)
    value = jnp.zeros((0, *d.event_shape), d.dtype)
    assert d.log_prob(value).shape == (0,)

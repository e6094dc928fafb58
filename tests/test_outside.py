"""Classes of a user, in a package outside of this one: their specs compile, and the laws hold."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import generated as g
from distgen.cli import main
from distgen.verify.laws import LAWS, Law, Subject, load_subjects
from distgen.verify.laws.examining import Journal, examine, plan

PROJECT = Path(__file__).parent / "outside"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's project, built as the user would build it."""
    copy = tmp_path_factory.mktemp("outside") / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy)
        patch.syspath_prepend(copy)
        with pytest.raises(SystemExit) as left:
            main(["build"])
        assert not left.value.code
        yield copy
    for name in [n for n in sys.modules if n.partition(".")[0] == "acme"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def subjects(project: Path) -> dict[str, Subject]:
    return {repr(s): s for s in load_subjects([project / "specs"], "acme.safe", project)}


# Neither class departs from the one that it wraps.
@pytest.mark.parametrize("law", [law for law in LAWS if law.number != 14], ids=repr)
@given(data=st.data())
def test_law(law: Law, subjects: dict[str, Subject], data: st.DataObject) -> None:
    tasks = plan([*subjects.values()], "", laws=[law])
    assert tasks
    for task in tasks:
        examine(task, data.draw, Journal())


def test_it_nests_in_the_classes_of_distrax(subjects: dict[str, Subject]) -> None:
    rayleigh, leaky = subjects["Rayleigh"], subjects["Leaky"]
    scale, slope = jnp.array([0.5, 2.0]), 0.25
    value = jnp.array([0.3, 1.2])
    d: Any = g.Transformed(rayleigh.generated(scale), leaky.generated(slope))
    r = g.Transformed(rayleigh.wrapped(scale), leaky.wrapped(slope))
    assert [leaf.shape for leaf in jax.tree.leaves(d)] == [(2,), (2,)]
    np.testing.assert_array_equal(d.log_prob(value), r.log_prob(value))
    np.testing.assert_array_equal(jax.jit(lambda d: d)(d)[1].log_prob(value[1]), d.log_prob(value)[1])


def test_the_package_converts_the_objects_of_its_classes_only(
    project: Path, subjects: dict[str, Subject]
) -> None:
    safe = import_module("acme.safe")
    raw = subjects["Rayleigh"].wrapped(1.5)
    converted = safe.from_distrax(raw)
    assert type(converted) is safe.Rayleigh
    assert float(converted.scale) == 1.5
    assert type(converted.to_distrax()) is type(raw)
    assert g.from_distrax(raw) is raw
    with pytest.raises(TypeError, match="OneHotCategorical has no counterpart in this package"):
        safe.straight_through_wrapper(distrax.OneHotCategorical)

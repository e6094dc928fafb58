"""Law 5 with the libraries that hold, change and store pytrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
from flax import nnx

import generated as g

OBJECTS: dict[str, Any] = {
    "Normal": lambda: g.Normal(jnp.array([1.0, 2.0]), 1.5),
    "Categorical": lambda: g.Categorical(logits=jnp.array([[0.0, 1.0, 2.0]])),
    "Multinomial": lambda: g.Multinomial(3, probs=jnp.array([0.25, 0.75])),
    "LogStddevNormal": lambda: g.LogStddevNormal(0.0, jnp.zeros(2), 2.0),
    "MultivariateNormalDiag": lambda: g.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)),
    "MultivariateNormalTri": lambda: g.MultivariateNormalTri(jnp.zeros(2), jnp.eye(2), is_lower=False),
}


@pytest.fixture(params=OBJECTS)
def d(request: pytest.FixtureRequest) -> Any:
    return OBJECTS[request.param]()


def assert_equal(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


def test_equinox(d: Any) -> None:
    dynamic, static = eqx.partition(d, eqx.is_inexact_array)
    assert_equal(eqx.combine(dynamic, static), d)
    assert_equal(eqx.filter_jit(lambda d: d)(d), d)
    value = d.sample(seed=jax.random.key(0))
    gradient = eqx.filter_grad(lambda d: jnp.sum(d.log_prob(value)))(d)
    assert type(gradient) is type(d)
    assert eqx.tree_equal(d, jax.tree.map(lambda x: x, d))


def test_optax(d: Any) -> None:
    value = d.sample(seed=jax.random.key(0))
    dynamic, static = eqx.partition(d, eqx.is_inexact_array)
    optimiser = optax.adam(1e-2)
    state = optimiser.init(dynamic)
    gradient = jax.grad(lambda dynamic: -jnp.sum(eqx.combine(dynamic, static).log_prob(value)))(dynamic)
    updates, _ = optimiser.update(gradient, state, dynamic)
    updated = eqx.combine(optax.apply_updates(dynamic, updates), static)
    assert jax.tree.structure(updated) == jax.tree.structure(d)
    assert all(jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(updated))


def test_flax(d: Any) -> None:
    class Holder(nnx.Module):
        def __init__(self) -> None:
            self.distribution = nnx.Variable(d)

    graph, state = nnx.split(Holder())
    assert_equal(nnx.merge(graph, state).distribution.get_value(), d)


def test_orbax(d: Any, tmp_path: Path) -> None:
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "checkpoint", {"d": d})
        checkpointer.wait_until_finished()
        abstract = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), {"d": d})
        assert_equal(checkpointer.restore(tmp_path / "checkpoint", abstract)["d"], d)


def test_axes_and_shardings_as_trees(d: Any) -> None:
    stacked = jax.tree.map(lambda x: jnp.stack([x, x]), d)
    axes = jax.tree.map(lambda _: 0, stacked)
    value = jnp.stack([d.sample(seed=jax.random.key(0))] * 2)
    mapped = jax.vmap(lambda d, x: d.log_prob(x), in_axes=(axes, 0))(stacked, value)
    assert mapped.shape[0] == 2
    shardings = jax.tree.map(lambda x: x.sharding, d)
    assert_equal(jax.jit(lambda d: d, in_shardings=(shardings,), out_shardings=shardings)(d), d)

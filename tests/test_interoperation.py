"""Law 5 with libraries that hold, change and store pytrees, and with functions that take distributions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import distrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
import rlax
from flax import nnx
from jax.tree_util import keystr, tree_map_with_path

import generated as g

KEY = jax.random.key(0)
MASK = jnp.array([True, False])


def bend(x: jax.Array) -> jax.Array:
    return jnp.tanh(x)


def condition(params: Any, x: jax.Array) -> jax.Array:
    return (x @ params["weight"] + params["bias"]).reshape(*x.shape, 2)


def affine(params: jax.Array) -> Any:
    return g.ScalarAffine(params[..., 0], log_scale=params[..., 1])


def spline(params: jax.Array) -> Any:
    return g.RationalQuadraticSpline(params.reshape(2, -1), range_min=-2.0, range_max=2.0)


def scale(params: jax.Array, x: jax.Array) -> jax.Array:
    return params * x


def unscale(params: jax.Array, y: jax.Array) -> jax.Array:
    return y / params


def coupling() -> Any:
    params = {"weight": jnp.arange(8.0).reshape(2, 4) / 10, "bias": jnp.zeros(4)}
    return g.MaskedCoupling(MASK, condition, affine, params=params)


DISTRIBUTIONS: dict[str, Callable[[], Any]] = {
    "Normal": lambda: g.Normal(jnp.array([1.0, 2.0]), 1.5),
    "Categorical": lambda: g.Categorical(logits=jnp.array([[0.0, 1.0, 2.0]])),
    "Multinomial": lambda: g.Multinomial(3, probs=jnp.array([0.25, 0.75])),
    "LogStddevNormal": lambda: g.LogStddevNormal(0.0, jnp.zeros(2), 2.0),
    "MultivariateNormalDiag": lambda: g.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)),
    "MultivariateNormalTri": lambda: g.MultivariateNormalTri(jnp.zeros(2), jnp.eye(2), is_lower=False),
    "MultivariateNormalFromBijector": lambda: g.MultivariateNormalFromBijector(
        jnp.zeros(2), g.TriangularLinear(jnp.eye(2) + 1)
    ),
    "Independent": lambda: g.Independent(g.Normal(jnp.zeros((2, 3)), 1.0), 1),
    "Joint": lambda: g.Joint({"a": g.Normal(0.0, 1.0), "b": (g.MultivariateNormalDiag(jnp.zeros(2)),)}),
    "MixtureSameFamily": lambda: g.MixtureSameFamily(
        g.Categorical(logits=jnp.zeros(2)), g.MultivariateNormalDiag(jnp.eye(2), jnp.ones(2))
    ),
    "MixtureOfTwo": lambda: g.MixtureOfTwo(0.25, g.Normal(0.0, 1.0), g.Normal(2.0, 0.5)),
    "Clipped": lambda: g.Clipped(g.Logistic(jnp.zeros(2), 1.0), -1.0, 2.0),
    "Quantized": lambda: g.Quantized(g.Normal(jnp.zeros(2), 2.0), low=-3.0, high=3.0),
    "Transformed": lambda: g.Transformed(g.Normal(jnp.zeros(2), 1.0), g.ScalarAffine(1.0, 2.0)),
    "SquashedNormal": lambda: g.Transformed(
        g.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)), g.Block(g.Tanh(), 1)
    ),
    "Flow": lambda: g.Transformed(
        g.Independent(g.Normal(jnp.zeros(2), 1.0), 1),
        g.Chain([coupling(), g.DiagLinear(jnp.array([0.5, 2.0]))]),
    ),
    "StraightThrough": lambda: g.straight_through_wrapper(g.OneHotCategorical)(logits=jnp.arange(3.0)),
}
BIJECTORS: dict[str, Callable[[], Any]] = {
    "ScalarAffine": lambda: g.ScalarAffine(1.0, jnp.array([0.5, 2.0])),
    "Chain": lambda: g.Chain([g.Tanh(), g.Inverse(g.ScalarAffine(0.5, 2.0))]),
    "RationalQuadraticSpline": lambda: g.RationalQuadraticSpline(jnp.zeros((2, 13)), -1.0, 1.0),
    "MaskedCoupling": lambda: g.MaskedCoupling(MASK, eqx.nn.MLP(2, 20, 4, 1, bend, bend, key=KEY), spline),
    "Lambda": lambda: g.Lambda(scale, unscale, params=jnp.array([2.0, 3.0])),
}
MODELS: dict[str, Callable[[], Any]] = {
    "HMM": lambda: g.HMM(
        g.Categorical(logits=jnp.zeros(2)), g.Categorical(logits=jnp.eye(2)), g.Normal(jnp.zeros(2), 1.0)
    ),
}
MAKE = functools.cache(lambda name: (DISTRIBUTIONS | BIJECTORS | MODELS)[name]())


OBJECTS = DISTRIBUTIONS | BIJECTORS | MODELS


@functools.cache
def make(name: str) -> Any:
    return OBJECTS[name]()


@pytest.fixture(params=OBJECTS)
def d(request: pytest.FixtureRequest) -> Any:
    return make(request.param)


@pytest.fixture(params=DISTRIBUTIONS)
def distribution(request: pytest.FixtureRequest) -> Any:
    return make(request.param)


@jax.jit
def draw(d: Any) -> Any:
    """A value for `score`."""
    match d:
        case distrax.Bijector():
            return jnp.array([0.5, -0.25])
        case distrax.HMM():
            return d.sample(seed=KEY, seq_len=3)[1]
        case _:
            return d.sample(seed=KEY)


@jax.jit
def score(d: Any, value: Any) -> jax.Array:
    """A number that depends on every leaf."""
    match d:
        case distrax.Bijector():
            y, log_det = d.forward_and_log_det(value)
            return jnp.sum(y) + jnp.sum(log_det)
        case distrax.HMM():
            return d.forward(value)[0]
        case _:
            return jnp.sum(d.log_prob(value))


def assert_equal(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


def test_equinox(d: Any, tmp_path: Path) -> None:
    dynamic, static = eqx.partition(d, eqx.is_inexact_array)
    assert_equal(eqx.combine(dynamic, static), d)
    assert_equal(eqx.filter_jit(lambda d: d)(d), d)
    gradient = eqx.filter_grad(score)(d, draw(d))
    assert type(gradient) is type(d)
    assert jax.tree.structure(gradient) == jax.tree.structure(dynamic)
    assert eqx.tree_equal(d, jax.tree.map(lambda x: x, d))
    eqx.tree_serialise_leaves(tmp_path / "leaves", d)
    assert_equal(eqx.tree_deserialise_leaves(tmp_path / "leaves", jax.tree.map(jnp.zeros_like, d)), d)


def test_optax(d: Any) -> None:
    dynamic, static = eqx.partition(d, eqx.is_inexact_array)
    optimiser = optax.sgd(1e-2, momentum=0.9)
    state = optimiser.init(dynamic)
    gradient = jax.grad(lambda dynamic: score(eqx.combine(dynamic, static), draw(d)))(dynamic)
    updates, _ = optimiser.update(gradient, state, dynamic)
    updated = eqx.combine(optax.apply_updates(dynamic, updates), static)
    assert jax.tree.structure(updated) == jax.tree.structure(d)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(updated))
    assert not eqx.tree_equal(updated, d)


def test_flax(d: Any) -> None:
    class Holder(nnx.Module):
        def __init__(self) -> None:
            self.parameter = nnx.Param(d)
            self.data = nnx.data(d)

    graph, state = nnx.split(Holder())
    merged = nnx.merge(graph, state)
    assert_equal(merged.parameter.get_value(), d)
    assert_equal(merged.data, d)
    value = draw(d)
    want = jax.grad(score, allow_int=True)(d, value)
    got = nnx.grad(lambda holder: score(holder.parameter.get_value(), value), allow_int=True)(Holder())
    assert_equal(got["parameter"].get_value(), want)
    got = jax.grad(lambda state: score(nnx.merge(graph, state).data, value), allow_int=True)(state)
    assert_equal(nnx.merge(graph, got).data, want)


def test_orbax(d: Any, tmp_path: Path) -> None:
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "checkpoint", {"d": d})
        checkpointer.wait_until_finished()
        abstract = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), {"d": d})
        assert_equal(checkpointer.restore(tmp_path / "checkpoint", abstract)["d"], d)


@pytest.mark.parametrize("name", [name for name in OBJECTS if name != "MaskedCoupling"])
def test_export(name: str) -> None:
    d = make(name)
    value = draw(d)
    exported = jax.export.export(jax.jit(lambda d, value: (d, score(d, value))))(d, value)
    back, result = jax.export.deserialize(exported.serialize()).call(d, value)
    assert_equal(back, d)
    assert result == score(d, value)


def test_export_refuses_a_module() -> None:
    exported = jax.export.export(jax.jit(lambda d: d))(make("MaskedCoupling"))
    with pytest.raises(TypeError, match="only functions that can be imported by name are"):
        exported.serialize()


def test_cloudpickle(d: Any) -> None:
    assert_equal(cloudpickle.loads(cloudpickle.dumps(d)), d)


def test_cloudpickle_of_functions_without_a_name() -> None:
    network = eqx.nn.MLP(2, 4, 4, 1, key=KEY)
    for d in (
        g.MaskedCoupling(MASK, network, lambda x: affine(x.reshape(2, 2))),
        g.Lambda(lambda scale, x: scale * x, lambda scale, y: y / scale, params=jnp.array([2.0, 3.0])),
    ):
        value = draw(d)
        back = cloudpickle.loads(cloudpickle.dumps(d))
        assert score(back, value) == score(d, value)
        assert_equal(jax.tree.leaves(back), jax.tree.leaves(d))


def test_axes_and_shardings_as_trees(d: Any) -> None:
    value = draw(d)
    stacked, values = jax.tree.map(lambda x: jnp.stack([x, x]), (d, value))
    axes = jax.tree.map(lambda _: 0, stacked)
    mapped = jax.vmap(score, in_axes=(axes, 0))(stacked, values)
    assert mapped == pytest.approx([float(score(d, value))] * 2, rel=1e-5)
    shardings = jax.tree.map(lambda x: x.sharding, d)
    assert_equal(jax.jit(lambda d: d, in_shardings=(shardings,), out_shardings=shardings)(d), d)


def test_estimators_of_distrax(distribution: Any) -> None:
    @jax.jit
    def estimates(p: Any, q: Any) -> Any:
        value, log_p = p.sample_and_log_prob(seed=KEY, sample_shape=[5])
        log_ratio = log_p - q.log_prob(value)
        pairs = [
            (distrax.importance_sampling_ratios(p, q, value), jnp.exp(log_ratio)),
            (distrax.mc_estimate_kl(p, q, KEY, 5), jnp.mean(log_ratio, axis=0)),
        ]
        try:
            divergence = p.kl_divergence(q)
        except NotImplementedError:
            return pairs
        return [*pairs, (distrax.estimate_kl_best_effort(p, q, KEY, 5), divergence)]

    def moved(path: Any, x: jax.Array) -> jax.Array:
        # Where bijectors differ there is no divergence.
        return 1.25 * x if eqx.is_inexact_array(x) and ".bijector" not in keystr(path) else x

    for got, want in estimates(distribution, tree_map_with_path(moved, distribution)):
        assert got.shape == want.shape
        assert np.all(np.isfinite(want))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in DISTRIBUTIONS if name != "Joint"])
def test_rlax(name: str) -> None:
    @jax.jit
    def distil(d: Any) -> Any:
        targets = rlax.constant_policy_targets(d, KEY, 5)
        loss = rlax.sampled_policy_distillation_loss(d, targets)
        return loss, -jnp.mean(d.log_prob(targets.actions))

    loss, expected = distil(make(name))
    assert loss == pytest.approx(float(expected), rel=1e-5, abs=1e-6)

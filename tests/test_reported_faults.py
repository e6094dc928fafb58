"""Faults of public bug reports, with the right values: closed forms, and shapes by shape algebra."""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import generated as g
from distgen.verify.cases import Precision

WIDE = Precision(jnp.float64, x64=True)
LOC, SCALE, POINT = (0.5, -1.0), (2.0, 0.5), (1.0, 0.0)
LOG_PROB = sum(
    -0.5 * ((x - m) / s) ** 2 - math.log(s) - 0.5 * math.log(2 * math.pi)
    for x, m, s in zip(POINT, LOC, SCALE, strict=True)
)


def test_the_founding_report() -> None:
    """A Categorical built and returned inside jit, and both workarounds that people were given."""

    @jax.jit
    def policy(x: jax.Array) -> g.Categorical:
        return g.Categorical(logits=jnp.sin(x))

    x = jnp.array([0.1, 2.0, -1.0])
    logits = np.sin(np.asarray(x, np.float64))
    expected = logits - np.log(np.sum(np.exp(logits)))
    d = policy(x)
    assert d.logits == pytest.approx(expected, rel=1e-6)
    assert d.log_prob(1) == pytest.approx(expected[1], rel=1e-6)

    from_finished = jax.jit(lambda x: g.Categorical.from_finished(logits=jax.nn.log_softmax(jnp.sin(x))))
    assert from_finished(x).log_prob(2) == pytest.approx(expected[2], rel=1e-6)
    parameters = jax.jit(lambda x: g.Categorical(logits=jnp.sin(x)).finished())(x)
    assert g.Categorical.from_finished(**parameters).log_prob(0) == pytest.approx(expected[0], rel=1e-6)


def test_multivariate_normal_leaves_jit_without_a_leak() -> None:
    loc, scale, point = map(jnp.array, (LOC, SCALE, POINT))
    with jax.checking_leaks():
        d = jax.jit(g.MultivariateNormalDiag)(loc, scale)
    assert d.log_prob(point) == pytest.approx(LOG_PROB, rel=1e-6)
    assert d.scale.forward(point).tolist() == [2.0, 0.0]
    assert d.covariance().tolist() == [[4.0, 0.0], [0.0, 0.25]]


def test_vmap_of_the_constructor_gives_the_batched_distribution() -> None:
    loc, scale = jnp.arange(4.0)[:, None], jnp.array([2.0])
    d = jax.vmap(g.MultivariateNormalDiag, in_axes=(0, None))(loc, scale)
    assert (d.batch_shape, d.event_shape) == ((4,), (1,))
    assert d.sample(seed=jax.random.key(0)).shape == (4, 1)
    assert d.entropy() == pytest.approx([0.5 * math.log(2 * math.pi * math.e * 4)] * 4, rel=1e-6)
    assert d.log_prob(loc) == pytest.approx([-0.5 * math.log(2 * math.pi * 4)] * 4, rel=1e-6)


A = jnp.array([0.2, 0.5])
FAMILIES: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda v: g.Normal(v, 1.0),
    "Uniform": lambda v: g.Uniform(0.0, v),
    "Gamma": lambda v: g.Gamma(v, 1.0),
    "Beta": lambda v: g.Beta(v, 1.0),
    "Laplace": lambda v: g.Laplace(v, 1.0),
    "Gumbel": lambda v: g.Gumbel(v, 1.0),
    "Logistic": lambda v: g.Logistic(v, 1.0),
    "VonMises": lambda v: g.VonMises(v, 1.0),
    "Bernoulli": lambda v: g.Bernoulli(logits=v),
    "Deterministic": g.Deterministic,
    "ClippedNormal": lambda v: g.ClippedNormal(v, 1.0, -1.0, 1.0),
    "ClippedLogistic": lambda v: g.ClippedLogistic(v, 1.0, -1.0, 1.0),
    "LogStddevNormal": lambda v: g.LogStddevNormal(v, 0.0, 2.0),
    "CategoricalUniform": lambda v: g.CategoricalUniform(low=0.0, high=v, logits=jnp.zeros(3)),
    "Categorical": lambda v: g.Categorical(logits=jnp.stack([v, 0.0])),
    "OneHotCategorical": lambda v: g.OneHotCategorical(logits=jnp.stack([v, 0.0])),
    "Softmax": lambda v: g.Softmax(jnp.stack([v, 0.0]), v),
    "Greedy": lambda v: g.Greedy(jnp.stack([v, 0.0])),
    "EpsilonGreedy": lambda v: g.EpsilonGreedy(jnp.stack([v, 0.0]), 0.1),
    "Dirichlet": lambda v: g.Dirichlet(jnp.stack([v, 1.0])),
    "Multinomial": lambda v: g.Multinomial(5, logits=jnp.stack([v, 0.0])),
    "MultivariateNormalDiag": lambda v: g.MultivariateNormalDiag(jnp.stack([v, v]), A),
    "MultivariateNormalTri": lambda v: g.MultivariateNormalTri(jnp.stack([v, v]), jnp.eye(2)),
    "MultivariateNormalFullCovariance": lambda v: g.MultivariateNormalFullCovariance(
        jnp.stack([v, v]), jnp.eye(2)
    ),
    "MultivariateNormalDiagPlusLowRank": lambda v: g.MultivariateNormalDiagPlusLowRank(
        jnp.stack([v, v]), A, A[:, None]
    ),
    "MultivariateNormalFromBijector": lambda v: g.MultivariateNormalFromBijector(
        jnp.stack([v, v]), g.DiagLinear(A)
    ),
    "Independent": lambda v: g.Independent(g.Normal(jnp.stack([v, v]), 1.0), 1),
    "Transformed": lambda v: g.Transformed(g.Normal(v, 1.0), g.Chain([g.Tanh(), g.ScalarAffine(0.0, 2.0)])),
    "MixtureSameFamily": lambda v: g.MixtureSameFamily(
        g.Categorical(logits=jnp.zeros(2)), g.Normal(jnp.stack([v, -v]), 1.0)
    ),
    "MixtureOfTwo": lambda v: g.MixtureOfTwo(0.25, g.Normal(v, 1.0), g.Logistic(v, 1.0)),
    "Clipped": lambda v: g.Clipped(g.Logistic(v, 1.0), -1.0, 1.0),
    "Quantized": lambda v: g.Quantized(g.Normal(v, 1.0), -3.0, 3.0),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_vmap_over_a_scalar_argument(name: str) -> None:
    d = jax.vmap(FAMILIES[name])(jnp.arange(1.0, 4.0))
    assert type(d).__name__ == name
    assert d.batch_shape == (3,)
    assert d.sample(seed=jax.random.key(0)).shape == (3, *d.event_shape)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mask_keeps_the_structure(name: str) -> None:
    d = FAMILIES[name](jnp.float32(0.5))
    mask = jax.tree.map(lambda _: True, d)
    assert jax.tree.structure(mask) == jax.tree.structure(d)
    assert jax.tree.leaves(mask) == [True] * len(jax.tree.leaves(d))
    chosen = jax.tree.map(lambda keep, leaf: leaf if keep else None, mask, d)
    assert type(chosen) is type(d)


@pytest.mark.parametrize("name", FAMILIES)
def test_fresh_objects_are_traced_once(name: str) -> None:
    traces = []

    @jax.jit
    def first_leaf(d: Any) -> Any:
        traces.append(name)
        return jax.tree.leaves(d)[0]

    for value in (0.25, 0.5, 0.75):
        first_leaf(FAMILIES[name](jnp.float32(value)))
    assert traces == [name]


WITH_ARRAYS = {
    "CategoricalUniform",
    "MixtureSameFamily",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTri",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_of_32_bits_stay_so_under_x64(name: str) -> None:
    with WIDE.context():
        d = FAMILIES[name](jnp.float32(0.5))
        if name in WITH_ARRAYS:
            # Their other arguments were arrays of 64 bits.
            d = jax.tree.map(lambda x: x.astype(jnp.float32), d)
        key = jax.random.key(0)
        results = {"sample": d.sample(seed=key), "log_prob": d.log_prob(d.sample(seed=key))}
        for method in ("entropy", "mean", "variance"):
            try:
                results[method] = getattr(d, method)()
            except NotImplementedError:
                continue
        assert not [m for m, x in results.items() if x.dtype == jnp.float64]


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("name", FAMILIES)
def test_narrow_parameters_give_finite_narrow_results(name: str, dtype: Any) -> None:
    d = jax.tree.map(
        lambda x: x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x,
        FAMILIES[name](jnp.float32(0.5)),
    )
    value = d.sample(seed=jax.random.key(0))
    log_prob = d.log_prob(value)
    assert value.dtype == d.dtype
    assert log_prob.dtype == dtype
    assert jnp.all(jnp.isfinite(log_prob.astype(jnp.float32)))


def test_slices_keep_what_the_constructor_was_given() -> None:
    """distrax squashes the scale a second time, and leaves temperature and epsilon as they are."""
    a, b = jnp.array([0.2, 0.5]), jnp.array([0.7, 1.1])
    d = g.LogStddevNormal(a, b, max_scale=2.0)
    log_scale = math.log(2) - math.log1p(math.exp(math.log(2) - 0.7))
    assert d[0].scale == pytest.approx(math.exp(log_scale), rel=1e-6)
    assert d[0].max_scale == 2.0
    logits = jnp.array([[0.0, 1.0], [1.0, 0.0]])
    softmax = g.Softmax(logits, jnp.array([[0.5], [2.0]]))
    assert (softmax[1].batch_shape, softmax[1].temperature.tolist()) == ((), 2.0)
    assert softmax[1].probs == pytest.approx([1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5))], rel=1e-6)
    greedy = g.EpsilonGreedy(logits, jnp.array([[0.1], [0.4]]))
    assert greedy[1].probs == pytest.approx([0.8, 0.2], rel=1e-6)
    assert type(g.ClippedNormal(a, b, -1.0, 1.0)[0]) is g.ClippedNormal


def test_an_index_out_of_bounds_is_an_error() -> None:
    d = g.Normal(jnp.zeros(3), 1.0)
    assert len(list(d)) == 3
    for index in (3, -4, (0, 0)):
        with pytest.raises(IndexError, match="not compatible"):
            d[index]
    assert d[jnp.array([0, 2])].batch_shape == (2,)
    assert d[[True, False, True]].batch_shape == (2,)
    assert d[..., None].batch_shape == (3, 1)


def test_numbers_are_leaves() -> None:
    """Three values, one trace, and both branches of cond."""
    for make in (
        lambda x: g.Softmax(jnp.zeros(3), x),
        lambda x: g.EpsilonGreedy(jnp.zeros(3), x),
        lambda x: g.LogStddevNormal(0.0, 1.0, x),
        lambda x: g.Multinomial(int(4 * x), logits=jnp.zeros(3)),
    ):
        trees = {jax.tree.structure(make(x)) for x in (0.25, 0.5, 0.75)}
        assert len(trees) == 1
        d = jax.lax.cond(True, lambda make=make: make(0.25), lambda make=make: make(0.5))
        assert type(d) is type(make(0.5))


def test_the_callers_buffer_is_not_shared() -> None:
    loc = np.zeros(64, np.float32)
    d = g.Normal(loc, 1.0)
    loc[:] = 5
    assert d.loc.tolist() == [0.0] * 64


class Labelled(g.Normal):
    """A class as users derive them."""

    def __init__(self, loc: Any, scale: Any, label: str, weights: Any) -> None:
        super().__init__(loc, scale)
        self.label = label
        self.weights = weights


def test_a_derived_class_crosses_every_boundary() -> None:
    d = Labelled(jnp.zeros(2), jnp.ones(2), "a", {"w": jnp.arange(3.0)})
    assert len(jax.tree.leaves(d)) == 3
    back = jax.jit(lambda d: jax.tree.map(lambda x: x + 1, d))(d)
    assert (type(back), back.label, back.weights["w"].tolist()) == (Labelled, "a", [1.0, 2.0, 3.0])
    assert pickle.loads(pickle.dumps(back)).label == "a"
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(d)]
    assert paths == [".loc", ".scale", ".weights['w']"]
    exported = jax.export.export(jax.jit(lambda d: d))(d)
    assert jax.export.deserialize(exported.serialize()).call(d).label == "a"
    with pytest.raises(TypeError, match=r"Attribute 'names' of .* is a list"):
        d.names = ["x"]  # type: ignore[attr-defined]
        jax.tree.leaves(d)


class Cached(g.Normal):
    """A class that caches what it derives from the parameters."""

    @functools.cached_property
    def precision(self) -> Any:
        return 1 / self._scale

    def log_prob(self, value: Any) -> Any:
        return super().log_prob(value) * self.precision


def test_a_cache_is_no_leaf_and_never_stale() -> None:
    d = Cached(jnp.zeros(3), jnp.ones(3))
    treedef = jax.tree.structure(d)
    d.log_prob(0.0)
    assert jax.tree.structure(d) == treedef
    expected = (-math.log(2) - 0.5 * math.log(2 * math.pi)) / 2
    for changed in (d.replace(scale=2.0), jax.tree.map(lambda x: x + (x == 1), d)):
        assert changed.log_prob(0.0) == pytest.approx([expected] * 3, rel=1e-6)
    assert d[0].log_prob(0.0).shape == ()


class Mixin(distrax.Normal):  # type: ignore[misc]
    def log_cdf(self, value: Any) -> Any:
        return super().log_cdf(value) + 100


class Mixed(g.Normal, Mixin):
    pass


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_a_mended_method_follows_the_order_of_resolution(dtype: Any) -> None:
    d = Mixed(jnp.zeros((), dtype), jnp.ones((), dtype))
    assert float(d.log_cdf(jnp.zeros((), dtype))) == pytest.approx(100 - math.log(2), rel=1e-2)


def test_a_wide_value_gives_a_wide_result() -> None:
    d = g.Normal(jnp.bfloat16(0.5), jnp.bfloat16(1.5))
    for method in ("log_prob", "cdf", "log_cdf", "log_survival_function"):
        assert getattr(d, method)(jnp.float32(0.25)).dtype == jnp.float32
        assert getattr(d, method)(0.25).dtype == jnp.bfloat16
    with WIDE.context():
        multinomial = g.Multinomial(3, logits=jnp.zeros(2, jnp.float32))
        assert multinomial.log_prob(jnp.array([1.0, 2.0])).dtype == jnp.float64
        assert multinomial.log_prob(jnp.array([1, 2])).dtype == jnp.float32


def test_sequences_of_indices() -> None:
    d = g.Normal(jnp.arange(12.0).reshape(3, 4), 1.5)
    assert d[[]].batch_shape == (0, 4)
    assert d[range(2)].batch_shape == (2, 4)
    assert d[[2, 0], 1].loc.tolist() == [9.0, 1.0]
    assert jax.jit(lambda d, i: d[[i, 0]])(d, 1).batch_shape == (2, 4)
    with pytest.raises(IndexError, match="not compatible"):
        d[np.array([0.5])]
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError):
        jax.jit(lambda d, mask: d[mask])(d, jnp.array([True, False, True]))


def test_messages_name_the_parameters() -> None:
    with pytest.raises(ValueError, match=r"cannot be broadcast: `loc` \(2,\), `scale` \(3,\)"):
        g.Normal(jnp.zeros(2), jnp.zeros(3))
    softmax = g.Softmax(jnp.zeros((2, 3)), 2.0)
    with pytest.raises(ValueError, match=r"write `temperature\[\.\.\., None\]`"):
        softmax.replace(temperature=softmax.temperature)


def test_a_class_can_be_defined_again() -> None:
    def define() -> Any:
        class Again(g.Normal):
            pass

        return Again

    first, second = define(), define()
    assert jax.tree.structure(first(0.0, 1.0)) != jax.tree.structure(second(0.0, 1.0))


def test_replace_finishes_what_changes_and_nothing_else() -> None:
    d = g.Categorical(logits=jnp.array([0.3, 1.0, 2.0]))
    assert d.replace(dtype=jnp.int8).finished()["logits"] is d.finished()["logits"]
    other = d.replace(probs=jnp.array([1.0, 1.0, 2.0]))
    assert other.finished()["probs"].tolist() == [0.25, 0.25, 0.5]
    upper = g.MultivariateNormalTri(scale_tri=jnp.ones((2, 2))).replace(is_lower=False)
    assert upper.scale_tri.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    bounded = g.LogStddevNormal(0.0, 1.0).replace(max_scale=3.0)
    assert bounded.replace(max_scale=None).scale == pytest.approx(math.e, rel=1e-6)
    assert g.Normal(jnp.zeros(3), 1.0).replace(loc=jnp.zeros((2, 1))).batch_shape == (2, 3)
    with pytest.raises(TypeError, match=r"Normal has no parameter 'mean'; it has loc, scale\."):
        g.Normal(0.0, 1.0).replace(mean=0.0)


def test_the_log_density_of_von_mises_at_large_concentrations() -> None:
    # concentration cos(x) - log(2 pi I_0(concentration)), to 40 digits.
    expected = {
        100.0: [1.3823902436480708, 0.60215696658097611],
        1000.0: [2.5348140437211898, -5.267518726949757],
    }
    for concentration, values in expected.items():
        got = g.VonMises(0.0, concentration).log_prob(jnp.array([0.0, 0.125]))
        np.testing.assert_allclose(got, values, rtol=0, atol=4e-6)

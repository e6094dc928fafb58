"""Distributions and bijectors of TFP as objects of the package, and the other way round.

What is expected comes from the objects of TFP themselves. Each is built from an array `v`, whose shape is the
batch shape, so that building it under `vmap` can be compared with building it at once.
"""

from __future__ import annotations

import copy
import functools
import importlib
import operator
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import cloudpickle
import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array, export
from jax.sharding import PartitionSpec
from tensorflow_probability.substrates import jax as tfp

import generated as g

tfd, tfb = tfp.distributions, tfp.bijectors
Build = Callable[[Any], Any]

# The samplers of TFP that reject ask for float64, and for the shape of None.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Explicitly requested dtype float64:UserWarning"),
    pytest.mark.filterwarnings("ignore:shape requires ndarray:DeprecationWarning"),
]

LOWER = jnp.array([[1.0, 0.0], [0.3, 2.0]])
PROBS = jnp.array([0.2, 0.3, 0.5])
KEY = jax.random.key(0)
V = jnp.array([0.4, 1.3])
STAND_INS = (object(), None, True, jax.ShapeDtypeStruct((), jnp.float32), PartitionSpec())


def vector(v: Any) -> Any:
    return v[..., None] * jnp.ones(2)


# Each with an event.
DISTRIBUTIONS: dict[str, tuple[Build, Any]] = {
    "Normal": (lambda v: tfd.Normal(v, 1.5), 0.3),
    "Poisson": (tfd.Poisson, 2.0),
    "Bernoulli": (lambda v: tfd.Bernoulli(logits=v), 1),
    "Categorical logits": (lambda v: tfd.Categorical(logits=v[..., None] * PROBS), 2),
    "Categorical probs": (lambda v: tfd.Categorical(probs=v[..., None] ** 0 * PROBS, dtype=jnp.int16), 2),
    "MultivariateNormalTriL": (lambda v: tfd.MultivariateNormalTriL(vector(v), LOWER), [0.1, 0.2]),
    "MultivariateNormalDiag": (lambda v: tfd.MultivariateNormalDiag(vector(v), [1.0, 2.0]), [0.1, 0.2]),
    "StudentT": (lambda v: tfd.StudentT(3, v, 1.0), 0.3),
    "NegativeBinomial": (lambda v: tfd.NegativeBinomial(3.0, logits=v), 2.0),
    "Beta": (lambda v: tfd.Beta(v, 2.0), 0.3),
    "Gamma": (lambda v: tfd.Gamma(v, rate=2.0), 0.3),
    "Dirichlet": (lambda v: tfd.Dirichlet(v[..., None] + PROBS), [0.2, 0.3, 0.5]),
    "TruncatedNormal": (lambda v: tfd.TruncatedNormal(0.0, v, -1.0, 1.0), 0.3),
    "VonMises": (lambda v: tfd.VonMises(0.0, v), 0.3),
    "Independent": (lambda v: tfd.Independent(tfd.Normal(vector(v), 1.0), 1), [0.1, 0.2]),
    "Sample": (lambda v: tfd.Sample(tfd.Normal(v, 1.0), 3), [0.1, 0.2, 0.3]),
    "TransformedDistribution": (
        lambda v: tfd.TransformedDistribution(tfd.Normal(v, 1.0), tfb.Chain([tfb.Scale(2.0), tfb.Tanh()])),
        0.3,
    ),
    "MixtureSameFamily": (
        lambda v: tfd.MixtureSameFamily(
            tfd.Categorical(probs=[0.3, 0.7]), tfd.Independent(tfd.Normal(vector(vector(v)), 1.0), 1)
        ),
        [0.1, 0.2],
    ),
}

BIJECTORS: dict[str, Build] = {
    "Exp": lambda v: tfb.Exp(),
    "Scale": tfb.Scale,
    "Shift": tfb.Shift,
    "Softplus": lambda v: tfb.Softplus(hinge_softness=v),
    "Sigmoid": lambda v: tfb.Sigmoid(low=-v, high=v),
    "Chain": lambda v: tfb.Chain([tfb.Shift(v), tfb.Softplus(), tfb.Scale(2.0)]),
    "Invert": lambda v: tfb.Invert(tfb.Scale(v)),
    "ScaleMatvecTriL": lambda v: tfb.ScaleMatvecTriL((1 + v[..., None, None]) * LOWER),
    "Reshape": lambda v: tfb.Reshape(event_shape_out=[2, 1], event_shape_in=[2]),
    "Permute": lambda v: tfb.Permute([1, 0]),
}

each_distribution = pytest.mark.parametrize(("build", "event"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
each_bijector = pytest.mark.parametrize("build", BIJECTORS.values(), ids=BIJECTORS)
each = pytest.mark.parametrize(
    ("build", "convert"),
    [
        *((build, g.as_distribution) for build, _ in DISTRIBUTIONS.values()),
        *((build, g.as_bijector) for build in BIJECTORS.values()),
    ],
    ids=[*DISTRIBUTIONS, *BIJECTORS],
)


def assert_same(got: Any, want: Any) -> None:
    """Equal bit for bit, and of the same type and dtypes where they are objects."""
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def assert_close(got: Any, want: Any) -> None:
    """Equal but for rounding: XLA divides by a scalar otherwise than by an array."""
    assert jnp.shape(got) == jnp.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@each_distribution
def test_distribution_has_the_values_of_tfp(build: Build, event: Any) -> None:
    x = build(jnp.array(0.6))
    d = g.as_distribution(x)
    assert (d.batch_shape, d.event_shape) == (tuple(x.batch_shape), tuple(x.event_shape))
    assert (d.dtype, d.name) == (x.dtype, x.name)
    assert_same(d.sample(seed=KEY, sample_shape=2), jnp.asarray(x.sample((2,), seed=KEY)))
    assert_agree(lambda: d.log_prob(event), lambda: x.log_prob(jnp.asarray(event, x.dtype)))
    for name in ("mean", "stddev", "entropy"):
        assert_agree(getattr(d, name), getattr(x, name))


def test_all_methods() -> None:
    x = tfd.Normal(0.6, 1.5)
    d = g.as_distribution(x)
    for name in ("log_prob", "prob", "cdf", "log_cdf"):
        assert_agree(functools.partial(getattr(d, name), 0.3), functools.partial(getattr(x, name), 0.3))
    for name in ("mean", "variance", "stddev", "mode", "entropy"):
        assert_agree(getattr(d, name), getattr(x, name))
    samples, log_prob = d.sample_and_log_prob(seed=KEY, sample_shape=2)
    assert_same(samples, x.sample(2, seed=KEY))
    assert_same(log_prob, x.log_prob(samples))


def assert_agree(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """The same values, or the same refusal."""
    try:
        want = theirs()
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours()
        return
    assert_same(ours(), jnp.asarray(want))


@each_bijector
def test_bijector_has_the_values_of_distrax(build: Build) -> None:
    x = jnp.array([[0.2, 0.4]]) if build(V).forward_min_event_ndims else jnp.array([0.2, 0.3])
    b, want = g.as_bijector(build(V)), lambda: distrax.as_bijector(build(V))
    for name in ("event_ndims_in", "event_ndims_out", "is_constant_jacobian", "is_constant_log_det", "name"):
        assert getattr(b, name) == getattr(want(), name)
    y = want().forward(x)
    for name, value in (("forward", x), ("inverse", y)):
        for suffix in ("", "_log_det_jacobian", "_and_log_det"):
            got = getattr(b, name + suffix)(value)
            # TFP remembers what an object has mapped, hence a new one each time.
            for a, c in zip(got, getattr(want(), name + suffix)(value), strict=True):
                assert_close(a, c)


@pytest.mark.parametrize("make", [tfd.Normal, distrax.Normal, g.Normal])
def test_divergences(make: Any) -> None:
    x, standard = tfd.Normal(V, 1.5), tfd.Normal(0.0, 1.0)
    d, other = g.as_distribution(x), make(jnp.zeros(2), jnp.ones(2))
    assert_close(d.kl_divergence(other), x.kl_divergence(standard))
    assert_close(tfd.kl_divergence(d, other), x.kl_divergence(standard))
    assert_close(other.kl_divergence(d), standard.kl_divergence(x))
    assert_close(d.cross_entropy(other), x.cross_entropy(standard))


def test_divergence_of_transformed_distributions_of_unequal_ranks() -> None:
    x = tfd.SinhArcsinh(V, 1.0, 0.1, 1.0)
    assert_same(g.as_distribution(x).kl_divergence(x), x.kl_divergence(x))


def test_attributes_of_tfp() -> None:
    d = g.as_distribution(tfd.Categorical(probs=PROBS))
    assert_close(d.logits_parameter(), jnp.log(PROBS))
    assert d.parameters["allow_nan_stats"] is True
    assert_close(g.as_distribution(tfd.Normal(V, 1.0)).quantile(0.5), V)
    with pytest.raises(AttributeError):
        _ = d.nonsense


def test_saturated_bijector_in_sample_and_log_prob() -> None:
    x = tfd.TransformedDistribution(tfd.Normal(100.0, 1.0), tfb.Tanh())
    samples, log_prob = g.as_distribution(x).sample_and_log_prob(seed=KEY)
    assert samples == 1.0
    assert jnp.isfinite(log_prob)


@each
def test_structure(build: Build, convert: Build) -> None:
    d, other = convert(build(V)), convert(build(V + 0.1))
    leaves, treedef = jax.tree.flatten(d)
    assert treedef == jax.tree.structure(other)
    assert hash(treedef) == hash(jax.tree.structure(other))
    assert all(type(x) is type(leaves[0]) and not x.weak_type for x in leaves)
    assert len({x.unsafe_buffer_pointer() for x in leaves}) == len(leaves)
    assert all(x.shape[:1] == d.batch_shape[:1] for x in leaves)
    for stand_in in STAND_INS:
        replaced = jax.tree.unflatten(treedef, [stand_in] * len(leaves))
        found = jax.tree.leaves(replaced, is_leaf=functools.partial(operator.is_, stand_in))
        assert [*map(id, found)] == [id(stand_in)] * len(leaves)


@each
def test_round_trips(build: Build, convert: Build) -> None:
    d = convert(build(V))
    for module in (pickle, cloudpickle):
        assert_same(module.loads(module.dumps(d)), d)
        assert module.loads(module.dumps(type(d))) is type(d)
    assert_same(copy.deepcopy(d), d)
    assert_same(convert(d.to_distrax()) if isinstance(d, distrax.Distribution) else d, d)
    assert_same(convert(d.to_tfp()), d)


def test_classes() -> None:
    d, other = (g.as_distribution(tfd.Poisson(rate)) for rate in (3.0, V))
    assert type(d) is type(other)
    assert isinstance(d, distrax.Distribution) and isinstance(d, tfd.Poisson)
    assert type(g.as_distribution(tfd.Normal(0.0, 1.0))) is not type(d)
    module = importlib.import_module(type(d).__module__)
    assert module.Poisson is type(d)
    assert_same(module.Poisson(rate=V), other)
    assert repr(other) == str(other) == "Poisson(rate=float32[2])"


def test_names_of_leaves() -> None:
    d = g.as_distribution(DISTRIBUTIONS["TransformedDistribution"][0](V))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(d)]
    assert paths == [".distribution.loc", ".distribution.scale", ".bijector.bijectors[0].scale"]


def test_derived_class() -> None:
    class Shifted(type(g.as_distribution(tfd.Normal(0.0, 1.0)))):  # type: ignore[misc]
        def __init__(self, by: Array) -> None:
            super().__init__(loc=0.0, scale=1.0)
            self.by = by

    d = jax.jit(lambda d: d)(Shifted(V))
    assert type(d) is Shifted
    assert_same(d.by, V)
    assert_close(d.log_prob(0.0), tfd.Normal(0.0, 1.0).log_prob(0.0))


def test_no_warning_where_a_class_is_made(caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g.as_distribution(tfd.Laplace(V, 1.0)).log_prob(0.0)
        g.as_distribution(tfd.LogNormal(V, 1.0)).mean()
        g.as_bijector(tfb.Softsign()).forward(V)
    assert not caplog.records


def test_in_a_new_process() -> None:
    objects = [
        g.as_distribution(DISTRIBUTIONS["TransformedDistribution"][0](V)),
        g.as_distribution(tfd.Independent(g.to_tfp(g.Normal(V, 1.0)), 1)),
        g.as_bijector(BIJECTORS["Chain"](V)),
        g.to_tfp(g.Normal(V, 1.0), "name"),
    ]
    program = f"""
import generated._runtime.tfp, jax, pickle
assert not jax._src.xla_bridge._backends
objects = pickle.loads({pickle.dumps(objects)!r})
print(*map(repr, objects), sep="|", end="")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("|") == [*map(repr, objects)]


@each_distribution
def test_jit_with_one_trace(build: Build, event: Any) -> None:
    traces = []

    @jax.jit
    def log_prob(d: Any, value: Any) -> tuple[Any, Any]:
        traces.append(d)
        return d, d.log_prob(value)

    x = build(jnp.array(0.6))
    value = jnp.asarray(event, x.dtype)
    for scalar in (jnp.array(0.6), np.float32(0.6), jax.jit(lambda: jnp.asarray(0.6))()):
        d, result = log_prob(g.as_distribution(build(scalar)), value)
        assert_close(result, x.log_prob(value))
        assert_same(d, g.as_distribution(x))
    assert len(traces) == 1
    assert_same(jax.jit(lambda v: g.as_distribution(build(v)))(V), g.as_distribution(build(V)))


def test_numbers_are_parameters() -> None:
    structures = {
        jax.tree.structure(g.as_distribution(tfd.Normal(x, 2))) for x in (0, 1.0, np.float32(3), V[0])
    }
    assert len(structures) == 1


@each_distribution
def test_vmap(build: Build, event: Any) -> None:
    d, x = jax.vmap(lambda v: g.as_distribution(build(v)))(V), build(V)
    assert_same(d, g.as_distribution(x))
    assert (d.batch_shape, d.event_shape) == (tuple(x.batch_shape), tuple(x.event_shape))
    value = jnp.asarray(event, x.dtype)
    want = jax.jit(lambda v: build(v).log_prob(value))(V)
    assert_close(jax.jit(lambda d: d.log_prob(value))(d), want)
    assert_close(jax.jit(jax.vmap(lambda d: d.log_prob(value)))(d), want)


def test_vmap_of_vmap() -> None:
    v = jnp.arange(6.0).reshape(2, 3)
    d = jax.vmap(jax.vmap(lambda v: g.as_distribution(tfd.Normal(v, 1.0))))(v)
    assert d.batch_shape == (2, 3)
    want = jax.vmap(lambda v: tfd.Normal(v, 1.0).sample(seed=KEY))(v)
    assert_close(jax.vmap(lambda d: d.sample(seed=KEY))(d), want)


@each_distribution
def test_index(build: Build, event: Any) -> None:
    d = g.as_distribution(build(V))
    assert_same(d[1], g.as_distribution(build(V[1])))
    assert_same(d[None, :1], g.as_distribution(build(V[None, :1])))
    assert_same(jax.jit(lambda d, i: d[i])(d, 1), g.as_distribution(build(V[1])))
    with pytest.raises(IndexError):
        _ = d[2]


@each_distribution
def test_gradients(build: Build, event: Any) -> None:
    def total(d: Any) -> Any:
        return jnp.sum(d.log_prob(jnp.asarray(event, d.dtype)))

    d = g.as_distribution(build(V))
    gradient, through = jax.jit(jax.grad(lambda d, v: total(d) + total(g.as_distribution(build(v))), (0, 1)))(
        d, V
    )
    assert jax.tree.structure(gradient) == jax.tree.structure(d)
    want = jax.jit(jax.grad(lambda v: total(build(v))))(V)
    np.testing.assert_allclose(through, want, rtol=1e-4, atol=1e-5)


def test_gradient_with_respect_to_parameters() -> None:
    gradient = jax.grad(lambda d: jnp.sum(d.log_prob(0.7)))(g.as_distribution(tfd.Normal(V, 1.5)))
    want = jax.grad(lambda p: jnp.sum(tfd.Normal(*p).log_prob(0.7)))((V, jnp.full(2, 1.5)))
    for got, expected in zip(jax.tree.leaves(gradient), want, strict=True):
        assert_close(got, expected)


def test_control_flow() -> None:
    d = g.as_distribution(tfd.Normal(V, 1.0))
    other = g.as_distribution(tfd.Normal(V + 1, 2.0))
    assert_same(jax.lax.cond(True, lambda: d, lambda: other), d)
    assert_same(
        jax.lax.scan(lambda d, _: (d.replace(loc=d.loc + 0.5), None), d, None, length=2)[0].loc, V + 1
    )
    assert_same(jax.tree.map(lambda *x: jnp.stack(x), d, other)[1], other)


@each
def test_export(build: Build, convert: Build) -> None:
    d = convert(build(V))
    exported = export.export(jax.jit(lambda d: d))(d).serialize()
    assert_same(export.deserialize(exported).call(d), d)


@each_bijector
def test_bijector_under_transformations(build: Build) -> None:
    is_vector = build(V).forward_min_event_ndims > 0
    x = jnp.array([[0.1, 0.2], [0.3, 0.4]]) if is_vector else jnp.array([0.1, 0.2])
    b = g.as_bijector(build(V))
    want = jax.vmap(lambda v, x: build(v).forward(x))(V, x)
    assert_same(jax.jit(lambda b: b)(b), b)
    assert_same(jax.jit(lambda v: g.as_bijector(build(v)))(V), b)
    batched = jax.vmap(lambda v: g.as_bijector(build(v)))(V)
    assert_same(batched, b)
    assert batched.batch_shape == tuple(build(V).experimental_batch_shape())
    assert_close(jax.jit(lambda b, x: b.forward(x))(b, x), want)
    assert_close(
        jax.vmap(lambda b, x: b.forward(x), in_axes=(0 if jax.tree.leaves(b) else None, 0))(b, x), want
    )
    if b.batch_shape:
        assert_same(b._at(1), g.as_bijector(build(V[1])))


def test_inside_generated_distributions() -> None:
    d = g.Independent(tfd.Normal(jnp.zeros((2, 3)), 1.0), 1)
    assert_close(
        d.log_prob(0.0), tfd.Independent(tfd.Normal(jnp.zeros((2, 3)), 1.0), 1).log_prob(jnp.zeros(3))
    )
    assert d[0].batch_shape == ()
    d = g.Transformed(g.Normal(jnp.zeros(3), 1.0), tfb.Shift([1.0, 2.0, 3.0]))
    assert_close(d[2].log_prob(3.0), tfd.Normal(0.0, 1.0).log_prob(0.0))


def test_default_of_independent_does_not_depend_on_vmap() -> None:
    d = jax.vmap(lambda v: g.as_distribution(tfd.Independent(tfd.Normal(v, 1.0))))(jnp.zeros((4, 2, 3)))
    assert (d.batch_shape, d.event_shape) == ((4, 2), (3,))


def test_objects_of_distrax_are_unwrapped() -> None:
    x = tfd.Normal(V, 1.0)
    assert_same(g.as_distribution(distrax.as_distribution(x)), g.as_distribution(x))
    d = g.as_distribution(tfd.Independent(distrax.to_tfp(distrax.Normal(V, 1.0)), 1))
    assert len(jax.tree.leaves(d)) == 2
    assert_close(d.log_prob(V), tfd.Independent(x, 1).log_prob(V))


@pytest.mark.parametrize("make", [distrax.Normal, g.Normal])
def test_to_tfp_of_a_distribution(make: Any) -> None:
    x, want = g.to_tfp(make(V, jnp.ones(2))), distrax.to_tfp(distrax.Normal(V, jnp.ones(2)))
    assert type(x) is type(g.to_tfp(make(0.0, 1.0)))
    assert isinstance(x, distrax.Normal)
    for name in ("name", "dtype", "batch_shape", "event_shape", "parameters", "allow_nan_stats"):
        assert getattr(x, name) == getattr(want, name)
        assert type(getattr(x, name)) is type(getattr(want, name))
    assert g.to_tfp(make(V, 1.0), "another").name == "another"
    assert_same(x.sample((2, 3), seed=KEY), want.sample((2, 3), seed=KEY))
    for meta in (
        lambda x: tfd.Independent(x, 1),
        lambda x: tfd.TransformedDistribution(x, tfb.Exp()),
        lambda x: tfd.MixtureSameFamily(tfd.Categorical(probs=[0.4, 0.6]), x),
        lambda x: tfd.Sample(x, 1),
    ):
        value = meta(want).sample(seed=KEY)
        assert_close(meta(x).sample(seed=KEY), value)
        assert_close(meta(x).log_prob(value), meta(want).log_prob(value))
    assert_close(tfd.kl_divergence(x, tfd.Normal(0.0, 1.0)), V**2 / 2)


@pytest.mark.parametrize("make", [distrax.ScalarAffine, g.ScalarAffine])
def test_to_tfp_of_a_bijector(make: Any) -> None:
    x, want = g.to_tfp(make(V, 3.0)), distrax.to_tfp(distrax.ScalarAffine(V, 3.0))
    assert type(x) is type(g.to_tfp(make(0.0, 1.0)))
    for name in ("name", "dtype", "forward_min_event_ndims", "inverse_min_event_ndims"):
        assert getattr(x, name) == getattr(want, name)
    for direction in ("forward", "inverse"):
        assert_close(getattr(x, direction)(V), getattr(want, direction)(V))
        for ndims in (None, 0, 1):
            name = f"{direction}_log_det_jacobian"
            assert_close(getattr(x, name)(V, ndims), getattr(want, name)(V, ndims))
        assert getattr(x, f"{direction}_event_ndims")(2) == 2
        assert getattr(x, f"{direction}_event_shape")((2,)) == (2,)
        assert_same(getattr(x, f"{direction}_event_shape_tensor")((2,)), jnp.array([2]))
    for meta in (
        lambda b: tfd.TransformedDistribution(tfd.Normal(jnp.zeros(2), 1.0), b),
        lambda b: tfd.TransformedDistribution(tfd.Normal(jnp.zeros(2), 1.0), tfb.Chain([tfb.Exp(), b])),
    ):
        assert_close(meta(x).log_prob(V), meta(want).log_prob(V))
        assert_close(g.as_distribution(meta(x)).log_prob(V), meta(want).log_prob(V))


@pytest.mark.parametrize("base", [g.Normal(V, 1.5), g.ScalarAffine(V, 3.0)], ids=["Normal", "ScalarAffine"])
def test_to_tfp_is_a_pytree(base: Any) -> None:
    x = g.to_tfp(base, "name")
    assert [*map(id, jax.tree.leaves(x))] == [*map(id, jax.tree.leaves(base))]
    assert jax.tree.structure(x) == jax.tree.structure(g.to_tfp(base, "name"))
    assert jax.tree.structure(x) != jax.tree.structure(g.to_tfp(base, "other"))
    for again in (jax.jit(lambda x: x)(x), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert_same(again, x)
        assert again.name == "name"
    assert jax.vmap(lambda v: g.to_tfp(g.Normal(v, 1.0)))(V).batch_shape == (2,)


def test_to_tfp_returns_what_is_of_tfp() -> None:
    x = tfd.Normal(V, 1.0)
    assert g.to_tfp(x) is x
    assert type(g.to_tfp(g.as_distribution(x))) is tfd.Normal
    assert type(g.to_tfp(g.as_bijector(tfb.Exp()))) is tfb.Exp
    for other in (3, jnp.tanh, None):
        with pytest.raises(TypeError, match="to_tfp"):
            g.to_tfp(other)


class WithoutItsParameters(tfd.Normal):  # type: ignore[misc]
    def __init__(self, mean: Any) -> None:
        super().__init__(mean, 1.0)

    @classmethod
    def _parameter_properties(cls, dtype: Any, num_classes: Any = None) -> Any:
        return {"mean": tfp.util.ParameterProperties()}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tfd.JointDistributionSequential([tfd.Normal(0.0, 1.0)]), "several parts"),
        (lambda: tfd.Normal(tfp.util.DeferredTensor(V, jnp.exp), 1.0), "DeferredTensor"),
        (lambda: WithoutItsParameters(V), "cannot be made of its parameters"),
    ],
)
def test_refused_distributions(build: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        g.as_distribution(build())


def test_refused_bijectors() -> None:
    with pytest.raises(TypeError, match="several parts"):
        g.as_bijector(tfb.Split(2))
    v = V
    with pytest.raises(ValueError, match="captures an array"):
        g.as_bijector(tfb.Inline(lambda x: x * v, lambda y: y / v, forward_min_event_ndims=0))


def test_what_has_no_batch_dimensions_under_vmap() -> None:
    v = jnp.ones((4, 6))
    d = jax.vmap(lambda v: g.as_distribution(tfd.BatchReshape(tfd.Normal(v, 1.0), [2, 3])))(v)
    zeros = jnp.zeros((2, 3))
    assert jax.vmap(lambda d: d.log_prob(zeros))(d).shape == (4, 2, 3)
    with pytest.raises(ValueError, match="can have no batch dimensions"):
        d.log_prob(zeros)


def test_linear_operators_and_kernels() -> None:
    x = tfd.MultivariateNormalLinearOperator(V, tfp.tf2jax.linalg.LinearOperatorLowerTriangular(LOWER))
    d = jax.jit(lambda d: d)(g.as_distribution(x))
    assert_close(d.log_prob(V), x.log_prob(V))
    assert_same(pickle.loads(pickle.dumps(d)), d)
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic
    process = tfd.GaussianProcess(kernel(V[0], 2.0), jnp.arange(3.0)[:, None])
    gradient = jax.grad(lambda d: d.log_prob(jnp.ones(3)))(g.as_distribution(process))
    assert gradient.finished()["kernel"].finished()["amplitude"] != 0

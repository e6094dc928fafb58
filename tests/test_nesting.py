"""Objects and functions inside objects: what is stored, converted, broadcast and refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import cloudpickle
import distrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from subjects import BY_CLASS, SUBJECTS

import generated as g
from distgen.verify.acting import act, event
from distgen.verify.cases import Precision
from distgen.verify.subjects import Subject
from distgen.verify.trees import affine, first_case

A = jnp.array([0.2, 0.5, 1.3])
B = jnp.array([0.7, 1.1, 2.0])
KEY = jax.random.key(0)


def paths(x: Any) -> list[str]:
    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(x)]


def test_children_are_stored_once_under_their_names() -> None:
    joint = g.Joint({"a": g.Normal(A, B), "b": [g.Gamma(B, B)]})
    assert paths(joint) == [
        ".distributions['a'].loc",
        ".distributions['a'].scale",
        ".distributions['b'][0].concentration",
        ".distributions['b'][0].rate",
    ]
    mixture = g.MixtureSameFamily(g.Categorical(logits=A), g.Independent(g.Normal(jnp.zeros((3, 2)), 1.0), 1))
    assert paths(mixture) == [
        ".mixture_distribution.logits",
        ".components_distribution.distribution.loc",
        ".components_distribution.distribution.scale",
    ]


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if first_case(s, BY_CLASS).children], ids=repr)
def test_raw_children_are_converted(subject: Subject) -> None:
    case = first_case(subject, BY_CLASS)
    raw = {name: jax.tree.map(lambda c: c.reference(), child) for name, child in case.children.items()}
    d = subject.generated(**case.arrays, **raw, **case.statics)
    expected = case.build()
    value, kind = event(case, expected), subject.plan.kind
    for a, b in zip(*(jax.tree.leaves(act(x, value, kind)) for x in (d, expected)), strict=True):
        assert np.array_equal(a, b)
    is_object = lambda x: isinstance(x, distrax.Distribution | distrax.Bijector)  # noqa: E731
    children = filter(is_object, jax.tree.leaves([*d.finished().values()], is_leaf=is_object))
    assert all(type(child).__module__.startswith("generated.") for child in children)


def test_parameters_of_children_are_broadcast_with_the_composite() -> None:
    d = g.Transformed(g.Normal(0.0, 1.0), g.Chain([g.ScalarAffine(A, 2.0), g.Tanh()]))
    assert {leaf.shape for leaf in jax.tree.leaves(d)} == {(3,)}
    blocked = g.Transformed(g.MultivariateNormalDiag(jnp.zeros((4, 2))), g.Block(g.Shift(1.0), 1))
    assert [leaf.shape for leaf in jax.tree.leaves(blocked)] == [(4, 2), (4, 2), (4, 1)]
    assert blocked.batch_shape == (4,) and blocked[0].event_shape == (2,)


def test_a_chain_of_any_sequence_is_the_same() -> None:
    listed, tupled = g.Chain([g.Tanh(), g.Shift(A)]), g.Chain((jnp.tanh, g.Shift(A)))
    assert jax.tree.structure(listed) == jax.tree.structure(tupled)
    assert isinstance(tupled.bijectors, list)


def test_draws_of_a_batch_of_bijectors_are_independent() -> None:
    d = g.Transformed(g.Normal(0.0, 1.0), g.ScalarAffine(jnp.zeros(2), 1.0))
    first, second = d.sample(seed=KEY)
    assert first != second


def test_one_buffer_for_two_children_is_copied() -> None:
    base = g.Normal(jnp.copy(A), jnp.copy(B))
    d = g.MixtureOfTwo(0.5, base, base)
    donated = jax.jit(lambda d: d, donate_argnums=0)(d)
    assert donated.batch_shape == (3,)


def test_mixtures_of_two_with_different_weights_stack() -> None:
    parts = [g.MixtureOfTwo(p, g.Normal(0.0, 1.0), g.Logistic(3.0, 1.0)) for p in (0.25, 0.75)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts)
    for i, part in enumerate(parts):
        assert stacked.log_prob(0.5)[i] == part.log_prob(0.5)
    draws = stacked.sample(seed=KEY, sample_shape=4000)
    assert np.allclose(draws.mean(0), [0.75 * 3, 0.25 * 3], atol=0.15)


class TestDivergenceOfTransformed:
    """KL(p || q) of normals p and q: log(s_q / s_p) + (s_p^2 + (m_p - m_q)^2) / (2 s_q^2) - 1/2."""

    P, Q = g.Normal(0.0, 1.0), g.Normal(1.0, 2.0)
    EXPECTED = math.log(2) + (1 + 1) / 8 - 0.5

    @pytest.mark.parametrize(
        "make",
        [
            g.Tanh,
            lambda: g.ScalarAffine(1.0, 2.0),
            lambda: g.Chain([g.Shift(1.0), g.Sigmoid()]),
            lambda: distrax.ScalarAffine(1.0, 2.0),
            lambda: jnp.tanh,
        ],
    )
    def test_equal_bijectors_leave_it_as_it_is(self, make: Any) -> None:
        p, q = g.Transformed(self.P, make()), g.Transformed(self.Q, make())
        raw = distrax.Transformed(distrax.Normal(1.0, 2.0), make())
        for a, b in ((p, q), (p, raw)):
            assert float(a.kl_divergence(b)) == pytest.approx(self.EXPECTED, rel=1e-6)
        assert float(raw.kl_divergence(q)) == pytest.approx(0.0, abs=1e-6)
        traced = jax.jit(lambda p, q: p.kl_divergence(q))(p, q)
        assert float(traced) == pytest.approx(self.EXPECTED, rel=1e-6)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (g.ScalarAffine(A, B), g.ScalarAffine(A + 100, B * 10)),
            (g.ScalarAffine(A, B), g.Shift(A)),
            (g.Tanh(), g.Sigmoid()),
            (g.Lambda(jnp.exp), g.Lambda(jnp.tanh)),
        ],
    )
    def test_other_bijectors_are_refused(self, first: Any, second: Any) -> None:
        p, q = g.Transformed(g.Normal(A, B), first), g.Transformed(g.Normal(A, B), second)
        with pytest.raises(NotImplementedError, match="known only if their bijectors are equal"):
            p.kl_divergence(q)
        with pytest.raises(NotImplementedError):
            q.to_distrax().kl_divergence(p)

    def test_it_is_nan_where_traced_parameters_differ(self) -> None:
        p, q = (g.Transformed(self.P, g.ScalarAffine(s, 2.0)) for s in (1.0, 2.0))
        assert np.isnan(jax.jit(lambda p, q: p.kl_divergence(q))(p, q))

    def test_linear_bijectors_of_multivariate_normals(self) -> None:
        p = g.Transformed(g.MultivariateNormalDiag(A, B), g.DiagLinear(B))
        q = g.Transformed(g.MultivariateNormalDiag(A, B), g.DiagLinear(100 * B))
        with pytest.raises(NotImplementedError):
            p.kl_divergence(q)


def test_the_entropy_needs_a_constant_log_det() -> None:
    with pytest.raises(NotImplementedError):
        g.Transformed(g.Normal(A, B), g.Tanh()).entropy()
    entropy = g.Transformed(g.Normal(A, B), g.ScalarAffine(A, 3.0)).entropy()
    assert np.allclose(entropy, 0.5 * np.log(2 * np.pi * np.e * (3 * np.asarray(B)) ** 2), rtol=1e-6)


class TestFunctions:
    def test_a_plain_function_is_static(self) -> None:
        d = g.Lambda(jnp.sinh)
        assert jax.tree.leaves(d) == []
        assert jax.tree.structure(d) == jax.tree.structure(g.Lambda(jnp.sinh))
        assert jax.tree.structure(d) != jax.tree.structure(g.Lambda(jnp.tan))

    @pytest.mark.parametrize("function", [lambda x: x * B, jax.jit(lambda x: x * B)])
    def test_a_global_array_is_no_capture(self, function: Any) -> None:
        assert np.array_equal(g.Lambda(function).forward(A), A * B)

    def test_captured_arrays_are_refused_by_name(self) -> None:
        weights, table = {"w": jnp.ones(3)}, np.ones(3)

        def inner(x: Any) -> Any:
            return x + weights["w"]

        for function, name in (
            (lambda x: x * weights["w"], "weights"),
            (lambda x: x * table, "table"),
            (lambda x: -inner(x), "weights"),
            (lambda x, factor=B: x * factor, "factor"),
        ):
            message = rf"captures an array in the variable '{name}'.*params={name}"
            with pytest.raises(ValueError, match=message):
                g.Lambda(function)
            with pytest.raises(ValueError, match=message):
                g.Transformed(g.Normal(A, B), function)

        def traced(scale: Any) -> Any:
            return g.Lambda(lambda x: x * scale).forward(A)

        with pytest.raises(ValueError, match="'scale'"):
            jax.jit(traced)(B)
        with pytest.raises(ValueError, match="'weights'"):
            g.MaskedCoupling(jnp.array([True, False, True]), lambda x: x * weights["w"], g.Shift)

    def test_params_are_handed_to_functions(self) -> None:
        make = jax.jit(lambda scale: g.Lambda(lambda p, x: p * x + 1.0, params=scale))
        d = make(B)
        assert paths(d) == [".params"]
        assert np.allclose(d.forward(A), B * A + 1)
        assert np.allclose(d.inverse(d.forward(A)), A, rtol=1e-6)
        assert np.allclose(d.forward_log_det_jacobian(A), np.log(B), rtol=1e-6)
        gradient = jax.grad(lambda d: jnp.sum(d.forward(A)))(d)
        assert np.allclose(gradient.finished()["params"], A)
        coupling = g.MaskedCoupling(
            jnp.array([True, False, True]), lambda p, x: p["w"] * x, g.Shift, params={"w": B}
        )
        assert paths(coupling) == [".mask", ".params['w']"]
        y, log_det = coupling.forward_and_log_det(A)
        assert np.allclose(y, [A[0], A[1], A[2]]) and float(log_det) == 0

    def test_arrays_of_a_module_are_leaves(self) -> None:
        network = eqx.nn.MLP(3, 3, 4, 1, key=KEY)
        d = g.MaskedCoupling(jnp.array([True, False, True]), network, g.Shift)
        assert ".conditioner.layers[0].weight" in paths(d)
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(d))
        back = jax.jit(lambda d: d)(d)
        assert np.array_equal(back.forward(A), d.forward(A))
        again = g.MaskedCoupling(jnp.array([True, False, True]), network, g.Shift)
        assert jax.tree.structure(again) == jax.tree.structure(d)
        assert type(d.conditioner) is eqx.nn.MLP

    def test_partial_arguments_are_leaves(self) -> None:
        d = g.Lambda(jax.tree_util.Partial(jnp.multiply, 2.0))
        assert [leaf.dtype for leaf in jax.tree.leaves(d)] == [jnp.float32]
        assert not jax.tree.leaves(d)[0].weak_type

    def test_what_cannot_be_called_is_refused(self) -> None:
        with pytest.raises(TypeError, match="`conditioner` must be a function, but is a str"):
            g.SplitCoupling(1, 1, "conditioner", g.Shift)

    def test_only_functions_that_have_a_name_are_exported(self) -> None:
        exported = jax.export.export(jax.jit(lambda d: d))(g.Lambda(affine))
        back = jax.export.deserialize(exported.serialize()).call(g.Lambda(affine))
        assert np.array_equal(back.forward(A), affine(A))
        exported = jax.export.export(jax.jit(lambda d: d))(g.Lambda(lambda x: x + 1))
        with pytest.raises(Exception, match="only functions that can be imported by name"):
            exported.serialize()


class TestConversion:
    def test_there_and_back_changes_no_value_and_no_draw(self) -> None:
        log_scale = jnp.array([0.1, 0.5, 0.1])
        raw = distrax.Transformed(distrax.Normal(A, B), distrax.ScalarAffine(0.5, log_scale=log_scale))
        ours = g.from_distrax(raw)
        assert type(ours) is g.Transformed and type(ours.bijector) is g.ScalarAffine
        back = ours.to_distrax()
        assert type(back) is distrax.Transformed and type(back.bijector) is distrax.ScalarAffine
        for d in (ours, back):
            assert np.array_equal(d.sample(seed=KEY), raw.sample(seed=KEY))
            assert np.array_equal(d.log_prob(A), raw.log_prob(A))

    @pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
    def test_all_classes(self, subject: Subject) -> None:
        raw = first_case(subject, BY_CLASS).reference()
        ours = g.from_distrax(raw)
        assert type(ours) is subject.generated
        assert g.from_distrax(ours) is ours
        if subject.plan.kind == "distribution":
            for a, b in zip(*(jax.tree.leaves(d.sample(seed=KEY)) for d in (ours, raw)), strict=True):
                assert np.array_equal(a, b)

    def test_what_is_no_object_is_refused(self) -> None:
        for convert in (g.from_distrax, g.as_distribution, g.as_bijector):
            with pytest.raises(TypeError, match="and not a float"):
                convert(1.0)
        assert type(g.as_bijector(jax.nn.sigmoid)) is g.Sigmoid
        assert type(g.as_bijector(jnp.tanh)) is g.Tanh
        assert type(g.as_bijector(jnp.exp)) is g.Lambda


class TestStraightThrough:
    def test_one_class_that_can_be_pickled(self) -> None:
        wrapped = g.straight_through_wrapper(g.OneHotCategorical)
        assert wrapped is g.straight_through_wrapper(distrax.OneHotCategorical)
        assert wrapped.__name__ == "StraighThroughOneHotCategorical"
        d = wrapped(logits=A)
        for back in (pickle.loads(pickle.dumps(d)), pickle.loads(cloudpickle.dumps(d))):
            assert type(back) is wrapped and np.array_equal(back.logits, d.logits)
        assert type(wrapped(logits=jnp.stack([A, B]))[0]) is wrapped

    def test_draws_have_the_gradient_of_probabilities(self) -> None:
        wrapped = g.straight_through_wrapper(g.OneHotCategorical)
        raw = distrax.straight_through_wrapper(distrax.OneHotCategorical)
        loss = [
            lambda x, c=c: jnp.sum(B * c(logits=x).sample(seed=KEY, sample_shape=4)) for c in (wrapped, raw)
        ]
        assert np.allclose(*(jax.grad(f)(A) for f in loss), rtol=1e-6)
        assert np.array_equal(*(f(A) for f in loss))

    def test_the_dtype_is_kept(self) -> None:
        wrapped = g.straight_through_wrapper(g.OneHotCategorical)
        for dtype, expected in ((jnp.bfloat16, jnp.bfloat16), (jnp.int8, jnp.float32)):
            d = wrapped(logits=A, dtype=dtype)
            assert d.sample(seed=KEY).dtype == d.dtype == expected
            assert d[...].finished().keys() == {"logits"} and d[...]._dtype == dtype

    def test_other_classes_are_refused(self) -> None:
        for cls in (g.Normal, distrax.Categorical, 3):
            with pytest.raises(TypeError, match="A class of one-hot distributions is expected"):
                g.straight_through_wrapper(cls)


def test_foreign_classes_stay_as_they_are() -> None:
    class Mine(distrax.Normal):
        pass

    mine = Mine(A, B)
    d = g.Transformed(mine, g.Shift(1.0))
    assert type(d.distribution) is Mine
    assert np.array_equal(d.log_prob(A), distrax.Normal(A, B).log_prob(A - 1))


def test_replace_reaches_arguments_that_depend_on_others() -> None:
    d = g.Independent(g.Normal(jnp.zeros((2, 3)), 1.0), 1)
    assert d.replace(distribution=g.Normal(jnp.zeros((4, 3)), 1.0)).event_shape == (3,)
    with pytest.raises(ValueError, match="must be from 0 to 0"):
        d.replace(distribution=g.Normal(0.0, 1.0))
    f = g.Lambda(jnp.exp).replace(forward=jnp.negative)
    assert f.is_constant_jacobian
    spline = g.RationalQuadraticSpline(jnp.zeros(10), -1.0, 1.0)
    other = spline.replace(
        params=jnp.ones(10),
        range_min=-2.0,
        range_max=1.0,
        boundary_slopes="identity",
        min_bin_size=1e-4,
        min_knot_slope=1e-4,
    )
    assert float(other.x_pos[0]) == -2.0


def test_python_numbers_take_the_dtype_of_arrays_around_them() -> None:
    with Precision(jnp.float64, x64=True).context():
        narrow = jnp.zeros(3, jnp.float32)
        bijector = g.Chain([g.Block(g.Shift(1.0), 1), g.Block(g.ScalarAffine(0.5, 2.0), 1)])
        d = g.Transformed(g.MultivariateNormalDiag(narrow), bijector)
        assert {leaf.dtype for leaf in jax.tree.leaves(d)} == {jnp.dtype(jnp.float32)}
        assert {leaf.dtype for leaf in jax.tree.leaves(bijector)} == {jnp.dtype(jnp.float64)}
        assert g.Transformed(g.Normal(0.0, 1.0), g.Shift(narrow)).dtype == jnp.float32
        assert g.Transformed(g.Normal(0.0, 1.0), g.Shift(1.0)).dtype == jnp.float64
        wide = g.Shift(jnp.float64(1.0))
        assert g.Transformed(g.Normal(narrow, 1.0), wide).dtype == jnp.float64
        crossed = jax.jit(lambda b: b)(bijector)
        assert jax.tree.structure(crossed) == jax.tree.structure(bijector)


class TestWhatAMatrixFound:
    """Each of these once was wrong."""

    def test_integers_stay_integers(self) -> None:
        d = g.Deterministic(jnp.array([1, 2]))
        assert d.dtype == d.sample(seed=KEY).dtype == jnp.int32

    def test_a_used_lambda_of_distrax_is_still_the_same(self) -> None:
        raw = distrax.Transformed(distrax.Normal(0.0, 1.0), jnp.sinh)
        fresh = g.from_distrax(raw)
        raw.bijector.inverse_and_log_det(jnp.float32(0.5))
        raw.bijector.forward_and_log_det(jnp.float32(0.5))
        assert jax.tree.structure(g.from_distrax(raw)) == jax.tree.structure(fresh)
        assert float(g.Transformed(g.Normal(1.0, 1.0), jnp.sinh).kl_divergence(raw)) == pytest.approx(0.5)

    def test_python_numbers_keep_narrow_dtypes_narrow(self) -> None:
        narrow = jnp.zeros(3, jnp.bfloat16)
        d = g.Transformed(g.Normal(narrow, 1.0), g.ScalarAffine(1.0, 2.0))
        assert d.dtype == d.log_prob(narrow).dtype == jnp.bfloat16

    def test_shapes_and_dtypes_of_abstract_objects(self) -> None:
        for d in (
            g.Transformed(g.MultivariateNormalTri(A), g.DiagLinear(B)),
            g.straight_through_wrapper(g.OneHotCategorical)(logits=A),
        ):
            abstract = jax.eval_shape(lambda d: d, d)
            assert (abstract.batch_shape, abstract.event_shape, abstract.dtype) == ((), (3,), jnp.float32)

    def test_distributions_of_one_name_are_told_apart(self) -> None:
        with pytest.raises(ValueError, match="must have the same batch shape"):
            g.Joint([g.Normal(jnp.zeros(1), 1.0), g.Normal(jnp.zeros(3), 1.0)])

    def test_a_mixture_must_be_categorical(self) -> None:
        with pytest.raises(TypeError, match="must be categorical, but is a Normal"):
            g.MixtureSameFamily(g.Normal(0.0, 1.0), g.Normal(A, B))

    def test_the_object_of_distrax_has_all_methods(self) -> None:
        for b in (g.DiagLinear(B), g.DiagPlusLowRankLinear(B, jnp.ones((3, 1)), jnp.ones((3, 1)))):
            raw = b.to_distrax()
            assert np.allclose(raw.inverse(raw.forward(A)), A, rtol=1e-5)
        mixture = g.MixtureOfTwo(0.25, g.Normal(A, B), g.Normal(A, B))
        assert np.array_equal(mixture.to_distrax().sample(seed=KEY), mixture.sample(seed=KEY))

    def test_an_attribute_of_the_users_is_no_leaf(self) -> None:
        d = g.straight_through_wrapper(g.OneHotCategorical)(logits=A)
        treedef = jax.tree.structure(d)
        d.note = "mine"
        assert jax.tree.structure(d) == treedef

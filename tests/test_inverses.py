"""Derived inverses and Jacobians, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from distrax._src.utils import transformations
from jax.extend.core import Primitive

from distgen.runtime.inverses import has_constant_jacobian, invert, log_det_of
from distgen.verify.cases import PRECISIONS, Precision

Real = Callable[[float], float]


@dataclass(frozen=True)
class Case:
    """A function of JAX, with points, its values and its derivatives there."""

    function: Callable[[Any], Any]
    points: tuple[float, ...]
    values: tuple[float, ...]
    derivatives: tuple[float, ...]


def case(function: Callable[[Any], Any], value: Real, derivative: Real, *points: float) -> Case:
    points = points or (0.7, 0.3, 2.0)
    return Case(function, points, tuple(map(value, points)), tuple(map(derivative, points)))


def of_inverse(function: Callable[[Any], Any], value: Real, derivative: Real, *points: float) -> Case:
    """The case of a function whose inverse has the closed form."""
    of = case(function, value, derivative, *points)
    return Case(function, of.values, of.points, tuple(1 / d for d in of.derivatives))


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def softplus(x: float) -> float:
    return max(x, 0) + math.log1p(math.exp(-abs(x)))


def sech(x: float) -> float:
    return 1 / math.cosh(x)


@jax.custom_jvp
def doubled_by_jvp(x: jax.Array) -> jax.Array:
    return 2.0 * x


doubled_by_jvp.defjvp(lambda primals, tangents: (doubled_by_jvp(*primals), 2.0 * tangents[0]))


@jax.custom_vjp
def doubled_by_vjp(x: jax.Array) -> jax.Array:
    return 2.0 * x


doubled_by_vjp.defvjp(lambda x: (doubled_by_vjp(x), None), lambda _, t: (2.0 * t,))

SIGNS = (0.7, -0.3, 2.0)
UNIT = (0.7, -0.3, 0.2)
CASES = {
    "2x": case(lambda x: 2.0 * x, lambda x: 2 * x, lambda x: 2, *SIGNS),
    "x2": case(lambda x: x * 2.0, lambda x: 2 * x, lambda x: 2, *SIGNS),
    "3-x": case(lambda x: 3.0 - x, lambda x: 3 - x, lambda x: -1, *SIGNS),
    "2/x": case(lambda x: 2.0 / x, lambda x: 2 / x, lambda x: -2 / x**2, *SIGNS),
    "x+1": case(lambda x: x + 1.0, lambda x: x + 1, lambda x: 1, *SIGNS),
    "1+x": case(lambda x: 1.0 + x, lambda x: 1 + x, lambda x: 1, *SIGNS),
    "x-1": case(lambda x: x - 1.0, lambda x: x - 1, lambda x: 1, *SIGNS),
    "x/2": case(lambda x: x / 2.0, lambda x: x / 2, lambda x: 1 / 2, *SIGNS),
    "-x": case(lambda x: -x, lambda x: -x, lambda x: -1, *SIGNS),
    "x": case(lambda x: x, lambda x: x, lambda x: 1, *SIGNS),
    "x**2": case(lambda x: x**2, lambda x: x**2, lambda x: 2 * x),
    "x**3": case(lambda x: x**3, lambda x: x**3, lambda x: 3 * x**2, *SIGNS),
    "x**4": case(lambda x: x**4, lambda x: x**4, lambda x: 4 * x**3),
    "x**-1": case(lambda x: x**-1, lambda x: 1 / x, lambda x: -1 / x**2, *SIGNS),
    "x**-3": case(lambda x: x**-3, lambda x: x**-3, lambda x: -3 * x**-4, *SIGNS),
    "x**2.5": case(lambda x: x**2.5, lambda x: x**2.5, lambda x: 2.5 * x**1.5),
    "x**3.0": case(lambda x: jnp.power(x, jnp.array(3)), lambda x: x**3, lambda x: 3 * x**2, *SIGNS),
    "2**x": case(lambda x: 2.0**x, lambda x: 2**x, lambda x: 2**x * math.log(2), *SIGNS),
    "exp(2x+1)": case(
        lambda x: jnp.exp(2.0 * x + 1.0),
        lambda x: math.exp(2 * x + 1),
        lambda x: 2 * math.exp(2 * x + 1),
        *SIGNS,
    ),
    "acosh": case(jnp.arccosh, math.acosh, lambda x: 1 / math.sqrt(x**2 - 1), 1.5, 2.0, 3.0),
    "asinh": case(jnp.arcsinh, math.asinh, lambda x: 1 / math.hypot(1, x), *SIGNS),
    "atanh": case(jnp.arctanh, math.atanh, lambda x: 1 / (1 - x**2), *UNIT),
    "cbrt": of_inverse(jnp.cbrt, lambda y: y**3, lambda y: 3 * y**2, *SIGNS),
    "conj": case(jnp.conj, lambda x: x, lambda x: 1, *SIGNS),
    "cosh": case(jnp.cosh, math.cosh, math.sinh),
    "erf": case(jax.lax.erf, math.erf, lambda x: 2 / math.sqrt(math.pi) * math.exp(-(x**2)), *UNIT),
    "erf_inv": of_inverse(
        jax.lax.erf_inv, math.erf, lambda y: 2 / math.sqrt(math.pi) * math.exp(-(y**2)), *UNIT
    ),
    "exp": case(jnp.exp, math.exp, math.exp, *SIGNS),
    "exp2": case(jnp.exp2, lambda x: 2**x, lambda x: 2**x * math.log(2), *SIGNS),
    "expm1": case(jnp.expm1, math.expm1, math.exp, *SIGNS),
    "log": case(jnp.log, math.log, lambda x: 1 / x),
    "log1p": case(jnp.log1p, math.log1p, lambda x: 1 / (1 + x), *SIGNS),
    "log10": case(jnp.log10, math.log10, lambda x: 1 / (x * math.log(10))),
    "rsqrt": case(jax.lax.rsqrt, lambda x: x**-0.5, lambda x: -0.5 * x**-1.5),
    "sinh": case(jnp.sinh, math.sinh, math.cosh, *SIGNS),
    "sqrt": case(jnp.sqrt, math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "square": case(jnp.square, lambda x: x**2, lambda x: 2 * x),
    "tanh": case(jnp.tanh, math.tanh, lambda x: sech(x) ** 2, *UNIT),
    "sigmoid": case(jax.nn.sigmoid, sigmoid, lambda x: sigmoid(x) * sigmoid(-x), *SIGNS),
    "logit": of_inverse(jax.scipy.special.logit, sigmoid, lambda y: sigmoid(y) * sigmoid(-y), *SIGNS),
    "softplus": case(jax.nn.softplus, softplus, sigmoid, *SIGNS),
    "logaddexp(x, 0)": case(lambda x: jnp.logaddexp(x, 0.0), softplus, sigmoid, *SIGNS),
    "logaddexp(1, x)": case(
        lambda x: jnp.logaddexp(1.0, x), lambda x: 1 + softplus(x - 1), lambda x: sigmoid(x - 1), *SIGNS
    ),
    "log_sigmoid": case(jax.nn.log_sigmoid, lambda x: -softplus(-x), lambda x: sigmoid(-x), *SIGNS),
    "jit": case(
        jax.jit(lambda x: 2.0 * jax.jit(jnp.exp)(x)), lambda x: 2 * math.exp(x), lambda x: 2 * math.exp(x)
    ),
    "jit of several": case(
        lambda x: jax.jit(lambda a, b: (b, 2.0 * a + b))(x, 1.0)[1], lambda x: 2 * x + 1, lambda x: 2, *SIGNS
    ),
    "checkpoint": case(jax.checkpoint(lambda x: jnp.exp(x) + 1.0), lambda x: math.exp(x) + 1, math.exp),
    "custom_jvp": case(lambda x: doubled_by_jvp(x) + 1.0, lambda x: 2 * x + 1, lambda x: 2, *SIGNS),
    "closed_call": case(jax.named_call(lambda x: 2.0 * x), lambda x: 2 * x, lambda x: 2, *SIGNS),
    "computed constants": case(
        lambda x: x * jax.nn.softplus(jnp.zeros((), x.dtype)) + jnp.sum(jnp.ones(3, x.dtype)),
        lambda x: x * math.log(2) + 3,
        lambda x: math.log(2),
        *SIGNS,
    ),
    "other dtypes and shapes": case(
        lambda x: (
            jnp.array(2.0 * x.astype(jnp.promote_types(x.dtype, jnp.float32)).reshape(-1)[None])
            .squeeze(0)
            .reshape(x.shape)
            .astype(x.dtype)
        ),
        lambda x: 2 * x,
        lambda x: 2,
        *SIGNS,
    ),
    "unused results": case(lambda x: (x * x, jnp.abs(x), x + 1.0)[-1], lambda x: x + 1, lambda x: 1, *SIGNS),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def given(request: pytest.FixtureRequest) -> Any:
    return request.param


def check(actual: jax.Array, expected: Any, scale: Any, dtype: Any) -> None:
    """Within a few of the roundings that a value of the scale has."""
    assert actual.dtype == dtype
    assert actual.shape == np.shape(expected)
    scale = np.maximum(np.maximum(np.abs(scale), np.abs(expected)), 1.0)
    errors = np.abs(np.asarray(actual, np.float64) - expected) / (scale * float(jnp.finfo(dtype).eps))
    assert np.max(errors, initial=0) < 8


def check_inverse(actual: jax.Array, of: Case, dtype: Any) -> None:
    # What rounding the value does to the point is not for the inverse to answer for.
    check(actual, of.points, np.divide(of.values, of.derivatives), dtype)


@pytest.mark.parametrize("precision", PRECISIONS, ids=repr)
def test_inverses_in_every_precision(precision: Precision) -> None:
    def inverses(values: dict[str, jax.Array]) -> dict[str, jax.Array]:
        return {name: invert(CASES[name].function)(y) for name, y in values.items()}

    with precision.context():
        arrays = {name: jnp.array(c.values, precision.dtype) for name, c in CASES.items()}
        scalars = {name: y[0] for name, y in arrays.items()}
        for name, x in jax.eval_shape(inverses, scalars).items():
            assert (name, x.shape, x.dtype) == (name, (), precision.dtype)
        if precision.dtype is jnp.float32:
            return  # Their values are compared below.
        # One compilation for all of them.
        for name, x in jax.jit(inverses)(arrays).items():
            check_inverse(x, CASES[name], precision.dtype)


def test_inverse_under_transformations(given: Case) -> None:
    inverse = invert(given.function)

    @jax.jit
    def transformed(y: jax.Array) -> Any:
        derivatives = [jax.vmap(d(inverse))(y) for d in (jax.grad, jax.jacfwd)]
        return inverse(y), jax.vmap(inverse)(y), derivatives

    x, batched, derivatives = transformed(jnp.array(given.values))
    check_inverse(x, given, jnp.float32)
    check_inverse(batched, given, jnp.float32)
    for derivative in derivatives:
        np.testing.assert_allclose(derivative, 1 / np.array(given.derivatives), rtol=2e-5)


def test_log_det_of_both_directions(given: Case) -> None:
    forward, backward = log_det_of(given.function), log_det_of(invert(given.function))
    expected = np.log(np.abs(given.derivatives))
    x, y = jnp.array(given.points), jnp.array(given.values)
    for log_det in jax.jit(lambda x, y: (forward(x), -backward(y)))(x, y):
        np.testing.assert_allclose(log_det, expected, rtol=2e-5, atol=2e-5)


def test_nothing_has_to_be_traced_from_outside() -> None:
    """What the tests above have under jit."""
    assert invert(jnp.exp)(2.0) == pytest.approx(math.log(2), rel=1e-6)
    assert log_det_of(jnp.exp)(2.0) == 2
    assert jax.grad(invert(jnp.exp))(2.0) == 0.5
    assert jax.jacfwd(invert(jnp.exp))(2.0) == 0.5
    np.testing.assert_array_equal(jax.vmap(invert(lambda x: 2.0 * x))(jnp.array([2.0, 4.0])), [1, 2])


def test_log_det_keeps_shape_and_dtype() -> None:
    x = jnp.ones((2, 0, 3), jnp.bfloat16)
    log_det = log_det_of(lambda x: 2.0 * x)(x)
    assert (log_det.shape, log_det.dtype) == (x.shape, x.dtype)


def test_softplus_far_out() -> None:
    points = np.array([-80.0, -20.0, 30.0, 1e4])
    y = jnp.array([softplus(x) for x in points], jnp.float32)
    np.testing.assert_allclose(invert(jax.nn.softplus)(y), points, rtol=1e-6)


def test_negative_values_have_odd_roots_only() -> None:
    assert invert(lambda x: x**5)(-32.0) == pytest.approx(-2, rel=1e-6)
    assert invert(lambda x: x**-5)(-1 / 32) == pytest.approx(-2, rel=1e-6)
    assert invert(lambda x: x**3.0)(-27.0) == pytest.approx(-3, rel=1e-6)
    assert jax.grad(invert(lambda x: x**3))(-27.0) == pytest.approx(1 / 27, rel=1e-6)
    assert jnp.isnan(invert(lambda x: x**4)(-16.0))
    assert jnp.isnan(invert(lambda x: x**2.5)(-16.0))


def test_custom_vjp() -> None:
    inverse = invert(lambda x: doubled_by_vjp(x) + 1.0)
    assert inverse(4.0) == 1.5
    assert jax.grad(inverse)(4.0) == 0.5


def test_integers_and_numbers_are_taken_as_floating() -> None:
    for y in (3, 3.0, np.int32(3), jnp.array(3)):
        x = invert(lambda x: 2 * x)(y)
        assert (float(x), x.dtype) == (1.5, jnp.float32)


def test_arrays_that_the_function_holds() -> None:
    scale = jnp.array([1.0, 2.0, 4.0])

    def function(x: jax.Array) -> jax.Array:
        return scale * x

    np.testing.assert_array_equal(invert(function)(jnp.array([3.0, 4.0, 4.0])), [3.0, 2.0, 1.0])
    np.testing.assert_array_equal(invert(function)(jnp.float32(4.0)), [4.0, 2.0, 1.0])
    np.testing.assert_array_equal(invert(function)(jnp.ones((2, 1))), [[1.0, 0.5, 0.25]] * 2)
    np.testing.assert_allclose(log_det_of(function)(jnp.ones(3)), [0, math.log(2), math.log(4)], rtol=1e-6)


def test_values_of_transformations_that_the_function_holds() -> None:
    def x_of(scale: jax.Array, y: jax.Array) -> jax.Array:
        with jax.checking_leaks():
            return invert(lambda x: jax.nn.softplus(scale) * x + scale)(y)

    slope = jax.nn.softplus(jnp.float32(0.5))
    expected = (2 - 0.5) / softplus(0.5)
    by_scale = (-softplus(0.5) - (2 - 0.5) * sigmoid(0.5)) / softplus(0.5) ** 2
    assert float(slope) == pytest.approx(softplus(0.5), rel=1e-6)
    assert jax.jit(x_of)(0.5, 2.0) == pytest.approx(expected, rel=1e-6)
    assert jax.grad(x_of)(0.5, 2.0) == pytest.approx(by_scale, rel=1e-6)
    np.testing.assert_allclose(jax.vmap(x_of)(jnp.full(2, 0.5), jnp.full(2, 2.0)), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(x_of, (None, 0))(0.5, jnp.full(2, 2.0)), expected, rtol=1e-6)


TWICE = "more than once: it meets itself in '{}'"
NO_INVERSE = "no inverse of '{}'"


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x * x, NotImplementedError, TWICE.format("mul")),
        (lambda x: x + jnp.exp(x), NotImplementedError, TWICE.format("add")),
        (jax.nn.silu, NotImplementedError, TWICE.format("mul")),
        (lambda x: jnp.logaddexp(x, x), NotImplementedError, TWICE.format("")[:-2]),
        # All operations of logit, in another order.
        (jax.jit(lambda x: jnp.log((1.0 - x) / x)), NotImplementedError, TWICE.format("div")),
        (jnp.abs, NotImplementedError, NO_INVERSE.format("abs")),
        (jax.nn.relu, NotImplementedError, NO_INVERSE.format("max")),
        (lambda x: jnp.floor(x) + 1.0, NotImplementedError, NO_INVERSE.format("floor")),
        (lambda x: x.astype(int), NotImplementedError, NO_INVERSE.format("convert_element_type")),
        (jnp.sum, NotImplementedError, NO_INVERSE.format("reduce_sum")),
        (lambda x: jnp.sort(2.0 * x), NotImplementedError, NO_INVERSE.format("sort")),
        (lambda x: jax.lax.fori_loop(0, 3, lambda _, v: 2.0 * v, x), NotImplementedError, "no inverse of "),
        (lambda x: 3.0, ValueError, "does not depend on its input"),
        (jnp.ones_like, ValueError, "does not depend on its input"),
        (lambda x: x**0, ValueError, "does not depend on its input"),
        (lambda x: jax.jit(lambda _: 3.0)(x) * 2.0, ValueError, "does not depend on its input"),
    ],
)
def test_errors(function: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    inverse = invert(function)
    hint = "Give both `forward` and `inverse` to Lambda."
    for y in (jnp.float32(0.5), jnp.ones(3)):
        if y.ndim == 0 and "sort" in message:
            continue
        with pytest.raises(error, match=f"{message}.*{hint}"):
            inverse(y)
        with pytest.raises(error, match=f"{message}.*{hint}"):
            jax.jit(inverse)(y)


@pytest.fixture
def registry() -> Iterator[None]:
    """The registry of distrax, which has afterwards what it had before."""
    before = dict(transformations._inverse_registry)
    yield
    transformations._inverse_registry.clear()
    transformations._inverse_registry.update(before)


def primitive(name: str, function: Callable[..., Any]) -> Primitive:
    new = Primitive(name)
    new.def_impl(function)
    new.def_abstract_eval(lambda *avals, **_: avals[0])
    return new


@pytest.mark.usefixtures("registry")
def test_registered_inverses() -> None:
    sin = invert(lambda x: 2.0 * jnp.sin(x))
    with pytest.raises(NotImplementedError, match=NO_INVERSE.format("sin")):
        sin(1.0)
    distrax.register_inverse(jax.lax.sin_p, lambda y, **_: jnp.arcsin(y))
    assert sin(1.0) == pytest.approx(math.asin(0.5), rel=1e-6)
    assert jax.jit(sin)(1.0) == pytest.approx(math.asin(0.5), rel=1e-6)

    halve = primitive("halve", lambda x: x / 2)
    distrax.register_inverse(halve, primitive("double", lambda y: y * 2))
    assert invert(lambda x: halve.bind(x) + 1.0)(3.0) == 4

    slope = primitive("times_difference", lambda x, c, slope: slope * (x - c))
    distrax.register_inverse(slope, lambda y, c, slope: y / slope + c, lambda c, y, slope: c - y / slope)
    assert invert(lambda x: slope.bind(x, jnp.float32(3.0), slope=2.0))(4.0) == 5
    assert invert(lambda x: slope.bind(jnp.float32(3.0), x, slope=2.0))(4.0) == 1


AFFINE = {
    "x": lambda x: x,
    "constant": lambda x: jnp.float32(3.0),
    "2x+1": lambda x: 2.0 * x + 1.0,
    "jit": jax.jit(lambda x: 2.0 * x + 1.0),
    "jit of jit": jax.jit(lambda x: 3.0 - jax.jit(lambda v: v / 2.0)(x)),
    "jit of a constant": lambda x: 2.0 * x + jnp.exp(jax.jit(lambda _: 3.0)(x)),
    "checkpoint": jax.checkpoint(lambda x: -x),
    "custom_jvp": doubled_by_jvp,
    "x+x": lambda x: x + x,
    "array": lambda x: jnp.arange(3.0) * x,
}
CURVED = {
    "exp": jnp.exp,
    "x*x": lambda x: x * x,
    "2/x": lambda x: 2.0 / x,
    "jit": jax.jit(lambda x: x**3),
    "jit in affine": lambda x: 2.0 * jax.jit(jnp.tanh)(x) + 1.0,
    "affine in jit": jax.jit(lambda x: jnp.log(jax.jit(lambda v: 2.0 * v)(x))),
    "checkpoint": jax.checkpoint(jnp.sinh),
    "custom_jvp": jax.nn.relu,
    "softplus": jax.nn.softplus,
    "where": lambda x: jnp.where(x > 0, x, 2.0 * x),
    "loop": lambda x: jax.lax.fori_loop(0, 3, lambda _, v: v * v, x),
}


@pytest.mark.parametrize(
    ("function", "expected"),
    [pytest.param(f, True, id=k) for k, f in AFFINE.items()]
    + [pytest.param(f, False, id=f"not {k}") for k, f in CURVED.items()],
)
def test_constant_jacobian(function: Callable[[Any], Any], expected: bool) -> None:
    assert has_constant_jacobian(function) is expected
    answers = []

    @jax.jit
    def inside(scale: jax.Array) -> jax.Array:
        answers.append(has_constant_jacobian(function))
        answers.append(has_constant_jacobian(lambda x: scale * function(x)))
        return scale

    with jax.checking_leaks():
        inside(2.0)
    assert answers == [expected, expected]


def test_constant_jacobian_computes_nothing() -> None:
    def forbidden(_: Any) -> Any:
        raise AssertionError

    def function(x: jax.Array) -> jax.Array:
        return x * jax.pure_callback(forbidden, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1.0))

    assert has_constant_jacobian(function)

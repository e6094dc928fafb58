"""Laws 6 to 10: transformations of JAX."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.acting import act, compiled_act, event
from distgen.verify.agreement import assert_close, assert_same, outcome
from distgen.verify.cases import Case
from distgen.verify.exemptions import leaves_under
from distgen.verify.laws.registry import law

# XLA fuses and reorders what a compiled function computes; a result may err by this much against eager ones.
COMPILED_ULP = 64


def _assert_computed(case: Case, got: Any, want: Any, what: str) -> None:
    """Close enough for what is compiled, in the precision of the case."""
    assert_close(got, want, what, ulp=COMPILED_ULP, dtype=case.precision.dtype)


@law(6)
def jit(case: Case) -> None:
    """Returned, passed, closed over and through the identity: as eager, and nothing leaks."""
    d, kind = case.build(), case.subject.plan.kind
    value = event(case, d)
    expected = act(d, value, kind)
    with jax.checking_leaks():
        returned = jax.jit(case.build_from)(case.inputs())
        through = jax.jit(lambda d: d)(d)
    assert type(returned) is type(d)
    assert_same(through, d, "the identity")
    assert_close(returned, d, "the object returned", ulp=8)
    for name in ("batch_shape", "event_shape", "dtype"):
        assert getattr(returned, name, None) == getattr(d, name, None), f"{name} of the object returned"
    assert_same(act(through, value, kind), expected, "the identity acts")
    _assert_computed(case, compiled_act(d, value, kind), expected, "the object passed acts")
    closed = jax.jit(lambda value: act(d, value, kind))(value)
    _assert_computed(case, closed, expected, "the object closed over acts")
    _assert_computed(case, act(returned, value, kind), expected, "the object returned acts")


@law(7)
def one_trace(case: Case) -> None:
    """One trace for fresh objects of the same shapes and dtypes, whatever they are built from."""
    traces = []

    @jax.jit
    def consume(d: Any) -> Any:
        traces.append(1)
        return jax.tree.leaves(d)

    def as_python(x: Any) -> Any:
        """A Python number where it has the dtype of `x`."""
        return x.tolist() if not x.ndim and x.dtype in (jnp.result_type(float), jnp.result_type(int)) else x

    makers = (np.asarray, jnp.asarray, as_python)
    for seed in range(3):
        inputs = case.redrawn(seed).inputs()
        for make in makers:
            consume(case.build_from(jax.tree.map(make, inputs)))
    assert len(traces) == 1, f"{len(traces)} traces"


@law(8)
def batch_first(case: Case) -> None:
    """Every leaf reads batch shape + event dimensions; mapping, stacking and indexing follow."""
    d, kind = case.build(), case.subject.plan.kind
    batched = leaves_under(8, d)
    has_leaves = bool(batched)
    # What has no parameters fits any batch.
    _assert_batch_shape(d, case.batch_shape if has_leaves else ())
    for name, leaf in batched.items():
        assert leaf.shape[: len(case.batch_shape)] == case.batch_shape, f"{name} has shape {leaf.shape}"
    for f in case.fields if case.subject.is_finished and not case.subject.is_composite else ():
        leaf = d.finished()[f.name]
        assert leaf.shape[: leaf.ndim - len(f.event)] == case.batch_shape, f"{f.name} has shape {leaf.shape}"
    other = case.redrawn().build()
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), d, other)
    # What is exempt is one for all: it can be mapped over, but neither batched further nor indexed.
    is_exempt = len(batched) < len(jax.tree.leaves(d))
    if not is_exempt:
        _assert_batch_shape(stacked, (2, *case.batch_shape) if has_leaves else ())
    if has_leaves and not is_exempt:
        _assert_indexable(case, d, stacked)
    _, scanned = jax.lax.scan(lambda carry, d: (carry, d), None, stacked, length=2)
    assert_same(scanned, stacked, "an object scanned over")
    values = [event(case, d), event(case, other)]
    value = jax.tree.map(lambda *parts: jnp.stack(parts), *values)
    mapped = jax.jit(jax.vmap(lambda d, x: act(d, x, kind)))(stacked, value)
    alone = [compiled_act(x, v, kind) for x, v in zip((d, other), values, strict=True)]
    expected = jax.tree.map(lambda *parts: jnp.stack(parts), *alone)
    _assert_computed(case, mapped, expected, "an object mapped over acts")
    if kind != "model" and not is_exempt:
        _assert_computed(case, compiled_act(stacked, value, kind), expected, "a stack acts")
    if case.batch_shape and has_leaves and not is_exempt:
        _assert_constructor_maps(case)


def _assert_batch_shape(d: Any, expected: tuple[int, ...]) -> None:
    # A bijector of distrax does not tell its batch shape.
    found = getattr(d, "batch_shape", expected)
    assert found == expected, f"batch shape {found} instead of {expected}"


def _assert_indexable(case: Case, d: Any, stacked: Any) -> None:
    if case.subject.plan.kind != "distribution" and not case.subject.is_finished:
        # distrax has no index into a bijector, and names none for it.
        return
    at = (lambda x, i: x[i]) if case.subject.plan.kind == "distribution" else (lambda x, i: x._at(i))
    assert_same(at(stacked, 0), d, "an object taken from a stack")
    assert_same(jax.jit(at)(stacked, 0), d, "an object taken at a traced index")
    assert at(stacked, (..., None)).batch_shape == (2, *case.batch_shape, 1)
    assert at(stacked, slice(1, None)).batch_shape == (1, *case.batch_shape)
    if case.subject.plan.kind == "distribution":
        # A distribution that clamps the index has no end.
        assert len([*islice(stacked, 3)]) == 2, "iterating over a stack does not end where its batch does"


def _assert_constructor_maps(case: Case) -> None:
    """`vmap` of the constructor over the first axis of whatever has it."""
    mapped = jax.vmap(case.build_from, in_axes=(case.axes(),))(case.inputs())
    _assert_batch_shape(mapped, case.batch_shape)
    assert_close(mapped, case.build(), "the constructor mapped", ulp=8)


@law(9)
def control_flow(case: Case) -> None:
    """An object is carried, chosen, rematerialised and passed to custom derivatives."""
    d, other, kind = case.build(), case.redrawn().build(), case.subject.plan.kind
    carried, _ = jax.lax.scan(lambda d, _: (d, None), d, None, length=2)
    assert_same(carried, d, "a scan's carry")
    _, looped = jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1]), (0, d))
    assert_same(looped, d, "a loop's carry")
    chosen = jax.jit(lambda p, a, b: jax.lax.cond(p, lambda: a, lambda: b))(True, d, other)
    assert_same(chosen, d, "a branch of cond")
    switched = jax.jit(lambda i, a, b: jax.lax.switch(i, [lambda: a, lambda: b]))(1, d, other)
    assert_same(switched, other, "a branch of switch")
    value = event(case, d)
    expected = compiled_act(d, value, kind)
    remat = jax.jit(jax.checkpoint(lambda d: act(d, value, kind)))
    assert_close(remat(d), expected, "remat", ulp=COMPILED_ULP, dtype=_narrowest(case, value))

    @jax.custom_vjp
    def custom(d: Any) -> Any:
        return compiled_act(d, value, kind)

    custom.defvjp(
        lambda d: (compiled_act(d, value, kind), d), lambda d, g: (jax.tree.map(jnp.zeros_like, d),)
    )
    _assert_computed(case, custom(d), expected, "custom_vjp")
    if len(_floating(d)) == len(jax.tree.leaves(d)):

        @jax.jit
        def derivative(d: Any) -> Any:
            answer, pullback = jax.vjp(custom, d)
            return pullback(jax.tree.map(jnp.ones_like, answer))

        assert_same(derivative(d), (jax.tree.map(jnp.zeros_like, d),), "the derivative of custom_vjp")


def _narrowest(case: Case, value: Any) -> Any:
    """The least precise dtype at work: what is computed from the value alone is of its dtype."""
    dtypes = [case.precision.dtype, *(x.dtype for x in jax.tree.leaves(value))]
    return min(map(jnp.dtype, dtypes), key=lambda dtype: dtype.itemsize)


@law(10)
def derivatives(case: Case) -> None:
    """Derivatives with respect to an object are those with respect to its finished parameters."""
    d, kind = case.build(), case.subject.plan.kind
    value = event(case, d)

    def of_object(d: Any) -> Any:
        return sum(map(jnp.sum, jax.tree.leaves(act(d, value, kind))))

    if case.subject.is_finished and jax.tree.leaves(d):
        _assert_derivatives_of_finished(case, d, of_object)
        if not case.subject.is_composite:
            _assert_derivatives_of_distrax(case, of_object)
    elif jax.tree.leaves(d):
        _assert_chain_rule(case, d, of_object)


def _assert_chain_rule(case: Case, d: Any, of_object: Any) -> None:
    """The derivative with respect to what an object is built from goes through that to the object."""
    inputs = case.inputs()
    if not all(jnp.issubdtype(x.dtype, jnp.floating) for x in jax.tree.leaves((inputs, d))):
        return
    expected = jax.grad(lambda inputs: of_object(case.build_from(inputs)))(inputs)
    _, pullback = jax.vjp(case.build_from, inputs)
    (got,) = pullback(jax.grad(of_object)(d))
    _assert_computed(case, got, expected, "grad through the object")


def _assert_derivatives_of_finished(case: Case, d: Any, of_object: Any) -> None:
    statics = {s.name: getattr(d, s.attribute) for s in d._parameters.statics}

    def of_parameters(finished: dict[str, Any]) -> Any:
        return of_object(type(d).from_finished(**finished, **statics))

    def of_both(d: Any, finished: dict[str, Any]) -> tuple[Any, Any]:
        return jax.grad(of_object, allow_int=True)(d), jax.grad(of_parameters, allow_int=True)(finished)

    gradient, expected = jax.jit(of_both)(d, d.finished())
    assert type(gradient) is type(d)
    assert_close(_floating(gradient), _floating(_in_order(d, expected)), "grad", ulp=8)
    if len(_floating(d)) < len(jax.tree.leaves(d)):
        return
    tangent = jax.tree.map(jnp.ones_like, d)

    @jax.jit
    def along(d: Any, finished: dict[str, Any]) -> tuple[Any, Any]:
        _, pullback = jax.vjp(of_object, d)
        _, plain_pullback = jax.vjp(of_parameters, finished)
        _, slope = jax.jvp(of_object, (d,), (tangent,))
        _, plain_slope = jax.jvp(of_parameters, (finished,), (tangent.finished(),))
        one = jnp.ones_like(slope)
        plain = _in_order(d, plain_pullback(one)[0])
        return (slope, _floating(pullback(one)[0])), (plain_slope, _floating(plain))

    got, wanted = along(d, d.finished())
    assert_close(got, wanted, "jvp and vjp", ulp=8)
    if not case.batch_shape and not case.subject.is_composite:
        both = jax.jit(lambda d, free: (jax.hessian(of_object)(d), jax.hessian(of_parameters)(free)))
        hessian, expected = both(d, d.finished())
        rows = {n: row.finished() for n, row in hessian.finished().items()}
        assert_close(rows, expected, "hessian", ulp=8)


def _assert_derivatives_of_distrax(case: Case, of_object: Any) -> None:
    """Derivatives with respect to arguments are those of distrax, where it has them."""
    arrays = case.arrays
    is_narrow = jnp.finfo(case.precision.dtype).bits < 32
    if is_narrow or case.precision != case.precision.natural or len(_floating(arrays)) < len(arrays):
        return

    def of_reference(arrays: Any) -> Any:
        return of_object(replace(case, values=arrays)._reference(keeps_scalars=False))

    expected = outcome(lambda: jax.jit(jax.grad(of_reference))(arrays))
    if not isinstance(expected, Exception):
        got = jax.jit(jax.grad(lambda arrays: of_object(case.build_from((arrays, {})))))(arrays)
        _assert_computed(case, got, expected, "grad with respect to arguments")


def _in_order(d: Any, mapping: dict[str, Any]) -> list[Any]:
    """The values in the order of the finished parameters: JAX sorts the keys of a mapping."""
    return [mapping[name] for name in d.finished()]


def _floating(tree: Any) -> list[Any]:
    """The leaves that have a derivative, in the order of the leaves."""
    return [x for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.floating)]

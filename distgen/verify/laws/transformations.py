"""Laws 6 to 10: transformations of JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.agreement import assert_close, assert_same
from distgen.verify.cases import Case
from distgen.verify.laws.registry import law
from distgen.verify.values import draw_event

# XLA fuses and reorders what a compiled function computes; a result may err by this much against eager ones.
COMPILED_ULP = 64


# Compiled once for a class and shape, and used by all laws.
log_prob = jax.jit(lambda d, value: d.log_prob(value))


def event(d: Any) -> Any:
    """An event of the batch shape, the same for distributions of one class and shape."""
    return jnp.asarray(draw_event(d), d.dtype)


@law(6)
def jit(case: Case) -> None:
    """Returned, passed, closed over and through the identity: as eager, and nothing leaks."""
    d = case.build()
    value = event(d)
    expected = d.log_prob(value)
    with jax.checking_leaks():
        returned = jax.jit(lambda arrays: case.subject.generated(**arrays, **case.statics))(case.arrays)
        through = jax.jit(lambda d: d)(d)
    assert type(returned) is type(d)
    assert_same(through, d, "the identity")
    assert_close(returned, d, "the object returned", ulp=8)
    assert (returned.batch_shape, returned.event_shape, returned.dtype) == (
        d.batch_shape,
        d.event_shape,
        d.dtype,
    )
    assert_same(through.log_prob(value), expected, "log_prob of the identity")
    assert_close(log_prob(d, value), expected, "log_prob of the object passed", ulp=COMPILED_ULP)
    closed = jax.jit(d.log_prob)(value)
    assert_close(closed, expected, "log_prob of the object closed over", ulp=COMPILED_ULP)
    assert_close(returned.log_prob(value), expected, "log_prob of the object returned", ulp=COMPILED_ULP)


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
        drawn = case.redrawn(seed)
        for make in makers:
            consume(case.subject.generated(**{n: make(a) for n, a in drawn.arrays.items()}, **case.statics))
    assert len(traces) == 1, f"{len(traces)} traces"


@law(8)
def batch_first(case: Case) -> None:
    """Every leaf reads batch shape + event dimensions; mapping, stacking and indexing follow."""
    d = case.build()
    assert d.batch_shape == case.batch_shape
    for f, leaf in zip(case.fields, jax.tree.leaves(d), strict=True):
        assert leaf.shape[: leaf.ndim - len(f.event)] == case.batch_shape, f"{f.name} has shape {leaf.shape}"
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), d, case.redrawn().build())
    assert stacked.batch_shape == (2, *case.batch_shape)
    assert_same(stacked[0], d, "an object taken from a stack")
    assert_same(jax.jit(lambda d, i: d[i])(stacked, 0), d, "an object taken at a traced index")
    assert stacked[..., None].batch_shape == (2, *case.batch_shape, 1)
    assert stacked[1:].batch_shape == (1, *case.batch_shape)
    assert len(list(stacked)) == 2
    _, scanned = jax.lax.scan(lambda carry, d: (carry, d), None, stacked)
    assert_same(scanned, stacked, "an object scanned over")
    value = jnp.stack([event(d)] * 2)
    mapped = jax.jit(jax.vmap(lambda d, x: d.log_prob(x)))(stacked, value)
    assert_close(mapped, log_prob(stacked, value), "log_prob mapped over an object", ulp=COMPILED_ULP)
    if case.batch_shape:
        _assert_constructor_maps(case)


def _assert_constructor_maps(case: Case) -> None:
    """`vmap` of the constructor over the first axis of whatever has it."""
    ranks = {name: array.ndim - case.event_ndims(name) for name, array in case.arrays.items()}
    full = len(case.batch_shape)
    axes = {name: 0 if rank == full else None for name, rank in ranks.items()}
    mapped = jax.vmap(lambda arrays: case.subject.generated(**arrays, **case.statics), in_axes=(axes,))(
        case.arrays
    )
    assert mapped.batch_shape == case.batch_shape
    assert_close(mapped, case.build(), "the constructor mapped", ulp=8)


@law(9)
def control_flow(case: Case) -> None:
    """An object is carried, chosen, rematerialised and passed to custom derivatives."""
    d, other = case.build(), case.redrawn().build()
    carried, _ = jax.lax.scan(lambda d, _: (d, None), d, None, length=2)
    assert_same(carried, d, "a scan's carry")
    _, looped = jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1]), (0, d))
    assert_same(looped, d, "a loop's carry")
    chosen = jax.jit(lambda p, a, b: jax.lax.cond(p, lambda: a, lambda: b))(True, d, other)
    assert_same(chosen, d, "a branch of cond")
    switched = jax.jit(lambda i, a, b: jax.lax.switch(i, [lambda: a, lambda: b]))(1, d, other)
    assert_same(switched, other, "a branch of switch")
    value = event(d)
    expected = log_prob(d, value)
    remat = jax.jit(jax.checkpoint(lambda d: d.log_prob(value)))
    assert_close(remat(d), expected, "remat", ulp=COMPILED_ULP)

    @jax.custom_vjp
    def custom(d: Any) -> Any:
        return log_prob(d, value)

    custom.defvjp(lambda d: (log_prob(d, value), d), lambda d, g: (jax.tree.map(jnp.zeros_like, d),))
    assert_close(custom(d), expected, "custom_vjp", ulp=COMPILED_ULP)


@law(10)
def derivatives(case: Case) -> None:
    """Derivatives with respect to an object are those with respect to its finished parameters."""
    d = case.build()
    value = event(d)
    frozen = {n: x for n, x in d.finished().items() if not jnp.issubdtype(x.dtype, jnp.floating)}
    free = {n: x for n, x in d.finished().items() if n not in frozen}
    statics = {s.name: getattr(d, f"_{s.name}") for s in d._parameters.statics}

    def of_object(d: Any) -> Any:
        return jnp.sum(d.log_prob(value))

    def of_parameters(free: dict[str, Any]) -> Any:
        return of_object(type(d).from_finished(**{n: (frozen | free)[n] for n in d.finished()}, **statics))

    def of_both(d: Any, free: dict[str, Any]) -> tuple[Any, Any]:
        return jax.grad(of_object, allow_int=True)(d), jax.grad(of_parameters)(free)

    gradient, expected = jax.jit(of_both)(d, free)
    assert type(gradient) is type(d)
    assert_close({n: gradient.finished()[n] for n in free}, expected, "grad", ulp=8)
    if frozen:
        return
    tangent = jax.tree.map(jnp.ones_like, d)

    @jax.jit
    def along(d: Any, free: dict[str, Any]) -> tuple[Any, Any]:
        _, pullback = jax.vjp(of_object, d)
        _, plain_pullback = jax.vjp(of_parameters, free)
        _, slope = jax.jvp(of_object, (d,), (tangent,))
        _, plain_slope = jax.jvp(of_parameters, (free,), (tangent.finished(),))
        one = jnp.ones_like(slope)
        return (slope, pullback(one)[0].finished()), (plain_slope, plain_pullback(one)[0])

    got, wanted = along(d, free)
    assert_close(got, wanted, "jvp and vjp", ulp=8)
    if not case.batch_shape:
        both = jax.jit(lambda d, free: (jax.hessian(of_object)(d), jax.hessian(of_parameters)(free)))
        hessian, expected = both(d, free)
        rows = {n: row.finished() for n, row in hessian.finished().items()}
        assert_close(rows, expected, "hessian", ulp=8)

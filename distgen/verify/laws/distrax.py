"""Laws 12 to 16: agreement with distrax."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.agreement import assert_close, assert_same, outcome, structure
from distgen.verify.cases import FLOAT32, Case
from distgen.verify.laws.registry import law
from distgen.verify.laws.transformations import COMPILED_ULP, event, log_prob

# Of results that one side computes with more digits, the other's rounding errors are left.
NARROWED_ULP = 16
# Methods that distrax computes from another one, and that are mended with it.
MENDED_WITH = {
    "_sample_n": ("sample", "sample_and_log_prob"),
    "cdf": ("log_cdf", "survival_function", "log_survival_function"),
}
OF_VALUES = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
OF_NOTHING = ("entropy", "mean", "median", "mode", "variance", "stddev", "covariance")


@law(12)
def same_interface(case: Case) -> None:
    """The constructor, the methods and the properties of distrax, and its errors."""
    generated, wrapped = case.subject.generated, case.subject.wrapped
    ours, theirs = inspect.signature(generated).parameters, inspect.signature(wrapped).parameters
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]
    d, r = case.build(), case.reference()
    assert isinstance(d, wrapped)
    assert {n for n in dir(r) if not n.startswith("__")} <= {*dir(d)}
    assert (d.batch_shape, d.event_shape, d.name) == (r.batch_shape, r.event_shape, r.name)
    for arguments in _mistakes(case):
        error, expected = (
            outcome(lambda a=arguments: generated(**a)),
            outcome(lambda a=arguments: wrapped(**a)),
        )
        if isinstance(expected, ValueError | AssertionError):
            kind = ValueError if isinstance(expected, ValueError) else AssertionError
            assert isinstance(error, kind), f"{_shapes(arguments)}: {error!r} instead of {expected!r}"


def _shapes(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(value, "shape", value) for name, value in arguments.items()}


def _mistakes(case: Case) -> list[dict[str, Any]]:
    """Arguments with one mistake: missing, too many, of no dimension, complex, or of another length."""
    arguments = case.arguments
    spec = case.subject.spec
    mistakes: list[dict[str, Any]] = [dict.fromkeys(arguments), {**dict.fromkeys(arguments), **case.statics}]
    mistakes += [arguments | {name: arguments.get(name, 0.5) for name in spec.exactly_one_of}]
    for name, array in case.arrays.items():
        mistakes.append(arguments | {name: jnp.ones(array.shape, complex)})
        if case.event_ndims(name) and array.ndim:
            mistakes.append(arguments | {name: jnp.ones((), array.dtype)})
            mistakes.append(
                arguments | {name: jnp.ones((*array.shape[:-1], array.shape[-1] + 1), array.dtype)}
            )
        mistakes.append(arguments | {name: jnp.ones((5, *array.shape), array.dtype)})
    mistakes += [arguments | {s.name: complex} for s in case.subject.plan.statics if s.name == "dtype"]
    return mistakes


@law(13)
def same_values(case: Case) -> None:
    """Methods and draws agree with distrax: bit for bit, or within the ulp that the spec states."""
    d, other = case.build(), case.redrawn().build()
    calls = _calls(case, d)
    with case.precision.natural.context():
        r, other_reference = case.reference(), case.redrawn().reference()
        wanted = {name: outcome(lambda call=call: call(r)) for name, call in calls.items()}
    if getattr(wanted["log_prob"], "dtype", None) != jnp.dtype(case.precision.dtype):
        # distrax works in a wider dtype than the parameters', and so draws other random bits.
        calls = {name: call for name, call in calls.items() if not name.startswith("sample")}
    for name, call in calls.items():
        _assert_agreement(case, name, outcome(lambda call=call: call(d)), wanted[name])
    for name in ("kl_divergence", "cross_entropy"):
        with case.precision.natural.context():
            expected = outcome(lambda name=name: getattr(r, name)(other_reference))
        for p, q in ((d, other), (d, other_reference), (r, other)):
            got = outcome(lambda name=name, p=p, q=q: getattr(p, name)(q))
            _assert_agreement(case, name, got, expected)


def _calls(case: Case, d: Any) -> dict[str, Callable[[Any], Any]]:
    """What is asked of both, by name: draws, functions of values, moments, and properties."""
    key = jax.random.key(3)
    inside = np.asarray(event(d))
    # A NumPy array, which fits in with x64 on and off.
    value = np.stack([inside, *(np.full_like(inside, x) for x in (0, 1, -1, 3))])
    properties = [
        name for name, _ in inspect.getmembers(type(d), lambda member: isinstance(member, property))
    ]
    names = [
        n for n in properties if not n.startswith("_") and n not in {"batch_shape", "event_shape", "dtype"}
    ]
    return (
        {
            "sample": lambda x: x.sample(seed=key, sample_shape=(2,)),
            "sample_and_log_prob": lambda x: x.sample_and_log_prob(seed=key, sample_shape=2),
        }
        | {m: lambda x, m=m: getattr(x, m)(jnp.asarray(value)) for m in OF_VALUES}
        | {m: lambda x, m=m: getattr(x, m)() for m in OF_NOTHING}
        | {n: lambda x, n=n: getattr(x, n) for n in names if hasattr(case.subject.wrapped, n)}
    )


def _assert_agreement(case: Case, name: str, got: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        declared = [m.name for m in case.subject.plan.methods]
        mended = {*declared, *chain(*(MENDED_WITH.get(m, ()) for m in declared))}
        assert type(got) is type(expected) or name in mended, f"{name}: {got!r} instead of {expected!r}"
        return
    assert not isinstance(got, Exception), f"{name} raises {got!r}"
    if isinstance(expected, distrax.Bijector | distrax.Distribution):
        assert isinstance(got, type(expected) | distrax.Linear), f"{name} is a {type(got).__name__}"
        return
    if isinstance(expected, str | bool | int):
        assert got == expected, f"{name}: {got!r} instead of {expected!r}"
        return
    ulp, precision = case.subject.spec.ulp, case.precision
    for ours, theirs in zip(jax.tree.leaves(got), map(jnp.asarray, jax.tree.leaves(expected)), strict=True):
        # An argument that distrax broadcasts against an event dimension has a singleton in its place.
        wanted = (
            theirs.reshape(ours.shape) if theirs.size == ours.size else jnp.broadcast_to(theirs, ours.shape)
        )
        is_exact = (
            not jnp.issubdtype(ours.dtype, jnp.floating) or ours.dtype == wanted.dtype == precision.dtype
        )
        if is_exact and not ulp and precision == precision.natural:
            assert_same(ours, wanted, name)
        else:
            # What is kept in a dtype, or narrowed to it at the end, is rounded elsewhere than in distrax.
            assert_close(ours, wanted, name, ulp=ulp or NARROWED_ULP, dtype=precision.dtype)


@law(15)
def composable(case: Case) -> None:
    """Generated inside distrax, and classes that users derive."""
    d, r = case.build(), case.reference()
    if case.batch_shape:
        ours, theirs = distrax.Independent(d, 1), distrax.Independent(r, 1)
        value = event(d)
        ulp = max(case.subject.spec.ulp * case.batch_shape[-1], COMPILED_ULP)
        assert_close(log_prob(ours, value), log_prob(theirs, value), "log_prob inside Independent", ulp=ulp)
    _assert_derivable(case, d)


def _assert_derivable(case: Case, d: Any) -> None:
    class Derived(case.subject.generated):  # type: ignore[misc, name-defined]
        def __init__(self, label: str, weight: Any, **arguments: Any) -> None:
            super().__init__(**arguments)
            self.label = label
            self.weight = weight

    derived = Derived("a label", jnp.float32(2), **case.arguments)
    back = jax.jit(lambda d: d)(derived)
    assert type(back) is Derived and back.label == "a label" and back.weight == 2
    assert structure(back) == structure(derived)
    assert structure(derived) != structure(d)
    assert len(jax.tree.leaves(derived)) == len(jax.tree.leaves(d)) + 1
    mask = jax.tree.map(lambda _: True, back)
    assert structure(mask) == structure(derived)
    value = event(d)
    assert_same(log_prob(derived, value), log_prob(d, value), "log_prob of a derived class")
    assert type(derived[None]) is Derived and derived[None].label == "a label"


@law(16)
def dtype_kept(case: Case) -> None:
    """Parameters of one dtype give results of that dtype, by every method that float32 has."""
    d, other = case.build(), case.redrawn().build()
    dtype = jnp.dtype(case.precision.dtype)
    for f in case.fields:
        leaf = d.finished()[f.name]
        assert not f.is_floating or leaf.dtype == dtype, f"{f.name} is of {leaf.dtype}"

    def results(d: Any, value: Any) -> dict[str, Any]:
        calls = {m: outcome(lambda m=m: getattr(d, m)(value)) for m in OF_VALUES}
        calls |= {m: outcome(getattr(d, m)) for m in OF_NOTHING if m != "mode" and hasattr(d, m)}
        calls["sample_and_log_prob"] = outcome(lambda: d.sample_and_log_prob(seed=jax.random.key(0))[1])
        calls["kl_divergence"] = outcome(lambda: d.kl_divergence(other))
        return {m: x for m, x in calls.items() if isinstance(x, jax.Array)}

    value = jax.eval_shape(lambda d: d.sample(seed=jax.random.key(0)), d)
    assert value.dtype == d.dtype
    abstract = jax.eval_shape(results, d, value)
    with FLOAT32.context():
        usual = replace(case, precision=FLOAT32).build()
        missing = jax.eval_shape(results, usual, event(usual)).keys() - abstract.keys()
    assert not missing, f"methods that fail: {missing}"
    wrong = {
        m: str(x.dtype)
        for m, x in abstract.items()
        if jnp.issubdtype(x.dtype, jnp.floating) and x.dtype != dtype
    }
    assert not wrong, f"results not of {dtype}: {wrong}"

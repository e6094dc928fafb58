"""Laws 12 to 16: agreement with distrax."""

from __future__ import annotations

import inspect
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.acting import OF_EVENTS, OF_NOTHING, OF_VALUES, act, calls, compiled_act, event
from distgen.verify.agreement import assert_close, assert_same, outcome, structure
from distgen.verify.cases import FLOAT32, Case
from distgen.verify.laws.departures import mended
from distgen.verify.laws.registry import law
from distgen.verify.laws.transformations import COMPILED_ULP

# Of results that one side computes with more digits, the other's rounding errors are left, at each level
# of a tree.
NARROWED_ULP = 16
_SHAPES = {
    "distribution": ("batch_shape", "event_shape", "name"),
    "bijector": ("event_ndims_in", "event_ndims_out", "is_constant_jacobian", "is_constant_log_det", "name"),
    "model": (),
}


@law(12)
def same_interface(case: Case) -> None:
    """The constructor, the methods and the properties of distrax, and its errors."""
    generated, wrapped = case.subject.generated, case.subject.wrapped
    ours, theirs = inspect.signature(generated).parameters, inspect.signature(wrapped).parameters
    extensions = [n for n in case.subject.spec.parameters if n in ours and n not in theirs]
    assert [(p.name, p.kind, p.default) for p in ours.values() if p.name not in extensions] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]
    assert all(ours[n].kind is inspect.Parameter.KEYWORD_ONLY and ours[n].default is None for n in extensions)
    d, r = case.build(), case.reference()
    assert isinstance(d, wrapped)
    assert {n for n in dir(r) if not n.startswith("__")} <= {*dir(d)}
    for name in _SHAPES[case.subject.plan.kind]:
        assert getattr(d, name) == getattr(r, name), f"{name} is {getattr(d, name)}, not {getattr(r, name)}"
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
        if case.subject.plan.kind == "distribution":
            mistakes.append(arguments | {name: jnp.ones(array.shape, complex)})
        if case.event_ndims(name) and array.ndim:
            mistakes.append(arguments | {name: jnp.ones((), array.dtype)})
            for size in (array.shape[-1] + 1, 1):
                mistakes.append(arguments | {name: jnp.ones((*array.shape[:-1], size), array.dtype)})
        mistakes.append(arguments | {name: jnp.ones((5, *array.shape), array.dtype)})
    mistakes += [arguments | {s.name: complex} for s in case.subject.plan.statics if s.name == "dtype"]
    return mistakes


@law(13)
def same_values(case: Case) -> None:
    """Methods and draws agree with distrax: bit for bit, or within the ulp that the spec states."""
    d, other = case.build(), case.redrawn().build()
    asked = calls(case, d)
    with case.precision.natural.context():
        r, other_reference = case.reference(), case.redrawn().reference()
        wanted = {name: outcome(lambda call=call: call(r)) for name, call in asked.items()}
    if getattr(wanted.get("log_prob"), "dtype", None) != jnp.dtype(case.precision.dtype):
        # distrax works in a wider dtype than the parameters', and so draws other random bits.
        asked = {name: call for name, call in asked.items() if not name.startswith("sample")}
    for name, call in asked.items():
        _assert_agreement(case, name, outcome(lambda call=call: call(d)), wanted[name])
    if case.subject.plan.kind == "bijector" and case.subject.is_finished:
        # That of distrax is False wherever it does not know.
        is_same = all(map(np.array_equal, jax.tree.leaves(d), jax.tree.leaves(other)))
        assert d.same_as(d) and d.same_as(other) == is_same, f"same_as of another bijector is not {is_same}"
    if case.subject.plan.kind != "distribution" or _has_own_divergence(case):
        return
    for name in ("kl_divergence", "cross_entropy"):
        with case.precision.natural.context():
            expected = outcome(lambda name=name: getattr(r, name)(other_reference))
        for p, q in ((d, other), (d, other_reference), (r, other)):
            got = outcome(lambda name=name, p=p, q=q: getattr(p, name)(q))
            _assert_agreement(case, name, got, expected)


def _has_own_divergence(case: Case) -> bool:
    """Whether a class in the tree departs from the divergence of distrax."""
    return any(part.subject.plan.divergence_code for level in case.levels for part in level)


def _assert_agreement(case: Case, name: str, got: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        is_mended = name in mended(case.subject)
        assert type(got) is type(expected) or is_mended, f"{name}: {got!r} instead of {expected!r}"
        return
    assert not isinstance(got, Exception), f"{name} raises {got!r}"
    objects = jax.tree.leaves(expected, is_leaf=_is_object)
    if objects and all(map(_is_object, objects)):
        for ours, theirs in zip(jax.tree.leaves(got, is_leaf=_is_object), objects, strict=True):
            assert isinstance(ours, type(theirs) | distrax.Linear), f"{name} is a {type(ours).__name__}"
        return
    if isinstance(expected, str | bool | int):
        assert got == expected, f"{name}: {got!r} instead of {expected!r}"
        return
    ulp, precision = case.subject.spec.ulp, case.precision
    pairs = zip(*(map(jnp.asarray, jax.tree.leaves(x)) for x in (got, expected)), strict=True)
    for ours, theirs in pairs:
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
            allowed = ulp or NARROWED_ULP * len(case.levels)
            assert_close(ours, wanted, name, ulp=allowed, dtype=precision.dtype)


def _is_object(x: Any) -> bool:
    return isinstance(x, distrax.Bijector | distrax.Distribution)


@law(15)
def composable(case: Case) -> None:
    """Generated inside distrax, to distrax and back, and classes that users derive."""
    d, kind = case.build(), case.subject.plan.kind
    value = event(case, d)
    if case.subject.is_finished:
        _assert_converts(case, d, value)
    if kind == "distribution" and case.batch_shape and isinstance(d.event_shape, tuple):
        ours, theirs = distrax.Independent(d, 1), distrax.Independent(case.reference(), 1)
        ulp = max(case.subject.spec.ulp * case.batch_shape[-1], COMPILED_ULP)
        got, expected = compiled_act(ours, value, kind), compiled_act(theirs, value, kind)
        assert_close(got, expected, "log_prob inside Independent", ulp=ulp)
    _assert_derivable(case, d)


def _assert_converts(case: Case, d: Any, value: Any) -> None:
    """To distrax and back."""
    kind, key = case.subject.plan.kind, jax.random.key(0)
    other = d.to_distrax()
    assert type(other) is case.subject.wrapped
    foreign = _classes_within(vars(other))
    assert not any(hasattr(cls, "from_finished") for cls in foreign), f"an object of distrax holds {foreign}"
    back = type(d)._from_distrax(other)
    ours, theirs = _classes_within(d.finished()), _classes_within(back.finished())
    assert ours == theirs, f"an object that went to distrax and back holds {theirs} instead of {ours}"
    assert_same(act(back, value, kind), act(d, value, kind), "an object that went to distrax and back acts")
    if kind == "distribution":
        assert_same(back.sample(seed=key), d.sample(seed=key), "a draw of an object that went and came back")
    _assert_distrax_acts(case, d, other, value)


def _classes_within(attributes: dict[str, Any]) -> list[Any]:
    """The classes of the distributions and the bijectors that an object holds."""
    return [type(x) for x in jax.tree.leaves(attributes, is_leaf=_is_object) if _is_object(x)]


def _assert_distrax_acts(case: Case, d: Any, other: Any, value: Any) -> None:
    """The object of distrax that `d` was converted to has the methods of one that was constructed."""
    if case.precision.dtype == jnp.bfloat16:
        # distrax itself lacks methods of narrow dtypes.
        return
    if case.subject.plan.kind == "distribution":
        other.sample(seed=jax.random.key(0))
        expected = outcome(lambda: case.reference().log_prob(value))
        if not isinstance(expected, Exception):
            got = other.log_prob(value)
            assert_close(got, expected, "the object of distrax acts", ulp=COMPILED_ULP, dtype=jnp.float32)
    if case.subject.plan.kind == "bijector":
        image = d.forward(value)
        expected = outcome(lambda: case.reference().inverse_and_log_det(image))
        if not isinstance(expected, Exception):
            got = other.inverse_and_log_det(image)
            assert_close(got, expected, "the object of distrax acts", ulp=COMPILED_ULP, dtype=jnp.float32)


def _assert_derivable(case: Case, d: Any) -> None:
    class Derived(case.subject.generated):  # type: ignore[misc, name-defined]
        def __init__(self, label: str, weight: Any, **arguments: Any) -> None:
            super().__init__(**arguments)
            self.label = label
            self.weight = weight

    derived = Derived("a label", jnp.float32(2), **case.arguments)
    back = jax.jit(lambda d: d)(derived)
    assert type(back) is Derived and back.label == "a label" and back.weight == 2, "an attribute is lost"
    assert structure(back) == structure(derived), "a derived class comes back with another treedef"
    assert structure(derived) != structure(d), "a derived class has the treedef of its base"
    assert len(jax.tree.leaves(derived)) == len(jax.tree.leaves(d)) + 1, "an attribute is no leaf"
    mask = jax.tree.map(lambda _: True, back)
    assert structure(mask) == structure(derived), "a tree of flags has another treedef"
    value, kind = event(case, d), case.subject.plan.kind
    assert_same(compiled_act(derived, value, kind), compiled_act(d, value, kind), "a derived class acts")
    if kind == "distribution":
        assert type(derived[None]) is Derived, "an element of a batch is of another class"
        assert derived[None].label == "a label", "an element of a batch has lost an attribute"


@law(16)
def dtype_kept(case: Case) -> None:
    """Parameters of one dtype give results of that dtype, by every method that float32 has."""
    d, other, kind = case.build(), case.redrawn().build(), case.subject.plan.kind
    dtype = jnp.dtype(case.precision.dtype)
    # A parameter can be of a dtype of its own.
    own = {f".{f.name}" for f in case.fields if f.is_array and not f.is_floating}
    for path, leaf in jax.tree_util.tree_leaves_with_path(d):
        name = jax.tree_util.keystr(path)
        is_right = name in own or not jnp.issubdtype(leaf.dtype, jnp.floating) or leaf.dtype == dtype
        assert is_right, f"{name} is of {leaf.dtype}"
    if case.subject.is_finished and not case.subject.is_composite:
        _assert_common_dtype(case)

    def results(d: Any, value: Any) -> dict[str, Any]:
        if kind != "distribution":
            asked = {m: outcome(lambda m=m: getattr(d, m)(value)) for m in OF_EVENTS[kind]}
        else:
            asked = {m: outcome(lambda m=m: getattr(d, m)(value)) for m in OF_VALUES}
            asked |= {m: outcome(getattr(d, m)) for m in OF_NOTHING if m != "mode" and hasattr(d, m)}
            asked["sample_and_log_prob"] = outcome(lambda: d.sample_and_log_prob(seed=jax.random.key(0))[1])
            asked["kl_divergence"] = outcome(lambda: d.kl_divergence(other))
        return {m: jax.tree.leaves(x) for m, x in asked.items() if not isinstance(x, Exception)}

    if kind == "distribution":
        value = jax.eval_shape(lambda d: d.sample(seed=jax.random.key(0)), d)
        assert jax.tree.map(lambda x: x.dtype, value) == d.dtype
    else:
        value = event(case, d)
    abstract = jax.eval_shape(results, d, value)
    with FLOAT32.context():
        usual = case.in_precision(FLOAT32)
        built = usual.build()
        missing = jax.eval_shape(results, built, event(usual, built)).keys() - abstract.keys()
    assert not missing, f"methods that fail: {missing}"
    # Events, and what is computed from them, can be of a wider dtype that was asked for.
    right = {dtype, *(jnp.promote_types(dtype, x.dtype) for x in jax.tree.leaves(value) if _is_floating(x))}
    wrong = {
        m: str(x.dtype)
        for m, leaves in abstract.items()
        for x in leaves
        if _is_floating(x) and x.dtype not in right
    }
    assert not wrong, f"results not of {dtype}: {wrong}"


def _is_floating(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.floating))


def _assert_common_dtype(case: Case) -> None:
    """Of arguments of two dtypes, parameters of one dtype are made."""
    common = [f.argument for f in case.fields if f.is_array and f.is_floating]
    wide = {name: x.astype(jnp.float32) for name, x in case.arrays.items() if name in common[:1]}
    finished = case.build_from((case.arrays | wide, {})).finished()
    dtypes = {finished[f.name].dtype for f in case.fields if f.is_array and f.is_floating}
    assert len(dtypes) <= 1, f"parameters of {dtypes}"

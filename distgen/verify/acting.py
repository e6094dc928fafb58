"""What an object is asked for in the laws, whatever its kind, and what it is asked about."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.cases import Case
from distgen.verify.values import EVENTS, draw_event

Call = Callable[[Any], Any]

OF_VALUES = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
OF_NOTHING = ("entropy", "mean", "median", "mode", "variance", "stddev", "covariance")
OF_EVENTS = {
    "bijector": (
        "forward",
        "forward_log_det_jacobian",
        "forward_and_log_det",
        "inverse",
        "inverse_log_det_jacobian",
        "inverse_and_log_det",
    ),
    "model": ("forward", "backward", "forward_backward", "viterbi"),
}
_ACTS = {"distribution": "log_prob", "bijector": "forward_and_log_det", "model": "forward"}


def event(case: Case, d: Any, seed: int = 0) -> Any:
    """What the object is put to: an event for each element of the batch, the same for equal shapes."""
    match case.subject.plan.kind:
        case "distribution" if case.subject.support.name in EVENTS:
            return jnp.asarray(draw_event(d, case.subject.support, seed), d.dtype)
        case "distribution":
            return d.sample(seed=jax.random.key(seed))
        case "bijector":
            # A bijector of distrax does not tell its batch shape.
            shape = (*getattr(d, "batch_shape", case.batch_shape), *case.event_shape)
        case "model":
            shape = (5,)
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), case.precision.dtype)


def act(d: Any, value: Any, kind: str) -> Any:
    """The method that stands for all others."""
    return getattr(d, _ACTS[kind])(value)


# Compiled once for a class and shape, and used by all laws.
compiled_act = jax.jit(act, static_argnames="kind")


def calls(case: Case, d: Any) -> dict[str, Call]:
    """What is asked of both sides, by name."""
    kind = case.subject.plan.kind
    key = jax.random.key(3)
    if kind == "distribution":
        return _distribution_calls(case, d, key)
    # As a NumPy array, which fits in with x64 on and off.
    value = np.asarray(event(case, d))
    if kind == "model":
        sample = {"sample": lambda x: x.sample(seed=key, seq_len=4)}
        return sample | {m: lambda x, m=m: getattr(x, m)(jnp.asarray(value)) for m in OF_EVENTS[kind]}
    image = np.asarray(d.forward(jnp.asarray(value)))
    inputs = {m: image if m.startswith("inverse") else value for m in OF_EVENTS[kind]}
    asked = {m: lambda x, m=m, v=v: getattr(x, m)(jnp.asarray(v)) for m, v in inputs.items()}
    return asked | _properties(case, d)


def _distribution_calls(case: Case, d: Any, key: Any) -> dict[str, Call]:
    value = jax.tree.map(_with_extremes, event(case, d))
    return (
        {
            "sample": lambda x: x.sample(seed=key, sample_shape=(2,)),
            "sample_and_log_prob": lambda x: x.sample_and_log_prob(seed=key, sample_shape=2),
        }
        | {m: lambda x, m=m: getattr(x, m)(jax.tree.map(jnp.asarray, value)) for m in OF_VALUES}
        | {m: lambda x, m=m: getattr(x, m)() for m in OF_NOTHING}
        | _properties(case, d)
    )


def _with_extremes(inside: Any) -> Any:
    inside = np.asarray(inside)
    return np.stack([inside, *(np.full_like(inside, x) for x in (0, 1, -1, 3))])


def _properties(case: Case, d: Any) -> dict[str, Call]:
    """The public properties of the wrapped class, but for shapes, dtypes and functions."""
    names = [n for n in dir(type(d)) if not n.startswith("_") and isinstance(getattr(type(d), n), property)]
    skipped = {"batch_shape", "event_shape", "dtype"} | {n for n, x in case.statics.items() if callable(x)}
    return {n: operator.attrgetter(n) for n in names if n not in skipped and hasattr(case.subject.wrapped, n)}

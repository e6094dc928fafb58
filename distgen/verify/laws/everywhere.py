"""Laws 19 and 21: every platform that JAX compiles for, and every device at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from distgen.verify.acting import Call, act, calls, event
from distgen.verify.agreement import assert_close, outcome
from distgen.verify.cases import Case, Precision
from distgen.verify.laws.registry import NotEverywhere, law
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.trees import first_case

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
# Accelerators compute transcendental functions by other approximations, and sum in another order.
DEVICE_ULP = 64
_BATCH = (3,)


def one_in_each_dtype(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> list[Case]:
    """One case, in each of the dtypes."""
    case = first_case(subject, subjects, _BATCH)
    return [case.in_precision(p) for p in precisions if p == p.natural]


@law(19, examined=one_in_each_dtype, platforms=PLATFORMS)
def every_platform(case: Case) -> None:
    """Every method lowers for CPU, CUDA, ROCm and TPU, with the object as an argument."""
    d = case.build()
    for name, call in calls(case, d).items():
        try:
            _lower(call, d, PLATFORMS)
        except Exception as error:
            if not _is_absent(call, d):
                faults = {p: outcome(lambda call=call, p=p: _lower(call, d, (p,))) for p in PLATFORMS}
                broken = {p: f"{name} in {case.precision}: {e!r}" for p, e in faults.items() if e is not None}
                raise NotEverywhere(broken or dict.fromkeys(PLATFORMS, f"{name}: {error!r}")) from error


def _lower(call: Call, d: Any, platforms: Sequence[str]) -> None:
    exported = jax.export.export(jax.jit(lambda d: _arrays(call(d))), platforms=platforms)(d)
    assert exported.platforms == tuple(platforms)


def _is_absent(call: Call, d: Any) -> bool:
    """Whether the method cannot be traced: other laws ask which methods there must be."""
    return isinstance(outcome(lambda: jax.eval_shape(lambda: _arrays(call(d)))), Exception)


def _arrays(tree: Any) -> list[jax.Array]:
    return [x for x in jax.tree.leaves(tree) if isinstance(x, jax.Array)]


@law(21, examined=one_in_each_dtype)
def every_device(case: Case) -> None:
    """On another device or platform, an object acts as it does here, within the ulp that is stated."""
    d, kind = case.build(), case.subject.plan.kind
    value = event(case, d)
    asked = {"it acts": lambda d: act(d, value, kind)}
    default: Any = getattr(jax.config, "jax_default_device", None)
    here, there = default or jax.devices()[0], jax.devices("cpu")[-1]
    # Devices of one platform run the same program, and one method shows whether the object came along.
    is_same = here.platform == there.platform
    for name, call in asked.items() if is_same else calls(case, d).items():
        got = outcome(lambda call=call: _arrays(jax.jit(call)(jax.device_put(d, here))))
        with jax.default_device(there):
            expected = outcome(lambda call=call: _arrays(jax.jit(call)(jax.device_put(d, there))))
        if isinstance(expected, Exception):
            assert type(got) is type(expected), f"{name}: {got!r} instead of {expected!r}"
            continue
        assert not isinstance(got, Exception), f"{name} raises {got!r}"
        what = f"{name} on {here} and {there}"
        assert_close(got, expected, what, ulp=0 if is_same else DEVICE_ULP, dtype=case.precision.dtype)

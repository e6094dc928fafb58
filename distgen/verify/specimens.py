"""Fixed cases, one or a few for each class of distributions: those that are sampled.

Composites have small children. Values are those of float32, so that a case is the same in every precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import distrax
import numpy as np

from distgen.spec import Parameter
from distgen.verify.cases import STATICS, Case, make_case
from distgen.verify.subjects import Subject, Subjects

# Values where those that are drawn make a trivial case: nothing between the ends, no tie, or no trial.
CHOSEN: Mapping[Any, Mapping[str, Any]] = {
    distrax.ClippedLogistic: {"loc": 0.25, "scale": 0.75, "minimum": -1.0, "maximum": 1.5},
    distrax.ClippedNormal: {"loc": 0.25, "scale": 1.25, "minimum": -1.0, "maximum": 1.5},
    distrax.EpsilonGreedy: {"preferences": [1.0, 0.5, 1.0, -1.0], "epsilon": 0.5},
    distrax.Greedy: {"preferences": [1.0, 0.5, 1.0, -1.0]},
    distrax.Multinomial: {"total_count": 3},
}


def specimens(subject: Subject, subjects: Subjects) -> tuple[Case, ...]:
    """The cases of a class, with children of the classes `subjects`.

    There are none where those classes are not at hand, and none of what is no distribution.
    """
    if subject.plan.kind != "distribution":
        return ()
    if not subject.is_composite:
        most = max(len(v.fields) for v in subject.plan.variants)
        return tuple(_plain(subject, v.label) for v in subject.plan.variants if len(v.fields) == most)
    composite = next((COMPOSITES[c] for c in subject.wrapped.__mro__ if c in COMPOSITES), None)
    if composite is None or not all(part in subjects for part in composite.parts):
        return ()
    return tuple(composite.make(subject, subjects))


def _plain(subject: Subject, variant: str) -> Case:
    statics = {s.name: STATICS[s.finish_code][0] for s in subject.plan.statics if s.default_code is None}
    chosen = next((CHOSEN[c] for c in subject.wrapped.__mro__ if c in CHOSEN), {})
    return _case(subject, chosen, variant=variant, statics=statics)


# Near the edges of these constraints, distributions have masses that float32 or few draws do not resolve: at
# the end of an interval, where the density is a power below -1/2 of the distance to it, or in a category.
_MODERATE: Mapping[str, Callable[[Any], Any]] = {
    "positive": lambda value: value + 0.5,
    "simplex": lambda value: (value + 1 / value.shape[-1]) / 2,
}


def _case(subject: Subject, chosen: Mapping[str, Any], **choices: Any) -> Case:
    """A case with the chosen values, and moderate ones for other arguments, in float32."""
    case = make_case(subject, **choices)
    values = {name: chosen.get(name, _moderate(case, name, value)) for name, value in case.values.items()}
    return replace(case, values={name: _as_float32(value) for name, value in values.items()})


def _moderate(case: Case, name: str, value: Any) -> Any:
    parameter = case.subject.spec.parameters[name]
    constraint = parameter.constraint.function if isinstance(parameter, Parameter) else ""
    return _MODERATE[constraint](value) if constraint in _MODERATE else value


def _as_float32(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(np.float32).astype(np.float64) if array.dtype.kind == "f" else array


def _normal(subjects: Subjects, loc: Any, scale: Any) -> Case:
    values = {"loc": loc, "scale": scale}
    return _case(subjects[distrax.Normal], values, batch_shape=np.shape(loc))


def _normal_vectors(subjects: Subjects, batch: tuple[int, ...] = (), seed: int = 0) -> Case:
    return _case(subjects[distrax.MultivariateNormalDiag], {}, batch_shape=batch, seed=seed)


def _independent(subject: Subject, subjects: Subjects) -> list[Case]:
    child = _normal(subjects, [0.5, -1.0, 2.0], [1.0, 0.5, 2.0])
    return [_case(subject, {}, children={"distribution": child}, statics={"reinterpreted_batch_ndims": 1})]


def _joint(subject: Subject, subjects: Subjects) -> list[Case]:
    parts = {"first": _normal(subjects, 0.5, 1.5), "second": _normal_vectors(subjects)}
    return [_case(subject, {}, children={"distributions": parts})]


def _mixture_of_two(subject: Subject, subjects: Subjects) -> list[Case]:
    numbers = {
        "component_a": _normal(subjects, -1.0, 0.75),
        "component_b": _case(subjects[distrax.Logistic], {"loc": 1.5, "scale": 0.5}),
    }
    vectors = {
        f"component_{name}": _normal_vectors(subjects, seed=seed) for name, seed in (("a", 1), ("b", 2))
    }
    return [_case(subject, {"prob_a": 0.3}, children=children) for children in (numbers, vectors)]


def _mixture_same_family(subject: Subject, subjects: Subjects) -> list[Case]:
    mixture = _case(subjects[distrax.Categorical], {"probs": [0.125, 0.25, 0.5, 0.125]}, variant="probs")
    components = (
        _normal(subjects, [-2.0, 0.0, 0.5, 3.0], [0.5, 1.0, 2.0, 0.75]),
        _normal_vectors(subjects, (4,)),
    )
    return [
        _case(subject, {}, children={"mixture_distribution": mixture, "components_distribution": c})
        for c in components
    ]


def _transformed(subject: Subject, subjects: Subjects) -> list[Case]:
    bijectors = (
        _case(subjects[distrax.ScalarAffine], {"shift": 0.5, "scale": -1.5}, variant="scale"),
        _case(subjects[distrax.Sigmoid], {}),
        _case(subjects[distrax.Tanh], {}),
    )
    base = _normal(subjects, 0.25, 0.75)
    return [_case(subject, {}, children={"distribution": base, "bijector": b}) for b in bijectors]


def _from_bijector(subject: Subject, subjects: Subjects) -> list[Case]:
    scales = [
        _case(subjects[b], {}, event_shape=(3,)) for b in (distrax.DiagLinear, distrax.TriangularLinear)
    ]
    return [_case(subject, {}, children={"scale": scale}, event_shape=(3,)) for scale in scales]


def _clipped(subject: Subject, subjects: Subjects) -> list[Case]:
    children = {"distribution": _normal(subjects, 0.25, 1.25)}
    return [_case(subject, {"minimum": -1.0, "maximum": 1.5}, children=children)]


def _quantized(subject: Subject, subjects: Subjects) -> list[Case]:
    # With eps, the probabilities do not add up to one.
    children = {"distribution": _normal(subjects, 0.25, 2.0)}
    bounds = {"low": -2.0, "high": 3.0}
    return [
        _case(subject, {}, variant="default", children=children),
        _case(subject, bounds, variant="low+high", children=children),
    ]


@dataclass(frozen=True)
class Composite:
    """The cases of a composite, and the classes that its children are of."""

    make: Callable[[Subject, Subjects], list[Case]]
    parts: tuple[Any, ...] = (distrax.Normal,)


COMPOSITES: Mapping[Any, Composite] = {
    distrax.Clipped: Composite(_clipped),
    distrax.Independent: Composite(_independent),
    distrax.Joint: Composite(_joint, (distrax.Normal, distrax.MultivariateNormalDiag)),
    distrax.MixtureOfTwo: Composite(
        _mixture_of_two, (distrax.Normal, distrax.Logistic, distrax.MultivariateNormalDiag)
    ),
    distrax.MixtureSameFamily: Composite(
        _mixture_same_family, (distrax.Categorical, distrax.Normal, distrax.MultivariateNormalDiag)
    ),
    distrax.MultivariateNormalFromBijector: Composite(
        _from_bijector, (distrax.DiagLinear, distrax.TriangularLinear)
    ),
    distrax.Quantized: Composite(_quantized),
    distrax.Transformed: Composite(
        _transformed, (distrax.Normal, distrax.ScalarAffine, distrax.Sigmoid, distrax.Tanh)
    ),
}

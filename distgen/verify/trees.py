"""Cases of composites: random, valid trees of distributions and bijectors.

A builder for each composite of distrax says what its children must be, given the batch shape and the number
of event dimensions that are wanted. It takes the children from a `Forest`, which chooses among the classes at
hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import distrax
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import reject

from distgen.verify.cases import (
    BATCH_SHAPES,
    EVENT_SIZES,
    FLOAT32,
    PRECISIONS,
    STATICS,
    Case,
    Precision,
    make_case,
    plain_case,
    plain_event_shape,
)
from distgen.verify.subjects import Subject, Subjects

T = TypeVar("T")
Shape = tuple[int, ...]
SIZE = EVENT_SIZES["D"]

# Classes whose draws suit any bijector and any composite, by the number of their event dimensions.
DISTRIBUTIONS: Mapping[int, tuple[Any, ...]] = {
    0: (distrax.Normal, distrax.Logistic, distrax.Laplace, distrax.Gumbel, distrax.Uniform),
    1: (
        distrax.MultivariateNormalDiag,
        distrax.MultivariateNormalTri,
        distrax.MultivariateNormalFullCovariance,
    ),
}
COMPOSITES: Mapping[int, tuple[Any, ...]] = {
    0: (distrax.Transformed, distrax.MixtureSameFamily, distrax.MixtureOfTwo),
    1: (
        distrax.Independent,
        distrax.Transformed,
        distrax.MixtureSameFamily,
        distrax.MultivariateNormalFromBijector,
    ),
}
# Distributions with both tails in closed form.
TAILS = (distrax.Normal, distrax.Logistic, distrax.Uniform)
# Bijectors that take all real numbers, or vectors.
BIJECTORS: Mapping[int, tuple[Any, ...]] = {
    0: (distrax.Tanh, distrax.Sigmoid, distrax.GumbelCDF, distrax.Shift, distrax.ScalarAffine),
    1: (
        distrax.DiagLinear,
        distrax.TriangularLinear,
        distrax.DiagPlusLowRankLinear,
        distrax.UnconstrainedAffine,
        distrax.LowerUpperTriangularAffine,
    ),
}
NESTED_BIJECTORS: Mapping[int, tuple[Any, ...]] = {
    0: (distrax.Chain, distrax.Inverse, distrax.RationalQuadraticSpline, distrax.Lambda),
    1: (distrax.Block, distrax.Chain, distrax.Inverse, distrax.MaskedCoupling, distrax.SplitCoupling),
}
LINEAR = (distrax.DiagLinear, distrax.TriangularLinear, distrax.DiagPlusLowRankLinear)
INVERTIBLE: Mapping[int, tuple[Any, ...]] = {0: (distrax.Shift, distrax.ScalarAffine), 1: BIJECTORS[1]}


def affine(x: jax.Array) -> jax.Array:
    return 2.0 * x + 1.0


def affine_inverse(y: jax.Array) -> jax.Array:
    return (y - 1.0) / 2.0


def growing(x: jax.Array) -> jax.Array:
    return jnp.sinh(x)


def scaled(params: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.exp(params) * x


def unscaled(params: jax.Array, y: jax.Array) -> jax.Array:
    return y / jnp.exp(params)


def scaled_wave(params: jax.Array, x: jax.Array) -> jax.Array:
    """A conditioner with weights."""
    return jnp.sin(params * x)


def wave(x: jax.Array) -> jax.Array:
    """A conditioner."""
    return jnp.sin(x)


def one_more(x: jax.Array) -> jax.Array:
    """A conditioner that makes up an element."""
    return jnp.concatenate([jnp.sin(x), jnp.cos(x[..., :1])], axis=-1)


def shift_by(params: jax.Array) -> Any:
    """The inner bijector of a coupling."""
    return distrax.ScalarAffine(params, log_scale=params)


@dataclass(frozen=True)
class Forest:
    """Where children come from: the classes at hand, and choices among them."""

    subjects: Subjects
    precision: Precision
    choose: Callable[[Sequence[T]], T]

    def distribution(self, batch: Shape, event_ndims: int, depth: int, among: Sequence[Any] = ()) -> Case:
        """A case of a distribution of that batch shape."""
        options = [*(among or DISTRIBUTIONS[event_ndims])]
        if depth > 1 and not among:
            options += COMPOSITES[event_ndims]
        return self._grow(self.choose(self._known(options)), batch, event_ndims, depth)

    def bijector(self, batch: Shape, event_ndims: int, depth: int, among: Sequence[Any] = ()) -> Case:
        """A case of a bijector of that batch shape, over events of that many dimensions."""
        options = [*(among or BIJECTORS[event_ndims])]
        if depth > 1 and not among:
            options += NESTED_BIJECTORS[event_ndims]
        return self._grow(self.choose(self._known(options)), batch, event_ndims, depth)

    def grow(self, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
        """A case of that class; `depth` counts it."""
        build = next((BUILDERS[c] for c in subject.wrapped.__mro__ if c in BUILDERS), None)
        if build is None or not subject.is_composite:
            return self._leaf(subject, batch)
        return build(self, subject, batch, event_ndims, depth - 1)

    def case(self, subject: Subject, batch: Shape, **choices: Any) -> Case:
        seed = self.choose(range(100))
        return make_case(subject, precision=self.precision, batch_shape=batch, seed=seed, **choices)

    def _grow(self, wrapped: Any, batch: Shape, event_ndims: int, depth: int) -> Case:
        return self.grow(self.subjects[wrapped], batch, event_ndims, depth)

    def _leaf(self, subject: Subject, batch: Shape) -> Case:
        arrays = [f.argument for f in subject.plan.fields if f.is_array and not f.is_optional]
        # One argument carries the batch; the others have it or not.
        ranks = {name: self.choose((len(batch), 0)) for name in arrays[1:]}
        statics = {s.name: self.choose(STATICS[s.finish_code]) for s in subject.plan.statics}
        variant = self.choose([v.label for v in subject.plan.variants])
        event = plain_event_shape(subject)
        # What has no parameters fits any batch.
        batch = batch if subject.plan.fields else ()
        return self.case(subject, batch, ranks=ranks, variant=variant, statics=statics, event_shape=event)

    def _known(self, options: Sequence[Any]) -> list[Any]:
        return [cls for cls in options if cls in self.subjects] or reject()


Builder = Callable[[Forest, Subject, Shape, int, int], Case]


def _independent(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    inner = forest.choose((0, 1) if event_ndims > 1 else (0,))
    ndims = max(event_ndims, 1) - inner
    child = forest.distribution((*batch, *(SIZE,) * ndims), inner, depth)
    return forest.case(
        subject,
        batch,
        children={"distribution": child},
        statics={"reinterpreted_batch_ndims": ndims},
    )


def _joint(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    parts = {name: forest.distribution(batch, n, depth) for name, n in (("first", 0), ("second", 1))}
    return forest.case(subject, batch, children={"distributions": parts})


def _mixture_of_two(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    first, second = (forest.distribution(batch, event_ndims, depth) for _ in range(2))
    ranks = {"prob_a": 0}
    return forest.case(subject, batch, ranks=ranks, children={"component_a": first, "component_b": second})


def _mixture_same_family(
    forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int
) -> Case:
    numbers = forest.subjects[distrax.Categorical]
    mixture = make_case(
        numbers,
        variant=forest.choose([v.label for v in numbers.plan.variants]),
        precision=forest.precision,
        batch_shape=batch,
        seed=forest.choose(range(100)),
    )
    components = forest.distribution((*batch, EVENT_SIZES["K"]), event_ndims, depth)
    children = {"mixture_distribution": mixture, "components_distribution": components}
    return forest.case(subject, batch, children=children)


def _transformed(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    children = {
        "distribution": forest.distribution(batch, event_ndims, depth),
        "bijector": forest.bijector(forest.choose(((), batch)), event_ndims, depth),
    }
    return forest.case(subject, batch, children=children)


def _from_bijector(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    return forest.case(subject, batch, children={"scale": forest.bijector(batch, 1, depth, LINEAR)})


def _univariate(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    variant = forest.choose([v.label for v in subject.plan.variants])
    child = forest.distribution(batch, 0, depth, TAILS)
    return forest.case(subject, batch, variant=variant, children={"distribution": child})


def _hmm(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    states = EVENT_SIZES["K"]
    numbers = forest.subjects[distrax.Categorical]
    children = {
        "init_dist": forest.case(numbers, (), statics={"dtype": int}),
        "trans_dist": forest.case(numbers, (states,), statics={"dtype": int}),
        "obs_dist": forest.distribution((states,), 0, depth),
    }
    return forest.case(subject, (), children=children)


def _block(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    ndims = max(event_ndims, 1)
    # A scalar bijector has neither a batch nor a block of its own.
    is_scalar = forest.choose((False, True))
    child = forest.bijector(() if is_scalar else (*batch, *(SIZE,) * ndims), 0, depth)
    # A function has no batch, whatever was asked for.
    batch = child.batch_shape[: max(len(child.batch_shape) - ndims, 0)]
    statics = {"ndims": ndims}
    return forest.case(
        subject, batch, children={"bijector": child}, statics=statics, event_shape=(SIZE,) * ndims
    )


def _chain(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    children = [forest.bijector(shape, event_ndims, depth) for shape in (batch, forest.choose(((), batch)))]
    event = (SIZE,) * event_ndims
    batch = np.broadcast_shapes(*(child.batch_shape for child in children))
    return forest.case(subject, batch, children={"bijectors": children}, event_shape=event)


def _inverse(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    child = forest.bijector(batch, event_ndims, depth, INVERTIBLE[event_ndims])
    event = (SIZE,) * event_ndims
    return forest.case(subject, child.batch_shape, children={"bijector": child}, event_shape=event)


def _lambda(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    if forest.choose((False, True)):
        # distrax derives no inverse through a captured array.
        return forest.case(subject, (), statics={"forward": scaled, "inverse": unscaled}, params=())
    statics = forest.choose(({"forward": affine}, {"inverse": affine_inverse}, {"forward": growing}))
    return forest.case(subject, (), statics=statics)


def _spline(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    slopes = forest.choose(("unconstrained", "identity", "circular", "lower_identity", "upper_identity"))
    settings = {"range_min": -2.0, "range_max": 1.5, "boundary_slopes": slopes}
    return forest.case(subject, batch, statics=settings)


def _masked_coupling(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    has_params = forest.choose((False, True))
    statics = {"conditioner": scaled_wave if has_params else wave, "bijector": shift_by, "event_ndims": 1}
    params = (SIZE,) if has_params else None
    return forest.case(subject, batch, statics=statics, event_shape=(SIZE,), params=params)


def _split_coupling(forest: Forest, subject: Subject, batch: Shape, event_ndims: int, depth: int) -> Case:
    statics = {"conditioner": one_more, "bijector": shift_by, "split_index": 1, "event_ndims": 1}
    return forest.case(subject, (), statics=statics, event_shape=(SIZE,))


BUILDERS: Mapping[Any, Builder] = {
    distrax.Independent: _independent,
    distrax.Joint: _joint,
    distrax.MixtureOfTwo: _mixture_of_two,
    distrax.MixtureSameFamily: _mixture_same_family,
    distrax.MultivariateNormalFromBijector: _from_bijector,
    distrax.Transformed: _transformed,
    distrax.Clipped: _univariate,
    distrax.Quantized: _univariate,
    distrax.HMM: _hmm,
    distrax.Block: _block,
    distrax.Chain: _chain,
    distrax.Inverse: _inverse,
    distrax.Lambda: _lambda,
    distrax.RationalQuadraticSpline: _spline,
    distrax.MaskedCoupling: _masked_coupling,
    distrax.SplitCoupling: _split_coupling,
}
DEPTH = 3


@st.composite
def cases(
    draw: st.DrawFn,
    subject: Subject,
    subjects: Subjects,
    precisions: tuple[Precision, ...] = PRECISIONS,
) -> Case:
    """Cases of a class: nested ones are trees of depth three. `subjects` are the classes for children."""
    precision = draw(st.sampled_from(precisions))
    if not subject.is_composite:
        return plain_case(draw, subject, precision)
    forest = Forest(subjects, precision, lambda options: draw(st.sampled_from(options)))
    batch, event_ndims = draw(st.sampled_from(BATCH_SHAPES)), draw(st.sampled_from((0, 1)))
    return forest.grow(subject, batch, event_ndims, DEPTH)


def first_case(
    subject: Subject,
    subjects: Subjects,
    batch: Shape = (),
    precision: Precision = FLOAT32,
    seed: int = 0,
) -> Case:
    """One case of a class, the same whenever it is asked for."""
    rng = np.random.default_rng(seed)
    forest = Forest(subjects, precision, lambda options: options[int(rng.integers(len(options)))])
    return forest.grow(subject, batch, 1, DEPTH)

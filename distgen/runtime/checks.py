"""What a class asks of its arguments beside their shapes; each function raises where distrax does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import distrax
import jax.numpy as jnp
from jax import Array

from . import nesting

__all__ = [
    "array_events",
    "boolean_mask",
    "chained",
    "equal_batch_shapes",
    "linear",
    "markov",
    "matching_event_ndims",
    "mixed",
    "scalar_events",
    "some_function",
    "twins",
]


def scalar_events(distribution: Any) -> None:
    """Events are scalars."""
    if distribution.event_shape:
        raise ValueError(
            f"The base distribution must have scalar events, but its are of shape {distribution.event_shape}."
        )


def array_events(distribution: Any) -> None:
    """Events are arrays, and not pytrees of them."""
    shape = distribution.event_shape
    if not (isinstance(shape, tuple) and all(isinstance(size, int) for size in shape)):
        raise ValueError(
            f"The events of a nested distribution must be arrays, but those of '{distribution.name}' are of "
            f"shapes {shape}."
        )


def matching_event_ndims(distribution: Any, bijector: Any) -> None:
    """The bijector takes events of the distribution."""
    if len(distribution.event_shape) != bijector.event_ndims_in:
        raise ValueError(
            f"'{bijector.name}' takes events of {bijector.event_ndims_in} dimensions, but those of "
            f"'{distribution.name}' have the shape {distribution.event_shape}. Use Block or Independent."
        )


def equal_batch_shapes(distributions: Any) -> None:
    """All have one batch shape, but for those without batch dimensions, which are broadcast."""
    found = [(x.name, x.batch_shape) for x in nesting.objects(distributions)]
    if len({shape for _, shape in found if shape}) > 1:
        raise ValueError(f"The distributions must have the same batch shape, but have {found}.")


def twins(first: Any, second: Any) -> None:
    """Two distributions are alike in batch shape, event shape and dtype."""
    for what in ("event_shape", "batch_shape", "dtype"):
        a, b = getattr(first, what), getattr(second, what)
        if a != b:
            raise ValueError(
                f"The components must have the same {what.replace('_', ' ')}, but have {a} and {b}."
            )


def mixed(mixture: Any, components: Any) -> None:
    """The batch shape of the components is that of the mixture and one axis more."""
    if not hasattr(mixture, "logits_parameter"):
        raise TypeError(f"`mixture_distribution` must be categorical, but is a {type(mixture).__name__}.")
    if mixture.batch_shape != components.batch_shape[:-1]:
        raise ValueError(
            f"The components must have the batch shape of the mixture, {mixture.batch_shape}, and one axis "
            f"more, but theirs is {components.batch_shape}."
        )


def linear(loc: Array, scale: Any) -> None:
    """The scale is a linear bijector over vectors of the length of `loc`."""
    if not isinstance(scale, distrax.Linear):
        raise ValueError(f"`scale` must be a linear bijector, but is a {type(scale).__name__}.")
    if loc.ndim < 1 or scale.event_dims != loc.shape[-1]:
        raise ValueError(
            f"`scale` is over vectors of length {scale.event_dims}, but `loc` has the shape {loc.shape}."
        )


def chained(bijectors: Any) -> None:
    """There are some, and each takes what the next one gives."""
    if not bijectors:
        raise ValueError("A chain must have at least one bijector.")
    for outer, inner in pairwise(bijectors):
        if outer.event_ndims_in != inner.event_ndims_out:
            raise ValueError(
                f"'{outer.name}' takes events of {outer.event_ndims_in} dimensions, but '{inner.name}' "
                f"before it gives events of {inner.event_ndims_out} dimensions."
            )


def some_function(forward: Any, inverse: Any) -> None:
    """At least one of two functions is given."""
    if forward.function is None and inverse.function is None:
        raise ValueError("At least one of `forward` and `inverse` must be given.")


def boolean_mask(mask: Array) -> None:
    """The mask is of booleans."""
    if mask.dtype != jnp.bool_:
        raise ValueError(f"`mask` must be of booleans, but is of {mask.dtype}.")


def markov(initial: Any, transition: Any, observation: Any) -> None:
    """The three distributions of a hidden Markov model are over the same states."""
    for name, x in (("init_dist", initial), ("trans_dist", transition)):
        if not jnp.issubdtype(x.dtype, jnp.integer):
            raise TypeError(f"`{name}` must be over integers, but its dtype is {x.dtype}.")
    count = initial.num_categories
    if initial.batch_shape:
        raise ValueError(f"`init_dist` must have no batch, but its batch shape is {initial.batch_shape}.")
    for name, x in (("trans_dist", transition), ("obs_dist", observation)):
        if x.batch_shape != (count,):
            raise ValueError(
                f"`{name}` must have a batch of one for each of the {count} states, but its batch shape is "
                f"{x.batch_shape}."
            )
    if transition.num_categories != count:
        raise ValueError(f"`trans_dist` must have {count} categories, but has {transition.num_categories}.")

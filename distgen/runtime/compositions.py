"""Mathematics of nested distributions: shapes, draws and what distrax stores of them."""

from __future__ import annotations

from typing import Any

import distrax
import jax
import jax.numpy as jnp
from jax import Array

from . import nesting
from .conversion import build
from .dtypes import widened
from .sharding import has_explicit_axes, without_shardings

__all__ = [
    "base_loc",
    "base_scale",
    "dtype_of",
    "joint_leaves",
    "joint_treedef",
    "log_cdf",
    "log_survival_function",
    "logistic",
    "mixture_dtype",
    "mixture_log_probs",
    "mixture_of_two_sample_n",
    "mixture_sample_n",
    "normal",
    "num_categories",
    "standard_normal",
    "transformed_batch_shape",
    "transformed_dtype",
    "transformed_event_shape",
    "widened_log_cdf",
    "widened_log_survival_function",
]


def log_cdf(distribution: Any, value: Array) -> Array:
    result: Array = distribution.log_cdf(value)
    return result


def log_survival_function(distribution: Any, value: Array) -> Array:
    result: Array = distribution.log_survival_function(value)
    return result


def widened_log_cdf(distribution: Any, value: Array) -> Array:
    """The log_cdf, computed in float32 where the dtype of `value` is narrower."""
    result: Array = widened(lambda d: d.log_cdf(value), distribution, value.dtype)
    return result


def widened_log_survival_function(distribution: Any, value: Array) -> Array:
    """The log_survival_function, computed in float32 where the dtype of `value` is narrower."""
    result: Array = widened(lambda d: d.log_survival_function(value), distribution, value.dtype)
    return result


def normal(loc: Array, scale: Array) -> Any:
    return build(distrax.Normal, loc=loc, scale=scale)


def logistic(loc: Array, scale: Array) -> Any:
    return build(distrax.Logistic, loc=loc, scale=scale)


def standard_normal(loc: Array) -> Any:
    """The distribution N(0, I) of the shape and dtype of `loc`."""
    base = normal(jnp.zeros_like(loc), jnp.ones_like(loc))
    return build(distrax.Independent, distribution=base, reinterpreted_batch_ndims=1)


def base_loc(distribution: Any) -> Any:
    return distribution.loc


def base_scale(distribution: Any) -> Any:
    return distribution.scale


def dtype_of(distribution: Any) -> Any:
    return distribution.dtype


def num_categories(distribution: Any) -> int:
    count: int = distribution.num_categories
    return count


def joint_treedef(distributions: Any) -> Any:
    return jax.tree.structure(distributions, is_leaf=nesting.is_object)


def joint_leaves(distributions: Any) -> list[Any]:
    return nesting.objects(distributions)


def mixture_log_probs(mixture: Any) -> Array:
    return jax.nn.log_softmax(mixture.logits_parameter(), axis=-1)


def mixture_dtype(components: Any) -> Any:
    """The dtype of draws: that of the components, or the default float if they are integers."""
    is_floating = jnp.issubdtype(components.dtype, jnp.floating)
    return components.dtype if is_floating else jnp.result_type(float)


def mixture_sample_n(mixture: Any, components: Any, key: Array, n: int) -> Array:
    """Draws of every component, of which those that a draw of the mixture selects are kept."""
    key_mixture, key_components = jax.random.split(key)
    chosen = mixture.sample(sample_shape=n, seed=key_mixture)
    draws = components.sample(sample_shape=n, seed=key_components)
    dtype = draws.dtype if jnp.issubdtype(draws.dtype, jnp.floating) else float
    mask = jax.nn.one_hot(chosen, components.batch_shape[-1], dtype=dtype)
    mask = mask.reshape(mask.shape + (1,) * len(components.event_shape))
    return jnp.sum(draws * mask, axis=-1 - len(components.event_shape))


def mixture_of_two_sample_n(prob_a: Array, component_a: Any, component_b: Any, key: Array, n: int) -> Array:
    """Draws of both components; one uniform number for each draw chooses between them, as in distrax."""
    _, key_a, key_b, key_mask = jax.random.split(key, num=4)
    uniform = jax.random.uniform(key_mask, (n,), prob_a.dtype)
    from_a = uniform.reshape((n,) + (1,) * prob_a.ndim) < prob_a
    draws_a = component_a.sample(seed=key_a, sample_shape=n)
    draws_b = component_b.sample(seed=key_b, sample_shape=n)
    return jnp.where(from_a.reshape(from_a.shape + (1,) * (draws_a.ndim - from_a.ndim)), draws_a, draws_b)


def transformed_batch_shape(distribution: Any, bijector: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = _image(distribution, bijector).shape
    return shape[: len(shape) - bijector.event_ndims_out]


def transformed_event_shape(distribution: Any, bijector: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = _image(distribution, bijector).shape
    return shape[len(shape) - bijector.event_ndims_out :]


def transformed_dtype(distribution: Any, bijector: Any) -> Any:
    return _image(distribution, bijector).dtype


def _image(distribution: Any, bijector: Any) -> Any:
    """Shape and dtype of an event of each distribution of the batch, mapped by the bijector."""
    shape = (*distribution.batch_shape, *distribution.event_shape)
    event = jax.ShapeDtypeStruct(shape, distribution.dtype)
    if has_explicit_axes():
        # How an event would have to be sharded to be mapped is no matter of its shape.
        bijector = without_shardings(bijector)
    return jax.eval_shape(lambda bijector, x: bijector.forward(x), bijector, event)

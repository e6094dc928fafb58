"""Mathematics on finished parameters: what distrax stores beside them, computed where it is read.

The operations and their order are those of distrax, so that results agree bit for bit. What is about nested
objects stands in `compositions`, and what is about bijectors in `bijections`.
"""

from __future__ import annotations

import math
from typing import Any

import distrax
import jax
import jax.numpy as jnp
from jax import Array

__all__ = [
    "bounded_log_scale",
    "categorical_uniform_sample_n",
    "either",
    "epsilon_greedy_probs",
    "exp",
    "gamma_cdf",
    "gram",
    "greedy_probs",
    "itself",
    "log_beta",
    "log_beta_multivariate",
    "nothing",
    "tempered_logits",
    "unless_same",
    "von_mises_log_prob",
    "von_mises_sample_n",
]


def either(first: Array | None, otherwise: Array) -> Array:
    """The first where it is given, and the other where it is not."""
    return otherwise if first is None else first


def exp(x: Array) -> Array:
    return jnp.exp(x)


def gamma_cdf(concentration: Array, rate: Array, value: Array) -> Array:
    """The regularised lower incomplete gamma function. https://dlmf.nist.gov/8.2.E4"""
    return jax.scipy.special.gammainc(concentration, rate * value)


def gram(factor: Array) -> Array:
    """The matrix A A^T of a factor A of shape [..., D, D]."""
    return jnp.matmul(factor, jnp.swapaxes(factor, -2, -1))


def log_beta(a: Array, b: Array) -> Array:
    """log B(a, b) = log Gamma(a) + log Gamma(b) - log Gamma(a + b). https://dlmf.nist.gov/5.12.E1"""
    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)


def log_beta_multivariate(a: Array) -> Array:
    """The sum of log Gamma(a_k) less log Gamma of the sum of a_k, over the last dimension."""
    return jnp.sum(jax.lax.lgamma(a), axis=-1) - jax.lax.lgamma(jnp.sum(a, axis=-1))


def tempered_logits(logits: Array, temperature: Array) -> Array:
    """Normalised logits of shape [..., K] at a temperature of shape [...]."""
    return jax.nn.log_softmax(logits / temperature[..., None], axis=-1)


def greedy_probs(preferences: Array) -> Array:
    """Equal probabilities for all that attain the maximum over the last dimension."""
    best = (preferences == jnp.max(preferences, axis=-1, keepdims=True)).astype(preferences.dtype)
    probs = best / jnp.sum(best, axis=-1, keepdims=True)
    return probs / jnp.sum(probs, axis=-1, keepdims=True)


def epsilon_greedy_probs(preferences: Array, epsilon: Array) -> Array:
    """Greedy with probability 1 - epsilon, uniform with probability epsilon."""
    best = (preferences == jnp.max(preferences, axis=-1, keepdims=True)).astype(preferences.dtype)
    greedy = best / jnp.sum(best, axis=-1, keepdims=True)
    uniform = jnp.ones_like(greedy) / greedy.shape[-1]
    epsilon = epsilon[..., None]
    probs = (1 - epsilon) * greedy + epsilon * uniform
    return probs / jnp.sum(probs, axis=-1, keepdims=True)


def bounded_log_scale(log_scale: Array, max_scale: Array | None) -> Array:
    """log(max_scale) - softplus(log(max_scale) - log_scale), which stays below log(max_scale)."""
    if max_scale is None:
        return log_scale
    max_log_scale = jnp.log(max_scale)
    return max_log_scale - jax.nn.softplus(max_log_scale - log_scale)


def nothing(x: Any) -> None:
    """For what distrax keeps in another form: the parameter is then absent."""


def unless_same(x: Any, other: Any) -> Any:
    """The first, or nothing where both are one object."""
    return None if x is other else x


def itself(x: Any) -> Any:
    return x


def categorical_uniform_sample_n(low: Array, high: Array, logits: Array, key: Array, n: int) -> Array:
    """Draws by inversion of uniform ones in the dtype of the parameters, or in float32 for a narrower one."""
    dtype = jnp.promote_types(low.dtype, jnp.float32)
    quantile = jax.random.uniform(key, (n, *low.shape), dtype)
    distribution = distrax.CategoricalUniform(low=low, high=high, logits=logits)
    draws: Array = distribution._inverse_cdf(quantile)
    return draws.astype(low.dtype)


def von_mises_log_prob(loc: Array, concentration: Array, value: Array) -> Array:
    """The log density, with the exponential of the concentration taken out of the Bessel function."""
    log_bessel = jnp.log(jax.scipy.special.i0e(concentration))
    # cos(x) - 1, without cancellation.
    deviation = -2 * jnp.sin((value - loc) / 2) ** 2
    return concentration * deviation - math.log(2 * math.pi) - log_bessel


def von_mises_sample_n(loc: Array, concentration: Array, key: Array, n: int) -> Array:
    """Draws as distrax makes them; in float32 for bfloat16, for which distrax has no sampler."""
    dtype = jnp.float32 if loc.dtype == jnp.bfloat16 else loc.dtype
    wide = distrax.VonMises(loc.astype(dtype), concentration.astype(dtype))
    draws: Array = wide._sample_n(key, n)
    return draws.astype(loc.dtype)

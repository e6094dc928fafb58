"""The functions that finish one parameter each."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

__all__ = ["cholesky", "normalize_logits", "normalize_probs", "triangular"]


def normalize_logits(logits: Array) -> Array:
    """Logits of shape [..., K] such that their exponentials sum to one."""
    return jax.nn.log_softmax(logits, axis=-1)


def normalize_probs(probs: Array) -> Array:
    """Nonnegative weights of shape [..., K], scaled to sum to one."""
    return probs / jnp.sum(probs, axis=-1, keepdims=True)


def triangular(matrix: Array, is_lower: bool) -> Array:
    """The lower or upper triangle of a matrix of shape [..., D, D], zero elsewhere."""
    return jnp.tril(matrix) if is_lower else jnp.triu(matrix)


def cholesky(matrix: Array) -> Array:
    """The lower triangular L with L L^T = matrix, for a positive definite matrix [..., D, D].

    It is computed in float32 where the dtype of the matrix is narrower.
    """
    wide = matrix.astype(jnp.promote_types(matrix.dtype, jnp.float32))
    return jnp.tril(jnp.linalg.cholesky(wide)).astype(matrix.dtype)

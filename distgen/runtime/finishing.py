"""The functions that finish one parameter each."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

__all__ = [
    "ceil",
    "cholesky",
    "floor",
    "normalize_logits",
    "normalize_probs",
    "spline_knot_slopes",
    "spline_x_pos",
    "spline_y_pos",
    "triangular",
]


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


def ceil(x: Array) -> Array:
    return jnp.ceil(x)


def floor(x: Array) -> Array:
    return jnp.floor(x)


def spline_x_pos(params: Array, range_min: float, range_max: float, min_bin_size: float) -> Array:
    """The bin boundaries on the x axis, from unconstrained parameters of shape [..., 3 N + 1]."""
    count = _number_of_bins(params)
    return _boundaries(params[..., :count], range_min, range_max, min_bin_size)


def spline_y_pos(params: Array, range_min: float, range_max: float, min_bin_size: float) -> Array:
    """The bin boundaries on the y axis."""
    count = _number_of_bins(params)
    return _boundaries(params[..., count : 2 * count], range_min, range_max, min_bin_size)


def spline_knot_slopes(params: Array, boundary_slopes: str, min_knot_slope: float) -> Array:
    """The slopes at the bin boundaries. https://arxiv.org/abs/1906.04032

    Raises:
        ValueError: for a smallest slope outside (0, 1), or an unknown choice of the slopes at the ends.
    """
    if not 0 < min_knot_slope < 1:
        raise ValueError(f"`min_knot_slope` must be between 0 and 1, but is {min_knot_slope}.")
    raw = params[..., 2 * _number_of_bins(params) :]
    smallest = jnp.array(min_knot_slope, dtype=raw.dtype)
    # The offset makes the slope 1 where the parameter is 0.
    offset = jnp.log(jnp.exp(1.0 - smallest) - 1.0)
    slopes = jax.nn.softplus(raw + offset) + smallest
    one = jnp.ones_like(slopes[..., :1])
    match boundary_slopes:
        case "unconstrained":
            return slopes
        case "lower_identity":
            return jnp.concatenate([one, slopes[..., 1:]], axis=-1)
        case "upper_identity":
            return jnp.concatenate([slopes[..., :-1], one], axis=-1)
        case "identity":
            return jnp.concatenate([one, slopes[..., 1:-1], one], axis=-1)
        case "circular":
            return jnp.concatenate([slopes[..., :-1], slopes[..., :1]], axis=-1)
    raise ValueError(
        "`boundary_slopes` must be 'unconstrained', 'lower_identity', 'upper_identity', 'identity' or "
        f"'circular', but is {boundary_slopes!r}."
    )


def _number_of_bins(params: Array) -> int:
    count, rest = divmod(params.shape[-1] - 1, 3)
    if rest or count < 1:
        raise ValueError(
            f"`params` must have a last axis of length 3 N + 1 for N bins, but its shape is {params.shape}."
        )
    return count


def _boundaries(params: Array, range_min: float, range_max: float, min_bin_size: float) -> Array:
    count = params.shape[-1]
    size = range_max - range_min
    if not range_min < range_max:
        raise ValueError(
            f"`range_min` must be less than `range_max`, but they are {range_min} and {range_max}."
        )
    if not 0 < min_bin_size <= size / count:
        raise ValueError(
            f"`min_bin_size` must be above 0 and at most {size / count} for {count} bins, but is "
            f"{min_bin_size}."
        )
    sizes = jax.nn.softmax(params, axis=-1) * (size - count * min_bin_size) + min_bin_size
    inside = range_min + jnp.cumsum(sizes[..., :-1], axis=-1)
    lower, upper = (jnp.full_like(params[..., :1], value) for value in (range_min, range_max))
    return jnp.concatenate([lower, inside, upper], axis=-1)

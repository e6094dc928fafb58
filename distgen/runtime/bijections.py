"""Mathematics of bijectors: what distrax stores or computes, from finished parameters and nested bijectors.

The operations and their order are those of distrax, so that results agree bit for bit.
"""

from __future__ import annotations

from typing import Any

import distrax
import jax
import jax.numpy as jnp
from jax import Array

from .conversion import build
from .dtypes import keep_dtype
from .functions import FunctionParameter, bind
from .inverses import has_constant_jacobian, invert, log_det_of

__all__ = [
    "affine_inverse_scale",
    "affine_log_scale",
    "affine_scale",
    "all_constant_jacobian",
    "all_constant_log_det",
    "apply_function",
    "apply_log_det",
    "bijector_forward",
    "bijector_forward_and_log_det",
    "bijector_forward_log_det",
    "bijector_inverse",
    "bijector_inverse_and_log_det",
    "bijector_inverse_log_det",
    "bound",
    "declared_constant_jacobian",
    "declared_event_ndims",
    "diag_linear",
    "diag_plus_low_rank_linear",
    "difference",
    "event_mask",
    "event_ndims_in",
    "event_ndims_out",
    "first_event_ndims_out",
    "given_function",
    "given_log_det",
    "given_log_scale",
    "given_scale",
    "is_constant_jacobian",
    "is_constant_log_det",
    "lambda_constant_jacobian",
    "last_event_ndims_in",
    "last_size",
    "log_abs_det",
    "low_rank_chain",
    "ndims_or",
    "number_of_bins",
    "packed_triangles",
    "plus_event_ndims_in",
    "plus_event_ndims_out",
    "shifted",
    "three",
    "triangular_linear",
    "triangular_log_det",
    "unbound",
    "unit_lower_linear",
    "upper_linear",
    "vector_scaling",
    "vector_shift",
]


def diag_linear(diag: Array) -> Any:
    return build(distrax.DiagLinear, diag=diag)


def diag_plus_low_rank_linear(diag: Array, u_matrix: Array, v_matrix: Array) -> Any:
    return build(distrax.DiagPlusLowRankLinear, diag=diag, u_matrix=u_matrix, v_matrix=v_matrix)


def triangular_linear(matrix: Array, is_lower: bool) -> Any:
    return build(distrax.TriangularLinear, matrix=matrix, is_lower=is_lower)


def shifted(loc: Array, scale: Any) -> Any:
    """The bijector x -> scale(x) + loc over vectors."""
    return build(distrax.Chain, bijectors=[vector_shift(loc), scale])


def vector_shift(shift: Array) -> Any:
    """The bijector x -> x + shift over vectors."""
    return build(distrax.Block, bijector=build(distrax.Shift, shift=shift), ndims=1)


def vector_scaling(diag: Array) -> Any:
    """The bijector x -> diag x over vectors."""
    scaling = distrax.ScalarAffine(shift=0.0, scale=diag)
    return distrax.Block(scaling, ndims=1)


def low_rank_chain(diag: Array, u_matrix: Array, v_matrix: Array) -> Any:
    """The bijector x -> (diag + U V^T) x, as distrax composes it."""
    return distrax.DiagPlusLowRankLinear(diag, u_matrix, v_matrix)._bijector


def unit_lower_linear(matrix: Array) -> Any:
    """The linear bijector of the lower triangle of a matrix, with ones on the diagonal."""
    identity = jnp.eye(matrix.shape[-1], dtype=matrix.dtype)
    return triangular_linear(identity + jnp.tril(matrix, -1), True)


def upper_linear(matrix: Array) -> Any:
    """The linear bijector of the upper triangle of a matrix, the diagonal included."""
    return triangular_linear(jnp.triu(matrix), False)


def packed_triangles(lower: Any, upper: Any) -> Array:
    """One matrix of the strict lower triangle of one bijector and the upper one of another."""
    return jnp.tril(lower.matrix, -1) + jnp.triu(upper.matrix)


def three(first: Any, second: Any, third: Any) -> list[Any]:
    return [first, second, third]


def last_size(array: Array) -> int:
    """The length of the last axis."""
    return array.shape[-1]


def number_of_bins(knots: Array) -> int:
    """One less than the number of bin boundaries."""
    return knots.shape[-1] - 1


def triangular_log_det(matrix: Array) -> Array:
    """The sum of the logarithms of the absolute values on the diagonal."""
    return jnp.sum(jnp.log(jnp.abs(jnp.diagonal(matrix, axis1=-2, axis2=-1))), axis=-1)


def log_abs_det(matrix: Array) -> Array:
    """The logarithm of the absolute determinant, computed in float32 where the dtype is narrower."""
    wide = matrix.astype(jnp.promote_types(matrix.dtype, jnp.float32))
    log_det: Array = jnp.linalg.slogdet(wide)[1].astype(matrix.dtype)
    return log_det


def affine_scale(scale: Array | None, log_scale: Array | None) -> Array | float:
    """The scale of x -> scale x + shift, which is one where neither it nor its logarithm is given."""
    if scale is not None:
        return scale
    return 1.0 if log_scale is None else jnp.exp(log_scale)


def affine_inverse_scale(scale: Array | None, log_scale: Array | None) -> Array | float:
    if scale is not None:
        return 1.0 / scale
    return 1.0 if log_scale is None else jnp.exp(-log_scale)


def affine_log_scale(shift: Array, scale: Array | None, log_scale: Array | None) -> Array:
    if scale is not None:
        return jnp.log(jnp.abs(scale))
    return jnp.zeros_like(shift) if log_scale is None else log_scale


def given_scale(scale: Any, inverse: Any, log_scale: Any) -> Any:
    """The scale of an affine bijector of distrax, None where what it keeps was not made from a scale."""
    return scale if _has_scale(scale, inverse, log_scale) else None


def given_log_scale(scale: Any, inverse: Any, log_scale: Any) -> Any:
    """The logarithm of that scale, None where it was not made from that."""
    return None if _is_one(scale, inverse) or _has_scale(scale, inverse, log_scale) else log_scale


def _is_one(scale: Any, inverse: Any) -> bool:
    """Whether distrax has put the scale in place of one that was not given."""
    return isinstance(scale, float) and isinstance(inverse, float) and scale == inverse == 1.0


def _has_scale(scale: Any, inverse: Any, log_scale: Any) -> bool:
    if _is_one(scale, inverse):
        return False
    if any(isinstance(x, jax.core.Tracer) for x in (scale, inverse, log_scale)):
        return True
    same = (1.0 / scale == inverse) & (jnp.log(jnp.abs(scale)) == log_scale)
    return bool(jnp.all(same))


def difference(first: int, second: int) -> int:
    return first - second


def plus_event_ndims_in(ndims: int, bijector: Any) -> int:
    event_ndims: int = bijector.event_ndims_in
    return ndims + event_ndims


def plus_event_ndims_out(ndims: int, bijector: Any) -> int:
    event_ndims: int = bijector.event_ndims_out
    return ndims + event_ndims


def event_ndims_in(bijector: Any) -> int:
    ndims: int = bijector.event_ndims_in
    return ndims


def event_ndims_out(bijector: Any) -> int:
    ndims: int = bijector.event_ndims_out
    return ndims


def is_constant_jacobian(bijector: Any) -> bool:
    return bool(bijector.is_constant_jacobian)


def is_constant_log_det(bijector: Any) -> bool:
    return bool(bijector.is_constant_log_det)


def first_event_ndims_out(bijectors: list[Any]) -> int:
    return event_ndims_out(bijectors[0])


def last_event_ndims_in(bijectors: list[Any]) -> int:
    return event_ndims_in(bijectors[-1])


def all_constant_jacobian(bijectors: list[Any]) -> bool:
    return all(map(is_constant_jacobian, bijectors))


def all_constant_log_det(bijectors: list[Any]) -> bool:
    return all(map(is_constant_log_det, bijectors))


def bijector_forward(bijector: Any, like: Array, x: Array) -> Array:
    """Its forward at x in the dtype of `like`, a parameter, or in that of x if it is wider."""
    y: Array = keep_dtype(bijector.forward(x), like.dtype, x)
    return y


def bijector_inverse(bijector: Any, like: Array, y: Array) -> Array:
    x: Array = keep_dtype(bijector.inverse(y), like.dtype, y)
    return x


def bijector_forward_log_det(bijector: Any, like: Array, x: Array) -> Array:
    log_det: Array = keep_dtype(bijector.forward_log_det_jacobian(x), like.dtype, x)
    return log_det


def bijector_inverse_log_det(bijector: Any, like: Array, y: Array) -> Array:
    log_det: Array = keep_dtype(bijector.inverse_log_det_jacobian(y), like.dtype, y)
    return log_det


def bijector_forward_and_log_det(bijector: Any, like: Array, x: Array) -> tuple[Array, Array]:
    y, log_det = keep_dtype(bijector.forward_and_log_det(x), like.dtype, x)
    return y, log_det


def bijector_inverse_and_log_det(bijector: Any, like: Array, y: Array) -> tuple[Array, Array]:
    x, log_det = keep_dtype(bijector.inverse_and_log_det(y), like.dtype, y)
    return x, log_det


def bound(function: FunctionParameter, params: Any) -> Any:
    """A function of an event alone; None where there is no function."""
    return bind(function, params)


def unbound(function: FunctionParameter) -> Any:
    return function.function


def apply_function(function: Any, inverse: Any, event_ndims: int, x: Array) -> Array:
    """The function of x, which is derived from its inverse where it is not given.

    Raises:
        ValueError: for an x of fewer dimensions than an event has.
    """
    if jnp.ndim(x) < event_ndims:
        raise ValueError(f"Events have {event_ndims} dimensions, but the input has {jnp.ndim(x)}.")
    result: Array = (invert(inverse) if function is None else function)(x)
    return result


def apply_log_det(log_det: Any, function: Any, inverse: Any, event_ndims: int, x: Array) -> Array:
    """The log det Jacobian of a function at x, which is derived from the function where it is not given.

    Raises:
        ValueError: for an x of fewer dimensions than an event has.
    """
    if jnp.ndim(x) < event_ndims:
        raise ValueError(f"Events have {event_ndims} dimensions, but the input has {jnp.ndim(x)}.")
    derived = (
        log_det if log_det is not None else log_det_of(invert(inverse) if function is None else function)
    )
    result: Array = derived(x)
    return result


def lambda_constant_jacobian(declared: bool | None, forward: Any, inverse: Any) -> bool:
    """Whether the Jacobian of a function is constant; where that is not declared, a trace of it tells."""
    return has_constant_jacobian(inverse if forward is None else forward) if declared is None else declared


def given_function(function: Any, inverse: Any) -> Any:
    """A function of a Lambda of distrax, None where it was derived from its inverse."""
    return None if inverse is not None and getattr(function, "__wrapped__", None) is inverse else function


def given_log_det(log_det: Any) -> Any:
    """A log det Jacobian of a Lambda of distrax, None where it was derived."""
    is_derived = getattr(log_det, "__qualname__", "") == "log_det_scalar.<locals>.log_det_fn"
    return None if is_derived else log_det


def declared_constant_jacobian(value: bool, forward: Any, inverse: Any) -> bool | None:
    """Whether a Lambda of distrax has a constant Jacobian, None where a trace of the function says so too."""
    return None if lambda_constant_jacobian(None, forward, inverse) == value else value


def declared_event_ndims(event_ndims: int, forward_log_det: Any, inverse_log_det: Any) -> int | None:
    """The event dimensions of a Lambda of distrax, None where its log determinants are derived."""
    are_derived = given_log_det(forward_log_det) is None and given_log_det(inverse_log_det) is None
    return None if are_derived else event_ndims


def ndims_or(event_ndims: int | None, default: int | None) -> int:
    """The number of event dimensions, which is the default where it is not given, and that is 0."""
    given = default if event_ndims is None else event_ndims
    return 0 if given is None else given


def event_mask(mask: Array, inner_event_ndims: int) -> Array:
    """The mask with a singleton axis for each inner event dimension."""
    return jnp.reshape(mask, mask.shape + (1,) * inner_event_ndims)

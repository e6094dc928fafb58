"""Structural arguments: converted to hashable values that compare by value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

__all__ = [
    "axis_within",
    "binary_dtype",
    "discrete_dtype",
    "flag",
    "lambda_event_ndims",
    "mask_event_ndims",
    "natural_number",
    "optional_flag",
    "optional_natural_number",
    "reinterpreted_ndims",
]


def discrete_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The canonical dtype of integral samples, which an integer or a floating dtype holds.

    Raises:
        ValueError: for any other dtype.
    """
    return _canonical(dtype, {"integer": jnp.integer, "floating": jnp.floating})


def binary_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The canonical dtype of samples in {0, 1}, which a boolean, an integer or a floating dtype holds.

    Raises:
        ValueError: for any other dtype.
    """
    return _canonical(dtype, {"boolean": jnp.bool_, "integer": jnp.integer, "floating": jnp.floating})


def flag(value: bool) -> bool:
    return bool(value)


def natural_number(value: int) -> int:
    """A number of dimensions or an index.

    Raises:
        ValueError: for a negative one.
    """
    if value < 0:
        raise ValueError(f"A number of dimensions or an index must not be negative, but is {value}.")
    return int(value)


def axis_within(axis: int, event_ndims: int) -> int:
    """A negative axis of an event.

    Raises:
        ValueError: for one that is not negative, or outside the event.
    """
    if not -event_ndims <= axis < 0:
        raise ValueError(f"The axis of an event of {event_ndims} dimensions must be negative, but is {axis}.")
    return int(axis)


def reinterpreted_ndims(ndims: int | None, distribution: Any) -> int:
    """How many batch dimensions of a distribution become event dimensions: all but the first, by default.

    Raises:
        ValueError: if there are not so many.
    """
    available = len(distribution.batch_shape)
    if ndims is None:
        return max(available - 1, 0)
    if not 0 <= ndims <= available:
        raise ValueError(f"`reinterpreted_batch_ndims` must be from 0 to {available}, but is {ndims}.")
    return int(ndims)


def mask_event_ndims(event_ndims: int | None, mask: Any, inner_event_ndims: int) -> int:
    """The number of event dimensions of a coupling: by default those of the mask and the inner ones.

    Raises:
        ValueError: if it is less than the number of inner ones.
    """
    if event_ndims is None:
        return jnp.ndim(mask) + inner_event_ndims
    if event_ndims < inner_event_ndims:
        raise ValueError(
            f"`event_ndims` must be at least `inner_event_ndims`, {inner_event_ndims}, but is {event_ndims}."
        )
    return int(event_ndims)


def lambda_event_ndims(
    event_ndims: int | None, event_ndims_out: int | None, forward_log_det: Any, inverse_log_det: Any
) -> int | None:
    """The number of event dimensions that a function takes, None where its log determinants are derived.

    Raises:
        ValueError: if it is given where they are derived, or not given where they are not.
    """
    is_derived = forward_log_det.function is None and inverse_log_det.function is None
    if is_derived and (event_ndims is not None or event_ndims_out is not None):
        raise ValueError("Event dimensions can be given only together with a log det Jacobian.")
    if not is_derived and event_ndims is None:
        raise ValueError("With a log det Jacobian, `event_ndims_in` must be given.")
    return None if event_ndims is None else natural_number(event_ndims)


def optional_natural_number(value: int | None) -> int | None:
    return None if value is None else natural_number(value)


def optional_flag(value: bool | None) -> bool | None:
    return None if value is None else bool(value)


def _canonical(dtype: DTypeLike, kinds: dict[str, Any]) -> np.dtype[Any]:
    if not any(jnp.issubdtype(dtype, kind) for kind in kinds.values()):
        raise ValueError(f"`dtype` must be {' or '.join(kinds)}, but is {dtype}.")
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))

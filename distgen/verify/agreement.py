"""Comparing results: bit for bit, or within a number of units in the last place."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def structure(tree: Any) -> Any:
    """The treedef of a pytree."""
    return jax.tree.structure(tree)


def assert_same(got: Any, want: Any, what: str) -> None:
    """Same structure, shapes, dtypes and bits; a NaN equals a NaN."""
    assert structure(got) == structure(want), f"{what}: other structure"
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}"
        assert a.dtype == b.dtype, f"{what}: dtype {a.dtype} instead of {b.dtype}"
        assert np.array_equal(_wide(a), _wide(b), equal_nan=True), f"{what}: {a} instead of {b}"


def assert_close(got: Any, want: Any, what: str, *, ulp: int, dtype: Any = None) -> None:
    """Same structure and shapes; values within `ulp` units in the last place.

    A unit is that of the larger of 1 and the value, in the least precise of the two dtypes and `dtype`.
    """
    assert structure(got) == structure(want), f"{what}: other structure"
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}"
        x, y = _wide(a), _wide(b)
        dtypes = [t for t in (a.dtype, b.dtype, dtype) if t is not None and jnp.issubdtype(t, jnp.floating)]
        eps = max((float(jnp.finfo(t).eps) for t in dtypes), default=0.0)
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= ulp * eps * np.maximum(1.0, np.abs(y))
        same = near | (x == y) | (np.isnan(x) & np.isnan(y))
        assert np.all(same), f"{what}: {a} instead of {b}, which is off by more than {ulp} ulp"


def outcome(function: Any) -> Any:
    """What a call returns, or the exception that it raises."""
    try:
        return function()
    except Exception as error:
        return error


def _wide(x: Any) -> np.ndarray[Any, Any]:
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        x = jax.random.key_data(x)
    array = np.asarray(x)
    return array if array.dtype.kind in "iu" else array.astype(np.float64)

"""Objects of TFP as objects of this package, and the other way round."""

from __future__ import annotations

from typing import Any

import distrax
from tensorflow_probability.substrates import jax as tfp

from . import conversion, tfp_bijectors, tfp_distributions
from .tfp_compatible import Compatible, compatible
from .tfp_objects import FromTFP, unwrapped

__all__ = ["from_tfp", "to_tfp"]


def from_tfp(x: Any) -> Any:
    """A distribution or bijector of TFP as one of this package, nested objects included.

    What `to_tfp` made, here or in distrax, becomes again what it was made of.

    Raises:
        TypeError: for what distrax has no interface for, such as a joint distribution; and where an object
            cannot be built again from its parameters, or holds arrays in one of an unknown kind.
        ValueError: where a parameter is a function that captures arrays.
    """
    x = unwrapped(x)
    if isinstance(x, Compatible):
        return x.to_base()
    if isinstance(x, FromTFP):
        return x
    if isinstance(x, tfp.distributions.Distribution):
        return tfp_distributions.from_tfp(x)
    if isinstance(x, tfp.bijectors.Bijector):
        return tfp_bijectors.from_tfp(x)
    raise TypeError(f"A distribution or a bijector of TFP is expected, and not a {type(x).__name__}.")


def to_tfp(x: Any, name: str | None = None) -> Any:
    """A distribution or bijector as one that TFP can use.

    One of TFP is returned as it is. One of distrax becomes an object of a class that is derived from its own,
    with the same leaves.

    Args:
        x: a distribution or a bijector.
        name: the name of the result, where it is not one of TFP.

    Raises:
        TypeError: for anything else.
    """
    x = unwrapped(x)
    if isinstance(x, FromTFP):
        return x.to_tfp()
    if isinstance(x, tfp.distributions.Distribution | tfp.bijectors.Bijector):
        return x
    if isinstance(x, Compatible):
        return x if name is None else compatible(x.to_base(), name)
    if isinstance(x, distrax.Distribution | distrax.Bijector):
        return compatible(conversion.from_distrax(x), name)
    raise TypeError(
        f"`to_tfp` can only convert objects of type: `distrax.Bijector`, `tfb.Bijector`, "
        f"`distrax.Distribution`, `tfd.Distribution`. Got type `{type(x)}`."
    )

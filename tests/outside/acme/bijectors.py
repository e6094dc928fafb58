"""Bijectors that distrax lacks."""

import distrax
import jax.numpy as jnp


class Leaky(distrax.Bijector):
    """The identity above zero, and a line of another slope below."""

    def __init__(self, slope):
        super().__init__(event_ndims_in=0)
        self._slope = slope

    @property
    def slope(self):
        return self._slope

    def forward_and_log_det(self, x):
        factor = jnp.where(x < 0, self._slope, 1.0)
        return factor * x, jnp.log(factor)

    def inverse_and_log_det(self, y):
        factor = jnp.where(y < 0, self._slope, 1.0)
        return y / factor, -jnp.log(factor)

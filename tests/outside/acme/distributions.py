"""Distributions that distrax lacks."""

import distrax
import jax
import jax.numpy as jnp


class Rayleigh(distrax.Distribution):
    """The length of a vector of two normal variables."""

    def __init__(self, scale):
        super().__init__()
        self._scale = jnp.asarray(scale)

    @property
    def scale(self):
        return self._scale

    @property
    def event_shape(self):
        return ()

    @property
    def batch_shape(self):
        return self._scale.shape

    def _sample_n(self, key, n):
        uniform = jax.random.uniform(key, (n, *self.batch_shape), self._scale.dtype)
        return self._scale * jnp.sqrt(-2 * jnp.log1p(-uniform))

    def log_prob(self, value):
        z = value / self._scale
        return jnp.log(z / self._scale) - z**2 / 2

    def log_cdf(self, value):
        return jnp.log(-jnp.expm1(-((value / self._scale) ** 2) / 2))

    def mean(self):
        return self._scale * jnp.sqrt(jnp.pi / 2).astype(self._scale.dtype)

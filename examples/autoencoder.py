"""A variational autoencoder whose compiled training step returns the posteriors that it computed.

The encoder maps one image to a distribution, so `jax.vmap` of it maps many images to a batch of them. The
step returns this batch, and its divergences from the prior are asked for after training.

With distrax in place of `generated`, `posteriors.sample` raises ValueError in the first step: the batch takes
itself for a single distribution.

Prints, with numbers in place of the dots:

    evidence lower bound: ... nats before training, ... after, at most ...
    divergence of the posteriors from the prior: ... nats
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array

import generated as g

SIDE, LATENT = 4, 2
prior = g.MultivariateNormalDiag(jnp.zeros(LATENT), jnp.ones(LATENT))
optimiser = optax.adam(1e-2)


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key: Array) -> None:
        encoder_key, decoder_key = jax.random.split(key)
        self.encoder = eqx.nn.MLP(SIDE**2, 2 * LATENT, 64, 1, key=encoder_key)
        self.decoder = eqx.nn.MLP(LATENT, SIDE**2, 64, 1, key=decoder_key)

    def encode(self, image: Array) -> g.MultivariateNormalDiag:
        loc, scale = jnp.split(self.encoder(image), 2)
        return g.MultivariateNormalDiag(loc, jax.nn.softplus(scale))

    def decode(self, latent: Array) -> g.Independent:
        return g.Independent(g.Bernoulli(logits=self.decoder(latent)), 1)


def loss(model: Autoencoder, images: Array, key: Array) -> tuple[Array, g.MultivariateNormalDiag]:
    posteriors = jax.vmap(model.encode)(images)
    decoded = jax.vmap(model.decode)(posteriors.sample(seed=key))
    elbo = decoded.log_prob(images) - posteriors.kl_divergence(prior)
    return -jnp.mean(elbo), posteriors


@eqx.filter_jit
def step(model: Autoencoder, state: Any, images: Array, key: Array) -> tuple[Any, ...]:
    (value, posteriors), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(model, images, key)
    updates, state = optimiser.update(gradient, state)
    return eqx.apply_updates(model, updates), state, -value, posteriors


def bars() -> Array:
    """Images with one row or one column lit."""
    rows = jnp.eye(SIDE)[:, :, None] * jnp.ones(SIDE)
    return jnp.concatenate([rows, rows.swapaxes(1, 2)]).reshape(2 * SIDE, SIDE**2)


def main() -> None:
    images = jnp.tile(bars(), (16, 1))
    model = Autoencoder(jax.random.key(0))
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))
    bounds = []
    for i in range(500):
        model, state, bound, posteriors = step(model, state, images, jax.random.key(i))
        bounds.append(float(bound))

    first, last, best = bounds[0], bounds[-1], -math.log(2 * SIDE)
    divergence = float(jnp.mean(posteriors.kl_divergence(prior)))
    print(f"evidence lower bound: {first:.2f} nats before training, {last:.2f} after, at most {best:.2f}")
    print(f"divergence of the posteriors from the prior: {divergence:.2f} nats")
    assert posteriors.batch_shape == (len(images),)
    assert posteriors[0].event_shape == (LATENT,)
    assert first < -10
    assert 2 * best < last < best


if __name__ == "__main__":
    main()

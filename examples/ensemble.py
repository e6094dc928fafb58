"""A bootstrap ensemble: `jax.vmap` of a constructor makes it, and `jax.vmap` of the training trains it.

Each member is fitted to a resample of the data, by gradient steps on the distribution itself. The spread of
the members shows how sure the fit is. A member that is trained alone comes out the same.

With distrax in place of `generated`, the ensemble takes itself for a single distribution: its batch shape is
(), and `ensemble[3]` raises ValueError.

Prints, with numbers in place of the dots:

    correlation: ... in the data, from ... to ... in the ensemble
    standard error of the mean: ..., estimated as ...
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

import generated as g

MEMBERS, SIZE = 32, 400
optimiser = optax.adam(optax.cosine_decay_schedule(0.1, 300))


def fit(d: g.MultivariateNormalTri, x: Array) -> g.MultivariateNormalTri:
    def step(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
        d, state = carry
        gradient = jax.grad(lambda d: -jnp.mean(d.log_prob(x)))(d)
        updates, state = optimiser.update(gradient, state)
        return (optax.apply_updates(d, updates), state), None

    return jax.lax.scan(step, (d, optimiser.init(d)), length=300)[0][0]


def correlation(d: g.MultivariateNormalTri) -> Array:
    return d.covariance()[..., 0, 1] / jnp.prod(d.stddev(), axis=-1)


def main() -> None:
    data_key, key = jax.random.split(jax.random.key(0))
    truth = g.MultivariateNormalTri(jnp.array([1.0, -1.0]), jnp.array([[1.0, 0.0], [1.0, 0.5]]))
    data = truth.sample(seed=data_key, sample_shape=SIZE)
    resamples = data[jax.random.randint(key, (MEMBERS, SIZE), 0, SIZE)]

    ensemble = jax.vmap(lambda loc: g.MultivariateNormalTri(loc, jnp.eye(2)))(resamples[:, 0])
    assert ensemble.batch_shape == (MEMBERS,)
    fitted = jax.jit(jax.vmap(fit))(ensemble, resamples)
    alone = jax.jit(fit)(ensemble[3], resamples[3])
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-4), fitted[3], alone)
    covariances = [np.cov(x.T, bias=True) for x in resamples]
    assert np.allclose(fitted.mean(), resamples.mean(1), atol=1e-3)
    assert np.allclose(fitted.covariance(), covariances, atol=1e-2)

    correlations = correlation(fitted)
    low, high, whole = float(correlations.min()), float(correlations.max()), float(np.corrcoef(data.T)[0, 1])
    print(f"correlation: {whole:.3f} in the data, from {low:.3f} to {high:.3f} in the ensemble")
    assert low < whole < high
    error, estimate = float(data[:, 0].std() / SIZE**0.5), float(fitted.mean()[:, 0].std())
    print(f"standard error of the mean: {error:.3f}, estimated as {estimate:.3f}")
    assert 0.7 < estimate / error < 1.3


if __name__ == "__main__":
    main()

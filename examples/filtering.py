"""A Kalman filter whose belief is a distribution, and a hidden Markov model that crosses `jax.jit`.

The belief is the carry of a scan, which stacks the beliefs of all times into one batch. The hidden Markov
model is returned by one compiled function and passed to another. NumPy computes both once more.

With distrax in place of `generated`, `beliefs.mean` raises ValueError: the batch takes itself for a single
distribution. `model.sample` raises UnexpectedTracerError: the model holds tracers of the function it is from.

Prints, with numbers in place of the dots:

    error of the position: ... observed, ... filtered
    regime recognised: ... of ... times
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import generated as g

MOTION = np.array([[1.0, 0.05], [0.0, 1.0]], np.float32)
MOTION_NOISE = np.diag([1e-4, 0.03]).astype(np.float32)
SENSOR = np.array([[1.0, 0.0]], np.float32)
SENSOR_NOISE = np.array([[0.25]], np.float32)


@jax.jit
def kalman_filter(observed: Array) -> g.MultivariateNormalFullCovariance:
    def step(belief: Any, y: Array) -> tuple[Any, Any]:
        loc = MOTION @ belief.mean()
        covariance = MOTION @ belief.covariance() @ MOTION.T + MOTION_NOISE
        gain = jnp.linalg.solve(SENSOR @ covariance @ SENSOR.T + SENSOR_NOISE, SENSOR @ covariance).T
        belief = g.MultivariateNormalFullCovariance(
            loc + gain @ (y - SENSOR @ loc), covariance - gain @ SENSOR @ covariance
        )
        return belief, belief

    return jax.lax.scan(step, g.MultivariateNormalFullCovariance(jnp.zeros(2), jnp.eye(2)), observed)[1]


def kalman_filter_by_precision(observed: Any) -> Iterator[tuple[Any, Any]]:
    loc, covariance = np.zeros(2), np.eye(2)
    for y in observed:
        precision = np.linalg.inv(MOTION @ covariance @ MOTION.T + MOTION_NOISE)
        covariance = np.linalg.inv(precision + SENSOR.T @ SENSOR / SENSOR_NOISE)
        loc = covariance @ (precision @ MOTION @ loc + SENSOR.T @ y / SENSOR_NOISE[0])
        yield loc, covariance


@jax.jit
def markov_model(stay: Array) -> g.HMM:
    return g.HMM(
        g.Categorical(probs=jnp.array([0.5, 0.5])),
        g.Categorical(probs=jnp.array([[stay, 1 - stay], [1 - stay, stay]])),
        g.MultivariateNormalDiag(jnp.array([[0.0, 0.0], [1.0, 1.0]]), jnp.full((2, 2), 0.8)),
    )


def forward_probabilities(observed: Any, stay: float) -> Iterator[Any]:
    transition = np.array([[stay, 1 - stay], [1 - stay, stay]])
    predicted = np.array([0.5, 0.5])
    for y in observed:
        joint = predicted * np.exp(-0.5 * np.sum((y - np.array([[0.0], [1.0]])) ** 2, axis=1) / 0.8**2)
        yield joint / joint.sum()
        predicted = joint / joint.sum() @ transition


def main() -> None:
    position = np.sin(np.linspace(0, 5, 100))[:, None]
    observed = position + np.random.default_rng(0).normal(0, 0.5, position.shape)
    beliefs = kalman_filter(observed)
    locs, covariances = zip(*kalman_filter_by_precision(observed), strict=True)
    assert np.allclose(beliefs.mean(), locs, atol=1e-4)
    assert np.allclose(beliefs.covariance(), covariances, atol=1e-4)
    assert beliefs.log_prob(jnp.asarray(locs)).shape == beliefs.batch_shape == (100,)
    errors = [float(np.sqrt(np.mean((x - position) ** 2))) for x in (observed, beliefs.mean()[:, :1])]
    print(f"error of the position: {errors[0]:.2f} observed, {errors[1]:.2f} filtered")
    assert errors[1] < 0.6 * errors[0]

    model = markov_model(0.95)
    regimes, observed = model.sample(seed=jax.random.key(0), seq_len=100)
    _, filtered = jax.jit(lambda model, observed: model.forward(observed))(model, observed)
    assert np.allclose(filtered, list(forward_probabilities(observed, 0.95)), atol=1e-4)
    recognised = int(jnp.sum(filtered.argmax(1) == regimes))
    print(f"regime recognised: {recognised} of {len(regimes)} times")
    assert recognised > 90


if __name__ == "__main__":
    main()

"""A normalizing flow that is the pytree of its own parameters: optax trains the object itself.

A coupling takes the parameters of its conditioner beside the conditioner, as `params`: so they are leaves
with names, and by name they are told from the masks and the base distribution, which stay as they are.

With distrax in place of `generated`, whose conditioners have to capture their parameters, the only leaves are
masks and the base distribution, and `eqx.partition` raises ValueError.

Prints, with numbers in place of the dots:

    negative log-likelihood: ... nats before training, ... after
    of the best Gaussian: ... nats
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.tree_util import keystr, tree_map_with_path

import generated as g

BINS, HIDDEN, COUPLINGS = 8, 32, 4
optimiser = optax.adam(5e-3)


def moons(key: Array, n: int) -> Array:
    """Two interleaved half circles of radius 1, with noise."""
    angle_key, noise_key = jax.random.split(key)
    angle = jax.random.uniform(angle_key, (n // 2,), maxval=jnp.pi)
    upper = jnp.stack([jnp.cos(angle) - 0.5, jnp.sin(angle) - 0.25], axis=1)
    return jnp.concatenate([upper, -upper]) + 0.1 * jax.random.normal(noise_key, (n, 2))


def condition(params: Any, x: Array) -> Array:
    hidden = jnp.tanh(x @ params["hidden"] + params["bias"])
    return (hidden @ params["out"]).reshape(*x.shape, 3 * BINS + 1)


def spline(params: Array) -> g.RationalQuadraticSpline:
    return g.RationalQuadraticSpline(params, range_min=-3.0, range_max=3.0, boundary_slopes="identity")


def coupling(key: Array, first: bool) -> g.MaskedCoupling:
    hidden_key, out_key = jax.random.split(key)
    params = {
        "hidden": jax.random.normal(hidden_key, (2, HIDDEN)),
        "bias": jnp.zeros(HIDDEN),
        "out": 0.01 * jax.random.normal(out_key, (HIDDEN, 2 * (3 * BINS + 1))),
    }
    return g.MaskedCoupling(jnp.array([first, not first]), condition, spline, params=params)


@jax.jit
def loss(d: Any, x: Array) -> Array:
    return -jnp.mean(d.log_prob(x))


@jax.jit
def step(trained: Any, fixed: Any, state: Any, key: Array) -> tuple[Any, Any]:
    x = moons(key, 256)
    gradient = jax.grad(lambda trained: loss(eqx.combine(trained, fixed), x))(trained)
    updates, state = optimiser.update(gradient, state)
    return optax.apply_updates(trained, updates), state


def main() -> None:
    keys = jax.random.split(jax.random.key(0), COUPLINGS)
    flow = g.Transformed(
        g.Independent(g.Normal(jnp.zeros(2), 1.0), 1),
        g.Chain([coupling(key, i % 2 == 0) for i, key in enumerate(keys)]),
    )
    trained, fixed = eqx.partition(flow, tree_map_with_path(lambda path, _: ".params" in keystr(path), flow))
    state = optimiser.init(trained)
    for i in range(400):
        trained, state = step(trained, fixed, state, jax.random.key(i))
    fitted = eqx.combine(trained, fixed)

    x = moons(jax.random.key(-1), 4000)
    gaussian = g.MultivariateNormalFullCovariance(x.mean(0), jnp.cov(x.T))
    before, after, best = (float(loss(d, x)) for d in (flow, fitted, gaussian))
    print(f"negative log-likelihood: {before:.2f} nats before training, {after:.2f} after")
    print(f"of the best Gaussian: {best:.2f} nats")
    assert after < best - 0.5 < before
    assert jax.tree.structure(fitted) == jax.tree.structure(flow)
    assert fitted.distribution.distribution.scale.tolist() == [1.0, 1.0]
    masks = [c.finished()["mask"].tolist() for c in fitted.bijector.bijectors]
    assert masks == [[True, False], [False, True]] * (COUPLINGS // 2)


if __name__ == "__main__":
    main()

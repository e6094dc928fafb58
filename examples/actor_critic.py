"""Proximal policy optimisation in a corridor, from a compiled rollout that returns the policies that acted.

`lax.scan` stacks the policies of all steps, their temperatures included, into one distribution. The learner
divides it into minibatches by traced indices, and compares it with the new policy.

With distrax in place of `generated`, `policy[indices]` raises TracerArrayConversionError. After the rollout,
`policy[0]` raises TypeError: it takes the logits of one step with the temperatures of all.

Prints, with numbers in place of the dots:

    steps to the goal: ... before training, ... after
    entropy of the first policy: ... before training, ... after
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

import generated as g

GOAL, STEPS, MINIBATCH = 6, 512, 64
optimiser = optax.adam(0.05)


class Agent(NamedTuple):
    preferences: Array  # [state, action]
    values: Array  # [state]


class Transition(NamedTuple):
    policy: g.Softmax
    state: Array
    action: Array
    advantage: Array
    target: Array
    done: Array


def act(agent: Agent, temperature: Array, key: Array) -> Transition:
    def step(state: Array, key: Array) -> tuple[Array, Transition]:
        policy = g.Softmax(agent.preferences[state], temperature)
        action = policy.sample(seed=key)
        reached = jnp.clip(state + 2 * action - 1, 0, GOAL)
        done = reached == GOAL
        target = jnp.where(done, 1.0, 0.9 * agent.values[reached])
        transition = Transition(policy, state, action, target - agent.values[state], target, done)
        return jnp.where(done, 0, reached), transition

    return jax.lax.scan(step, jnp.int32(0), jax.random.split(key, STEPS))[1]


def loss(agent: Agent, temperature: Array, batch: Transition) -> Array:
    policy = g.Softmax(agent.preferences[batch.state], temperature)
    ratio = jnp.exp(policy.log_prob(batch.action) - batch.policy.log_prob(batch.action))
    gain = jnp.minimum(ratio * batch.advantage, jnp.clip(ratio, 0.8, 1.2) * batch.advantage)
    error = jnp.square(batch.target - agent.values[batch.state])
    return jnp.mean(error - gain - 0.001 * policy.entropy())


@jax.jit
def train(agent: Agent, state: Any, temperature: Array, key: Array) -> tuple[Agent, Any, Transition]:
    act_key, shuffle_key = jax.random.split(key)
    rollout = act(agent, temperature, act_key)

    def update(carry: tuple[Agent, Any], indices: Array) -> tuple[tuple[Agent, Any], None]:
        agent, state = carry
        batch = Transition(rollout.policy[indices], *(x[indices] for x in rollout[1:]))
        updates, state = optimiser.update(jax.grad(loss)(agent, temperature, batch), state)
        return (optax.apply_updates(agent, updates), state), None

    minibatches = jax.random.permutation(shuffle_key, STEPS).reshape(-1, MINIBATCH)
    (agent, state), _ = jax.lax.scan(update, (agent, state), minibatches)
    return agent, state, rollout


def main() -> None:
    agent = Agent(jnp.zeros((GOAL, 2)), jnp.zeros(GOAL + 1))
    state = optimiser.init(agent)
    steps, entropies = [], []
    for i in range(30):
        agent, state, rollout = train(agent, state, 2.0 - i / 30, jax.random.key(i))
        steps.append(float(STEPS / jnp.sum(rollout.done)))
        entropies.append(float(rollout.policy[0].entropy()))

    print(f"steps to the goal: {steps[0]:.1f} before training, {steps[-1]:.1f} after")
    print(f"entropy of the first policy: {entropies[0]:.2f} before training, {entropies[-1]:.2f} after")
    assert rollout.policy.batch_shape == (STEPS,)
    assert steps[-1] < 1.2 * GOAL < steps[0]
    assert entropies[-1] < 0.2 < entropies[0]


if __name__ == "__main__":
    main()

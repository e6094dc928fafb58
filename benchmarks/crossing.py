"""Crossing a compiled call: an object through the identity, against a tuple of the same arrays.

What limits it: JAX flattens the argument and unflattens the result in Python, which for a tuple happens in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import distrax
import jax
import jax.numpy as jnp

import generated
from benchmarks.timing import medians

K, D = 10, 4
CASES: dict[str, Callable[[Any], Any]] = {
    "Categorical": lambda library: library.Categorical(logits=jnp.arange(K, dtype=jnp.float32)),
    "MultivariateNormalTri": lambda library: library.MultivariateNormalTri(jnp.zeros(D), jnp.eye(D)),
    "MultivariateNormalDiag": lambda library: library.MultivariateNormalDiag(jnp.zeros(D), jnp.ones(D)),
    "Normal": lambda library: library.Normal(jnp.zeros(D), jnp.ones(D)),
    "Beta": lambda library: library.Beta(jnp.ones(D), jnp.ones(D)),
    "Independent": lambda library: library.Independent(library.Normal(jnp.zeros(D), jnp.ones(D)), 1),
    "Transformed": lambda library: library.Transformed(
        library.Normal(jnp.zeros(D), jnp.ones(D)),
        library.Chain([library.Tanh(), library.ScalarAffine(jnp.zeros(D), jnp.ones(D))]),
    ),
    "MixtureSameFamily": lambda library: library.MixtureSameFamily(
        library.Categorical(logits=jnp.zeros(D)), library.Normal(jnp.zeros(D), jnp.ones(D))
    ),
}


def measure(rounds: int = 40, calls: int = 500) -> Iterator[dict[str, Any]]:
    """For each class: the times of generated and distrax as multiples of the tuple's."""
    for name, make in CASES.items():
        ours = make(generated)
        theirs = make(distrax)
        leaves = tuple(jax.tree.leaves(ours))
        times = medians(
            {
                "tuple": _identity(leaves),
                "generated": _identity(ours),
                # Some distrax classes are traced again for each object, but not for one that came out of jit.
                "distrax": _identity(jax.tree.map(lambda x: x, theirs)),
            },
            rounds=rounds,
            calls=calls,
        )
        yield {
            "class": name,
            "leaves": len(leaves),
            "generated / tuple": times["generated"] / times["tuple"],
            "distrax / tuple": times["distrax"] / times["tuple"],
        }


def _identity(value: Any) -> Callable[[], Any]:
    function = jax.jit(lambda x: x)
    return lambda: function(value)

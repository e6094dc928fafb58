"""What a case answers in bulk: its draws, and its methods in double precision.

Events are rows of numbers here, whatever arrays or pytrees they are. Functions that are compiled capture the
object: not every object of distrax can be an argument, or be made where arrays are traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from distgen.verify.cases import Case, Precision

Array = np.ndarray[Any, Any]

WIDE = Precision(jnp.float64, x64=True)
# How many numbers are drawn at once, and for how many events a method is computed at once.
CHUNK = 2**20
ROWS = 2**15


@dataclass(frozen=True)
class Draws:
    """Draws in the precision of a case, one a row, and their log probabilities."""

    values: Array
    log_probs: Array


def event_size(case: Case) -> int:
    """How many numbers an event has."""
    with case.precision.context():
        return sum(x.size for x in jax.tree.leaves(_event(case.build())))


def draw(case: Case, seed: int, count: int) -> Draws:
    """So many draws, in chunks."""
    rows = max(min(count, CHUNK // event_size(case)), 1)
    with case.precision.context():
        d = case.build()

        @jax.jit
        def chunk(key: Any) -> tuple[Any, Any]:
            events = d.sample(seed=key, sample_shape=(rows,))
            return events, d.log_prob(events)

        keys = jax.random.split(jax.random.key(seed), -(-count // rows))
        parts = [_on_host(*chunk(key)) for key in keys]
    return Draws(*(np.concatenate(column)[:count] for column in zip(*parts, strict=True)))


def _on_host(events: Any, log_probs: Any) -> tuple[Array, Array]:
    columns = [np.asarray(x, np.float64).reshape(len(log_probs), -1) for x in jax.tree.leaves(events)]
    return np.hstack(columns), np.asarray(log_probs, np.float64)


def widened(case: Case, function: Callable[[Any, Any], Any]) -> Callable[[Array], Array]:
    """A function of events, one a row: `function(d, events)` in double precision, which is compiled once."""
    with WIDE.context():
        d = case.in_precision(WIDE).build()
        event = _event(d)
        chunk = jax.jit(lambda rows: function(d, _events(event, rows)))

    def of_rows(points: Array) -> Array:
        parts = []
        with WIDE.context():
            for start in range(0, len(points), ROWS):
                part = points[start : start + ROWS]
                # All chunks have one shape: the last event fills up the last of them.
                filled = np.concatenate([part, np.repeat(part[-1:], ROWS - len(part), axis=0)])
                parts.append(np.asarray(chunk(filled), np.float64)[: len(part)])
        return np.concatenate(parts)

    return of_rows


def asked(case: Case, methods: Iterable[str]) -> dict[str, Array]:
    """What methods without arguments return, as vectors; those that a class does not have are left out."""
    with case.precision.context():
        d = case.build()
        known = [name for name in methods if _is_there(lambda name=name: getattr(d, name)())]
        answers = jax.jit(lambda: {name: getattr(d, name)() for name in known})()
    return {
        name: np.concatenate([np.ravel(np.asarray(x, np.float64)) for x in jax.tree.leaves(answers[name])])
        for name in known
    }


def answers(case: Case, method: str) -> bool:
    """Whether the class has this method of events."""
    with case.precision.context():
        d = case.build()
        return hasattr(d, method) and _is_there(getattr(d, method), _event(d))


def _is_there(method: Callable[..., Any], *arguments: Any) -> bool:
    try:
        jax.eval_shape(method, *arguments)
    except (AttributeError, NotImplementedError):
        return False
    return True


def _event(d: Any) -> Any:
    """The shapes and dtypes of an event, as a pytree."""
    return jax.eval_shape(lambda: d.sample(seed=jax.random.key(0)))


def _events(event: Any, rows: Any) -> Any:
    """Events with these rows of numbers."""
    leaves, treedef = jax.tree.flatten(event)
    ends = [int(end) for end in np.cumsum([leaf.size for leaf in leaves])[:-1]]
    parts = zip(jnp.split(rows, ends, axis=-1), leaves, strict=True)
    return jax.tree.unflatten(treedef, [p.reshape(-1, *x.shape).astype(x.dtype) for p, x in parts])

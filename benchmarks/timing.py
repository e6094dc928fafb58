"""Timing of candidates in turn, so that a machine whose speed drifts slows all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def medians(candidates: Mapping[str, Callable[[], object]], *, rounds: int, calls: int) -> dict[str, float]:
    """The median time of a call of each candidate in seconds, over `rounds` rounds of `calls` calls."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for candidate in candidates.values():
        candidate()
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.perf_counter()
            for _ in range(calls):
                candidate()
            times[name].append((time.perf_counter() - start) / calls)
    return {name: statistics.median(values) for name, values in times.items()}

"""Building specs/: first after distrax is installed, in full, and with nothing to do.

Whole processes, the interpreter's start included. What limits it: griffe reads distrax's source the first
time; later ruff, pydantic and Jinja take most of a full build, and Python's start most of one with nothing
to do.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def measure(rounds: int = 5) -> Iterator[dict[str, Any]]:
    """The median seconds of each kind of build."""
    kinds: dict[str, list[float]] = {"first": [], "full": [], "nothing to do": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as directory:
            for kind, times in kinds.items():
                output = Path(directory) / ("first" if kind == "first" else "generated")
                start = time.perf_counter()
                _build(output, cache=Path(directory) / "cache")
                times.append(time.perf_counter() - start)
    for kind, times in kinds.items():
        yield {"build": kind, "seconds": statistics.median(times)}


def _build(output: Path, cache: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "distgen", "build", "specs/", "-o", str(output)],
        cwd=ROOT,
        env=os.environ | {"DISTGEN_CACHE_DIR": str(cache)},
        check=True,
        capture_output=True,
    )

"""`python -m benchmarks [crossing] [building]`: measures, and prints a table for each."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

BENCHMARKS = ("crossing", "building")


def main(names: list[str]) -> None:
    if unknown := set(names) - set(BENCHMARKS):
        sys.exit(f"no benchmark is called {unknown.pop()!r}; there are {', '.join(BENCHMARKS)}")
    for name in names or BENCHMARKS:
        module = import_module(f"benchmarks.{name}")
        print((module.__doc__ or "").split("\n")[0])
        _print_table(module.measure())
        print()


def _print_table(rows: Iterable[dict[str, Any]]) -> None:
    for i, row in enumerate(rows):
        if i == 0:
            print("  ".join(f"{key:>18}" for key in row))
        print(
            "  ".join(f"{v:>18.2f}" if isinstance(v, float) else f"{v:>18}" for v in row.values()), flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])

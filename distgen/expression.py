"""Expressions of the spec language: `name` or `name(argument, ...)`, with names and numbers as arguments.

An expression is parsed, never evaluated; what its names mean is resolved by the passes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_EXPRESSION = re.compile(rf"\s*({_NAME})\s*(?:\(([^()]*)\)\s*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """A call of `function`; `arguments` is None where the text has no parentheses."""

    function: str
    arguments: tuple[str | int | float, ...] | None = None

    def __str__(self) -> str:
        if self.arguments is None:
            return self.function
        return f"{self.function}({', '.join(map(str, self.arguments))})"

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that are names."""
        return tuple(a for a in self.arguments or () if isinstance(a, str))


def parse_expression(text: str) -> Expression | None:
    """The expression that `text` spells, None if it spells none."""
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        return None
    function, inside = match.groups()
    if inside is None:
        return Expression(function)
    if not inside.strip():
        return Expression(function, ())
    arguments = [_argument(part.strip()) for part in inside.split(",")]
    if None in arguments:
        return None
    return Expression(function, tuple(a for a in arguments if a is not None))


def _argument(text: str) -> str | int | float | None:
    if re.fullmatch(_NAME, text, re.ASCII):
        return text
    # A number that no float holds has no literal in Python either.
    if not re.fullmatch(_NUMBER, text, re.ASCII) or not math.isfinite(float(text)):
        return None
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)

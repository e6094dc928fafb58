"""A failing case as a program that can be pasted and run."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from distgen.verify.cases import Case, Precision
from distgen.verify.laws.registry import Law

_PROGRAM = '''"""{title}

{message}
"""

{imports}

known = {{repr(subject): subject for subject in {recipe}}}
case = {case}
laws.check({number}, case, {backend!r})
'''
_IMPORTS = ("import jax.numpy as jnp", "import numpy as np")
_INDENT = " " * 4


def program(law: Law, case: Case, backend: str, recipe: str, error: Exception) -> str:
    """A program that puts the law to the case, and fails.

    Args:
        law: the broken law.
        case: the case that breaks it.
        backend: the platform.
        recipe: an expression for the classes under the laws, in which `laws` is `distgen.verify.laws`.
        error: what the law raised.
    """
    message = f"{type(error).__name__}: {error}".replace("\\", "\\\\").replace('"""', "'''")
    modules = {f"import {module}" for module in _modules(case)}
    return _PROGRAM.format(
        title=f"{case.subject} breaks law {law.number}, {law.name.replace('-', ' ')}, on {backend}.",
        message="\n".join(line.rstrip() for line in message.splitlines()),
        imports="\n".join([*sorted({*_IMPORTS, *modules}), "", "from distgen.verify import laws"]),
        recipe=recipe,
        case=_case(case, ""),
        number=law.number,
        backend=backend,
    )


def _case(case: Case, indent: str) -> str:
    inner = indent + _INDENT
    arguments = {
        "variant": repr(case.variant),
        "precision": _precision(case.precision),
        "batch_shape": repr(case.batch_shape),
        "values": _mapping(case.values, inner),
        "statics": _mapping(case.statics, inner),
        "children": _mapping(case.children, inner),
        "event_shape": repr(case.event_shape),
    }
    given = {
        name: code for name, code in arguments.items() if code not in ("{}", "()") or name == "batch_shape"
    }
    lines = [f"known[{str(case.subject)!r}],", *(f"{name}={code}," for name, code in given.items())]
    return "\n".join(["laws.Case(", *(inner + line for line in lines), f"{indent})"])


def _precision(precision: Precision) -> str:
    x64 = ", x64=True" if precision.x64 else ""
    return f"laws.Precision(jnp.{jnp.dtype(precision.dtype).name}{x64})"


def _mapping(values: Any, indent: str) -> str:
    inner = indent + _INDENT
    items = [f"{inner}{name!r}: {_value(value, inner)}," for name, value in values.items()]
    return "\n".join(["{", *items, f"{indent}}}"]) if items else "{}"


def _value(value: Any, indent: str) -> str:
    match value:
        case Case():
            return _case(value, indent)
        case list():
            return f"[{', '.join(_value(x, indent) for x in value)}]"
        case dict():
            return _mapping(value, indent)
        case np.ndarray():
            return f"np.array({value.tolist()!r}, {value.dtype.name!r})"
        case type() if value.__module__ == "builtins":
            return value.__name__
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, type(jnp.float32)):
        return f"jnp.{jnp.dtype(value).name}"
    return repr(value)


def _modules(case: Case) -> set[str]:
    """The modules of the functions in a case and its children."""
    found = {x.__module__ for x in case.statics.values() if callable(x) and hasattr(x, "__qualname__")}
    for child in case.children.values():
        parts = child.values() if isinstance(child, dict) else child if isinstance(child, list) else [child]
        found |= set().union(*map(_modules, parts))
    return found - {"builtins"}

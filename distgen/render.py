"""From plans to text. The templates say what the output looks like; whatever decides stands in the passes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from distgen.plan import ClassPlan
from distgen.vocabulary import RUNTIME

if TYPE_CHECKING:
    from jinja2 import Environment


def templates_directory() -> Path:
    """In a wheel the templates stand inside the package, in a checkout beside it."""
    package = Path(__file__).parent
    return package / "_templates" if (package / "_templates").is_dir() else package.parent / "templates"


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates_directory()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["literal"] = lambda value: repr(str(value))
    return environment


def render_class(plan: ClassPlan) -> str:
    """The module of one class."""
    return _environment().get_template("class.py.jinja").render(plan=plan)


# Functions that every generated package offers, and the modules of the runtime that define them.
FUNCTIONS = {
    "as_bijector": "conversion",
    "as_distribution": "conversion",
    "from_distrax": "conversion",
    "straight_through_wrapper": "straight_through",
    "to_tfp": "tfp",
}


def render_package(plans: Sequence[ClassPlan]) -> str:
    """The `__init__.py` of the output."""
    return _environment().get_template("package.py.jinja").render(plans=plans, functions=FUNCTIONS)


def runtime_sources() -> dict[str, str]:
    """The modules that generated code shares, by their path in the output."""
    return {f"_runtime/{f.name}": f.read_text(encoding="utf-8") for f in sorted(RUNTIME.glob("*.py"))}

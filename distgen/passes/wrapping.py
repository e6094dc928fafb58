"""The class that is wrapped, and the name of the one that takes its place."""

from __future__ import annotations

import keyword
import re

from distgen.catalog import lookup
from distgen.diagnostics import Diagnostic, did_you_mean
from distgen.passes.context import Context
from distgen.plan import ClassPlan


def begin(context: Context) -> tuple[ClassPlan | None, list[Diagnostic]]:
    """A plan that holds no more than the names."""
    model = context.spec.model
    span = context.spec.at("wraps")
    wrapped = lookup(context.catalog, model.wraps)
    if wrapped is None:
        public = [name for name, entry in context.catalog.classes.items() if entry.kind == "distribution"]
        hint = did_you_mean(
            model.wraps, public, otherwise="name a class as it is imported, such as distrax.Normal"
        )
        message = f"class '{model.wraps}' is not found in distrax {context.catalog.version} or on the path"
        return None, [Diagnostic("DG302", message, span, hint)]
    if wrapped.kind != "distribution":
        message = f"'{model.wraps}' is not a distribution of distrax"
        return None, [Diagnostic("DG303", message, span, "wrap a subclass of distrax.Distribution")]
    base_module, _, _ = model.wraps.rpartition(".")
    plan = ClassPlan(
        name=model.distribution,
        module=module_name(model.distribution),
        summary=model.summary,
        wrapped=wrapped,
        base_module=base_module,
        base_code=model.wraps,
    )
    return plan, []


def module_name(class_name: str) -> str:
    """The module of a class: its name in snake case, with an underscore behind a keyword."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake

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
        public = [*context.catalog.classes]
        hint = did_you_mean(
            model.wraps, public, otherwise="name a class as it is imported, such as distrax.Normal"
        )
        message = f"class '{model.wraps}' is not found in distrax {context.catalog.version} or on the path"
        return None, [Diagnostic("DG302", message, span, hint)]
    kinds = {"distribution": "distribution", "bijector": "bijector", "other": "model"}
    if kinds[wrapped.kind] != context.spec.kind:
        return None, [_wrong_kind(context, kinds[wrapped.kind])]
    base_module, _, _ = model.wraps.rpartition(".")
    name = context.spec.class_name
    plan = ClassPlan(
        name=name,
        kind=context.spec.kind,
        module=module_name(name),
        summary=model.summary,
        wrapped=wrapped,
        base_module=base_module,
        base_code=model.wraps,
    )
    return plan, []


def _wrong_kind(context: Context, actual: str) -> Diagnostic:
    spec = context.spec
    roots = {
        "distribution": "a subclass of distrax.Distribution",
        "bijector": "a subclass of distrax.Bijector",
        "model": "a class that is neither a distribution nor a bijector",
    }
    message = f"'{spec.model.wraps}' is not a {spec.kind}"
    hint = f"wrap {roots[spec.kind]}, or write '{actual}: {spec.class_name}'"
    return Diagnostic("DG303", message, spec.at("wraps"), hint)


def module_name(class_name: str) -> str:
    """The module of a class: its name in snake case, with an underscore behind a keyword."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake

"""The parameterisations of a class: which of its optional parameters are there."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, FieldPlan, VariantPlan
from distgen.spec import SpecModel


def plan_variants(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    model = context.spec.model
    alternatives = (*model.exactly_one_of, *model.at_most_one_of)
    required = {f.argument for f in plan.fields if not f.is_optional}
    diagnostics = [
        Diagnostic(
            "DG214",
            f"'{name}' cannot be one of several alternatives, because it is always there",
            context.spec.at(*_place(model, i)),
            "name arguments whose default is None in the wrapped class, and that have no 'default' here",
        )
        for i, name in enumerate(alternatives)
        if name in required
    ]
    free = [f for f in plan.fields if f.is_optional and f.argument not in alternatives]
    chosen: list[tuple[FieldPlan, ...]] = [(f,) for f in plan.fields if f.argument in alternatives]
    if not model.exactly_one_of:
        chosen.insert(0, ())
    variants = []
    for one, flags in product(chosen, product((False, True), repeat=len(free))):
        optional = {f.name for f in one} | {f.name for f, there in zip(free, flags, strict=True) if there}
        fields = tuple(f for f in plan.fields if not f.is_optional or f.name in optional)
        label = "+".join(f.name for f in fields if f.is_optional) or "default"
        variants.append(VariantPlan(label, fields))
    return replace(plan, variants=tuple(variants)), diagnostics


def _place(model: SpecModel, index: int) -> tuple[str, int]:
    """Where the alternative of that number stands in the spec."""
    count = len(model.exactly_one_of)
    return ("exactly_one_of", index) if index < count else ("at_most_one_of", index - count)

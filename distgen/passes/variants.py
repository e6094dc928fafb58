"""The parameterisations of a class: which of its optional parameters are there."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, FieldPlan, VariantPlan


def plan_variants(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    alternatives = context.spec.model.exactly_one_of
    required = {f.argument for f in plan.fields if not f.is_optional}
    diagnostics = [
        Diagnostic(
            "DG214",
            f"'{name}' cannot be one of several alternatives, because it is always there",
            context.spec.at("exactly_one_of", i),
            "name arguments whose default is None in the wrapped class, and that have no 'default' here",
        )
        for i, name in enumerate(alternatives)
        if name in required
    ]
    free = [f for f in plan.fields if f.is_optional and f.argument not in alternatives]
    chosen: list[tuple[FieldPlan, ...]] = [(f,) for f in plan.fields if f.argument in alternatives] or [()]
    variants = []
    for one, flags in product(chosen, product((False, True), repeat=len(free))):
        optional = {f.name for f in one} | {f.name for f, there in zip(free, flags, strict=True) if there}
        fields = tuple(f for f in plan.fields if not f.is_optional or f.name in optional)
        label = "+".join(f.name for f in fields if f.is_optional) or "default"
        variants.append(VariantPlan(label, fields))
    return replace(plan, variants=tuple(variants)), diagnostics

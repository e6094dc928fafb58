"""Where events live."""

from __future__ import annotations

from dataclasses import replace

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context, resolve_call
from distgen.plan import ClassPlan
from distgen.spec import Distribution


def plan_support(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    readable = {f.name for f in plan.fields} | set(plan.wrapped.properties)
    names = {name: repr(name) for name in sorted(readable) if not name.startswith("_")}
    if not isinstance(context.spec.model, Distribution):
        return plan, []
    expression = context.spec.model.support
    span = context.spec.at("support")
    call = resolve_call(expression, context.vocabulary.constraints, "constraint", names, span)
    if isinstance(call, Diagnostic):
        return plan, [call]
    word, code = call
    return replace(plan, support=str(expression), support_code=code, words=(*plan.words, word)), []

"""Batch shape, event shape and dtype, by arithmetic on the leaves."""

from __future__ import annotations

from dataclasses import replace

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, FieldPlan


def plan_shapes(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    model = context.spec.model
    alternatives = [f for f in plan.fields if f.argument in model.exactly_one_of]
    code = {f.name: f"self.{f.attribute}" for f in plan.fields if not f.is_optional}
    # Of alternatives one is always there, so that the first can stand for all of them if they are alike.
    if len({f.event for f in alternatives}) == 1:
        code |= {f.name: "self._present" for f in alternatives[:1] if f.is_optional}
    readable = [f for f in plan.fields if f.name in code]
    if not readable:
        message = "no parameter is always there, and so nothing tells the batch shape"
        hint = "give one a 'default', or name alternatives with equal 'event' under 'exactly_one_of'"
        return plan, [Diagnostic("DG213", message, context.spec.at_key("parameters"), hint)]
    first = readable[0]
    floating = next((f for f in readable if f.is_floating), first)
    has_dtype = any(s.name == "dtype" for s in plan.statics)
    event_shape = [_size_code(dim, readable, code) for dim in model.event_shape]
    diagnostics = [
        Diagnostic(
            "DG213",
            f"dimension '{dim}' of the event shape is that of no parameter which is always there",
            context.spec.at("event_shape", i),
            "use a dimension of a required parameter, or of one with a default",
        )
        for i, (dim, size) in enumerate(zip(model.event_shape, event_shape, strict=True))
        if size is None
    ]
    plan = replace(
        plan,
        present_code=" ".join(_choices(alternatives)),
        batch_shape_code=f"{code[first.name]}.shape" + (f"[:-{len(first.event)}]" if first.event else ""),
        event_shape=model.event_shape,
        event_shape_code=_event_shape_code(model.event_shape, readable, code),
        dtype_code="self._dtype" if has_dtype else f"{code[first.name]}.dtype",
        parameter_dtype_code=f"{code[floating.name]}.dtype",
    )
    return plan, diagnostics


def _choices(alternatives: list[FieldPlan]) -> list[str]:
    """`self._a if self._a is not None else self._b`, for any number of alternatives."""
    tests = [f"self.{f.attribute} if self.{f.attribute} is not None else" for f in alternatives[:-1]]
    return [*tests, f"self.{alternatives[-1].attribute}"] if alternatives else []


def _event_shape_code(dims: tuple[str, ...], fields: list[FieldPlan], code: dict[str, str]) -> str:
    if not dims:
        return "()"
    for f in fields:
        if f.event == dims:
            return f"{code[f.name]}.shape[-{len(dims)}:]"
    return f"({', '.join(_size_code(dim, fields, code) or '' for dim in dims)},)"


def _size_code(dim: str, fields: list[FieldPlan], code: dict[str, str]) -> str | None:
    for f in fields:
        if dim in f.event:
            return f"{code[f.name]}.shape[{f.event.index(dim) - len(f.event)}]"
    return None

"""Batch shape, event shape and dtype, by arithmetic on the leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from distgen.diagnostics import Diagnostic, Span
from distgen.expression import Expression
from distgen.passes.context import Context, resolve_call
from distgen.plan import ClassPlan, FieldPlan
from distgen.spec import Distribution
from distgen.vocabulary import Word

_LEAF_DTYPE = Word("leaf_dtype", "dtypes", ())
_INHERITED = Expression("inherited")


def plan_shapes(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    spec = context.spec
    readable, code = _readable(plan, spec.model.exactly_one_of)
    alternatives = [f for f in plan.fields if f.argument in spec.model.exactly_one_of]
    plan = replace(plan, present_code=" ".join(_choices(alternatives)))
    has_children = any(not f.is_array for f in plan.fields)
    if readable:
        first = readable[0]
        floating = next((f for f in readable if f.is_floating), first)
        # Events are of the dtype of the first parameter, what a bijector computes of that of a floating one.
        events = first if isinstance(spec.model, Distribution) else floating
        has_dtype = any(s.name == "dtype" for s in plan.statics)
        is_inner = any(key == "inner" for key, _ in first.options_code)
        batch_code = f"{code[first.name]}.shape" + (f"[:-{len(first.event)}]" if first.event else "")
        plan = replace(
            plan,
            batch_shape_code="" if is_inner else batch_code,
            dtype_code="self._dtype" if has_dtype else f"{code[events.name]}.dtype",
            parameter_dtype_code=f"{code[floating.name]}.dtype",
        )
    elif isinstance(spec.model, Distribution) and not has_children:
        message = "no parameter is always there, and so nothing tells the batch shape"
        hint = "give one a 'default', or name alternatives with equal 'event' under 'exactly_one_of'"
        return plan, [Diagnostic("DG213", message, spec.at_key("parameters"), hint)]
    if not isinstance(spec.model, Distribution):
        if not plan.parameter_dtype_code:
            plan = replace(plan, parameter_dtype_code="leaf_dtype(self)", words=(*plan.words, _LEAF_DTYPE))
        return plan, []
    return _plan_events(context, plan, spec.model, readable, code)


def _readable(plan: ClassPlan, alternatives: tuple[str, ...]) -> tuple[list[FieldPlan], dict[str, str]]:
    """The arrays that are always there, and the code that reads each."""
    arrays = [f for f in plan.fields if f.is_array]
    chosen = [f for f in arrays if f.argument in alternatives]
    code = {f.name: f"self.{f.attribute}" for f in arrays if not f.is_optional}
    # Of alternatives one is always there, so that the first can stand for all of them if they are alike.
    if len({f.event for f in chosen}) == 1:
        code |= {f.name: "self._present" for f in chosen[:1] if f.is_optional}
    return [f for f in arrays if f.name in code], code


def _plan_events(
    context: Context, plan: ClassPlan, model: Distribution, readable: list[FieldPlan], code: dict[str, str]
) -> tuple[ClassPlan, list[Diagnostic]]:
    spec = context.spec
    diagnostics: list[Diagnostic] = []
    words: list[Word] = []

    def resolve(expression: Expression, span: Span) -> str:
        names = {x.name: f"self.{x.attribute}" for x in plan.stored}
        call = resolve_call(expression, context.vocabulary.mathematics, "function", names, span)
        if isinstance(call, Diagnostic):
            diagnostics.append(call)
            return ""
        words.append(call[0])
        return call[1]

    computed: dict[str, Any] = {}
    for key in ("batch_shape", "event_shape", "dtype"):
        expression = getattr(model, key)
        if expression == _INHERITED and key != "batch_shape":
            computed[f"{key}_code"] = ""
        elif isinstance(expression, Expression):
            computed[f"{key}_code"] = resolve(expression, spec.at(key))
    dims: tuple[str, ...] = ()
    if isinstance(model.event_shape, tuple):
        dims = model.event_shape
        computed["event_shape_code"] = _event_shape_code(dims, readable, code)
        diagnostics += [
            Diagnostic(
                "DG213",
                f"dimension '{dim}' of the event shape is that of no parameter which is always there",
                spec.at("event_shape", i),
                "use a dimension of a required parameter, or of one with a default",
            )
            for i, dim in enumerate(dims)
            if _size_code(dim, readable, code) is None
        ]
    if not plan.parameter_dtype_code:
        computed["parameter_dtype_code"] = "self.dtype"
    plan = replace(plan, event_shape=dims, words=plan.words + tuple(words), **computed)
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

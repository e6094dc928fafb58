"""The constructor: distrax's names, order, kinds and defaults."""

from __future__ import annotations

from dataclasses import replace

from distgen.catalog import Argument
from distgen.diagnostics import Diagnostic, did_you_mean, valid_choices
from distgen.passes.context import STARS, Context, default_code
from distgen.plan import ArgumentPlan, ClassPlan
from distgen.spec import Nested


def plan_signature(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    spec, wrapped = context.spec, plan.wrapped
    diagnostics: list[Diagnostic] = []
    expected = {argument.name: argument for argument in wrapped.arguments}
    extensions = []
    for name, parameter in spec.model.parameters.items():
        if name not in expected and isinstance(parameter, Nested) and parameter.kind == "pytree":
            extensions.append(ArgumentPlan(name, "Any", "None", is_keyword_only=True))
        elif name not in expected:
            hint = did_you_mean(name, expected, otherwise=valid_choices(expected))
            message = f"the constructor of {spec.model.wraps} has no argument '{name}'"
            diagnostics.append(Diagnostic("DG304", message, spec.at_key("parameters", name), hint))
    arguments = []
    for name, argument in expected.items():
        if star := STARS.get(argument.kind):
            message = (
                f"the constructor of {spec.model.wraps} takes '{star}{name}', which may be any arguments"
            )
            hint = "wrap a class whose constructor names its arguments"
            diagnostics.append(Diagnostic("DG306", message, spec.at("wraps"), hint))
        elif name not in spec.model.parameters:
            message = f"the constructor of {spec.model.wraps} has an argument '{name}' that the spec lacks"
            hint = f"describe '{name}' under 'parameters'"
            diagnostics.append(Diagnostic("DG305", message, spec.at_key("parameters"), hint))
        elif not _is_supported(argument):
            message = f"the default of '{name}' in {spec.model.wraps}, {argument.default}, is not a literal"
            hint = "wrap a class whose constructor has literal defaults"
            diagnostics.append(Diagnostic("DG306", message, spec.at_key("parameters", name), hint))
        else:
            arguments.append(_plan_argument(plan, argument))
    arguments += extensions
    defaults = {a.name: a.default_code for a in arguments}
    statics = tuple(replace(s, default_code=defaults.get(s.name)) for s in plan.statics)
    return replace(plan, arguments=tuple(arguments), statics=statics), diagnostics


def _is_supported(argument: Argument) -> bool:
    return argument.default is None or default_code(argument.default) is not None


def _plan_argument(plan: ClassPlan, argument: Argument) -> ArgumentPlan:
    annotations = {s.name: s.annotation for s in plan.statics} | dict.fromkeys(plan.settings, "Any")
    annotations |= {f.argument: "ArrayLike" if f.is_array else "Any" for f in plan.fields}
    annotation = annotations.get(argument.name, "ArrayLike")
    return ArgumentPlan(
        name=argument.name,
        annotation=f"{annotation} | None"
        if argument.default == "None" and annotation != "Any" and not annotation.endswith("| None")
        else annotation,
        default_code=None if argument.default is None else default_code(argument.default),
        is_keyword_only=argument.kind == "keyword",
    )

"""The arrays and statics of a class, and how each is finished."""

from __future__ import annotations

from dataclasses import replace

from distgen.diagnostics import Diagnostic, valid_choices
from distgen.passes.context import Context, literal, resolve_bare, resolve_call, resolve_word
from distgen.plan import ClassPlan, FieldPlan, StaticPlan
from distgen.spec import Parameter, Static
from distgen.vocabulary import Word

TABLE = (Word("Field", "parameters", ()), Word("Parameters", "parameters", ()))
_STATIC = Word("Static", "parameters", ())


def plan_parameters(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    fields: list[FieldPlan] = []
    statics: list[StaticPlan] = []
    words: list[Word] = [*TABLE]
    diagnostics: list[Diagnostic] = []
    for name, parameter in context.spec.model.parameters.items():
        if isinstance(parameter, Static):
            static, used, found = _plan_static(context, name, parameter)
            statics.append(static)
        else:
            field, used, found = _plan_field(context, plan, name, parameter)
            fields.append(field)
        words += used
        diagnostics += found
    model = context.spec.model
    table = [("exactly_one_of", model.exactly_one_of), ("at_least_one_of", model.at_least_one_of)]
    table_code = [(key, literal(names)) for key, names in table if names]
    if model.dimensions:
        table_code.append(("smallest", repr({str(k): v for k, v in model.dimensions.items()})))
    plan = replace(
        plan,
        fields=tuple(fields),
        statics=tuple(statics),
        table_code=tuple(table_code),
        words=plan.words + tuple(words),
    )
    return plan, diagnostics


def _plan_field(
    context: Context, plan: ClassPlan, name: str, parameter: Parameter
) -> tuple[FieldPlan, list[Word], list[Diagnostic]]:
    model = context.spec.model
    arguments = {p: repr(p) for p, value in model.parameters.items() if isinstance(value, Parameter)}
    span = context.spec.at("parameters", name, "constraint")
    constraints = context.vocabulary.constraints
    constraint = resolve_call(parameter.constraint, constraints, "constraint", arguments, span)
    word, constraint_code = (constraint, "") if isinstance(constraint, Diagnostic) else constraint
    finish = _plan_finish(context, parameter, name)
    default = _plan_default(context, parameter, name)
    finished = parameter.finished or name
    is_optional = not parameter.default and _may_be_absent(plan, name)
    finish_with = parameter.finish.names if parameter.finish else ()
    options = {
        "event": literal(parameter.event) if parameter.event else None,
        "argument": literal(name) if finished != name else None,
        "argument_event": literal(parameter.argument_event) if parameter.argument_event else None,
        "finish": finish.name if isinstance(finish, Word) else None,
        "finish_with": literal(finish_with) if finish_with else None,
        "default": default.name if isinstance(default, Word) else None,
        "optional": "True" if is_optional else None,
        "requires": literal(parameter.requires) if parameter.requires else None,
        "dtype": literal(parameter.dtype) if parameter.dtype != "floating" else None,
        "extends_batch": None if parameter.extends_batch else "False",
    }
    field = FieldPlan(
        name=finished,
        argument=name,
        event=parameter.event,
        constraint=str(parameter.constraint),
        constraint_code=constraint_code,
        doc=parameter.doc,
        options_code=tuple((key, code) for key, code in options.items() if code is not None),
        is_optional=is_optional,
        is_floating=parameter.dtype == "floating",
        has_property=finished in plan.wrapped.properties,
    )
    resolved = (word, finish, default)
    words = [x for x in resolved if isinstance(x, Word)]
    return field, words, [x for x in resolved if isinstance(x, Diagnostic)]


def _plan_finish(context: Context, parameter: Parameter, name: str) -> Word | Diagnostic | None:
    """The function that finishes a parameter: its first argument is the array, the others are statics."""
    if parameter.finish is None:
        return None
    span = context.spec.at("parameters", name, "finish")
    word = resolve_word(parameter.finish, context.vocabulary.finishing, "finishing function", span)
    if isinstance(word, Diagnostic):
        return word
    statics = {n: n for n, value in context.spec.model.parameters.items() if isinstance(value, Static)}
    tail = replace(word, arguments=(word.arguments or ())[1:] or None)
    call = resolve_call(parameter.finish, {word.name: tail}, "finishing function", statics, span)
    if isinstance(call, Diagnostic):
        return call
    if numbers := [a for a in parameter.finish.arguments or () if not isinstance(a, str)]:
        message = f"unknown name '{numbers[0]}' in '{word.name}(...)'"
        return Diagnostic("DG210", message, span, valid_choices(statics))
    return word


def _plan_default(context: Context, parameter: Parameter, name: str) -> Word | Diagnostic | None:
    if parameter.default is None:
        return None
    span = context.spec.at("parameters", name, "default")
    return resolve_bare(parameter.default, context.vocabulary.defaults, "default", span)


def _may_be_absent(plan: ClassPlan, name: str) -> bool:
    return any(a.name == name and a.default == "None" for a in plan.wrapped.arguments)


def _plan_static(
    context: Context, name: str, static: Static
) -> tuple[StaticPlan, list[Word], list[Diagnostic]]:
    span = context.spec.at("parameters", name, "static")
    word = resolve_bare(static.static, context.vocabulary.statics, "static", span)
    if isinstance(word, Diagnostic):
        return StaticPlan(name, "", "", "", None, static.doc), [], [word]
    planned = StaticPlan(
        name=name,
        finish_code=word.name,
        annotation=word.annotation,
        stored_annotation=word.returns,
        default_code=None,
        doc=static.doc,
    )
    return planned, [word, _STATIC], []

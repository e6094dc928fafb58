"""The finished parameters and statics of a class, and how each is finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from distgen.diagnostics import Diagnostic, Span, valid_choices
from distgen.expression import Expression
from distgen.passes.context import Context, literal, resolve_bare, resolve_call, resolve_word
from distgen.plan import ClassPlan, FieldPlan, StaticPlan, tuple_code
from distgen.spec import Nested, Parameter, Static
from distgen.vocabulary import Word

_PARAMETERS = Word("Parameters", "parameters", ())
_CHECK = Word("Check", "parameters", ())
_STATIC = Word("Static", "fields", ())
_ARRAY = Word("Field", "fields", ())
# What each kind of nested parameter is: its place in the table, what converts it, and its type.
_CONVERT = {
    "distribution": Word("as_distribution", "conversion", ()),
    "bijector": Word("as_bijector", "conversion", ()),
}
_KINDS = {
    "distribution": (Word("Child", "fields", ()), "distribution", "Any"),
    "distributions": (Word("Child", "fields", ()), "distribution", "Any"),
    "bijector": (Word("Child", "fields", ()), "bijector", "Any"),
    "bijectors": (Word("Child", "fields", ()), "bijector", "list[Any]"),
    "function": (Word("Function", "fields", ()), "", "FunctionParameter"),
    "pytree": (Word("Pytree", "fields", ()), "", "Any"),
}
_FUNCTION_PARAMETER = Word("FunctionParameter", "functions", ())


@dataclass
class _Found:
    """What the plan of one parameter needs beside it."""

    words: list[Word] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def take(self, resolved: tuple[Word, str] | Word | Diagnostic | None) -> str | None:
        """The code of what was resolved."""
        match resolved:
            case Diagnostic():
                self.diagnostics.append(resolved)
            case Word():
                self.words.append(resolved)
                return resolved.name
            case (word, code):
                self.words.append(word)
                return code
        return None


def plan_parameters(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    model = context.spec.model
    fields: list[FieldPlan] = []
    statics: list[StaticPlan] = []
    settings: list[str] = []
    found = _Found([_PARAMETERS])
    for name, parameter in model.parameters.items():
        match parameter:
            case Static():
                statics.append(_plan_static(context, found, name, parameter))
            case Nested(kind="setting"):
                settings.append(name)
            case Nested():
                fields.append(_plan_nested(context, plan, found, name, parameter))
            case Parameter():
                fields += _plan_arrays(context, plan, found, name, parameter)
    table_code = [("settings", literal(tuple(settings)))] if settings else []
    for key in ("exactly_one_of", "at_least_one_of", "at_most_one_of"):
        if names := getattr(model, key):
            table_code.append((key, literal(names)))
    if model.dimensions:
        table_code.append(("smallest", repr({str(k): v for k, v in model.dimensions.items()})))
    if checks := [_plan_check(context, found, i, check) for i, check in enumerate(model.checks)]:
        table_code.append(("checks", tuple_code(checks)))
    plan = replace(
        plan,
        fields=tuple(fields),
        statics=tuple(statics),
        settings=tuple(settings),
        table_code=tuple(table_code),
        words=plan.words + tuple(found.words),
    )
    return plan, found.diagnostics


def _plan_arrays(
    context: Context, plan: ClassPlan, found: _Found, name: str, parameter: Parameter
) -> list[FieldPlan]:
    """The field of an argument that is an array, or the several ones that are made from it."""
    model = context.spec.model
    arrays = {p: repr(p) for p, value in model.parameters.items() if isinstance(value, Parameter)}
    span = context.spec.at("parameters", name, "constraint")
    constraints = context.vocabulary.constraints
    constraint_code = found.take(resolve_call(parameter.constraint, constraints, "constraint", arrays, span))
    found.words.append(_ARRAY)
    is_optional = not parameter.default and _may_be_absent(plan, name)
    base = FieldPlan(
        name=parameter.finished or name,
        argument=name,
        attribute=parameter.attribute or f"_{parameter.finished or name}",
        kind="Field",
        annotation="Array",
        event=parameter.event,
        constraint=str(parameter.constraint),
        constraint_code=constraint_code or "",
        doc=parameter.doc,
        options_code=(),
        is_optional=is_optional,
        is_floating=parameter.dtype == "floating",
    )
    shared = {
        "dtype": literal(parameter.dtype) if parameter.dtype != "floating" else None,
        "extends_batch": None if parameter.extends_batch else "False",
        "shared": "True" if parameter.shared else None,
        "requires": literal(parameter.requires) if parameter.requires else None,
        "optional": "True" if is_optional else None,
    } | _common_options(context, found, name, parameter)
    where = ("parameters", name)
    made = []
    for finished, part in parameter.makes.items():
        finish = _plan_finish(
            context, found, part.finish, context.spec.at(*where, "makes", finished, "finish")
        )
        options = {"argument": literal(name), "argument_event": literal(parameter.event)} | finish | shared
        one = replace(base, name=finished, attribute=f"_{finished}", event=part.event, doc=part.doc)
        made.append(_complete(plan, one, options))
    if made:
        return made
    options = {
        "argument": literal(name) if base.name != name else None,
        "argument_event": literal(parameter.argument_event) if parameter.argument_event else None,
    }
    if parameter.finish is not None:
        options |= _plan_finish(context, found, parameter.finish, context.spec.at(*where, "finish"))
    if parameter.default is not None:
        span = context.spec.at(*where, "default")
        words = context.vocabulary.defaults
        options["default"] = found.take(resolve_bare(parameter.default, words, "default", span))
    return [_complete(plan, base, options | shared)]


def _plan_nested(context: Context, plan: ClassPlan, found: _Found, name: str, parameter: Nested) -> FieldPlan:
    kind, conversion, annotation = _KINDS[parameter.kind]
    found.words.append(kind)
    options: dict[str, str | None] = {}
    if conversion:
        found.words.append(_CONVERT[conversion])
        options["convert"] = _CONVERT[conversion].name
        options["is_list"] = "True" if parameter.kind == "bijectors" else None
    if parameter.kind == "function":
        found.words.append(_FUNCTION_PARAMETER)
    # A function or a pytree that is not given is one without leaves.
    options["required"] = "False" if _may_be_absent(plan, name) and not conversion else None
    nested = FieldPlan(
        name=name,
        argument=name,
        attribute=parameter.attribute or f"_{name}",
        kind=kind.name,
        annotation=annotation,
        event=(),
        constraint=parameter.kind,
        constraint_code="",
        doc=parameter.doc,
        options_code=(),
        is_optional=False,
        is_floating=False,
    )
    return _complete(plan, nested, options | _common_options(context, found, name, parameter))


def _complete(plan: ClassPlan, planned: FieldPlan, options: Mapping[str, str | None]) -> FieldPlan:
    """A field with its options. One that is stored under another name leaves its property to distrax."""
    attribute = literal(planned.attribute) if planned.attribute != f"_{planned.name}" else None
    event = literal(planned.event) if planned.event else None
    listed = {"event": event, "attribute": attribute} | dict(options)
    return replace(
        planned,
        options_code=tuple((key, code) for key, code in listed.items() if code is not None),
        has_property=attribute is not None
        or planned.name in plan.wrapped.properties
        or planned.name in plan.wrapped.methods,
    )


def _common_options(
    context: Context, found: _Found, name: str, parameter: Parameter | Nested
) -> dict[str, str | None]:
    options: dict[str, str | None] = {"inner": None, "source": None}
    parameters = context.spec.model.parameters.items()
    statics = {n: value.attribute or f"_{n}" for n, value in parameters if isinstance(value, Static)}
    if parameter.inner != 0:
        span = context.spec.at("parameters", name, "inner")
        options["inner"] = _plan_inner(context, found, parameter.inner, statics, span)
    if parameter.source is not None:
        options["source"] = _plan_source(context, found, parameter.source, ("parameters", name, "source"))
    return options


def _plan_inner(
    context: Context, found: _Found, inner: Expression | int, statics: Mapping[str, str], span: Span
) -> str | None:
    if isinstance(inner, int):
        return repr(inner)
    names = {s: f"owner.{attribute}" for s, attribute in statics.items()}
    if inner.arguments is None and inner.function in names:
        return f"lambda owner: {names[inner.function]}"
    code = found.take(resolve_call(inner, context.vocabulary.mathematics, "function", names, span))
    return f"lambda owner: {code}"


def _plan_source(context: Context, found: _Found, source: Expression, path: tuple[str, ...]) -> str | None:
    if source.arguments is None:
        return literal(source.function)
    names = {name: f"other.{name}" for name in source.names}
    span = context.spec.at(*path)
    code = found.take(resolve_call(source, context.vocabulary.mathematics, "function", names, span))
    return f"lambda other: {code}"


def _plan_finish(context: Context, found: _Found, finish: Expression, span: Span) -> dict[str, str | None]:
    """The function that finishes an array, its first argument; the others are statics and settings."""
    word = resolve_word(finish, context.vocabulary.finishing, "finishing function", span)
    if isinstance(word, Diagnostic):
        found.diagnostics.append(word)
        return {}
    parameters = context.spec.model.parameters
    choices = {n: n for n, value in parameters.items() if isinstance(value, Static | Nested)}
    tail = replace(word, arguments=(word.arguments or ())[1:] or None)
    if found.take(resolve_call(finish, {word.name: tail}, "finishing function", choices, span)) is None:
        return {}
    if numbers := [a for a in finish.arguments or () if not isinstance(a, str)]:
        message = f"unknown name '{numbers[0]}' in '{word.name}(...)'"
        found.diagnostics.append(Diagnostic("DG210", message, span, valid_choices(choices)))
    return {"finish": word.name, "finish_with": literal(finish.names) if finish.names else None}


def _plan_check(context: Context, found: _Found, index: int, check: Expression) -> str:
    span = context.spec.at("checks", index)
    names = {
        finished: finished
        for name, value in context.spec.model.parameters.items()
        for finished in (
            (value.makes or (value.finished or name,)) if isinstance(value, Parameter) else (name,)
        )
    }
    found.take(resolve_call(check, context.vocabulary.checks, "check", names, span))
    found.words.append(_CHECK)
    return f"Check({check.function}, {literal(check.names)})"


def _may_be_absent(plan: ClassPlan, name: str) -> bool:
    """Whether the argument may be left out; one that distrax lacks may."""
    arguments = {a.name: a.default for a in plan.wrapped.arguments}
    return arguments.get(name, "None") == "None"


def _plan_static(context: Context, found: _Found, name: str, static: Static) -> StaticPlan:
    span = context.spec.at("parameters", name, "static")
    word = resolve_word(static.static, context.vocabulary.statics, "static", span)
    if isinstance(word, Diagnostic):
        found.diagnostics.append(word)
        return StaticPlan(name, f"_{name}", "", (), "", "", (), static.doc)
    others = {n: n for n in context.spec.model.parameters if n != name}
    tail = replace(word, arguments=(word.arguments or ())[1:] or None)
    found.take(resolve_call(static.static, {word.name: tail}, "static", others, span))
    found.words.append(_STATIC)
    options: list[tuple[str, str]] = []
    if static.attribute is not None:
        options.append(("attribute", literal(static.attribute)))
    if static.source is not None:
        code = _plan_source(context, found, static.source, ("parameters", name, "source"))
        options.append(("source", code or ""))
    return StaticPlan(
        name=name,
        attribute=static.attribute or f"_{name}",
        finish_code=word.name,
        finish_with=static.static.names,
        annotation=word.annotation,
        stored_annotation=word.returns,
        options_code=tuple(options),
        doc=static.doc,
    )

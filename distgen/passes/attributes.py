"""What distrax stores on an instance: each attribute is a finished parameter, a static, or derived."""

from __future__ import annotations

from dataclasses import replace

from distgen.diagnostics import Diagnostic, did_you_mean, valid_choices
from distgen.expression import Expression
from distgen.passes.context import Context, resolve_call
from distgen.plan import ClassPlan, DerivedPlan
from distgen.vocabulary import Word

# Shapes and dtype that distrax caches; the generated properties of the same name take their place.
SHAPES = {
    "_batch_shape": ("tuple[int, ...]", "self.batch_shape"),
    "_event_shape": ("tuple[int, ...]", "self.event_shape"),
    "_dtype": ("Any", "self.dtype"),
}


def plan_attributes(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    spec = context.spec
    stored = set(plan.wrapped.attributes)
    own = {x.attribute for x in plan.stored}
    names = {x.name: f"self.{x.attribute}" for x in plan.stored}
    # That the spec lacks an argument is said once, by the pass on the signature.
    lacking = {
        a.name: f"self._{a.name}" for a in plan.wrapped.arguments if a.name not in spec.model.parameters
    }
    names |= lacking
    derived: list[DerivedPlan] = []
    words: list[Word] = []
    diagnostics: list[Diagnostic] = []

    for name, expression in spec.model.derived.items():
        span = spec.at("derived", name)
        if name not in stored and name in spec.model.only_if_stored:
            continue
        if name not in stored or name in own:
            message = f"{spec.model.wraps} does not store '{name}'"
            if name in own:
                message = f"'{name}' is a parameter, and so cannot be derived"
            hint = did_you_mean(name, stored - own, otherwise=valid_choices(stored - own))
            diagnostics.append(Diagnostic("DG307", message, spec.at_key("derived", name), hint))
        elif not isinstance(expression, Expression):
            annotation = "None" if expression is None else type(expression).__name__
            derived.append(DerivedPlan(name, annotation, repr(expression), is_constant=True))
        else:
            call = resolve_call(expression, context.vocabulary.mathematics, "function", names, span)
            if isinstance(call, Diagnostic):
                diagnostics.append(call)
            else:
                words.append(call[0])
                derived.append(DerivedPlan(name, call[0].returns, call[1], is_constant=False))
        names[name] = f"self.{name}"

    # A method that distrax binds to the instance is accounted for where the spec mends it.
    accounted = own | {*spec.model.derived, *spec.model.methods} | {f"_{name}" for name in lacking}
    for name, (annotation, code) in SHAPES.items():
        if name in stored - accounted:
            derived.append(DerivedPlan(name, annotation, code, is_constant=False))
    for name in sorted(stored - accounted - set(SHAPES)):
        message = f"{spec.model.wraps} stores '{name}', which the spec leaves unaccounted for"
        hint = f"derive it from the parameters: under 'derived', write {name}: function(parameter, ...)"
        diagnostics.append(Diagnostic("DG308", message, spec.at_key("wraps"), hint))
    return replace(plan, derived=tuple(derived), words=plan.words + tuple(words)), diagnostics

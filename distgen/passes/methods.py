"""Methods that are not inherited as they are."""

from __future__ import annotations

from dataclasses import replace

from distgen.catalog import Argument
from distgen.diagnostics import Diagnostic, did_you_mean, valid_choices
from distgen.passes.context import STARS, Context, default_code, resolve_bare, resolve_call
from distgen.plan import ArgumentPlan, ClassPlan, MethodPlan
from distgen.spec import Distribution, Method
from distgen.vocabulary import Word

_KEEP_DTYPE = Word("keep_dtype", "dtypes", ())
_WIDENED = Word("widened", "dtypes", ())
_REGISTER = Word("register_divergence", "registration", ())
# Arguments of samplers, which say nothing about the dtype of a result. Those of other methods may widen it.
_OF_DRAWS = frozenset({"key", "n", "sample_shape", "seed"})


def plan_methods(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    methods: list[MethodPlan] = []
    words: list[Word] = []
    diagnostics: list[Diagnostic] = []
    for name, method in context.spec.model.methods.items():
        planned = _plan_method(context, plan, name, method)
        if isinstance(planned, Diagnostic):
            diagnostics.append(planned)
        else:
            methods.append(planned[0])
            words.append(planned[1])
    plan = replace(plan, methods=tuple(methods), words=plan.words + tuple(words))
    plan, found = _plan_divergence(context, plan)
    return plan, diagnostics + found


def _plan_divergence(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    model = context.spec.model
    if not isinstance(model, Distribution) or model.kl_divergence is None:
        return plan, []
    span = context.spec.at("kl_divergence")
    word = resolve_bare(model.kl_divergence, context.vocabulary.divergences, "divergence", span)
    if isinstance(word, Diagnostic):
        return plan, [word]
    return replace(plan, divergence_code=word.name, words=(*plan.words, word, _REGISTER)), []


def _plan_method(
    context: Context, plan: ClassPlan, name: str, method: Method
) -> tuple[MethodPlan, Word] | Diagnostic:
    spec, known = context.spec, plan.wrapped.methods
    if name not in known:
        message = f"{spec.model.wraps} has no method '{name}'"
        hint = did_you_mean(name, known, otherwise=valid_choices(known))
        return Diagnostic("DG309", message, spec.at_key("methods", name), hint)
    if (method.use is None) == (method.inherited is None):
        message = f"method '{name}' needs one of the keys 'use' and 'inherited', and only one"
        hint = "write use: function(parameter, ...), or inherited: kept"
        return Diagnostic("DG211", message, spec.at_key("methods", name), hint)
    inherited = known[name]
    if opaque := next((a for a in inherited if a.default and default_code(a.default) is None), None):
        message = (
            f"the default of '{opaque.name}' in {spec.model.wraps}.{name}, {opaque.default}, is not a literal"
        )
        hint = "leave the method as it is inherited"
        return Diagnostic("DG306", message, spec.at_key("methods", name), hint)
    arguments = _arguments(inherited)
    if method.use is None:
        word, body = _inherited_code(plan, name, method, inherited)
        return MethodPlan(name, arguments, "Any", body, method.because), word
    names = {x.name: f"self.{x.attribute}" for x in plan.stored}
    names |= {d.name: f"self.{d.name}" for d in plan.derived} | {a.name: a.name for a in inherited}
    span = spec.at("methods", name, "use")
    call = resolve_call(method.use, context.vocabulary.mathematics, "function", names, span)
    if isinstance(call, Diagnostic):
        return call
    word, body = call
    return MethodPlan(name, arguments, word.returns, body, method.because), word


def _inherited_code(
    plan: ClassPlan, name: str, method: Method, inherited: tuple[Argument, ...]
) -> tuple[Word, str]:
    passed = ", ".join(map(_passed, inherited))
    seen = "".join(f", {a.name}" for a in inherited if a.name not in _OF_DRAWS)
    dtype = plan.parameter_dtype_code
    if method.inherited == "kept":
        return _KEEP_DTYPE, f"keep_dtype(super().{name}({passed}), {dtype}{seen})"
    # In a lambda `super()` is bound to its argument, which here is a wider object of the same class.
    return _WIDENED, f"widened(lambda d: super().{name}({passed}), self, {dtype}{seen})"


def _arguments(inherited: tuple[Argument, ...]) -> tuple[ArgumentPlan, ...]:
    # Behind a starred argument all others are keyword-only, without a star of their own.
    has_star = any(a.kind == "var_positional" for a in inherited)
    return tuple(
        ArgumentPlan(
            name=STARS.get(a.kind, "") + a.name,
            annotation="Any",
            default_code=default_code(a.default) if a.default else None,
            is_keyword_only=a.kind == "keyword" and not has_star,
        )
        for a in inherited
    )


def _passed(argument: Argument) -> str:
    name = argument.name
    return f"{name}={name}" if argument.kind == "keyword" else f"{STARS.get(argument.kind, '')}{name}"

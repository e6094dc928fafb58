"""Names that a generated module takes for itself, and that no spec may take from it."""

from __future__ import annotations

from collections.abc import Iterator

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, FieldPlan, StaticPlan

IMPORTS = frozenset(
    {
        "Any",
        "Array",
        "ArrayLike",
        "ClassVar",
        "Constraint",
        "DTypeLike",
        "Check",
        "Child",
        "Field",
        "Finished",
        "FinishedBijector",
        "FinishedDistribution",
        "Function",
        "FunctionParameter",
        "Iterable",
        "Mapping",
        "Parameters",
        "Pytree",
        "Self",
        "Static",
    }
)
MEMBERS = frozenset(
    {
        "_at",
        "_broadcast",
        "_distgen_layout",
        "_distrax_attributes",
        "_finish",
        "_is_weak",
        "_from_distrax",
        "_leaves",
        "_parameterization",
        "_parameters",
        "_present",
        "_with",
        "_wrapped",
        "batch_shape",
        "constraints",
        "event_shape",
        "finished",
        "from_finished",
        "replace",
        "support",
        "to_distrax",
        "tree_flatten",
        "tree_unflatten",
    }
)
LOCALS = frozenset({"cls", "object", "other", "owner", "self"})


# Properties of every distribution. A static may be called `dtype`, which is then that of samples.
PROPERTIES = frozenset({"dtype", "name"})


def check_names(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    return plan, list(_reserved(context, plan))


def _reserved(context: Context, plan: ClassPlan) -> Iterator[Diagnostic]:
    spec, methods = context.spec, plan.wrapped.methods
    if plan.name in IMPORTS or plan.name == plan.base_module.partition(".")[0]:
        message = f"'{plan.name}' is a name that generated modules import"
        yield Diagnostic("DG215", message, spec.at(spec.kind), "give the class another name")
    for field in plan.stored:
        argument = field.argument if isinstance(field, FieldPlan) else field.name
        span = spec.at_key("parameters", argument)
        # Stored under another name, it leaves its own to the method.
        names = {field.attribute} if field.attribute != f"_{field.name}" else {field.name, field.attribute}
        if hidden := sorted(names & methods.keys(), reverse=True):
            taken = hidden[0]
            message = f"the parameter '{field.name}' would hide the method '{taken}' of {spec.model.wraps}"
        elif field.name in MEMBERS | LOCALS or field.attribute in MEMBERS or _hides(field):
            message = f"the parameter '{field.name}' would hide a name that generated classes use"
        else:
            continue
        yield Diagnostic("DG215", message, span, "give it another name with 'finished'")
    for key in ("derived", "methods"):
        for name in getattr(spec.model, key):
            if name in MEMBERS:
                message = f"'{name}' is a name that generated classes use"
                yield Diagnostic("DG215", message, spec.at_key(key, name), "leave it out")


def _hides(field: FieldPlan | StaticPlan) -> bool:
    return isinstance(field, FieldPlan) and field.name in PROPERTIES

"""From a spec to the plan of a class.

Each pass is a function `(Context, ClassPlan) -> (ClassPlan, diagnostics)` in a file of its own that fills in
one part of the plan. A pass reads what those before it have filled in, and nothing of what follows.
"""

from __future__ import annotations

from distgen.catalog import Catalog
from distgen.diagnostics import Diagnostic
from distgen.passes import (
    attributes,
    documentation,
    methods,
    parameters,
    reserved,
    shapes,
    signature,
    support,
    variants,
)
from distgen.passes.context import Context
from distgen.passes.wrapping import begin
from distgen.plan import ClassPlan
from distgen.spec import Spec
from distgen.vocabulary import Vocabulary

PASSES = (
    parameters.plan_parameters,  # which arrays and statics there are, and how each is finished
    reserved.check_names,  # no name of the spec takes one that the module needs
    signature.plan_signature,  # the constructor, which is distrax's
    variants.plan_variants,  # the parameterisations and their leaves
    attributes.plan_attributes,  # what distrax stores and the leaves determine
    shapes.plan_shapes,  # batch shape, event shape and dtype from the leaves
    support.plan_support,  # where events live
    methods.plan_methods,  # methods that are not inherited as they are
    documentation.plan_documentation,  # docstrings
)


def compile_spec(
    spec: Spec, catalog: Catalog, vocabulary: Vocabulary
) -> tuple[ClassPlan | None, list[Diagnostic]]:
    """The plan of the class that `spec` describes, or all that keeps it from being one."""
    context = Context(spec, catalog, vocabulary)
    plan, diagnostics = begin(context)
    if plan is None:
        return None, diagnostics
    for run in PASSES:
        plan, found = run(context, plan)
        diagnostics += found
    return plan, diagnostics

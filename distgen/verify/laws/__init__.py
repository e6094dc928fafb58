"""The laws, by number. What is not here is put to whole packages (18: imports) in the tests."""

from __future__ import annotations

from distgen.verify.laws import distrax, structure, transformations
from distgen.verify.laws.registry import Law

LAWS: tuple[Law, ...] = (
    structure.only_finished_parameters,
    structure.fixed_structure,
    structure.blind_unflattening,
    structure.named_leaves,
    structure.round_trips,
    transformations.jit,
    transformations.one_trace,
    transformations.batch_first,
    transformations.control_flow,
    transformations.derivatives,
    distrax.same_interface,
    distrax.same_values,
    distrax.composable,
    distrax.dtype_kept,
)

"""All laws, in the order of their numbers. docs/laws.md says why each of them matters."""

from __future__ import annotations

from distgen.verify.laws import (
    cost,
    departures,
    distrax,
    everywhere,
    imports,
    sharding,
    statistics,
    structure,
    transformations,
)
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
    sharding.sharding,
    distrax.same_interface,
    distrax.same_values,
    departures.departures,
    distrax.composable,
    distrax.dtype_kept,
    cost.cost,
    imports.imports,
    everywhere.every_platform,
    statistics.statistical_agreement,
    everywhere.every_device,
)
BY_NUMBER = {law.number: law for law in LAWS}

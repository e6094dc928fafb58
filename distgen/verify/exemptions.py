"""What is exempt from a law, and why: one list, for the laws and for whoever reads their report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from distgen.verify.subjects import Subject


@dataclass(frozen=True)
class Exemption:
    """A part of some classes that a law does not ask about.

    Attributes:
        law: the number of the law.
        kinds: the kinds of fields (see `distgen.plan.FieldPlan`) that are exempt.
        reason: why the law cannot hold.
    """

    law: int
    kinds: tuple[str, ...]
    reason: str


EXEMPTIONS = (
    Exemption(
        8,
        ("Function", "Pytree"),
        "The arrays that a function takes are one for the whole batch: nothing tells which of their "
        "dimensions would be those of a batch. `vmap` and `scan` over a stacked object do map them.",
    ),
)


def reasons_for(law: int, subject: Subject) -> tuple[str, ...]:
    """Why a law does not ask about all of a class; empty if it does."""
    kinds = {f.kind for f in subject.plan.fields}
    return tuple(e.reason for e in EXEMPTIONS if e.law == law and kinds & {*e.kinds})


def leaves_under(law: int, d: Any) -> dict[str, Any]:
    """The leaves of an object that a law asks about, by path."""
    kinds = {kind for exemption in EXEMPTIONS if exemption.law == law for kind in exemption.kinds}
    leaves = jax.tree_util.tree_leaves_with_path(d)
    return {jax.tree_util.keystr(path): leaf for path, leaf in leaves if not _is_within(path, d, kinds)}


def _is_within(path: tuple[Any, ...], d: Any, kinds: set[str]) -> bool:
    """Whether the leaf at `path` lies in a field of one of the kinds, of the object or of a nested one."""
    for key in path:
        table = getattr(type(d), "_parameters", None)
        if table is None and not isinstance(d, list | tuple | dict):
            # A class that tells no kinds has no exempt leaves.
            return False
        if table is None:
            d = d[key.key if hasattr(key, "key") else key.idx]
        elif any(type(f).__name__ in kinds for f in table.fields if f.name == key.name):
            return True
        else:
            d = d.finished()[key.name]
    return False

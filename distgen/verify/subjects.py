"""What is put to the laws: a generated class, the plan that it was made from, and the class it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from distgen.compiler import compile_specs, read_specs
from distgen.diagnostics import render_text
from distgen.plan import ClassPlan
from distgen.spec import SpecModel


@dataclass(frozen=True)
class Subject:
    """A class under the laws."""

    plan: ClassPlan
    spec: SpecModel
    generated: Any
    wrapped: Any

    def __repr__(self) -> str:
        return self.plan.name

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # The protocol by which hypothesis shows an argument.
        printer.text(repr(self))

    @property
    def is_composite(self) -> bool:
        """Whether it takes other things than arrays and statics."""
        return bool(self.plan.settings) or not all(f.is_array for f in self.plan.fields)


def load_subjects(specs: Sequence[Path], package: str, root: Path | None = None) -> list[Subject]:
    """The classes of `package` that were generated from `specs`.

    Raises:
        ValueError: if the specs do not compile.
    """
    files, diagnostics = read_specs(specs, root)
    compilation, found = compile_specs(files)
    if diagnostics or found:
        raise ValueError("\n".join(map(render_text, [*diagnostics, *found])))
    generated = import_module(package)
    return [
        Subject(
            plan=plan,
            spec=compilation.specs[name].model,
            generated=getattr(generated, name),
            wrapped=getattr(import_module(plan.base_module), plan.base_code.rpartition(".")[2]),
        )
        for name, plan in sorted(compilation.plans.items())
    ]

"""What is put to the laws: a class, the plan of its spec, and the class of distrax that it replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from distgen.compiler import compile_specs, read_specs
from distgen.diagnostics import did_you_mean, render_text, valid_choices
from distgen.plan import ClassPlan
from distgen.runtime import constraints
from distgen.runtime.constraints import Constraint
from distgen.spec import Distribution, SpecModel

GENERATED = "generated"
BASELINE = "distrax"


@dataclass(frozen=True)
class Subject:
    """A class under the laws.

    Attributes:
        plan: what its spec is compiled to.
        spec: its spec.
        generated: the class itself: the generated one, or one that stands in its place.
        wrapped: the class of distrax, or whichever the spec wraps.
        source: the file of the spec.
        origin: whose class it is: `GENERATED`, `BASELINE`, or the name of a module.
    """

    plan: ClassPlan
    spec: SpecModel
    generated: Any
    wrapped: Any
    source: str = ""
    origin: str = GENERATED

    def __repr__(self) -> str:
        return self.plan.name

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # The protocol by which hypothesis shows an argument.
        printer.text(repr(self))

    @property
    def is_composite(self) -> bool:
        """Whether it takes other things than arrays and statics."""
        return bool(self.plan.settings) or not all(f.is_array for f in self.plan.fields)

    @property
    def is_finished(self) -> bool:
        """Whether it tells its finished parameters, as generated classes do."""
        return hasattr(self.generated, "from_finished")

    @property
    def support(self) -> Constraint:
        """Where the events of a distribution live.

        Raises:
            TypeError: for another kind of class.
        """
        if not isinstance(self.spec, Distribution):
            raise TypeError(f"{self} is no distribution")
        expression = self.spec.support
        word: Any = getattr(constraints, expression.function)
        constraint: Constraint = word if expression.arguments is None else word(*expression.arguments)
        return constraint


# The classes to make children of, by the class that each replaces.
Subjects = Mapping[Any, Subject]


def load_subjects(specs: Sequence[str | Path], package: str, root: Path | None = None) -> list[Subject]:
    """The classes of `package` that were generated from `specs`, in the order of their names.

    Raises:
        ValueError: if the specs do not compile.
        ModuleNotFoundError, AttributeError: if the package, or one of its classes, is not there.
    """
    home = import_module(package)
    return [
        replace(s, generated=getattr(home, repr(s)), origin=GENERATED) for s in load_baseline(specs, root)
    ]


def load_baseline(specs: Sequence[str | Path], root: Path | None = None) -> list[Subject]:
    """The classes that `specs` wrap, each in its own place: what the laws find of distrax itself.

    Raises:
        ValueError: if the specs do not compile.
    """
    files, diagnostics = read_specs([*map(Path, specs)], root)
    compilation, found = compile_specs(files)
    if diagnostics or found:
        raise ValueError("\n".join(map(render_text, [*diagnostics, *found])))
    subjects = []
    for name, plan in sorted(compilation.plans.items()):
        wrapped = getattr(import_module(plan.base_module), plan.base_code.rpartition(".")[2])
        spec = compilation.specs[name]
        subjects.append(Subject(plan, spec.model, wrapped, wrapped, spec.name, BASELINE))
    return subjects


def place(baseline: Sequence[Subject], path: str) -> Subject:
    """The class at `path`, written `module:Class`, in the place of the one whose spec has its name or wraps
    a base of it.

    Raises:
        ValueError: if there is no such class, or no such spec.
    """
    module, _, name = path.partition(":")
    try:
        cls = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"there is no class at '{path}', expected 'package.module:Class': {error}"
        ) from error
    if not isinstance(cls, type):
        raise ValueError(f"'{path}' is no class")
    named = [s for s in baseline if repr(s) == name]
    bases = [s for base in cls.__mro__ for s in baseline if s.wrapped is base]
    if not (named or bases):
        known = [repr(s) for s in baseline]
        hint = did_you_mean(name, known, otherwise=valid_choices(known))
        raise ValueError(f"no spec describes '{path}' or a class that it derives from; {hint}")
    return replace((named or bases)[0], generated=cls, origin=module)

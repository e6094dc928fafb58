"""The plan of a generated class: what the template prints.

Texts that end in `_code` are Python that a pass has put together from literals made by `repr` and from
names checked to be identifiers; nothing else reaches a template.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from distgen.catalog import ClassEntry
from distgen.vocabulary import Word

_BRANCHES = 3


@dataclass(frozen=True, slots=True)
class ArgumentPlan:
    """An argument of a generated constructor or method."""

    name: str
    annotation: str
    default_code: str | None = None
    is_keyword_only: bool = False

    @property
    def code(self) -> str:
        default = "" if self.default_code is None else f" = {self.default_code}"
        return f"{self.name}: {self.annotation}{default}"


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """A finished parameter. `options_code` are the keyword arguments of its entry in the table, a `kind`."""

    name: str
    argument: str
    attribute: str
    kind: str
    annotation: str
    event: tuple[str, ...]
    constraint: str
    constraint_code: str
    doc: str
    options_code: tuple[tuple[str, str], ...]
    is_optional: bool
    is_floating: bool
    has_property: bool = False

    @property
    def is_array(self) -> bool:
        return self.kind == "Field"


@dataclass(frozen=True, slots=True)
class StaticPlan:
    """A structural argument. `options_code` are the keyword arguments of its entry in the table."""

    name: str
    attribute: str
    finish_code: str
    finish_with: tuple[str, ...]
    annotation: str
    stored_annotation: str
    options_code: tuple[tuple[str, str], ...]
    doc: str
    default_code: str | None = None

    @property
    def table_code(self) -> str:
        """Its entry in the table."""
        parts = [repr(self.name), self.finish_code]
        parts += [repr(self.finish_with)] if self.finish_with else []
        return f"Static({', '.join([*parts, *(f'{key}={code}' for key, code in self.options_code)])})"

    @property
    def call_code(self) -> str:
        """The finished value, from the arguments of `from_finished`."""
        return f"{self.finish_code}({', '.join((self.name, *self.finish_with))})"


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """A parameterisation: its name and the fields that are its leaves."""

    label: str
    fields: tuple[FieldPlan, ...]

    @property
    def leaves_code(self) -> str:
        return tuple_code(f"self.{f.attribute}" for f in self.fields)

    @property
    def targets_code(self) -> str:
        """The leaves as targets of an assignment."""
        return targets_code(f"self.{f.attribute}" for f in self.fields)

    @property
    def mapping_code(self) -> str:
        return f"{{{', '.join(f'{f.name!r}: self.{f.attribute}' for f in self.fields)}}}"


@dataclass(frozen=True, slots=True)
class DerivedPlan:
    """An attribute of distrax that the parameters determine: computed where it is read, or a constant."""

    name: str
    annotation: str
    code: str
    is_constant: bool


@dataclass(frozen=True, slots=True)
class MethodPlan:
    name: str
    arguments: tuple[ArgumentPlan, ...]
    annotation: str
    body_code: str
    reason: str

    @property
    def signature_code(self) -> str:
        return signature_code("self", self.arguments)


@dataclass(frozen=True, slots=True)
class DocPlan:
    """Docstrings, as code."""

    module_code: str
    class_code: str
    init_code: str
    fields_code: dict[str, str]
    methods_code: dict[str, str]


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """One generated class. The passes fill it in, in the order of `distgen.passes.PASSES`."""

    name: str
    kind: Literal["distribution", "bijector", "model"]
    module: str
    summary: str
    wrapped: ClassEntry
    base_module: str
    base_code: str
    arguments: tuple[ArgumentPlan, ...] = ()
    fields: tuple[FieldPlan, ...] = ()
    statics: tuple[StaticPlan, ...] = ()
    settings: tuple[str, ...] = ()
    table_code: tuple[tuple[str, str], ...] = ()
    variants: tuple[VariantPlan, ...] = ()
    support: str = ""
    support_code: str = ""
    derived: tuple[DerivedPlan, ...] = ()
    present_code: str = ""
    batch_shape_code: str = ""
    event_shape: tuple[str, ...] = ()
    event_shape_code: str = ""
    dtype_code: str = ""
    parameter_dtype_code: str = ""
    divergence_code: str = ""
    methods: tuple[MethodPlan, ...] = ()
    docs: DocPlan | None = None
    words: tuple[Word, ...] = ()

    @property
    def stored(self) -> tuple[FieldPlan | StaticPlan, ...]:
        """What an instance holds."""
        return (*self.fields, *self.statics)

    @property
    def signature_code(self) -> str:
        """The arguments of the constructor."""
        return signature_code("self", self.arguments)

    @property
    def finished_signature_code(self) -> str:
        """The arguments of `from_finished`: the finished parameters and the statics, by name."""
        fields = [
            ArgumentPlan(
                f.name,
                f"{f.annotation} | None" if f.is_optional else f.annotation,
                "None" if f.is_optional else None,
                True,
            )
            for f in self.fields
        ]
        statics = [ArgumentPlan(s.name, s.annotation, s.default_code, True) for s in self.statics]
        return signature_code("cls", [*fields, *statics])

    @property
    def call_code(self) -> str:
        """The arguments of the constructor, passed on by name."""
        return ", ".join(f"{a.name}={a.name}" for a in self.arguments)

    @property
    def given_code(self) -> str:
        """The finished parameters that `from_finished` takes, by name."""
        return f"{{{', '.join(f'{f.name!r}: {f.name}' for f in self.fields)}}}"

    @property
    def constraints_code(self) -> dict[str, str]:
        """The constraint of each argument that is an array."""
        return {f.argument: f.constraint_code for f in self.fields if f.is_array}

    @property
    def batch_shape_doc(self) -> str:
        if self.kind == "distribution":
            return "The shape of a batch of events."
        return "The shape to which the parameters broadcast, without their event dimensions."

    @property
    def dtype_doc(self) -> str:
        return "The dtype of an event." if self.kind == "distribution" else "The dtype of the parameters."

    @property
    def mapping_code(self) -> str:
        """All finished parameters by name."""
        return f"{{{', '.join(f'{f.name!r}: self.{f.attribute}' for f in self.fields)}}}"

    @property
    def finished_annotation(self) -> str:
        """The type of a finished parameter, of whatever kind."""
        return "Array" if all(f.is_array for f in self.fields) else "Any"

    @property
    def has_many_variants(self) -> bool:
        """Whether a table of leaves reads better than a branch for each parameterisation."""
        return len(self.variants) > _BRANCHES

    @property
    def leaves_table_code(self) -> str:
        """The attributes that are leaves, by parameterisation."""
        rows = (f"{v.label!r}: {tuple(f.attribute for f in v.fields)!r}" for v in self.variants)
        return f"{{{', '.join(rows)}}}"

    @property
    def distrax_attributes_code(self) -> str:
        """What distrax stores on an instance."""
        return repr(tuple(sorted(self.wrapped.attributes)))

    @property
    def base(self) -> str:
        """The class of the runtime that it derives from."""
        bases = {"distribution": "FinishedDistribution", "bijector": "FinishedBijector", "model": "Finished"}
        return bases[self.kind]

    @property
    def aux(self) -> list[str]:
        """The static part of the pytree: the parameterisation where there are several, and the statics."""
        names = ["_parameterization"] if len(self.variants) > 1 else []
        return [f"self.{name}" for name in [*names, *(s.attribute for s in self.statics)]]

    @property
    def aux_code(self) -> str:
        return tuple_code(self.aux) if self.aux else "None"

    @property
    def aux_targets_code(self) -> str:
        return targets_code(self.aux)

    @property
    def imports(self) -> dict[str, list[str]]:
        """The names to import from each module of the runtime."""
        modules = sorted({word.module for word in self.words})
        return {m: sorted({word.name for word in self.words if word.module == m}) for m in modules}


def tuple_code(items: Iterable[str]) -> str:
    """A tuple of expressions as code."""
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def targets_code(items: Iterable[str]) -> str:
    """The targets of an assignment from an iterable as code."""
    listed = list(items)
    return ", ".join(listed) if len(listed) > 1 else f"({listed[0]},)" if listed else ""


def signature_code(first: str, arguments: Iterable[ArgumentPlan]) -> str:
    """The arguments of a method as code, with a star before those that are keyword-only."""
    parts = [first]
    for argument in arguments:
        if argument.is_keyword_only and "*" not in parts:
            parts.append("*")
        parts.append(argument.code)
    return ", ".join(parts)

"""What the catalog holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ArgumentKind = Literal["positional", "keyword", "var_positional", "var_keyword"]
ClassKind = Literal["distribution", "bijector", "other"]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a method. `default` and `annotation` are source text, or None where there is none."""

    name: str
    kind: ArgumentKind
    default: str | None
    annotation: str | None


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A class with all that it inherits.

    `bases` are those in distrax, nearest first, by public name if they have one. `arguments` are those of the
    constructor. `methods` gives the arguments of each method.
    """

    name: str
    module: str
    kind: ClassKind
    bases: tuple[str, ...]
    arguments: tuple[Argument, ...]
    attributes: tuple[str, ...]
    methods: Mapping[str, tuple[Argument, ...]]
    properties: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """The public classes of distrax by dotted name. `digest` identifies the source they were read from."""

    version: str
    digest: str
    classes: Mapping[str, ClassEntry]

"""What a user may say: the models of a spec.

The models are the reference of the spec language: `distgen schema` prints their JSON Schema, and the
tests hold `docs/spec-reference.md` to their fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from distgen.diagnostics import Span
from distgen.source import Document
from distgen.spelling import (
    ArgumentDimension,
    Attribute,
    ClassName,
    DerivedText,
    Dimension,
    DottedName,
    ExpressionText,
    MethodName,
    Name,
    Text,
)


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parameter(Model):
    """A constructor argument that becomes a finished parameter: an array, a leaf of the pytree."""

    doc: Text = Field(description="What it is, in one sentence; units or domain where they are not plain.")
    constraint: ExpressionText = Field(description="Where its values live: a constraint, such as `positive`.")
    event: Annotated[tuple[Dimension, ...], Field(strict=False)] = Field(
        default=(), description="The names of its event dimensions; `[]` for a scalar parameter."
    )
    finish: ExpressionText | None = Field(
        default=None,
        description="The function that finishes it, such as `normalize_logits`; its arguments are statics.",
    )
    finished: Name | None = Field(
        default=None, description="Its name once finished, where that differs from the argument's."
    )
    default: ExpressionText | None = Field(
        default=None,
        description="The function that makes it where the argument is not given, such as `zeros`.",
    )
    argument_event: Annotated[tuple[ArgumentDimension, ...], Field(strict=False)] = Field(
        default=(),
        description="The event dimensions of the argument, where they differ: `['1']` for one that "
        "distrax broadcasts against an event dimension. A scalar is then accepted too.",
    )
    requires: Name | None = Field(default=None, description="An argument that must be given with this one.")
    dtype: Name = Field(
        default="floating",
        description="`floating`: the common floating dtype of the parameters; `own`: that of the argument; "
        "or the name of a static that holds a dtype.",
    )
    extends_batch: bool = Field(
        default=True, description="Whether the batch shape grows to the argument's; if not, it must fit."
    )


class Static(Model):
    """A constructor argument that is structure: hashable, part of the treedef."""

    doc: Text = Field(description="What it chooses, in one sentence.")
    static: ExpressionText = Field(description="The function that finishes it, such as `discrete_dtype`.")


class Method(Model):
    """A method that is not inherited as it is."""

    use: ExpressionText | None = Field(
        default=None,
        description="The function that computes it. Its arguments are finished parameters, derived "
        "attributes, statics, and the arguments of the method.",
    )
    inherited: Literal["kept", "widened"] | None = Field(
        default=None,
        description="`kept`: the inherited result in the dtype of the parameters, where distrax returns "
        "another. `widened`: computed in float32 where the parameters are narrower.",
    )
    because: Text = Field(description="Why the inherited method does not do.")


def kind_of_parameter(value: Any) -> str:
    return "static" if isinstance(value, dict) and "static" in value else "parameter"


class Distribution(Model):
    """A distribution: one generated class."""

    distribution: ClassName = Field(description="The name of the generated class.")
    wraps: DottedName = Field(description="The class that it takes the place of, such as `distrax.Beta`.")
    summary: Text = Field(description="What it is, in one line.")
    description: str = Field(default="", description="More about it: the density, conventions, pitfalls.")
    source: Text = Field(description="Where its formulas stand: a book, a paper, an address.")
    parameters: dict[
        Name,
        Annotated[
            Annotated[Parameter, Tag("parameter")] | Annotated[Static, Tag("static")],
            Discriminator(kind_of_parameter),
        ],
    ] = Field(description="The arguments of the constructor.")
    exactly_one_of: Annotated[tuple[Name, ...], Field(strict=False)] = Field(
        default=(), description="Arguments of which one and only one is given."
    )
    at_least_one_of: Annotated[tuple[Name, ...], Field(strict=False)] = Field(
        default=(), description="Arguments of which one or more are given."
    )
    dimensions: dict[Dimension, Annotated[int, Field(ge=1)]] = Field(
        default={}, description="The smallest sizes of event dimensions, where a size is bounded."
    )
    event_shape: Annotated[tuple[Dimension, ...], Field(strict=False)] = Field(
        description="The shape of an event, in the names of event dimensions; `[]` for scalar events."
    )
    support: ExpressionText = Field(
        description="Where events live: a constraint, whose bounds are numbers or attributes of the class."
    )
    ulp: int = Field(
        default=0,
        ge=0,
        description="How far results may be from distrax's where other operations run, in units in the last "
        "place; 0 asks for the same bits.",
    )
    derived: dict[Attribute, DerivedText] = Field(
        default={},
        description="Attributes that distrax stores and that follow from the finished parameters: the "
        "function that computes each, or null, true or false for a constant.",
    )
    methods: dict[MethodName, Method] = Field(
        default={}, description="Methods that are not inherited as they are."
    )


@dataclass(frozen=True, slots=True)
class Spec:
    """A valid spec and where its parts stand."""

    name: str
    digest: str
    model: Distribution
    document: Document

    def at(self, *path: str | int) -> Span:
        return self.document.span(path)

    def at_key(self, *path: str | int) -> Span:
        return self.document.key_span(path)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Distribution.model_json_schema()}

"""What a user may say: the models of a spec.

The models are the reference of the spec language: `distgen schema` prints their JSON Schema, and the
tests hold `docs/spec-reference.md` to their fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter

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
    InnerText,
    MethodName,
    Name,
    SourceText,
    Text,
)

Dimensions = Annotated[tuple[Dimension, ...], Field(strict=False)]
Shape = Annotated[
    Annotated[Dimensions, Tag("dimensions")] | Annotated[ExpressionText, Tag("expression")],
    Discriminator(lambda value: "expression" if isinstance(value, str) else "dimensions"),
]
Names = Annotated[tuple[Name, ...], Field(strict=False)]
INNER = Field(
    default=0,
    description="How many of its last batch dimensions belong to events: a number, a static, or a function "
    "of statics.",
)
ATTRIBUTE = Field(
    default=None,
    description="Where the class stores it, if `_<name>` is an attribute that means another thing.",
)
SOURCE = Field(
    default=None,
    description="Where distrax keeps it, if not in `_<name>`: an attribute, or a function of attributes.",
)


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Made(Model):
    """One of several finished parameters that are made from one argument."""

    doc: Text = Field(description="What it is, in one sentence; units or domain where they are not plain.")
    finish: ExpressionText = Field(
        description="The function that makes it of the argument, statics and settings."
    )
    event: Dimensions = Field(default=(), description="The names of its event dimensions.")


class Parameter(Model):
    """A constructor argument that becomes a finished parameter: an array, a leaf of the pytree."""

    doc: Text = Field(description="What it is, in one sentence; units or domain where they are not plain.")
    constraint: ExpressionText = Field(description="Where its values live: a constraint, such as `positive`.")
    event: Dimensions = Field(
        default=(), description="The names of its event dimensions; `[]` for a scalar parameter."
    )
    finish: ExpressionText | None = Field(
        default=None,
        description="The function that finishes it, such as `normalize_logits`; its arguments are statics.",
    )
    finished: Name | None = Field(
        default=None, description="Its name once finished, where that differs from the argument's."
    )
    makes: dict[Name, Made] = Field(
        default={}, description="The finished parameters that are made from it, where that is more than one."
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
        "or the name of a static that holds a dtype, or of an object that has a floating one.",
    )
    extends_batch: bool = Field(
        default=True, description="Whether the batch shape grows to the argument's; if not, it must fit."
    )
    shared: bool = Field(default=False, description="Whether distrax takes a single one for the whole batch.")
    inner: InnerText = INNER
    attribute: Attribute | None = ATTRIBUTE
    source: SourceText | None = SOURCE


class Nested(Model):
    """A constructor argument that is not an array: an object, a function, a pytree, or a setting."""

    kind: Literal[
        "distribution", "distributions", "bijector", "bijectors", "function", "pytree", "setting"
    ] = Field(
        description="`distribution` and `bijector`: a nested object; `distributions` and `bijectors`: a "
        "pytree or a list of them. `function`: a callable, a child if it is a pytree and static if not. "
        "`pytree`: arrays that functions take; an extension if distrax lacks the argument. `setting`: what "
        "finishing takes and nothing keeps."
    )
    doc: Text = Field(description="What it is, in one sentence.")
    inner: InnerText = INNER
    attribute: Attribute | None = ATTRIBUTE
    source: SourceText | None = SOURCE


class Static(Model):
    """A constructor argument that is structure: hashable, part of the treedef."""

    doc: Text = Field(description="What it chooses, in one sentence.")
    static: ExpressionText = Field(
        description="The function that finishes it, such as `discrete_dtype`; its further arguments are "
        "other arguments of the constructor."
    )
    attribute: Attribute | None = ATTRIBUTE
    source: SourceText | None = SOURCE


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
    for key, kind in (("static", "static"), ("kind", "nested")):
        if isinstance(value, dict) and key in value:
            return kind
    return "parameter"


class Class(Model):
    """What the specs of all classes have in common."""

    wraps: DottedName = Field(description="The class that it takes the place of, such as `distrax.Beta`.")
    summary: Text = Field(description="What it is, in one line.")
    description: str = Field(default="", description="More about it: the density, conventions, pitfalls.")
    source: Text = Field(description="Where its formulas stand: a book, a paper, an address.")
    parameters: dict[
        Name,
        Annotated[
            Annotated[Parameter, Tag("parameter")]
            | Annotated[Nested, Tag("nested")]
            | Annotated[Static, Tag("static")],
            Discriminator(kind_of_parameter),
        ],
    ] = Field(default={}, description="The arguments of the constructor.")
    exactly_one_of: Names = Field(default=(), description="Arguments of which one and only one is given.")
    at_least_one_of: Names = Field(default=(), description="Arguments of which one or more are given.")
    at_most_one_of: Names = Field(default=(), description="Arguments of which none or one is given.")
    dimensions: dict[Dimension, Annotated[int, Field(ge=1)]] = Field(
        default={}, description="The smallest sizes of event dimensions, where a size is bounded."
    )
    checks: Annotated[tuple[ExpressionText, ...], Field(strict=False)] = Field(
        default=(), description="What else is asked of the arguments, such as `array_events(distribution)`."
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
        "function that computes each, or null, true, false or an integer for a constant.",
    )
    only_if_stored: Annotated[tuple[Attribute, ...], Field(strict=False)] = Field(
        default=(), description="Derived attributes that only some versions of distrax store."
    )
    methods: dict[MethodName, Method] = Field(
        default={}, description="Methods that are not inherited as they are."
    )


class Distribution(Class):
    """A distribution: one generated class."""

    distribution: ClassName = Field(description="The name of the generated class.")
    batch_shape: ExpressionText | None = Field(
        default=None, description="What computes the batch shape, where it is not that of the parameters."
    )
    event_shape: Shape = Field(
        description="The shape of an event, in the names of event dimensions, `[]` for scalar events; or "
        "what computes it; or `inherited`."
    )
    dtype: ExpressionText | None = Field(
        default=None,
        description="What computes the dtype of an event, where it is not that of the parameters; or "
        "`inherited`.",
    )
    support: ExpressionText = Field(
        description="Where events live: a constraint, whose bounds are numbers or attributes of the class."
    )
    kl_divergence: ExpressionText | None = Field(
        default=None,
        description="The Kullback-Leibler divergence to and from objects of the class and of the wrapped "
        "one, where distrax's is not right: a function of two distributions.",
    )


class Bijector(Class):
    """A bijector: one generated class."""

    bijector: ClassName = Field(description="The name of the generated class.")


class Other(Class):
    """A model that is made of distributions: one generated class."""

    model: ClassName = Field(description="The name of the generated class.")


SpecModel = Distribution | Bijector | Other


def model_of(data: Any) -> type[Distribution] | type[Bijector] | type[Other]:
    """The model of a spec, by the key that names its class."""
    if isinstance(data, dict) and "distribution" not in data:
        if "bijector" in data:
            return Bijector
        if "model" in data:
            return Other
    return Distribution


@dataclass(frozen=True, slots=True)
class Spec:
    """A valid spec and where its parts stand."""

    name: str
    digest: str
    model: SpecModel
    document: Document

    @property
    def kind(self) -> Literal["distribution", "bijector", "model"]:
        """The key that names the class."""
        match self.model:
            case Distribution():
                return "distribution"
            case Bijector():
                return "bijector"
            case Other():
                return "model"

    @property
    def class_name(self) -> str:
        name: str = getattr(self.model, self.kind)
        return name

    def at(self, *path: str | int) -> Span:
        return self.document.span(path)

    def at_key(self, *path: str | int) -> Span:
        return self.document.key_span(path)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec, for editors."""
    schema = TypeAdapter(SpecModel).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

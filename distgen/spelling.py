"""The forms of texts, names and expressions in a spec."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

from distgen.expression import Expression, parse_expression

_CAPITALIZED = r"[A-Z][A-Za-z0-9]*"
_SMALL = r"[a-z][a-z0-9_]*"
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+"
_CAPITALIZED_RULE = "use letters and digits, with a capital first"
_SMALL_RULE = "use small letters, digits and underscores, with a letter first"
_ATTRIBUTE_RULE = "use small letters, digits and underscores, with one underscore first"
_DOTTED_RULE = "name the class with the module that it is imported from"


def _refusal(code: str, expected: str, hint: str) -> PydanticCustomError:
    # The message is put together where it is shown: pydantic's templates would expand braces in it.
    return PydanticCustomError(code, "refused", {"expected": expected, "hint": hint})


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The form that a name must have, which makes it an identifier of Python too."""

    pattern: str
    what: str
    rule: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$"}

    def check(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text, re.ASCII):
            raise _refusal("DG205", self.what, self.rule)
        if words := list(filter(keyword.iskeyword, text.split("."))):
            raise _refusal("DG205", self.what, f"'{words[0]}' is a keyword of Python: choose another name")
        return text


def _text(text: str) -> str:
    if not text.strip():
        raise _refusal(
            "DG204", "a text", "say it in a few words: it goes into the documentation of the class"
        )
    return text


def _expression(text: Any) -> Expression:
    expression = parse_expression(text) if isinstance(text, str) else None
    if expression is None:
        hint = "write name or name(argument, ...), where arguments are names and numbers"
        raise _refusal("DG206", "an expression such as positive or interval(low, 1)", hint)
    return expression


def _derived(value: Any) -> Expression | bool | int | None:
    return value if value is None or isinstance(value, bool | int) else _expression(value)


def _inner(value: Any) -> Expression | int:
    return value if isinstance(value, int) and not isinstance(value, bool) else _expression(value)


def _source(text: Any) -> Expression:
    expression = parse_expression(text) if isinstance(text, str) else None
    if expression is None or not all(re.fullmatch(rf"_{_SMALL}", a) for a in _attributes(expression)):
        hint = "write _attribute or function(_attribute, ...)"
        raise _refusal("DG206", "an attribute such as _loc, or a function of attributes", hint)
    return expression


def _attributes(expression: Expression) -> tuple[str, ...]:
    return (expression.function,) if expression.arguments is None else expression.names


Text = Annotated[str, AfterValidator(_text)]
ClassName = Annotated[str, _Spelling(_CAPITALIZED, "a class name such as 'Beta'", _CAPITALIZED_RULE)]
Dimension = Annotated[str, _Spelling(_CAPITALIZED, "the name of a dimension such as 'K'", _CAPITALIZED_RULE)]
ArgumentDimension = Annotated[
    str, _Spelling(f"1|{_CAPITALIZED}", "the name of a dimension such as 'K', or '1'", _CAPITALIZED_RULE)
]
Name = Annotated[str, _Spelling(_SMALL, "a name such as 'loc'", _SMALL_RULE)]
MethodName = Annotated[str, _Spelling(f"_?{_SMALL}", "the name of a method such as 'log_prob'", _SMALL_RULE)]
Attribute = Annotated[
    str, _Spelling(f"_{_SMALL}", "the name of an attribute such as '_scale'", _ATTRIBUTE_RULE)
]
DottedName = Annotated[str, _Spelling(_DOTTED, "a dotted name such as 'distrax.Beta'", _DOTTED_RULE)]
ExpressionText = Annotated[
    Expression,
    PlainValidator(_expression),
    WithJsonSchema({"type": "string", "pattern": r"^\s*[A-Za-z_][A-Za-z0-9_]*\s*(\([^()]*\)\s*)?$"}),
]
SourceText = Annotated[Expression, PlainValidator(_source), WithJsonSchema({"type": "string"})]
InnerText = Annotated[
    Expression | int, PlainValidator(_inner), WithJsonSchema({"type": ["string", "integer"]})
]
DerivedText = Annotated[
    Expression | bool | int | None,
    PlainValidator(_derived),
    WithJsonSchema({"type": ["string", "boolean", "integer", "null"]}),
]

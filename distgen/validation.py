"""How a document becomes a spec, or a list of all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from distgen.diagnostics import Diagnostic, Span, did_you_mean, valid_choices
from distgen.source import Document, NodePath
from distgen.spec import (
    Distribution,
    Made,
    Method,
    Model,
    Nested,
    Parameter,
    Spec,
    Static,
    kind_of_parameter,
    model_of,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WANTED = {
    "string_type": "a string",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "int_type": "an integer",
    "bool_type": "true or false",
}


def read_spec(document: Document, digest: str) -> tuple[Spec | None, list[Diagnostic]]:
    """The spec in `document`, or all that is wrong with it. `digest` identifies the file that it comes from.

    Errors: DG201, DG202 and DG204 to DG208.
    """
    try:
        model = model_of(document.data).model_validate(document.data)
    except ValidationError as invalid:
        return None, [_diagnose(document, error) for error in invalid.errors(include_url=False)]
    spec = Spec(document.path, digest, model, document)
    diagnostics = list(_check_references(spec))
    return (None if diagnostics else spec), diagnostics


def _diagnose(document: Document, error: ErrorDetails) -> Diagnostic:
    path = _document_path(document, error["loc"])
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            span = document.key_span(path)
            return Diagnostic("DG201", f"unknown key '{path[-1]}'", span, _unknown_key_hint(document, path))
        case "missing":
            missing = str(error["loc"][-1])
            where = f"'{path[-1]}'" if path else "the spec"
            span = document.key_span(path) if path else document.span(())
            description = _model_at(document, path).model_fields[missing].description
            return Diagnostic(
                "DG202", f"{where} lacks the key '{missing}'", span, f"{missing}: {description}"
            )
        case "DG204" | "DG205" | "DG206" as code:
            is_key = error["loc"][-1] == "[key]"
            span = document.key_span(path) if is_key else document.span(path)
            message = f"expected {context['expected']}, got {_describe(error['input'])}"
            return Diagnostic(code, message, span, context["hint"])
        case kind:
            wanted = _WANTED.get(kind) or context.get("expected") or _bound(context) or error["msg"]
            message = f"expected {_node_name(path)} to be {wanted}, got {_describe(error['input'])}"
            return Diagnostic("DG204", message, document.span(path), _type_hint(document, path, error))


def _document_path(document: Document, location: tuple[str | int, ...]) -> NodePath:
    """The part of pydantic's location that stands in the document: no kinds of parameters, no `[key]`."""
    path: list[str | int] = []
    node = document.data
    for depth, part in enumerate(location):
        is_kind = depth == 2 and location[0] == "parameters"
        is_there = (
            part in node if isinstance(node, dict) else isinstance(node, list) and part in range(len(node))
        )
        if is_there and not is_kind:
            path.append(part)
            node = node[part]
    return tuple(path)


def _unknown_key_hint(document: Document, path: NodePath) -> str:
    siblings = document.data
    for part in path[:-1]:
        siblings = siblings[part]
    if siblings[path[-1]] is None:
        # In {doc: first, second} the comma ends the text, and what follows it is a key without a value.
        keys = list(siblings)
        start = keys.index(path[-1])
        while start and siblings[keys[start]] is None:
            start -= 1
        if isinstance(siblings[keys[start]], str):
            text = ", ".join([siblings[keys[start]], *keys[start + 1 : keys.index(path[-1]) + 1]])
            return f"quote a text that holds a comma: {keys[start]}: {text!r}"
    choices = list(_model_at(document, path[:-1]).model_fields)
    return did_you_mean(str(path[-1]), choices, otherwise=valid_choices(choices))


def _model_at(document: Document, path: NodePath) -> type[Model]:
    if len(path) >= 2 and path[0] == "parameters":
        if len(path) >= 4 and path[2] == "makes":
            return Made
        kinds: dict[str, type[Model]] = {"static": Static, "nested": Nested, "parameter": Parameter}
        return kinds[kind_of_parameter(document.data["parameters"][path[1]])]
    return Method if len(path) >= 2 and path[0] == "methods" else model_of(document.data)


def _node_name(path: NodePath) -> str:
    if not path:
        return "the spec"
    return f"item {path[-1] + 1} of '{path[-2]}'" if isinstance(path[-1], int) else f"'{path[-1]}'"


def _bound(context: dict[str, Any]) -> str | None:
    return f"at least {context['ge']}" if "ge" in context else None


def _describe(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return repr(value) if value.strip() else "an empty text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _type_hint(document: Document, path: NodePath, error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind == "string_type" and not isinstance(value, list | dict | None):
        return "put it into quotes"
    if kind == "tuple_type" and isinstance(value, str):
        return f"write [{value}]"
    if kind == "literal_error":
        choices = error["ctx"]["expected"].split("'")[1::2]
        return did_you_mean(str(value), choices, otherwise=_description(document, path))
    if kind == "model_type" and len(path) > 1:
        fields = _model_at(document, path).model_fields
        entries = ", ".join(f"{key}: ..." for key, field in fields.items() if field.is_required())
        return f"write {path[-1]}: {{{entries}}}"
    return _description(document, path)


def _description(document: Document, path: NodePath) -> str:
    """What the key is for that leads to `path`, or to what is around it."""
    while path:
        field = _model_at(document, path[:-1]).model_fields.get(str(path[-1]))
        if field is not None:
            return f"{path[-1]}: {field.description}"
        path = path[:-1]
    return "see `distgen schema`"


def _check_references(spec: Spec) -> Iterator[Diagnostic]:
    """Names within a spec that must be those of its parameters or dimensions, and uniqueness."""
    model = spec.model
    arrays = {name: p for name, p in model.parameters.items() if isinstance(p, Parameter)}
    fields = {n for n, p in model.parameters.items() if isinstance(p, Nested) and p.kind != "setting"} | {
        *arrays
    }
    statics = [name for name, p in model.parameters.items() if isinstance(p, Static)]
    if isinstance(model, Distribution) and not fields:
        message = "expected a parameter that is an array or an object, got none"
        hint = "describe one without the key 'static'"
        yield Diagnostic("DG207", message, spec.at_key("parameters"), hint)
    for key in ("exactly_one_of", "at_least_one_of", "at_most_one_of"):
        for i, name in enumerate(getattr(model, key)):
            if name not in arrays:
                message = f"'{key}' names '{name}', which is no parameter that is an array"
                yield _unknown(message, name, arrays, spec.at(key, i))
    dimensions = {dim for p in arrays.values() for dim in p.event}
    places = [(dim, spec.at_key("dimensions", dim)) for dim in model.dimensions]
    if isinstance(model, Distribution) and isinstance(model.event_shape, tuple):
        places = [(dim, spec.at("event_shape", i)) for i, dim in enumerate(model.event_shape)] + places
    for dim, span in places:
        if dim not in dimensions:
            yield _unknown(f"no parameter has the event dimension '{dim}'", dim, dimensions, span)
    taken: dict[str, str] = {name: name for name in statics}
    with_dtypes = {"floating", "own", *statics, *(fields - arrays.keys())}
    for name, parameter in arrays.items():
        where = ("parameters", name)
        if parameter.requires and parameter.requires not in arrays:
            message = f"'requires' names '{parameter.requires}', which is no parameter that is an array"
            yield _unknown(message, parameter.requires, arrays, spec.at(*where, "requires"))
        if parameter.dtype not in with_dtypes:
            span = spec.at(*where, "dtype")
            yield _unknown(f"unknown dtype '{parameter.dtype}'", parameter.dtype, with_dtypes, span)
        yield from _check_contradictions(spec, name, parameter)
        for finished in parameter.makes or (parameter.finished or name,):
            if finished in taken:
                message = f"the finished name '{finished}' of '{name}' is that of '{taken[finished]}' too"
                yield Diagnostic(
                    "DG208", message, spec.at_key(*where), "give it another name with 'finished'"
                )
            taken.setdefault(finished, name)


def _check_contradictions(spec: Spec, name: str, parameter: Parameter) -> Iterator[Diagnostic]:
    """Keys of one parameter that cannot all be meant."""
    where = ("parameters", name)
    if parameter.requires == name:
        message = f"'{name}' requires itself"
        yield Diagnostic("DG216", message, spec.at(*where, "requires"), "name another parameter, or none")
    if parameter.makes and (parameter.finish or parameter.finished or parameter.default):
        message = f"'{name}' has 'makes' beside a key that is for one finished parameter"
        hint = "leave out 'finish', 'finished' and 'default'"
        yield Diagnostic("DG216", message, spec.at_key(*where, "makes"), hint)
    kept = tuple(dim for dim in parameter.argument_event if dim != "1")
    if parameter.argument_event and kept != parameter.event:
        message = f"expected 'argument_event' to be 'event' with '1' beside its dimensions, got {list(kept)}"
        hint = "write ['1'] where distrax broadcasts a scalar parameter against an event dimension"
        yield Diagnostic("DG216", message, spec.at(*where, "argument_event"), hint)
    if parameter.default and parameter.default.function == "identity" and len(parameter.event) != 2:
        message = f"'identity' makes a matrix, but '{name}' has {len(parameter.event)} event dimensions"
        yield Diagnostic("DG216", message, spec.at(*where, "default"), "give it two, such as event: [D, D]")


def _unknown(message: str, word: str, choices: Iterable[str], span: Span) -> Diagnostic:
    known = sorted(choices)
    otherwise = valid_choices(known) if known else "there is none"
    return Diagnostic("DG207", message, span, did_you_mean(word, known, otherwise=otherwise))

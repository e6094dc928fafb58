"""Docstrings: shapes, constraints, support, errors and the source of the formulas."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import replace

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, DocPlan, FieldPlan
from distgen.spec import Distribution, Nested, Parameter, Static

_WIDTH = 110


def plan_documentation(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    docs = DocPlan(
        module_code=docstring(_wrap(_sentence(plan.summary)), indent=0),
        class_code=docstring(_class_text(context, plan), indent=4),
        init_code=docstring(_init_text(context, plan), indent=8),
        fields_code={f.name: docstring(_wrap(_sentence(f.doc)), indent=8) for f in plan.fields},
        methods_code={
            m.name: docstring(_wrap(f"Not inherited, because {_sentence(m.reason)}"), indent=8)
            for m in plan.methods
        },
    )
    return replace(plan, docs=docs), []


def docstring(text: str, *, indent: int) -> str:
    """`text` as a docstring: a literal that is `text` again once its indentation is taken off."""
    escaped = "".join(_escape(character) for character in text)
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    escaped = escaped.replace('"""', '\\"\\"\\"')
    lines = escaped.split("\n")
    margin = " " * indent
    body = "\n".join([lines[0], *(f"{margin}{line}" if line else "" for line in lines[1:])])
    return f'"""{body}\n{margin}"""' if len(lines) > 1 else f'"""{body}"""'


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    return character if character == "\n" or character.isprintable() else repr(character)[1:-1]


def _class_text(context: Context, plan: ClassPlan) -> str:
    model = context.spec.model
    paragraphs = [_wrap(_sentence(model.summary))]
    paragraphs += [_wrap(paragraph) for paragraph in model.description.split("\n\n") if paragraph.strip()]
    if plan.fields:
        title = "Finished parameters, the leaves of the pytree"
        if not all(f.is_array for f in plan.fields):
            title = "Finished parameters, which are leaves of the pytree or hold them"
        paragraphs.append(
            _section(title, [f"{f.name}: {_sentence(f.doc)} {_finished_kind(f)}" for f in plan.fields])
        )
    if plan.statics:
        paragraphs.append(_section("Static", [f"{s.name}: {_sentence(s.doc)}" for s in plan.statics]))
    facts = [f"Source: {_sentence(model.source)}"]
    if isinstance(model, Distribution):
        event = _tuple(model.event_shape) if isinstance(model.event_shape, tuple) else "from its parts"
        facts[:0] = [
            f"Batch shape: that of the parameters, broadcast. Event shape: {event}.",
            f"Support: {plan.support}.",
        ]
    paragraphs.append("\n".join(map(_wrap, facts)))
    return "\n\n".join(paragraphs)


def _init_text(context: Context, plan: ClassPlan) -> str:
    docs = {name: _argument_text(p) for name, p in context.spec.model.parameters.items()}
    arguments = _section("Args", [f"{a.name}: {docs[a.name]}" for a in plan.arguments if a.name in docs])
    if not plan.arguments:
        return "Takes no parameters."
    raises = _section("Raises", [f"ValueError: {'; '.join(_mistakes(context, plan))}."])
    return f"Finishes the parameters.\n\n{arguments}\n\n{raises}"


def _argument_text(parameter: Parameter | Nested | Static) -> str:
    text = _sentence(parameter.doc)
    if not isinstance(parameter, Parameter):
        return text
    shape = f"Shape [..., {', '.join(parameter.event)}]" if parameter.event else "Shape [...]"
    if parameter.argument_event:
        shape = "A scalar, or an array with a last axis of length 1"
    return f"{text} {shape}, {parameter.constraint}."


def _finished_kind(field: FieldPlan) -> str:
    if field.is_array:
        return _shape(field.event)
    kinds = {
        "distribution": "A distribution.",
        "distributions": "A pytree of distributions.",
        "bijector": "A bijector.",
        "bijectors": "A list of bijectors.",
        "function": "Static, unless it is a pytree.",
        "pytree": "A pytree of arrays.",
    }
    return kinds[field.constraint]


def _mistakes(context: Context, plan: ClassPlan) -> list[str]:
    model = context.spec.model
    mistakes = (
        [f"unless exactly one of {' and '.join(model.exactly_one_of)} is given"]
        if model.exactly_one_of
        else []
    )
    if model.at_least_one_of:
        mistakes.append(f"unless at least one of {' and '.join(model.at_least_one_of)} is given")
    if model.at_most_one_of:
        mistakes.append(f"if more than one of {' and '.join(model.at_most_one_of)} is given")
    mistakes += [
        f"where {name} is given without {parameter.requires}"
        for name, parameter in model.parameters.items()
        if isinstance(parameter, Parameter) and parameter.requires
    ]
    if all(f.is_array for f in plan.fields):
        return [*mistakes, "for arguments of a wrong shape or dtype"]
    return [*mistakes, "for arguments that do not fit together"]


def _shape(event: tuple[str, ...]) -> str:
    return f"Shape batch_shape + {_tuple(event)}." if event else "Shape batch_shape."


def _tuple(dims: tuple[str, ...]) -> str:
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _section(title: str, entries: Iterable[str]) -> str:
    return "\n".join([f"{title}:", *(_wrap(entry, first="    ", rest="        ") for entry in entries)])


def _wrap(text: str, *, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        re.sub(r"[ \t\n\r\f\v]+", " ", text),
        _WIDTH - 12,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )

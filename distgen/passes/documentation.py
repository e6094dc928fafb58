"""Docstrings: shapes, constraints, support, errors and the source of the formulas."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import replace

from distgen.diagnostics import Diagnostic
from distgen.passes.context import Context
from distgen.plan import ClassPlan, DocPlan, FieldPlan

_WIDTH = 110


def plan_documentation(context: Context, plan: ClassPlan) -> tuple[ClassPlan, list[Diagnostic]]:
    docs = DocPlan(
        module_code=docstring(_wrap(_sentence(plan.summary)), indent=0),
        class_code=docstring(_class_text(context, plan), indent=4),
        init_code=docstring(_init_text(plan), indent=8),
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
    paragraphs.append(
        _section(
            "Finished parameters, the leaves of the pytree",
            [
                f"{f.name}: {_shape(f.event)}, {f.constraint_code.replace(chr(39), '')}. {_sentence(f.doc)}"
                for f in plan.fields
            ],
        )
    )
    if plan.statics:
        paragraphs.append(_section("Static", [f"{s.name}: {_sentence(s.doc)}" for s in plan.statics]))
    facts = [
        f"Batch shape: that of the parameters, broadcast. Event shape: {_tuple(plan.event_shape)}.",
        f"Support: {plan.support_code.replace(chr(39), '')}.",
        f"Source: {_sentence(model.source)}",
    ]
    paragraphs.append("\n".join(map(_wrap, facts)))
    return "\n\n".join(paragraphs)


def _init_text(plan: ClassPlan) -> str:
    docs = {f.argument: f"{_sentence(f.doc)} {_argument_shape(plan, f)}" for f in plan.fields}
    docs |= {s.name: _sentence(s.doc) for s in plan.statics}
    arguments = _section("Args", [f"{a.name}: {docs[a.name]}" for a in plan.arguments if a.name in docs])
    raises = _section("Raises", ["ValueError: for a wrong selection, shape or dtype of arguments."])
    return f"Finishes the parameters.\n\n{arguments}\n\n{raises}"


def _argument_shape(plan: ClassPlan, field: FieldPlan) -> str:
    options = dict(field.options_code)
    if "argument_event" in options:
        return "A scalar, or an array with a last axis of length 1."
    return f"Shape `[..., {', '.join(field.event)}]`." if field.event else "Shape `[...]`."


def _shape(event: tuple[str, ...]) -> str:
    return f"shape batch_shape + {_tuple(event)}" if event else "shape batch_shape"


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

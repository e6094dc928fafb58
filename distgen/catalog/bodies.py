"""Bodies: what the methods of a class take, and what they store on an instance."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distgen.catalog.model import Argument, ArgumentKind

if TYPE_CHECKING:
    import griffe

_ARGUMENT_KINDS: dict[str, ArgumentKind] = {
    "positional_only": "positional",
    "positional_or_keyword": "positional",
    "keyword_only": "keyword",
    "var_positional": "var_positional",
    "var_keyword": "var_keyword",
}
_IMPLICIT_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}


@dataclass(frozen=True, slots=True)
class Body:
    """A method: its arguments, what it stores on its instance, and the bases whose version of it is used."""

    arguments: tuple[Argument, ...] = ()
    stores: tuple[str, ...] = ()
    continues: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()


def bodies_of(cls: griffe.Class) -> dict[str, Body]:
    bodies: dict[str, Body] = cls.extra["distgen"]
    return bodies


def stored_attributes(lineage: Sequence[griffe.Class], method: str) -> Iterator[str]:
    """The attributes that a call of `method` stores, those of the bases that it goes on to first."""
    for index, cls in enumerate(lineage):
        if body := bodies_of(cls).get(method):
            bases = lineage[index + 1 :]
            for start, base in enumerate(bases):
                if base.name in body.continues or (start == 0 and "super" in body.continues):
                    yield from stored_attributes(bases[start:], method)
            yield from body.stores
            return


def read_bodies(cls: ast.ClassDef, code: str) -> dict[str, Body]:
    lines = code.encode().splitlines()
    bodies: dict[str, Body] = {}
    for function in _walk(cls, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            body = _read_body(function, cls.name, lines)
            # A property and its setter share a name.
            before = bodies.get(function.name, Body())
            bodies[function.name] = Body(
                body.arguments,
                before.stores + body.stores,
                before.continues | body.continues,
                before.decorators | body.decorators,
            )
    return bodies


def _read_body(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, lines: list[bytes]) -> Body:
    import griffe

    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in function.decorator_list}
    parameters = griffe.get_parameters(function.args)
    this = parameters.pop(0)[0] if parameters and "staticmethod" not in decorators else ""
    if "classmethod" in decorators or function.name in _IMPLICIT_CLASS_METHODS:
        this = ""
    stores = [function.name] if "cached_property" in decorators else []
    continues = set()
    declared: list[ast.AST] = []
    for node in _walk(function, ast.ClassDef):
        match node:
            case ast.AnnAssign(value=None):
                declared.append(node.target)
            case ast.Attribute(ast.Name(name), attribute, ast.Store()) if (
                name == this and node not in declared
            ):
                stores.append(attribute)
            case ast.Call(
                ast.Name("setattr") | ast.Attribute(attr="__setattr__"),
                [ast.Name(name), ast.Constant(str(attribute)), _],
            ) if name == this:
                stores.append(attribute)
            case ast.Attribute(base, function.name):
                called = base.func if isinstance(base, ast.Call) else base
                continues.add(ast.unparse(called).rpartition(".")[2])
    return Body(
        arguments=tuple(
            Argument(name, _ARGUMENT_KINDS[kind.name], _source(default, lines), _source(annotation, lines))
            for name, annotation, kind, default in parameters
        ),
        stores=tuple(_mangle(name, owner) for name in stores if not name.endswith("__")),
        continues=frozenset(continues),
        decorators=frozenset(decorators),
    )


def _mangle(name: str, owner: str) -> str:
    return f"_{owner.lstrip('_')}{name}" if name.startswith("__") else name


def _source(node: ast.AST | str | None, lines: list[bytes]) -> str | None:
    """The text of an expression. Strings are griffe's way to give `*args` and `**kwargs` defaults."""
    if not isinstance(node, ast.expr):
        return None
    if node.lineno != node.end_lineno:
        return ast.unparse(node)
    return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()


def _walk(node: ast.AST, closed: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """The nodes below `node` in source order, without what is below the `closed` ones."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, closed):
            yield from _walk(child, closed)

"""The words that a spec may use, read from the source of `distgen.runtime` without importing JAX.

A word's role is the runtime module that defines it: what `finish:` may name stands in `finishing.py`, and
so on. Adding a public function there adds the word to the language.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

RUNTIME = Path(__file__).parent / "runtime"


@dataclass(frozen=True, slots=True)
class Word:
    """A public function or value of the runtime.

    `arguments` are the names that it takes, None for a value; `annotation` is the type of the first one,
    `returns` the type of the result, both as written.
    """

    name: str
    module: str
    arguments: tuple[str, ...] | None
    annotation: str = ""
    returns: str = ""
    summary: str = ""


Words = Mapping[str, Word]

# The modules of a role that fills more than one.
MODULES = {"mathematics": ("mathematics", "compositions", "bijections")}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words by role."""

    constraints: Words
    finishing: Words
    defaults: Words
    statics: Words
    checks: Words
    divergences: Words
    mathematics: Words


@functools.cache
def load_vocabulary(runtime: Path = RUNTIME) -> Vocabulary:
    def words(role: str) -> Words:
        modules = (runtime / f"{name}.py" for name in MODULES.get(role, (role,)))
        return {word.name: word for module in modules for word in _words(module)}

    return Vocabulary(**{role.name: words(role.name) for role in fields(Vocabulary)})


def _words(file: Path) -> Iterator[Word]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = node.args.args
            annotation = arguments[0].annotation if arguments else None
            yield Word(
                name=node.name,
                module=file.stem,
                arguments=tuple(argument.arg for argument in arguments),
                annotation=ast.unparse(annotation) if annotation else "",
                returns=ast.unparse(node.returns) if node.returns else "",
                summary=(ast.get_docstring(node) or "").split("\n")[0],
            )
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if not name.startswith("_") and name.islower():
                yield Word(name=name, module=file.stem, arguments=None)

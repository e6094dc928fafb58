"""What every pass may read, and how the words of a spec become code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from distgen.catalog import Catalog
from distgen.diagnostics import Diagnostic, Span, did_you_mean, valid_choices
from distgen.expression import Expression
from distgen.spec import Spec
from distgen.vocabulary import Vocabulary, Word, Words

# What stands before an argument that takes any number of arguments.
STARS = {"var_positional": "*", "var_keyword": "**"}
# Types that distrax has as defaults, of a dtype.
_TYPES = {"bool", "int", "float"}


@dataclass(frozen=True, slots=True)
class Context:
    spec: Spec
    catalog: Catalog
    vocabulary: Vocabulary


def resolve_word(expression: Expression, words: Words, role: str, span: Span) -> Word | Diagnostic:
    """The word that an expression calls or names."""
    word = words.get(expression.function)
    if word is None:
        hint = did_you_mean(expression.function, words, otherwise=valid_choices(words))
        return Diagnostic("DG203", f"unknown {role} '{expression.function}'", span, hint)
    return word


def resolve_bare(expression: Expression, words: Words, role: str, span: Span) -> Word | Diagnostic:
    """The word that an expression names, where its arguments are not for the spec to choose."""
    word = resolve_word(expression, words, role, span)
    if isinstance(word, Word) and expression.arguments is not None:
        message = f"'{word.name}' stands without arguments here"
        return Diagnostic("DG209", message, span, f"write {word.name}")
    return word


def resolve_call(
    expression: Expression, words: Words, role: str, names: Mapping[str, str], span: Span
) -> tuple[Word, str] | Diagnostic:
    """A call as code. `names` are the names that may stand as arguments, with their code."""
    word = resolve_word(expression, words, role, span)
    if isinstance(word, Diagnostic):
        return word
    if word.arguments is None or expression.arguments is None:
        return _check_value(word, expression, role, span)
    if len(expression.arguments) != len(word.arguments):
        message = f"'{word.name}' takes {_count(word.arguments)}, but {len(expression.arguments)} given"
        return Diagnostic("DG209", message, span, f"write {word.name}({', '.join(word.arguments)})")
    for name in expression.names:
        if name not in names:
            hint = did_you_mean(name, names, otherwise=valid_choices(names))
            return Diagnostic("DG210", f"unknown name '{name}' in '{word.name}(...)'", span, hint)
    parts = [names[a] if isinstance(a, str) else repr(a) for a in expression.arguments]
    return word, f"{word.name}({', '.join(parts)})"


def _check_value(word: Word, expression: Expression, role: str, span: Span) -> tuple[Word, str] | Diagnostic:
    if word.arguments is None and expression.arguments is None:
        return word, word.name
    if word.arguments is None:
        return Diagnostic("DG209", f"'{word.name}' takes no arguments", span, f"write {word.name}")
    message = f"'{word.name}' takes {_count(word.arguments)}, but none given"
    return Diagnostic("DG209", message, span, f"write {word.name}({', '.join(word.arguments)})")


def _count(arguments: tuple[str, ...]) -> str:
    return f"{len(arguments)} argument" + ("s" if len(arguments) != 1 else "")


def literal(value: str | tuple[str, ...]) -> str:
    """A string or a tuple of strings as code."""
    return repr(value)


def default_code(default: str) -> str | None:
    """The default of an argument as code, None where it is more than a literal."""
    if default in _TYPES:
        return default
    try:
        return repr(ast.literal_eval(default))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None

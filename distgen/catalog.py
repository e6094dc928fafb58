"""Catalog: what the installed distrax offers, read from its source and never imported.

The signature of a class does not tell what its instances store: the catalog does, and a spec accounts for it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from distgen.diagnostics import Diagnostic

if TYPE_CHECKING:
    import griffe

ArgumentKind = Literal["positional", "keyword", "var_positional", "var_keyword"]
ClassKind = Literal["distribution", "bijector", "other"]

_TFP = "tensorflow_probability.substrates.jax"
_ROOTS: dict[str, ClassKind] = {
    "distrax.Distribution": "distribution",
    "distrax.Bijector": "bijector",
    f"{_TFP}.distributions.distribution.Distribution": "distribution",
    f"{_TFP}.bijectors.bijector.Bijector": "bijector",
}
_ARGUMENT_KINDS: dict[str, ArgumentKind] = {
    "positional_only": "positional",
    "positional_or_keyword": "positional",
    "keyword_only": "keyword",
    "var_positional": "var_positional",
    "var_keyword": "var_keyword",
}
_PROPERTIES = {"property", "cached_property", "abstractproperty", "getter", "setter", "deleter"}
_IMPLICIT_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}


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


def fingerprint() -> str | None:
    """The digest of the source of the installed distrax, or None if there is none."""
    file, _ = _locate(["distrax"])
    if file is None:
        return None
    digest = hashlib.sha256()
    try:
        for source in sorted(file.parent.rglob("*.py")):
            if not source.name.endswith("_test.py"):
                content = source.read_bytes()
                name = source.relative_to(file.parent).as_posix()
                digest.update(f"{name}\0{len(content)}\0".encode() + content)
    except OSError:
        return None
    return digest.hexdigest()


def load_catalog(cache: Path | None = None) -> tuple[Catalog | None, list[Diagnostic]]:
    """The catalog of the installed distrax, kept in the folder `cache` from run to run. Errors: DG301."""
    digest = fingerprint()
    if digest is None:
        return None, [Diagnostic("DG301", "distrax is not installed", hint="pip install distrax")]
    file = _cache_file(cache, digest)
    catalog = _read_cache(file) if file else None
    if catalog is None or catalog.digest != digest:
        catalog = _read_distrax(digest)
        if not catalog.classes:
            message = "the source of the installed distrax cannot be read"
            return None, [Diagnostic("DG301", message, hint="pip install --force-reinstall distrax")]
        if file:
            _write_cache(file, catalog)
    return catalog, []


def lookup(catalog: Catalog, dotted: str) -> ClassEntry | None:
    """The entry of a class of distrax, or of any other on the path, such as 'package.module.Class'."""
    if dotted in catalog.classes:
        return catalog.classes[dotted]
    reader = _Reader()
    found = reader.find(dotted)
    public = {f"{entry.module}.{name.rpartition('.')[2]}": name for name, entry in catalog.classes.items()}
    return reader.entry(dotted, found, public) if found else None


def _cache_file(folder: Path | None, digest: str) -> Path | None:
    if folder is None and (configured := os.environ.get("DISTGEN_CACHE_DIR")):
        folder = Path(configured)
    try:
        if folder is None:
            from platformdirs import user_cache_path

            folder = user_cache_path("distgen")
        # An entry depends on the code of this file as much as on distrax.
        key = hashlib.sha256(digest.encode() + Path(__file__).read_bytes()).hexdigest()
    except (OSError, RuntimeError):
        return None
    return folder / f"catalog-{key[:32]}.json"


def _read_cache(file: Path) -> Catalog | None:
    def arguments(rows: list[Any]) -> tuple[Argument, ...]:
        return tuple(Argument(*row) for row in rows)

    try:
        version, digest, rows = json.loads(file.read_bytes())
        classes = {}
        for name, (_, module, kind, bases, init, stored, methods, properties, summary) in rows.items():
            called = {method: arguments(row) for method, row in methods.items()}
            lists = tuple(bases), arguments(init), tuple(stored), called, tuple(properties)
            classes[name] = ClassEntry(name, module, kind, *lists, summary)
        return Catalog(version, digest, classes)
    except Exception:  # Whatever is wrong with a cache, it can be made again.
        return None


def _write_cache(file: Path, catalog: Catalog) -> None:
    def row(value: Any) -> list[Any]:
        return [getattr(value, field.name) for field in fields(value)]

    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError, ValueError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(json.dumps(catalog, default=row), encoding="utf-8")
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


def _read_distrax(digest: str) -> Catalog:
    reader = _Reader()
    package = reader.module("distrax")
    members = package.members if package else {}
    names = [f"distrax.{name}" for name in sorted(members) if not name.startswith("_")]
    found = {name: cls for name in names if (cls := reader.find(name))}
    public = {cls.path: name for name, cls in found.items()}
    version = str(getattr(members.get("__version__"), "value", "")).strip("'\"")
    return Catalog(version, digest, {name: reader.entry(name, cls, public) for name, cls in found.items()})


class _Reader:
    """Finds classes by dotted path in source files, and follows imports from file to file."""

    def __init__(self) -> None:
        self.modules: dict[str, griffe.Module | None] = {}

    def module(self, name: str) -> griffe.Module | None:
        """The module of that name, or the package around it that is the last to have a file."""
        parts = name.split(".")
        file, length = _locate(parts)
        name = ".".join(parts[:length])
        if file and name not in self.modules:
            self.modules[name] = _visit(parts[:length], file)
        return self.modules.get(name)

    def find(self, path: str, seen: frozenset[str] = frozenset()) -> griffe.Class | None:
        """The class that `path` names, wherever it is defined."""
        if path in seen or not all(part.isidentifier() for part in path.split(".")):
            return None
        module = self.module(path)
        if module is None:
            return None
        rest = path.removeprefix(module.path).split(".")[1:]
        return self._member(module, rest, seen | {path})

    def _member(self, scope: griffe.Object, names: list[str], seen: frozenset[str]) -> griffe.Class | None:
        import griffe

        if not names:
            return scope if isinstance(scope, griffe.Class) else None
        name, *rest = names
        match scope.members.get(name):
            case griffe.Class() as cls:
                return self._member(cls, rest, seen)
            case griffe.Alias() as alias:
                paths = [(alias.target_path, *rest)]
            case griffe.Attribute() as attribute:
                paths = [(scope.path, str(attribute.value), *rest)]
            case _:
                aliases = (each for each in scope.members.values() if isinstance(each, griffe.Alias))
                paths = [(alias.wildcard, *names) for alias in aliases if alias.wildcard]
        return next((found for path in paths if (found := self.find(".".join(path), seen))), None)

    def lineage(self, cls: griffe.Class, below: frozenset[str] = frozenset()) -> list[griffe.Class]:
        """The class and its bases in method resolution order, as far as they can be found."""
        import griffe

        bases = []
        for expression in cls.bases:
            head, *tail = str(expression).partition("[")[0].split(".")
            origin = cls.module.imports.get(head, f"{cls.module.path}.{head}")
            base = self.find(".".join((origin, *tail)))
            if base and base is not cls and base.path not in below:
                bases.append(base)
        lineages = [self.lineage(base, below | {cls.path}) for base in bases]
        try:
            return [cls, *griffe.c3linear_merge(*lineages, bases)]
        except ValueError:
            return list(dict.fromkeys((cls, *chain(*lineages))))

    def entry(self, name: str, cls: griffe.Class, public: Mapping[str, str]) -> ClassEntry:
        """What the catalog says about `cls`. `public` maps paths of classes to their public names."""
        lineage = self.lineage(cls)
        paths = [public.get(each.path, each.path) for each in lineage]
        members = ChainMap(*map(_bodies, lineage))
        stored = dict.fromkeys(chain(*(_stored(lineage, member) for member in ("__init__", *members))))
        properties = sorted(member for member in members if members[member].decorators & _PROPERTIES)
        settable = {member for member in members if "setter" in members[member].decorators}
        methods = {each: members[each].arguments for each in sorted(members.keys() - set(properties))}
        return ClassEntry(
            name=name,
            module=cls.module.path,
            kind=next((_ROOTS[path] for path in paths if path in _ROOTS), "other"),
            bases=tuple(path for path in paths[1:] if path.startswith("distrax.")),
            arguments=methods.get("__init__", ()),
            # What is assigned to a property is stored where its setter says.
            attributes=tuple(each for each in stored if each not in settable),
            methods=methods,
            properties=tuple(properties),
            summary=cls.docstring.value.partition("\n")[0] if cls.docstring else "",
        )


def _locate(parts: Sequence[str]) -> tuple[Path | None, int]:
    """The file of the longest prefix of `parts` that is a module, and the length of that prefix."""
    length = 1
    if parts[0] in sys.stdlib_module_names:
        return None, length
    try:
        spec = find_spec(parts[0]) or PathFinder.find_spec(parts[0], [str(Path.cwd())])
        while spec and spec.submodule_search_locations is not None and length < len(parts):
            # By its bare name: under its full one, a namespace package looks for its parent in sys.modules.
            inner = PathFinder.find_spec(parts[length], list(spec.submodule_search_locations))
            if inner is None:
                break
            length, spec = length + 1, inner
    except (ImportError, OSError, ValueError):
        return None, length
    origin = spec.origin if spec else None
    return (Path(origin), length) if origin and origin.endswith(".py") else (None, length)


def _visit(parts: Sequence[str], file: Path) -> griffe.Module | None:
    """The module in `file`; `_bodies` gives the methods of its classes."""
    import griffe

    class Bodies(griffe.Extension):
        def on_class_instance(self, *, node: Any, cls: griffe.Class, agent: Any, **_: Any) -> None:
            cls.extra["distgen"] = _read_bodies(node, agent.code)

    # Relative imports are resolved along the parents.
    parent = None
    for package in parts[:-1]:
        parent = griffe.Module(package, filepath=file.parent / "__init__.py", parent=parent)
    try:
        code = file.read_text(encoding="utf-8-sig")
        return griffe.visit(parts[-1], file, code, extensions=griffe.Extensions(Bodies()), parent=parent)
    except Exception:  # Whatever a file on the path holds, it is no class of ours if it cannot be read.
        return None


@dataclass(frozen=True, slots=True)
class _Body:
    """A method: its arguments, what it stores on its instance, and the bases whose version of it is used."""

    arguments: tuple[Argument, ...] = ()
    stores: tuple[str, ...] = ()
    continues: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()


def _bodies(cls: griffe.Class) -> dict[str, _Body]:
    bodies: dict[str, _Body] = cls.extra["distgen"]
    return bodies


def _stored(lineage: Sequence[griffe.Class], method: str) -> Iterator[str]:
    """The attributes that a call of `method` stores, those of the bases that it goes on to first."""
    for index, cls in enumerate(lineage):
        if body := _bodies(cls).get(method):
            bases = lineage[index + 1 :]
            for start, base in enumerate(bases):
                if base.name in body.continues or (start == 0 and "super" in body.continues):
                    yield from _stored(bases[start:], method)
            yield from body.stores
            return


def _read_bodies(cls: ast.ClassDef, code: str) -> dict[str, _Body]:
    lines = code.encode().splitlines()
    bodies: dict[str, _Body] = {}
    for function in _walk(cls, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            body = _read_body(function, cls.name, lines)
            # A property and its setter share a name.
            before = bodies.get(function.name, _Body())
            bodies[function.name] = _Body(
                body.arguments,
                before.stores + body.stores,
                before.continues | body.continues,
                before.decorators | body.decorators,
            )
    return bodies


def _read_body(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, lines: list[bytes]) -> _Body:
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
    return _Body(
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

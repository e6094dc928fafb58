"""Finding classes in the source of installed packages, and reading what they inherit."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distgen.catalog.bodies import bodies_of, read_bodies, stored_attributes
from distgen.catalog.model import ClassEntry, ClassKind

if TYPE_CHECKING:
    import griffe

_TFP = "tensorflow_probability.substrates.jax"
_ROOTS: dict[str, ClassKind] = {
    "distrax.Distribution": "distribution",
    "distrax.Bijector": "bijector",
    f"{_TFP}.distributions.distribution.Distribution": "distribution",
    f"{_TFP}.bijectors.bijector.Bijector": "bijector",
}
_PROPERTIES = {"property", "cached_property", "abstractproperty", "getter", "setter", "deleter"}


class Reader:
    """Finds classes by dotted path in source files, and follows imports from file to file."""

    def __init__(self) -> None:
        self.modules: dict[str, griffe.Module | None] = {}

    def module(self, name: str) -> griffe.Module | None:
        """The module of that name, or the package around it that is the last to have a file."""
        parts = name.split(".")
        file, length = locate(parts)
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
        members = ChainMap(*map(bodies_of, lineage))
        stored = dict.fromkeys(
            chain(*(stored_attributes(lineage, member) for member in ("__init__", *members)))
        )
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


def locate(parts: Sequence[str]) -> tuple[Path | None, int]:
    """The file of the longest prefix of `parts` that is a module, and the length of that prefix."""
    length = 1
    if parts[0] in sys.stdlib_module_names:
        return None, length
    try:
        spec = _find_package(parts[0])
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


def _find_package(name: str) -> ModuleSpec | None:
    """Where a top-level name is found, whether or not it is imported already."""
    finders = (finder.find_spec(name, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    return next(filter(None, finders), None) or PathFinder.find_spec(name, [str(Path.cwd())])


def _visit(parts: Sequence[str], file: Path) -> griffe.Module | None:
    """The module in `file`; `bodies_of` gives the methods of its classes."""
    import griffe

    class Bodies(griffe.Extension):
        def on_class_instance(self, *, node: Any, cls: griffe.Class, agent: Any, **_: Any) -> None:
            cls.extra["distgen"] = read_bodies(node, agent.code)

    # Relative imports are resolved along the parents.
    parent = None
    for package in parts[:-1]:
        parent = griffe.Module(package, filepath=file.parent / "__init__.py", parent=parent)
    try:
        code = file.read_text(encoding="utf-8-sig")
        return griffe.visit(parts[-1], file, code, extensions=griffe.Extensions(Bodies()), parent=parent)
    except Exception:  # Whatever a file on the path holds, it is no class of ours if it cannot be read.
        return None

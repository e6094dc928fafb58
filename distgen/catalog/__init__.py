"""Catalog: what the installed distrax offers, read from its source and never imported.

The signature of a class does not tell what its instances store: the catalog does, and a spec accounts for it.

model    what the catalog holds
bodies   what the methods of a class take and store
reader   finding classes in source files, along imports and bases
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from distgen.catalog.model import Argument, Catalog, ClassEntry
from distgen.catalog.reader import Reader, locate
from distgen.diagnostics import Diagnostic

__all__ = ["Argument", "Catalog", "ClassEntry", "fingerprint", "load_catalog", "lookup"]


def fingerprint() -> str | None:
    """The digest of the source of the installed distrax, or None if there is none."""
    file, _ = locate(["distrax"])
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
    reader = Reader()
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
        # What is read depends on the code of this package as much as on distrax.
        sources = [file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))]
        key = hashlib.sha256(b"".join([digest.encode(), *sources])).hexdigest()
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
    reader = Reader()
    package = reader.module("distrax")
    members = package.members if package else {}
    names = [f"distrax.{name}" for name in sorted(members) if not name.startswith("_")]
    found = {name: cls for name in names if (cls := reader.find(name))}
    public = {cls.path: name for name, cls in found.items()}
    version = str(getattr(members.get("__version__"), "value", "")).strip("'\"")
    return Catalog(version, digest, {name: reader.entry(name, cls, public) for name, cls in found.items()})

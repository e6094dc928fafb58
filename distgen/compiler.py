"""The one entry of the compiler: from spec files to a publication, which the caller applies or shows.

Nothing is written here. `distgen build`, `--check`, `--diff`, `--dry-run` and the tests consume the same
result. Stages are imported where they run, so that a build with nothing to do does not pay for them.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from distgen.diagnostics import Diagnostic, Severity, Span, has_errors, in_order

if TYPE_CHECKING:
    from distgen.catalog import Catalog
    from distgen.plan import ClassPlan
    from distgen.publish import Artifact, Publication
    from distgen.spec import Spec

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Build:
    """What a build would do.

    `publication` is None where there are errors, and where nothing changed since the last build (then
    `is_current`).
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    publication: Publication | None = None
    classes: tuple[str, ...] = ()
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec as read from disk, and the name that messages and headers give it."""

    name: str
    content: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Compilation:
    """The plans of all specs that are right, with the specs they come from."""

    catalog: Catalog | None = None
    plans: Mapping[str, ClassPlan] = field(default_factory=dict)
    specs: Mapping[str, Spec] = field(default_factory=dict)


def build(
    specs: Sequence[Path],
    output: Path,
    *,
    root: Path | None = None,
    force: bool = False,
    preview: bool = False,
    command: str = "distgen build",
) -> Build:
    """Compiles `specs` for publication in `output`.

    Args:
        specs: spec files, and directories that are searched for them.
        output: the directory of the generated package.
        root: the directory that names of specs are relative to; where a spec lies outside of it, its
            name starts at the argument that led to it.
        force: whether files that were edited by hand may be overwritten.
        preview: whether such files are among the changes, with warnings, because nothing will be written.
        command: the command that makes the output again, for headers and hints.
    """
    from distgen.catalog import fingerprint
    from distgen.publish import is_current, plan_publication

    files, diagnostics = read_specs(specs, root)
    inputs = {
        "command": command,
        "compiler": compiler_digest(),
        "distrax": fingerprint() or "",
        "specs": {file.name: file.digest for file in files},
    }
    if not diagnostics and is_current(output, inputs):
        return Build(is_current=True)
    compilation, found = compile_specs(files)
    diagnostics += found
    if has_errors(diagnostics) or compilation.catalog is None:
        return Build(tuple(in_order(diagnostics)))
    artifacts, found = _artifacts(compilation, compilation.catalog, command)
    diagnostics += found
    if has_errors(diagnostics):
        return Build(tuple(in_order(diagnostics)))
    publication, found = plan_publication(output, artifacts, inputs, force=force)
    if publication is None and preview:
        publication, remaining = plan_publication(output, artifacts, inputs, force=True)
        found = [d if d in remaining else replace(d, severity=Severity.WARNING) for d in found]
    classes = tuple(sorted(compilation.plans))
    return Build(tuple(in_order(diagnostics + found)), publication, classes)


def read_specs(paths: Sequence[Path], root: Path | None) -> tuple[list[SpecFile], list[Diagnostic]]:
    """The spec files at or below `paths`, by name. Errors: DG101, DG109, DG110."""
    files: dict[Path, SpecFile] = {}
    diagnostics: list[Diagnostic] = []
    # In order, so that names do not depend on how the paths are listed.
    for path in sorted(set(paths)):
        try:
            found = _spec_paths(path)
            if not found:
                diagnostics.append(_missing(path))
        except OSError as error:
            diagnostics.append(_unreadable(_shown(path), error))
            continue
        for file in found:
            name = _display_name(file, path, root)
            try:
                if (place := file.resolve()) not in files:
                    files[place] = SpecFile(name, _read(file))
            except OSError as error:
                diagnostics.append(_unreadable(name, error))
    named: dict[str, SpecFile] = {}
    for spec in files.values():
        if named.setdefault(spec.name, spec) is not spec:
            message = f"two specs go by the name '{spec.name}'"
            hint = "rename one of them, or run distgen in a directory above both"
            diagnostics.append(Diagnostic("DG110", message, Span(spec.name), hint))
    return [named[name] for name in sorted(named)], diagnostics


def compile_specs(files: Sequence[SpecFile]) -> tuple[Compilation, list[Diagnostic]]:
    """The plans of all classes, or all that is wrong with their specs."""
    from distgen.catalog import load_catalog
    from distgen.passes import compile_spec
    from distgen.source import decode, parse_document
    from distgen.validation import read_spec
    from distgen.vocabulary import load_vocabulary

    catalog, diagnostics = load_catalog()
    vocabulary = load_vocabulary()
    plans: dict[str, ClassPlan] = {}
    specs: dict[str, Spec] = {}
    for file in files:
        text, found = decode(file.content, file.name)
        diagnostics += found
        if text is None:
            continue
        document, found = parse_document(text, file.name)
        diagnostics += found
        if document is None:
            continue
        spec, found = read_spec(document, file.digest)
        diagnostics += found
        if spec is None or catalog is None:
            continue
        plan, found = compile_spec(spec, catalog, vocabulary)
        diagnostics += found
        if plan is None:
            continue
        rival = next((n for n, p in plans.items() if p.module == plan.module), None)
        if rival:
            message = (
                f"class '{plan.name}' would be written to '{plan.module}.py', "
                f"as '{rival}' of {specs[rival].name} is"
            )
            span = spec.at("distribution")
            diagnostics.append(Diagnostic("DG212", message, span, "give one of them another name"))
            continue
        plans[plan.name], specs[plan.name] = plan, spec
    return Compilation(catalog, plans, specs), diagnostics


@functools.cache
def compiler_digest() -> str:
    """A digest of what the output depends on: sources and templates. The laws only look at it."""
    from distgen.render import templates_directory

    package = Path(__file__).parent
    digest = hashlib.sha256()
    for directory, pattern in ((package, "**/*.py"), (templates_directory(), "**/*.jinja")):
        for file in sorted(directory.glob(pattern)):
            name = file.relative_to(directory).as_posix()
            if not name.startswith("verify/"):
                digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _artifacts(
    compilation: Compilation, catalog: Catalog, command: str
) -> tuple[list[Artifact], list[Diagnostic]]:
    from distgen.formatting import format_sources
    from distgen.publish import Artifact, with_header
    from distgen.render import render_class, render_package, runtime_sources

    plans = [compilation.plans[name] for name in sorted(compilation.plans)]
    origins = {f"{plan.module}.py": compilation.specs[plan.name] for plan in plans}
    sources = {f"{plan.module}.py": render_class(plan) for plan in plans}
    sources |= {"__init__.py": render_package(plans), "py.typed": ""} | runtime_sources()
    formatted, diagnostics = format_sources(sources)
    artifacts = [
        Artifact(path, text, origins[path].name, origins[path].digest)
        if path in origins
        else Artifact(path, text, "the distgen runtime" if path.startswith("_") else "its specs", "")
        for path, text in formatted.items()
    ]
    return [replace(a, text=with_header(a, catalog.version, command)) for a in artifacts], diagnostics


def _shown(path: Path) -> str:
    """A path for people: as given, but of an absolute one only the name."""
    return path.name if path.is_absolute() else path.as_posix()


def _missing(path: Path) -> Diagnostic:
    what = "holds no specs" if path.is_dir() else "does not exist"
    hint = f"name a file, or a directory with files that end in {' or '.join(SUFFIXES)}"
    return Diagnostic("DG109", f"'{_shown(path)}' {what}", None, hint)


def _unreadable(name: str, error: OSError) -> Diagnostic:
    message = f"cannot be read: {error.strerror or error}"
    return Diagnostic("DG101", message, Span(name), "check that it is a readable file")


def _spec_paths(path: Path) -> list[Path]:
    """The file at `path`, or the specs below it; what is hidden stays out, such as `.github`."""
    if not path.is_dir():
        return [path] if path.exists() else []
    below = (p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    return sorted(p for p in below if not any(part.startswith(".") for part in p.relative_to(path).parts))


def _read(file: Path) -> bytes:
    # A pipe may never end.
    if not file.is_file():
        raise OSError("it is not a regular file")
    return file.read_bytes()


def _display_name(file: Path, argument: Path, root: Path | None) -> str:
    if root is not None and file.resolve().is_relative_to(root.resolve()):
        return file.resolve().relative_to(root.resolve()).as_posix()
    below = file.relative_to(argument).as_posix() if file != argument else ""
    return f"{argument.resolve().name}/{below}" if below else file.name

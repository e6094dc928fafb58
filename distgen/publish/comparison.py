"""Compares artifacts with what is on disk. Only reads: `--check`, `--diff` and `--dry-run` end here.

A file is distgen's own if the last manifest or the body hash in its header vouches for its content. Anything
else is somebody's work: it is not overwritten and not removed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from distgen.diagnostics import Diagnostic, Severity, Span, has_errors
from distgen.publish.header import body_is_untouched
from distgen.publish.manifest import MANIFEST, load_manifest, manifest_text
from distgen.publish.model import (
    Artifact,
    Change,
    Publication,
    digest,
    read_text,
    shown,
    stays_inside,
    unpublishable,
)


def plan_publication(
    directory: Path, artifacts: Sequence[Artifact], manifest_inputs: Mapping[str, Any], *, force: bool
) -> tuple[Publication | None, list[Diagnostic]]:
    """What publishing `artifacts` to `directory` would change; None beside the errors that forbid it.

    Errors: DG501, a hand edit would be lost (allowed by `force`); DG502, something that distgen did not write
    is in the way; DG503, the output is no directory to write to; DG504, artifacts that share a path where
    case does not count. Warning: DG505, the manifest of the last build is unreadable.
    """
    made = {artifact.path: artifact for artifact in artifacts}
    problems = list(_collisions(artifacts))
    changes: list[Change] = []
    try:
        if reason := _unfit(directory):
            return None, [*problems, unpublishable(directory, reason)]
        if obstacle := _obstacle(directory, MANIFEST):
            return None, [*problems, obstacle]
        last = load_manifest(directory)
        if last is None and (directory / MANIFEST).exists():
            problems.append(_unreadable_manifest(directory))
        recorded = last.files if last else {}
        for path in sorted(made.keys() | _stale(directory, made, recorded)):
            outcome = _compare(directory, path, made.get(path), recorded.get(path), force=force)
            if isinstance(outcome, Diagnostic):
                problems.append(outcome)
            elif outcome:
                changes.append(outcome)
        manifest = manifest_text(manifest_inputs, artifacts)
    except (OSError, ValueError) as error:
        return None, [*problems, unpublishable(directory, getattr(error, "strerror", None) or str(error))]
    if has_errors(problems):
        return None, problems
    written = sum(change.after is not None for change in changes)
    return Publication(directory, tuple(changes), len(made) - written, manifest), problems


def unified_diff(publication: Publication) -> str:
    """All changes as one patch, with paths below the output directory's name as it was given."""
    return "".join(line for change in publication.changes for line in _diff(publication.directory, change))


def _diff(directory: Path, change: Change) -> Iterator[str]:
    import difflib

    path = shown(directory, change.path)
    old = "/dev/null" if change.before is None else f"a/{path}"
    new = "/dev/null" if change.after is None else f"b/{path}"
    yield f"--- {old}\n+++ {new}\n"
    # StringIO breaks lines at "\n" alone, as a patch does; str.splitlines knows ten more line ends.
    before, after = list(io.StringIO(change.before or "")), list(io.StringIO(change.after or ""))
    for line in list(difflib.unified_diff(before, after))[2:]:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _collisions(artifacts: Iterable[Artifact]) -> Iterator[Diagnostic]:
    """Paths that meet where case does not count, and a path that is a file here and a directory there."""
    taken = {MANIFEST.casefold(): (MANIFEST, "the manifest", True)}
    for artifact in sorted(artifacts, key=lambda artifact: (artifact.path, artifact.origin)):
        file = PurePosixPath(artifact.path)
        for place in (file, *list(file.parents)[:-1]):
            key, own = str(place).casefold(), (str(place), artifact.origin, place == file)
            spelling, origin, is_file = taken.get(key, own)
            if key in taken and (is_file or place == file or spelling != str(place)):
                yield Diagnostic(
                    "DG504",
                    "expected outputs whose paths differ in more than case, "
                    f"but '{place}' from {artifact.origin} meets '{spelling}' from {origin}",
                    hint="rename one of them in its spec",
                )
                break
            taken[key] = own


def _unfit(directory: Path) -> str:
    """Why the output cannot be a directory, if so. Whether it is writable shows when it is written to."""
    for place in (directory, *directory.parents):
        if place.is_dir():
            return ""
        if place.is_symlink() and not place.exists():
            return f"'{place.name}' is a symbolic link to nothing"
        if place.exists():
            return f"'{place.name}' is a file"
    return ""


def _stale(directory: Path, made: Mapping[str, Artifact], recorded: Iterable[str]) -> set[str]:
    """What the last build wrote and this one does not."""
    # Where case does not count, a file renamed in case only is the new file: removing one removes both.
    respelled = {path.casefold(): path for path in made}

    def is_stale(path: str) -> bool:
        file = directory / path
        if path in made or not stays_inside(path) or not file.is_file():
            return False
        twin = directory / respelled[path.casefold()] if path.casefold() in respelled else None
        return twin is None or not twin.exists() or not twin.samefile(file)

    return {path for path in recorded if is_stale(path)}


def _compare(
    directory: Path, path: str, artifact: Artifact | None, recorded: str | None, *, force: bool
) -> Change | Diagnostic | None:
    """What becomes of one file, or why nothing may; None if it stays. Without an artifact it is stale."""
    if not stays_inside(path):
        return unpublishable(directory, f"'{path}' would lie outside of it", hint="rename it in its spec")
    if obstacle := _obstacle(directory, path):
        return obstacle
    before, after = read_text(directory / path), artifact.text if artifact else None
    if before == after:
        return None
    if before is None:
        return Change(path, "create", None, after)
    owner = _owner(before, recorded)
    if owner == "user":
        return _foreign(directory, path, "a file that distgen did not write")
    if owner == "both" and not force:
        return _edited(directory, path, artifact)
    return Change(path, "update" if artifact else "remove", before, after)


def _owner(text: str, recorded: str | None) -> Literal["distgen", "user", "both"]:
    """Who wrote what is on disk. After a killed build the header knows what the manifest does not."""
    untouched = body_is_untouched(text)
    if untouched or digest(text.encode()) == recorded:
        return "distgen"
    return "user" if untouched is None and recorded is None else "both"


def _obstacle(directory: Path, path: str) -> Diagnostic | None:
    """What keeps `path` from being a plain file in plain directories."""
    file = PurePosixPath(path)
    for place in (*reversed(list(file.parents)[:-1]), file):
        here = directory / place
        if here.is_symlink():
            return unpublishable(directory, f"'{place}' in it is a symbolic link, which may lead out of it")
        if not os.path.lexists(here):
            return None
        if place != file and not here.is_dir():
            return _foreign(directory, str(place), "a file where a directory must be")
        if place == file and not here.is_file():
            return _foreign(directory, path, "something other than a file")
    return None


def _edited(directory: Path, path: str, artifact: Artifact | None) -> Diagnostic:
    if artifact:
        fate, rescue = "replaced", f"move it to {artifact.origin} or a template"
    else:
        fate, rescue = "removed", "move the file elsewhere"
    return Diagnostic(
        "DG501",
        f"expected '{path}' as distgen wrote it, but it was edited by hand and would now be {fate}",
        Span(shown(directory, path)),
        f"undo the edit, {rescue}, or discard it with `--force`",
    )


def _foreign(directory: Path, path: str, what: str) -> Diagnostic:
    return Diagnostic(
        "DG502",
        f"expected '{path}' to be free for an output of distgen, but found {what}",
        Span(shown(directory, path)),
        "move it away, or choose another output with `-o`",
    )


def _unreadable_manifest(directory: Path) -> Diagnostic:
    return Diagnostic(
        "DG505",
        f"expected '{MANIFEST}' to be the manifest of the last build, but it does not read as one",
        Span(shown(directory, MANIFEST)),
        "this build writes it anew, but removes no file of a spec that is gone: look for such files",
        Severity.WARNING,
    )

"""Writes a publication: staged first, then moved into place file by file, and undone if anything fails."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from distgen.diagnostics import Diagnostic
from distgen.publish.manifest import MANIFEST
from distgen.publish.model import Change, Publication, read_text, unpublishable

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

# A module appears before the one that imports it changes, and goes after that.
ORDER = ("create", "update", "remove")
ABANDONED_AFTER_SECONDS = 3600


def apply(publication: Publication) -> list[Diagnostic]:
    """Makes the directory what the publication says, or leaves it as it was. Writes nothing without a change.

    The manifest comes last, so that a build that is killed half-way leaves one that calls for another build.
    Errors: DG503, the file system refuses (full, read-only, ...).
    """
    directory, manifest = publication.directory, publication.manifest
    try:
        recorded = read_text(directory / MANIFEST)
        if not publication.changes and recorded == manifest:
            return []
        changes = sorted(publication.changes, key=lambda change: ORDER.index(change.action))
        changes.append(Change(MANIFEST, "create" if recorded is None else "update", recorded, manifest))
        with ExitStack() as undo:
            _make_directory(directory, undo)
            _replace(directory.resolve(), changes)
            undo.pop_all()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return [
            unpublishable(directory, f"writing failed: {reason}", hint="remove the cause and build again")
        ]
    _remove_empty_directories(publication)
    return []


def _replace(root: Path, changes: list[Change]) -> None:
    import shutil

    with _staging(root) as staging, ExitStack() as undo:
        new, old = Path(staging, "new"), Path(staging, "old")
        # All that needs space on disk comes before the first move.
        for change in changes:
            if change.after is not None:
                _write(new / change.path, change.after)
            if change.before is not None:
                (old / change.path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / change.path, old / change.path)
        for change in changes:
            target = root / change.path
            _make_directory(target.parent, undo)
            undo.callback(_restore, target, None if change.before is None else old / change.path)
            if change.after is None:
                target.unlink()
            else:
                (new / change.path).replace(target)
        undo.pop_all()


def _staging(root: Path) -> TemporaryDirectory[str]:
    """A directory beside `root`; inside it where `root` is a mount point or its parent is not writable."""
    import glob
    import shutil
    import tempfile
    import time

    beside = root.parent
    movable = beside.stat().st_dev == root.stat().st_dev and os.access(beside, os.W_OK | os.X_OK)
    parent, prefix = (beside if movable else root), f".{root.name}.distgen-"
    for leftover in parent.glob(f"{glob.escape(prefix)}*"):
        # Of a build that was killed: a younger one may belong to a build that runs right now.
        with suppress(OSError):
            if time.time() - leftover.lstat().st_mtime > ABANDONED_AFTER_SECONDS:
                shutil.rmtree(leftover)
    return tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def _make_directory(directory: Path, undo: ExitStack) -> None:
    for place in (*reversed(directory.parents), directory):
        if not place.exists():
            place.mkdir(exist_ok=True)
            undo.callback(_remove_if_empty, place)


def _restore(target: Path, backup: Path | None) -> None:
    with suppress(OSError):
        if backup is None:
            target.unlink(missing_ok=True)
        else:
            backup.replace(target)


def _remove_if_empty(directory: Path) -> bool:
    try:
        directory.rmdir()
    except OSError:
        return False
    return True


def _remove_empty_directories(publication: Publication) -> None:
    for change in publication.changes:
        if change.action == "remove":
            for parent in list(PurePosixPath(change.path).parents)[:-1]:
                if not _remove_if_empty(publication.directory / parent):
                    break

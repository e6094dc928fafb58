"""What is published, as plain values, and the few facts about files that the whole stage shares."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from distgen.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Artifact:
    """A finished text. `path` is POSIX, relative to the output; `origin` a spec or a word like "runtime"."""

    path: str
    text: str
    origin: str
    origin_digest: str


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one file; `before` and `after` are None where there is no file."""

    path: str
    action: Literal["create", "update", "remove"]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Publication:
    """What publishing would do to `directory`, by path, and the manifest that it would leave there."""

    directory: Path
    changes: tuple[Change, ...]
    unchanged: int
    manifest: str


def stays_inside(path: str) -> bool:
    """Whether a relative POSIX path is in its plain form and leads nowhere else on any system."""
    return not {"", ".", ".."} & set(path.split("/")) and not set("\\:\0") & set(path)


def digest(content: bytes) -> str:
    """The sha256 of a text file. A checkout that turns line ends into CRLF does not change it."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def read_text(file: Path) -> str | None:
    """The text of a file with LF line ends; None if there is none. Bytes that are no UTF-8 become escapes."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    return content.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def shown(directory: Path, path: str = "") -> str:
    """A path for people: the directory as given, but of an absolute one only the name."""
    return (Path(directory.name) if directory.is_absolute() else directory).joinpath(path).as_posix()


def unpublishable(directory: Path, reason: str, *, hint: str = "") -> Diagnostic:
    return Diagnostic(
        "DG503",
        f"expected '{shown(directory)}' to be a directory that distgen can write to, but {reason}",
        hint=hint or "choose another output with `-o`, or with `output` in [tool.distgen]",
    )

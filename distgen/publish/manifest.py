"""The record of the last build, kept in the output directory: what it was made from and what it wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distgen.publish.model import Artifact, digest

MANIFEST = "distgen.manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    inputs: Any
    files: Mapping[str, str]


def is_current(directory: Path, manifest_inputs: Mapping[str, Any]) -> bool:
    """Whether the output was made from these inputs and still stands as it was written."""
    manifest = load_manifest(directory)
    # The round trip makes lists of tuples, as the recorded side has them.
    if manifest is None or manifest.inputs != json.loads(json.dumps(manifest_inputs)):
        return False
    try:
        return all(
            digest((directory / path).read_bytes()) == recorded for path, recorded in manifest.files.items()
        )
    except (OSError, ValueError):
        return False


def load_manifest(directory: Path) -> Manifest | None:
    """The manifest in `directory`; None if it is not there or does not read as one."""
    try:
        document = json.loads((directory / MANIFEST).read_bytes())
        inputs, files = document["inputs"], document["files"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    # JSON keys are strings always.
    well_formed = isinstance(files, dict) and all(isinstance(recorded, str) for recorded in files.values())
    return Manifest(inputs, files) if well_formed else None


def manifest_text(manifest_inputs: Mapping[str, Any], artifacts: Sequence[Artifact]) -> str:
    files = {artifact.path: digest(artifact.text.encode()) for artifact in artifacts}
    return json.dumps({"files": files, "inputs": manifest_inputs}, indent=2, sort_keys=True) + "\n"

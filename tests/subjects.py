"""The classes under test: one for each spec."""

from __future__ import annotations

from pathlib import Path

from distgen.verify.subjects import load_subjects

ROOT = Path(__file__).parent.parent
SUBJECTS = load_subjects([ROOT / "specs"], "generated", ROOT)
BY_CLASS = {s.wrapped: s for s in SUBJECTS}

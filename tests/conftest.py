"""Hypothesis profiles and options of the test suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from distgen.verify.environment import prepare

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", max_examples=4, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=60, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Most of the time goes into compiling; the workers share what they compile, and the next run uses it again.
prepare(cache=str(Path(__file__).parent.parent / ".jax_cache"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write what tests/golden expects anew.")

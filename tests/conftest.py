"""Hypothesis profiles and options of the test suite."""

from __future__ import annotations

import os
from pathlib import Path

import jax
import pytest
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", max_examples=4, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=60, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Most of the time goes into compiling; the workers share what they compile, and the next run uses it again.
jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parent.parent / ".jax_cache"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write what tests/golden expects anew.")

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from publishing import INPUTS, NEW, OLD, build, module

from distgen.diagnostics import Severity
from distgen.publish import MANIFEST, is_current


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "project" / "generated"


class TestManifest:
    @pytest.mark.parametrize(
        "text",
        [
            "<<<<<<< HEAD",
            "[]",
            "{}",
            '{"files": [], "inputs": {}}',
            '{"files": {"a": 1}, "inputs": 1}',
            "[" * 99999,
            "\xff",
        ],
    )
    def test_damage_is_a_warning_and_mended(self, output: Path, text: str) -> None:
        build(output, OLD)
        (output / MANIFEST).write_text(text, encoding="latin-1")
        assert not is_current(output, INPUTS)
        problems = build(output, NEW[:3])
        assert [(problem.code, problem.severity) for problem in problems] == [("DG505", Severity.WARNING)]
        assert is_current(output, INPUTS)
        assert (output / "sub/gone.py").exists()

    def test_is_current_right_after_a_build(self, output: Path) -> None:
        assert not is_current(output, INPUTS)
        build(output, OLD)
        assert is_current(output, INPUTS)
        assert is_current(output, dict(reversed(INPUTS.items())))

    def test_is_current_compares_as_json_does(self, output: Path) -> None:
        build(output, OLD, {"specs": ("a", "b")})
        assert is_current(output, {"specs": ("a", "b")})

    def test_is_not_current_for_other_inputs(self, output: Path) -> None:
        build(output, OLD)
        assert not is_current(output, {**INPUTS, "distrax": "0.2.0"})

    @pytest.mark.parametrize(
        "harm", [Path.unlink, lambda file: file.write_text("Y"), lambda file: os.truncate(file, 9)]
    )
    def test_is_not_current_after_a_change_of_any_file(self, output: Path, harm: Any) -> None:
        build(output, OLD)
        harm(output / "beta.py")
        assert not is_current(output, INPUTS)

    def test_is_current_is_fast(self, output: Path) -> None:
        build(output, [module(f"m{i}.py", "X = 1\n" * 2000) for i in range(60)])

        def seconds() -> float:
            start = time.perf_counter()
            assert is_current(output, INPUTS)
            return time.perf_counter() - start

        assert min(seconds() for _ in range(5)) < 0.01

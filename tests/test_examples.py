"""The examples run, and print what their docstrings say."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(ROOT.glob("examples/*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_promises(example: Path, tmp_path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(example.read_text()))
    promised = re.search(r"^Prints.*:\n\n((?: {4}.+\n?)+)", docstring or "", re.MULTILINE)
    assert promised, f"{example.name} does not say what it prints"
    ran = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    want = textwrap.dedent(promised[1]).rstrip() + "\n"
    assert doctest.OutputChecker().check_output(want, ran.stdout, doctest.ELLIPSIS), ran.stdout

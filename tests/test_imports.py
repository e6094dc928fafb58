"""Law 18: importing starts no JAX backend, and one class imports one module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import generated
from distgen.render import FUNCTIONS

ROOT = Path(__file__).parent.parent
PROGRAM = """
import importlib, json, sys
generated = importlib.import_module("generated")
before = [m for m in sys.modules if m.startswith("generated.")]
getattr(generated, sys.argv[1])
from jax._src import xla_bridge
modules = sorted(m for m in sys.modules if m.startswith("generated.") and "_runtime" not in m)
print(json.dumps([before, modules, sorted(xla_bridge._backends), "distgen" in sys.modules]))
"""


@pytest.mark.parametrize(
    "name", ["Normal", "MultivariateNormalDiagPlusLowRank", "Transformed", "Lambda", "HMM"]
)
def test_one_class_imports_one_module_and_starts_nothing(name: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, name]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    before, modules, backends, needs_distgen = json.loads(run.stdout)
    assert before == []
    assert len(modules) == 1
    assert backends == []
    assert not needs_distgen


def test_the_package_lists_its_classes() -> None:
    assert len(generated.WRAPPED) == 51
    assert set(generated.__all__) == {*generated.WRAPPED, *FUNCTIONS}
    assert dir(generated) == sorted(generated.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nonesuch'"):
        generated.Nonesuch  # noqa: B018

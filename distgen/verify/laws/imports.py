"""Law 18: what importing a class does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from distgen.verify.cases import FLOAT32, Case, Precision
from distgen.verify.laws.registry import law
from distgen.verify.subjects import Subject, Subjects

# Imports each module of a package as if it were the first.
# What distrax loads, and private modules, are there.
_PROGRAM = """
import json, pkgutil, sys, warnings
warnings.simplefilter("ignore")
from importlib import import_module
import distrax
from jax._src import xla_bridge

def new():
    names = {m for m in sys.modules.keys() - there if m == package or m.startswith(package + ".")}
    return {m for m in names if "._" not in m.removeprefix(package)}

package, found, there = sys.argv[1], {}, {*sys.modules}
for module in [m.name for m in pkgutil.iter_modules(import_module(package).__path__, package + ".")]:
    for other in new():
        del sys.modules[other]
    if "._" not in module.removeprefix(package) and module not in there:
        try:
            import_module(module)
        except ImportError as error:
            found[module] = {"error": str(error)}
            continue
        others = new() - {module, package}
        found[module] = {"others": sorted(others), "backends": sorted(xla_bridge._backends)}
print(json.dumps(found))
"""


def itself(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> list[Case]:
    """The class, whatever its arguments."""
    return [Case(subject, subject.plan.variants[0].label, FLOAT32, ())]


@law(18, examined=itself)
def imports(case: Case) -> None:
    """Importing a class loads one module of its package, and starts no backend of JAX."""
    module = case.subject.generated.__module__
    package = module.rpartition(".")[0]
    # What has no package of its own, or is loaded with distrax, brings nothing along.
    found = _imports(package).get(module) if package else None
    if found:
        assert "error" not in found, f"{module} cannot be imported: {found['error']}"
        assert not found["others"], f"importing {module} imports {found['others']}"
        assert not found["backends"], f"importing {module} starts {found['backends']}"


@cache
def _imports(package: str) -> dict[str, dict[str, Any]]:
    """What each module of the package brings along when it is imported first."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), *sys.path]))}
    command = [sys.executable, "-c", _PROGRAM, package]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not run.returncode, f"the modules of {package} cannot be imported: {run.stderr.strip()[-500:]}"
    found: dict[str, dict[str, Any]] = json.loads(run.stdout)
    return found

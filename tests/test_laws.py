"""Every law for every class that has a spec."""

from __future__ import annotations

from subjects import ROOT

from distgen.verify import laws

test_law = laws.for_pytest([ROOT / "specs"], "generated", root=ROOT)

from __future__ import annotations

import re
from pathlib import Path

import pytest

import distgen
from distgen.explanations import EXPLANATIONS

PACKAGE = Path(distgen.__file__).parent


def test_every_code_in_the_sources_is_explained_and_no_other() -> None:
    sources = [file.read_text() for file in PACKAGE.rglob("*.py") if file.name != "explanations.py"]
    codes = {code for source in sources for code in re.findall(r'"(DG\d{3})"', source)}
    assert set(EXPLANATIONS) == codes


def test_codes_are_in_order() -> None:
    assert list(EXPLANATIONS) == sorted(EXPLANATIONS)


@pytest.mark.parametrize("code", EXPLANATIONS)
def test_an_explanation_says_what_it_means_and_what_mends_it(code: str) -> None:
    first, blank, *rest = EXPLANATIONS[code].split("\n")
    assert first.endswith(".")
    assert blank == ""
    assert rest
    assert all(len(line) <= 110 for line in rest)

"""The report as one page of HTML that asks for nothing from a network."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from distgen.verify.page.model import view_of
from distgen.verify.page.plots import SIZE
from distgen.verify.results import Report

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page"]

HERE = Path(__file__).parent


def render_page(report: Report) -> str:
    """The page of a report; the same report gives the same text."""
    from markupsafe import Markup

    style, script = _source("page.css"), _source("page.js")
    view = view_of(report)
    text = (
        _environment()
        .get_template("page.html.jinja")
        .render(
            view=view,
            # What stands in these three cannot end its element: the first two are files of this package, and
            # the third has no "<".
            style=Markup(style),
            script=Markup(script),
            data=Markup(view.data),
            size=SIZE,
            policy=_policy(style, script),
        )
    )
    # Lone surrogates, which a message can hold, cannot be written to a file.
    return text.encode("utf-8", "replace").decode("utf-8")


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A Content-Security-Policy that allows the style and the script of the page, and no network."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {_digest(style)}",
            f"script-src {_digest(script)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

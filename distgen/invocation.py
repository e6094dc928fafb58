"""What the commands have in common: exit statuses, the configuration, and how mistakes end a command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from distgen.config import Config
from distgen.config import load_config as read_config
from distgen.diagnostics import Diagnostic, has_errors, in_order
from distgen.reporting import Style, report

if TYPE_CHECKING:
    from distgen.compiler import Compilation

BROKEN, DRIFT, MISTAKE, BUG, INTERRUPTED = 1, 1, 2, 70, 130


def load_config(style: Style = "text") -> Config:
    """The configuration that holds in the working directory."""
    config, diagnostics = read_config(Path.cwd())
    stop_on_errors(diagnostics, style)
    return config


def compile_all(specs: Sequence[Path]) -> Compilation:
    """The plans of the specs, or of those of the configuration."""
    from distgen.compiler import compile_specs, read_specs

    config = load_config()
    files, diagnostics = read_specs([*map(relative, specs or config.spec_paths)], config.root)
    compilation, found = compile_specs(files)
    stop_on_errors(in_order(diagnostics + found))
    return compilation


def stop_on_errors(diagnostics: Sequence[Diagnostic], style: Style = "text") -> None:
    """Shows diagnostics, and ends the command if there is an error among them."""
    if diagnostics:
        report(diagnostics, style)
    if has_errors(diagnostics):
        raise SystemExit(MISTAKE)


def relative(path: Path) -> Path:
    """The path from the working directory, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path

"""The command line: a thin face of `distgen.build`. Messages go to stderr, data to stdout."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from distgen import __version__
from distgen.compiler import SUFFIXES
from distgen.diagnostics import has_errors
from distgen.invocation import BUG, DRIFT, MISTAKE, compile_all, load_config, relative, stop_on_errors
from distgen.reporting import Style, report, report_drift, summary
from distgen.verify.command import verify

if TYPE_CHECKING:
    from distgen.config import Config


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 fine; 1 drift, or a broken law; 2 a mistake in specs, options or configuration; "
    "70 a bug of distgen; 130 interrupted.",
)
@click.version_option(__version__, prog_name="distgen")
def cli() -> None:
    """Compile specs of distributions into classes that are safe under every JAX transformation."""


@cli.command()
@click.argument("specs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The directory of the generated package."
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 with the diff if the output is not current."
)
@click.option("--diff", is_flag=True, help="Write nothing; show what would change as a diff.")
@click.option("--dry-run", is_flag=True, help="Write nothing; list the files that would change.")
@click.option("--force", is_flag=True, help="Overwrite files that were edited by hand.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How diagnostics and changes are shown.",
)
def build(  # noqa: PLR0917 - click passes them by name
    specs: tuple[Path, ...],
    output: Path | None,
    check: bool,
    diff: bool,
    dry_run: bool,
    force: bool,
    style: Style,
) -> None:
    """Compile SPECS, which are files or directories, into a Python package.

    Without arguments, specs and output are those of [tool.distgen] in pyproject.toml, or specs/ and
    generated/.

    \b
    Examples:
      distgen build specs/
      distgen build specs/distributions/beta.yaml -o mypackage/distributions
      distgen build --check
    """
    from distgen.compiler import build as run
    from distgen.publish import apply, unified_diff

    if check + diff + dry_run > 1:
        raise click.UsageError("--check, --diff and --dry-run exclude each other.")
    config = load_config(style)
    paths = specs or config.spec_paths
    command = _command(specs, output, config)
    result = run(
        [*map(relative, paths)],
        relative(output or config.output_path),
        root=config.root,
        force=force,
        preview=check or diff,
        command=command,
    )
    publication, diagnostics = result.publication, result.diagnostics
    is_written = publication is not None and not (check or diff or dry_run)
    if publication and is_written:
        diagnostics = (*diagnostics, *apply(publication))
    changes = publication.changes if publication else ()
    report(diagnostics, style, result.classes, changes)
    if has_errors(diagnostics):
        raise SystemExit(MISTAKE)
    if publication and style != "json":
        if check or diff:
            click.echo(unified_diff(publication), nl=False)
        elif dry_run:
            for change in changes:
                click.echo(f"{change.action}\t{change.path}")
    if check and changes:
        report_drift(changes, style, command)
        raise SystemExit(DRIFT)
    if style == "text":
        click.echo(summary(result.classes, changes, is_written=is_written), err=True)


@cli.command(name="list")
@click.argument("specs", nargs=-1, type=click.Path(path_type=Path))
def list_(specs: tuple[Path, ...]) -> None:
    """List the classes that SPECS describe, one a line: name, wrapped class, finished parameters, spec."""
    compilation = compile_all(specs)
    for name, plan in sorted(compilation.plans.items()):
        parameters = ", ".join(field.name for field in plan.fields)
        click.echo(
            f"{name}\t{compilation.specs[name].model.wraps}\t{parameters}\t{compilation.specs[name].name}"
        )


@cli.command()
@click.argument("name")
@click.option(
    "--as",
    "what",
    type=click.Choice(["source", "spec", "plan"]),
    default="source",
    show_default=True,
    help="The generated module, the spec, or the plan between them.",
)
@click.option("--specs", multiple=True, type=click.Path(path_type=Path), help="Where specs stand.")
def show(name: str, what: str, specs: tuple[Path, ...]) -> None:
    """Show what distgen makes of the class NAME."""
    from distgen.diagnostics import did_you_mean, valid_choices

    compilation = compile_all(specs)
    if name not in compilation.plans:
        hint = did_you_mean(name, compilation.plans, otherwise=valid_choices(compilation.plans))
        raise click.UsageError(f"no spec describes a class '{name}'; {hint}")
    plan = compilation.plans[name]
    if what == "plan":
        from pprint import pformat

        click.echo(pformat(plan, width=100))
    elif what == "spec":
        click.echo(json.dumps(compilation.specs[name].document.data, indent=2, ensure_ascii=False))
    else:
        from distgen.formatting import format_sources
        from distgen.render import render_class

        formatted, diagnostics = format_sources({f"{plan.module}.py": render_class(plan)})
        stop_on_errors(diagnostics)
        click.echo(formatted[f"{plan.module}.py"], nl=False)


@cli.command()
@click.argument("code")
def explain(code: str) -> None:
    """Explain the diagnostic CODE, such as DG203."""
    from distgen.diagnostics import did_you_mean, valid_choices
    from distgen.explanations import EXPLANATIONS

    explanation = EXPLANATIONS.get(code.upper())
    if explanation is None:
        hint = did_you_mean(code.upper(), EXPLANATIONS, otherwise=valid_choices(EXPLANATIONS))
        raise click.UsageError(f"there is no diagnostic '{code}'; {hint}")
    click.echo(f"{code.upper()}: {explanation}")


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""
    from distgen.spec import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


cli.add_command(verify)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: an exception that escapes is a bug, told as one."""
    for stream in (sys.stdout, sys.stderr):
        # Names and texts of specs may hold characters that the terminal lacks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        cli(arguments, prog_name="distgen")
    except Exception as error:
        descriptor, file = tempfile.mkstemp(prefix="distgen-", suffix=".log", text=True)
        with os.fdopen(descriptor, "w", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        click.echo(f"distgen: internal error: {type(error).__name__}: {error}", err=True)
        click.echo(f"This is a bug of distgen. Details are in {file}; please report it with them.", err=True)
        sys.exit(BUG)


def _command(specs: Sequence[Path], output: Path | None, config: Config) -> str:
    """The command that makes the output again, without paths of this machine."""

    def place(path: Path) -> Path:
        return Path(os.path.normpath(path.absolute()))

    def shown(path: Path) -> str:
        there = place(path)
        return there.relative_to(config.root).as_posix() if there.is_relative_to(config.root) else there.name

    names = {shown(path) + ("" if path.suffix in SUFFIXES else "/") for path in specs or config.spec_paths}
    parts = ["distgen", "build", *sorted(names)]
    if output is not None and place(output) != place(config.output_path):
        parts += ["-o", shown(output)]
    return shlex.join(parts)

"""`distgen verify`."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from distgen.diagnostics import did_you_mean, valid_choices
from distgen.invocation import BROKEN, INTERRUPTED, load_config, relative, stop_on_errors

if TYPE_CHECKING:
    from distgen.compiler import SpecFile
    from distgen.config import Config
    from distgen.verify.laws.examining import Task
    from distgen.verify.plugin import Request
    from distgen.verify.results import Report

Format = Literal["text", "json", "junit"]
_NEEDED = ("hypothesis", "pytest", "xdist", "cloudpickle", "flatbuffers")
_DTYPES = ("float32", "bfloat16", "float64")
_BACKENDS = ("cpu", "cuda", "rocm", "tpu")


@click.command()
@click.argument("specs", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where the generated package is.")
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="MODULE:CLASS",
    help="A class to examine in the place of the generated ones; its spec is the one of its name, or the "
    "one of a base.",
)
@click.option("--baseline", is_flag=True, help="Examine the wrapped classes of distrax, too.")
@click.option("--law", "laws", multiple=True, help="The number or the name of a law.")
@click.option("--class", "classes", multiple=True, help="The name of a class.")
@click.option("--backend", "backends", multiple=True, type=click.Choice(_BACKENDS), help="A platform.")
@click.option("--dtype", "dtypes", multiple=True, type=click.Choice(_DTYPES), help="A dtype of parameters.")
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="How many cases are drawn for each law and class.",
)
@click.option(
    "--seed",
    type=int,
    help="Draw the same cases each time. Without it, what failed before is tried first, then other cases.",
)
@click.option(
    "-j", "--jobs", default="auto", show_default=True, help="How many processes; 0 for none but this one."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--report",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page for a browser to this file.",
)
def verify(  # noqa: PLR0917 - click passes them by name
    specs: tuple[Path, ...],
    output: Path | None,
    modules: tuple[str, ...],
    baseline: bool,
    laws: tuple[str, ...],
    classes: tuple[str, ...],
    backends: tuple[str, ...],
    dtypes: tuple[str, ...],
    examples: int,
    seed: int | None,
    jobs: str,
    style: Format,
    page: Path | None,
) -> None:
    """Put the classes that SPECS describe to the laws, on every backend of this machine.

    Each law is a property of a class; cases are drawn by hypothesis from the constraints in its spec. What
    fails is shown as a program to paste and run. An interrupted run still reports what it has done.

    \b
    Examples:
      distgen verify
      distgen verify --class Normal --law 8 --examples 100
      distgen verify --baseline --report report.html
      distgen verify --module mypackage.safe:Normal
    """
    _require_libraries()
    if page is not None and not page.parent.is_dir():
        raise click.UsageError(f"there is no directory {page.parent} to write {page.name} to")
    config = load_config()
    files, paths = _find_specs(specs, config)
    sys.path.insert(0, str(Path.cwd()))
    request, tasks = _prepare(
        specs=tuple(path.as_posix() for path in paths),
        root=str(config.root),
        package="" if modules else _find_package(files, relative(output or config.output_path)),
        files=tuple(file.name for file in files),
        modules=modules,
        has_baseline=baseline,
        laws=laws,
        classes=classes,
        backends=backends,
        dtypes=dtypes,
        examples=examples,
        seed=seed,
    )
    report = _run(request, tasks, jobs, with_plots=page is not None)
    if page is not None:
        _write_page(page, report)
    click.echo(_formats()[style](report), nl=False)
    if report.broken:
        raise SystemExit(BROKEN)
    if not report.is_complete:
        raise SystemExit(INTERRUPTED)


def _require_libraries() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        raise click.UsageError(
            f"distgen verify needs {names}, which distgen itself does not; "
            "install it with pip install 'distgen-jax[verify]'"
        )


def _find_specs(given: Sequence[Path], config: Config) -> tuple[list[SpecFile], list[Path]]:
    """The specs to verify, and the paths to load: all that are configured, where those are among them.

    The children of a composite are made of the classes of all that is loaded.
    """
    from distgen.compiler import read_specs

    files, diagnostics = read_specs([*map(relative, given or config.spec_paths)], config.root)
    stop_on_errors(diagnostics)
    configured = [*map(relative, config.spec_paths)]
    others, _ = read_specs(configured, config.root)
    is_part = {file.name for file in files} <= {file.name for file in others}
    return files, configured if is_part else [*map(relative, given)]


def _find_package(files: Sequence[SpecFile], output: Path) -> str:
    """The name under which the package at `output` can be imported; it must be made from these specs."""
    from distgen.publish.manifest import load_manifest

    manifest = load_manifest(output)
    if manifest is None:
        raise click.UsageError(f"there is no generated package at {output}; run distgen build first")
    made_from = manifest.inputs.get("specs", {})
    stale = next((file.name for file in files if made_from.get(file.name) != file.digest), None)
    if stale is not None:
        raise click.UsageError(f"{output} is not made from {stale} as it is; run distgen build first")
    directory = output.resolve()
    home, names = directory.parent, [directory.name]
    while (home / "__init__.py").is_file():
        home, names = home.parent, [home.name, *names]
    sys.path.insert(0, str(home))
    return ".".join(names)


def _prepare(*, laws: Sequence[str], classes: Sequence[str], **choices: Any) -> tuple[Request, list[Task]]:
    """The request and what it comes to; what it names must be there."""
    from platformdirs import user_cache_dir

    from distgen.verify.environment import prepare

    prepare(cache=str(Path(user_cache_dir("distgen")) / "jax"))
    from distgen.verify.plugin import Request, tasks_of

    request = Request(laws=_numbers(laws), classes=tuple(classes), **choices)
    try:
        tasks = tasks_of(request)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return request, tasks


def _numbers(laws: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the laws, which are given by number or by name."""
    from distgen.verify.laws.listing import LAWS

    known = {name: law.number for law in LAWS for name in (str(law.number), law.name)}
    unknown = next((law for law in laws if law not in known), None)
    if unknown is not None:
        names = [law.name for law in LAWS]
        hint = did_you_mean(unknown, names, otherwise=valid_choices(names))
        raise click.UsageError(f"there is no law '{unknown}'; {hint}")
    return tuple(sorted({known[law] for law in laws}))


def _run(request: Request, tasks: Sequence[Task], jobs: str, *, with_plots: bool) -> Report:
    from distgen.verify.running import run

    label = f"{len(tasks)} checks of {len({repr(task.subject) for task in tasks})} classes"
    with click.progressbar(length=len(tasks), label=label, file=sys.stderr, show_pos=True) as bar:
        progress = lambda done: bar.update(done - bar.pos)  # noqa: E731
        return run(request, tasks, jobs, progress, with_plots=with_plots)


def _formats() -> dict[Format, Callable[[Report], str]]:
    from distgen.verify.results import to_json
    from distgen.verify.showing import as_junit, as_text

    return {"text": as_text, "json": to_json, "junit": as_junit}


def _write_page(path: Path, report: Report) -> None:
    """Writes the page whole, or not at all."""
    from distgen.verify.page import render_page

    page = render_page(report)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".distgen-") as staging:
        file = Path(staging) / path.name
        file.write_text(page, encoding="utf-8")
        file.replace(path)

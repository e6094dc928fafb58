"""`python -m mutants`: puts every fault to the laws, and prints a table. ^C leaves nothing behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import click

from mutants.faults import FAULTS, Fault
from mutants.running import TIMEOUT, Outcome, Runner, TroubleError

_HEADINGS = ("fault", "file", "classes", "laws", "seconds", "result")


@click.command(help=__doc__)
@click.option("--only", "names", multiple=True, metavar="NAME", help="A fault; all by default.")
@click.option("--list", "is_list", is_flag=True, help="List the faults, and run nothing.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Runs at once.")
@click.option("--timeout", type=float, default=TIMEOUT, show_default=True, help="Seconds for each run.")
@click.option(
    "--json",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the results to this file.",
)
def main(names: tuple[str, ...], is_list: bool, jobs: int, timeout: float, file: Path | None) -> None:
    known = {fault.name: fault for fault in FAULTS}
    if unknown := next((name for name in names if name not in known), None):
        raise click.UsageError(f"there is no fault '{unknown}'; --list shows them")
    faults = [known[name] for name in names] or [*FAULTS]
    if is_list:
        for fault in faults:
            click.echo(f"{fault.name}: {fault.breaks} {_laws(fault.laws) or 'the build'}")
        return
    with Runner(timeout=timeout) as runner:
        broken, outcomes = _run(runner, faults, jobs)
    for name, complaint in broken.items():
        click.echo(f"control: {name} breaks laws without a fault: {complaint}")
    missed = [outcome for outcome in outcomes if not outcome.is_caught]
    click.echo(f"{len(outcomes) - len(missed)} of {len(outcomes)} faults are caught")
    if file is not None:
        file.write_text(json.dumps([asdict(o) | {"is_caught": o.is_caught} for o in outcomes], indent=1))
    if missed or broken:
        sys.exit(1)


def _run(runner: Runner, faults: Sequence[Fault], jobs: int) -> tuple[dict[str, str], list[Outcome]]:
    """What is broken without a fault, by class, and what becomes of each fault, which is shown when known."""
    classes = sorted({name for fault in faults for name in fault.classes})
    widths = (max(len(f.name) for f in faults), max(len(f.file) for f in faults))
    broken, outcomes = {}, []
    _show(_HEADINGS, widths)
    pool = ThreadPoolExecutor(jobs)
    try:
        runs = [pool.submit(runner.run, fault) for fault in faults]
        controls = {pool.submit(runner.control, name): name for name in classes}
        for run in as_completed(runs):
            outcomes.append(run.result())
            _show(_row(outcomes[-1]), widths)
        for control in as_completed(controls):
            if complaint := _complaint(control):
                broken[controls[control]] = complaint
    finally:
        # At ^C, too: what waits is dropped, and what runs is ended.
        pool.shutdown(wait=False, cancel_futures=True)
        runner.stop()
        pool.shutdown()
    order = {fault.name: i for i, fault in enumerate(faults)}
    return broken, sorted(outcomes, key=lambda outcome: order[outcome.fault.name])


def _complaint(control: Future[dict[int, str]]) -> str:
    try:
        return "; ".join(f"law {number}: {message[:200]}" for number, message in control.result().items())
    except TroubleError as error:
        return str(error)


def _row(outcome: Outcome) -> tuple[str, ...]:
    fault = outcome.fault
    laws = "the build" if outcome.by_build else ", ".join(map(str, outcome.caught_by)) or "-"
    result = outcome.verdict
    if outcome.trouble:
        result += f": {outcome.trouble}"
    elif outcome.caught_by and not outcome.asked:
        result += f", but {_laws(fault.laws) or 'the build'} alone did not"
    return fault.name, fault.file, ", ".join(fault.classes), laws, f"{outcome.seconds:.0f}", result


def _laws(numbers: Sequence[int]) -> str:
    return f"law {', '.join(map(str, numbers))}" if numbers else ""


def _show(cells: Sequence[str], widths: tuple[int, int]) -> None:
    padding = (*widths, 28, 12, 7, 0)
    click.echo("  ".join(cell.ljust(width) for cell, width in zip(cells, padding, strict=True)).rstrip())


if __name__ == "__main__":
    main()

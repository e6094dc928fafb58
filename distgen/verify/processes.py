"""Law 11 over many processes, on JAX's own distributed runtime.

    python -m distgen.verify.processes --coordinator HOST:PORT --processes N --process I

is one of N processes. On a cluster that JAX knows, such as SLURM's, the three options are left out.
`run_pair` starts processes on this machine and gathers what they find.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import click

FINE, BROKEN, BUG = 0, 1, 70
# Devices that each process on this machine pretends to have.
_DEVICES = 2
_POLL = 0.1
_LINES_OF_ERROR = 20


class ProcessesError(RuntimeError):
    """Processes that died, or did not come to an end."""


@click.command()
@click.option("--coordinator", metavar="HOST:PORT", help="Where process 0 listens, for all to meet.")
@click.option("--processes", type=click.IntRange(1), help="How many processes there are.")
@click.option("--process", type=click.IntRange(0), help="Which of them this is, from 0.")
@click.option(
    "--specs",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    default=["specs"],
    show_default=True,
    help="The specs of the classes; may be given again.",
)
@click.option("--package", default="generated", show_default=True, help="The generated package.")
@click.option("--class", "classes", multiple=True, help="A class to try, all if none; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each class.")
def main(  # noqa: PLR0917 - click passes them by name
    coordinator: str | None,
    processes: int | None,
    process: int | None,
    specs: tuple[Path, ...],
    package: str,
    classes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Try classes over the devices of several processes, of which this is one.

    Where JAX finds out by itself which processes there are, as under SLURM, leave out the first three
    options. Exit status: 0 if all is as without sharding, 1 if not; 70 if it could not be tried.
    """
    if (coordinator is None) + (processes is None) + (process is None) not in {0, 3}:
        raise click.UsageError("give all of --coordinator, --processes and --process, or none of them")
    import jax

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(coordinator, processes, process)
    is_broken = False
    try:
        for name, message in _try(specs, package, classes):
            is_broken |= bool(message)
            click.echo(_line(name, message, jax.process_index(), as_json))
        jax.distributed.shutdown()
    except click.ClickException:
        raise
    except Exception:
        # Not with Python's 1, which would say that a class is broken.
        traceback.print_exc()
        sys.exit(BUG)
    sys.exit(BROKEN if is_broken else FINE)


def _line(name: str, message: str, process: int, as_json: bool) -> str:
    result = "broken" if message else "kept"
    if as_json:
        return json.dumps({"class": name, "process": process, "result": result, "message": message})
    return f"process {process}: {name} {result}" + f": {message}" * bool(message)


def _try(specs: Sequence[Path], package: str, classes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each class, and what is wrong with it over the devices of all processes."""
    import jax
    import numpy as np

    from distgen.verify.laws.sharding import AXIS, assert_alike, case_over
    from distgen.verify.subjects import load_subjects

    subjects = load_subjects(specs, package)
    by_class = {s.wrapped: s for s in subjects}
    if unknown := sorted({*classes} - {*map(repr, subjects)}):
        raise click.UsageError(f"no spec describes a class {unknown[0]}")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), (AXIS,))
    for subject in subjects:
        if classes and repr(subject) not in classes:
            continue
        try:
            assert_alike(mesh, case_over(mesh.size, subject, by_class))
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            yield repr(subject), f"{kind}{error}"
        else:
            yield repr(subject), ""
        jax.clear_caches()


def run_pair(
    classes: Sequence[str],
    specs: Sequence[Path],
    package: str,
    processes: int = 2,
    *,
    environment: Mapping[str, str] | None = None,
    limit: float = 600.0,
) -> dict[str, str]:
    """What is wrong with each class over several processes on this machine; nothing is an empty message.

    Args:
        classes: their names; all that have specs if there are none.
        specs: files of specs, or directories.
        package: the generated package, which the processes import as this one would.
        processes: how many there are. Each has two CPU devices.
        environment: variables for the processes, beside those of this one.
        limit: how many seconds they may take together.

    Raises:
        ProcessesError: if a process dies, or they take too long. All of them are ended then.
    """
    arguments = ["--coordinator", f"127.0.0.1:{_free_port()}", "--processes", str(processes), "--json"]
    arguments += ["--package", package]
    arguments += [word for path in specs for word in ("--specs", str(path))]
    arguments += [word for name in classes for word in ("--class", name)]
    with ExitStack() as stack:
        started: list[_Process] = []
        for index in range(processes):
            out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
            command = [sys.executable, "-m", __spec__.name, *arguments, "--process", str(index)]
            running = subprocess.Popen(command, stdout=out, stderr=err, env=_environment(environment or {}))
            started.append(_Process(index, running, out, err))
            stack.callback(started[-1].end)
        _wait(started, time.monotonic() + limit, limit)
        found: dict[str, str] = {}
        for p in started:
            for line in p.results():
                message = f"process {p.index}: {line['message']}" if line["message"] else ""
                found[line["class"]] = found.get(line["class"]) or message
        return found


class _Process:
    """One of the processes, with what it has written."""

    def __init__(self, index: int, running: subprocess.Popen[bytes], out: IO[str], err: IO[str]) -> None:
        self.index = index
        self._running = running
        self._out = out
        self._err = err

    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._running.poll()

    def results(self) -> list[dict[str, Any]]:
        self._out.seek(0)
        return [json.loads(line) for line in self._out if line.startswith("{") and line.endswith("}\n")]

    def has_died(self) -> bool:
        """Whether it ended otherwise than by a verdict; one that cannot even be imported exits with 1."""
        status = self.status()
        if status == BROKEN:
            return not any(line["message"] for line in self.results())
        return status not in {None, FINE}

    def last_words(self) -> str:
        self._err.seek(0)
        return "".join(self._err.readlines()[-_LINES_OF_ERROR:]).strip()

    def end(self) -> None:
        """Ends it if it still runs, and waits for that, so that nothing is left of it."""
        if self.status() is None:
            self._running.kill()
        self._running.wait()


def _wait(started: Sequence[_Process], deadline: float, limit: float) -> None:
    """Until all have ended.

    Raises:
        ProcessesError: as soon as one dies, as the others would wait for it, or at the deadline.
    """
    while any(p.status() is None for p in started):
        if dead := [p for p in started if p.has_died()]:
            raise ProcessesError(_obituary(dead[0], len(started)))
        if time.monotonic() > deadline:
            late = " and ".join(str(p.index) for p in started if p.status() is None)
            raise ProcessesError(
                f"Process {late} of {len(started)} did not come to an end within {limit:g} seconds; the last "
                f"class that process 0 was done with was {_last_class(started[0])}."
            )
        time.sleep(_POLL)
    if dead := [p for p in started if p.has_died()]:
        raise ProcessesError(_obituary(dead[0], len(started)))


def _obituary(p: _Process, count: int) -> str:
    return (
        f"Process {p.index} of {count} died with exit status {p.status()}; the last class that it was done "
        f"with was {_last_class(p)}.\n{p.last_words()}"
    )


def _last_class(p: _Process) -> str:
    return next((line["class"] for line in reversed(p.results())), "none")


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def _environment(further: Mapping[str, str]) -> dict[str, str]:
    """That of this process, for CPU devices of its own, and with the same import path."""
    flags = re.sub(r"--xla_force_host_platform_device_count=\d+", "", os.environ.get("XLA_FLAGS", ""))
    flags = f"{flags} --xla_force_host_platform_device_count={_DEVICES}".strip()
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    # What is compiled runs once.
    chosen = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
    return {**os.environ, **chosen, "PYTHONPATH": path, **further}


if __name__ == "__main__":
    main()

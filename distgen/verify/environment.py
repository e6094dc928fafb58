"""What JAX must be told before it starts."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

DEVICES = 8
_DEVICE_FLAG = "--xla_force_host_platform_device_count"


def prepare(environment: MutableMapping[str, str] = os.environ, cache: str | None = None) -> None:
    """Asks for eight virtual devices of the CPU, and for what lets several processes work side by side.

    It comes before the first import of JAX, and leaves alone what is set already.

    Args:
        environment: the environment of this process, which those of the workers are copies of.
        cache: the directory in which compiled functions are kept for other workers and the next run.
    """
    flags = environment.get("XLA_FLAGS", "")
    if _DEVICE_FLAG not in flags:
        environment["XLA_FLAGS"] = f"{flags} {_DEVICE_FLAG}={DEVICES}".strip()
    # The workers share the memory of an accelerator.
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if cache is not None:
        environment.setdefault("JAX_COMPILATION_CACHE_DIR", cache)
        environment.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        environment.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")

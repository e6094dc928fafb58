"""distgen: a compiler from YAML specs to distrax distributions that every JAX transformation leaves whole."""

from __future__ import annotations

from distgen.compiler import Build, build

__all__ = ["Build", "build"]
__version__ = "0.1.0"

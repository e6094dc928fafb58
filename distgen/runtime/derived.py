"""Classes that are derived from other classes when they are first asked for.

Each is made once and found by name in the module that makes it, as pickle needs.
"""

from __future__ import annotations

import abc
import functools
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

__all__ = ["DerivedClasses", "forwarded", "plain_metaclass"]


class DerivedClasses:
    """The classes that a module derives from others, one from each.

    A class takes the name of the one that it is derived from where that stands in `public`. Otherwise it is
    named `module::Class` with `:` for `.`, since dots separate attributes for pickle.

    Attributes:
        module: the name of the module.
        make: makes a class, of the one that it is derived from and what names it.
        kinds: what classes are derived from.
        public: the module whose classes go by their own names.
    """

    def __init__(
        self, module: str, make: Callable[[Any, dict[str, Any]], Any], kinds: Any, public: Any = None
    ) -> None:
        self.module = module
        self.make = make
        self.kinds = kinds
        self.public = public
        self._made: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def of(self, cls: Any) -> Any:
        """The class that is derived from `cls`."""
        with self._lock:
            if cls not in self._made:
                names = {"__module__": self.module, "__qualname__": self._name(cls)}
                self._made[cls] = self.make(cls, names)
            return self._made[cls]

    def named(self, name: str) -> Any:
        """The class of this name.

        Raises:
            AttributeError: where there is none.
        """
        module, _, path = name.rpartition("::")
        try:
            home: Any = import_module(module.replace(":", ".")) if module else self.public
            found = functools.reduce(getattr, path.split(":"), home)
        except (ImportError, AttributeError):
            found = None
        if not (isinstance(found, type) and issubclass(found, self.kinds)):
            raise AttributeError(f"module '{self.module}' has no attribute '{name}'")
        return self.of(found)

    def _name(self, cls: Any) -> str:
        name: str = cls.__name__
        if getattr(self.public, name, None) is cls:
            return name
        return f"{cls.__module__}::{cls.__qualname__}".replace(".", ":")


class Forwarded:
    """An attribute of the object that `target` makes of this one."""

    def __init__(self, name: str, target: Callable[[Any], Any], cls: Any) -> None:
        self._name = name
        self._target = target
        self._cls = cls

    def __get__(self, x: Any, owner: Any) -> Any:
        return getattr(self._cls if x is None else self._target(x), self._name)


def forwarded(cls: Any, target: Callable[[Any], Any], but: Iterable[str]) -> dict[str, Forwarded]:
    """A namespace that forwards the attributes of `cls`, but some."""
    names = {name for name in dir(cls) if not name.startswith(("__", "_abc_"))}
    return {name: Forwarded(name, target, cls) for name in sorted(names.difference(but))}


@functools.cache
def plain_metaclass(metaclass: Any) -> Any:
    """A metaclass like this one that makes classes as `ABCMeta` does.

    Those of TFP would register the class as a pytree of their own kind, wrap its constructor, and warn.
    """
    return type(metaclass.__name__, (metaclass,), {"__new__": abc.ABCMeta.__new__})

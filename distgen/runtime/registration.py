"""Registration of generated classes, and of the classes that users derive from them, as pytrees.

The leaves of a generated class are its finished parameters, under fixed names; flattening and
unflattening never look at their values. A derived class that sets attributes of its own keeps them:
those that hold arrays are children, all others are static. Which are which travels in the treedef, so
that it stays as it was when a transformation puts other leaves in their place.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.tree_util import GetAttrKey, register_pytree_with_keys

__all__ = ["own_attributes", "register", "register_divergence"]

_LAYOUT = "_distgen_layout"
_DEFINITIONS: dict[str, int] = {}

Flattened = tuple[tuple[Any, ...], Any]


def register(cls: Any) -> None:
    """Registers `cls` with JAX: flattening, key paths, and serialisation for `jax.export`."""
    if "tree_flatten" in cls.__dict__:
        flatten, unflatten, names = cls.tree_flatten, cls.tree_unflatten, _own_names
    else:
        flatten, unflatten, names = (
            _flatten_derived,
            functools.partial(_unflatten_derived, cls),
            _derived_names,
        )

    def flatten_with_keys(d: Any) -> tuple[Iterable[Any], Any]:
        children, aux = flatten(d)
        keys = names(d.finished(), aux)
        return [(GetAttrKey(key), child) for key, child in zip(keys, children, strict=True)], aux

    register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    name = f"{cls.__module__}.{cls.__qualname__}"
    for count in itertools.count(_DEFINITIONS.get(name, 0) + 1):
        # A class that is defined again, as happens in notebooks, needs a name of its own; so does one that
        # is derived from classes of another generated package.
        with contextlib.suppress(ValueError):
            export.register_pytree_node_serialization(
                cls,
                serialized_name=name if count == 1 else f"{name}#{count}",
                serialize_auxdata=_serialize,
                deserialize_auxdata=_deserialize,
            )
            _DEFINITIONS[name] = count
            return


def register_divergence(cls: Any, divergence: Callable[..., Any]) -> None:
    """Makes `divergence` that between objects of `cls`, and between them and those that it stands for."""
    from tensorflow_probability.substrates.jax import distributions as tfd

    others = [cls._wrapped, getattr(cls._wrapped, "equiv_tfp_cls", None)]
    pairs = [(cls, cls), *((a, b) for other in others if other for a, b in ((cls, other), (other, cls)))]
    for a, b in pairs:
        tfd.RegisterKL(a, b)(divergence)


def _own_names(finished: Iterable[str], aux: Any) -> list[str]:
    return [*finished]


def _derived_names(finished: Iterable[str], aux: Any) -> list[str]:
    _, layout, _ = aux
    return [*finished, *layout]


def own_attributes(d: Any) -> dict[str, Any]:
    """What an object of a derived class stores beside what it inherits, without what it has cached."""
    cls, table = type(d), d._parameters
    if "tree_flatten" in cls.__dict__:
        return {}
    inherited = {f.attribute for f in table.fields} | {s.attribute for s in table.statics}
    inherited |= {"_parameterization", "_is_weak", _LAYOUT}
    return {
        name: value
        for name, value in sorted(d.__dict__.items())
        if name not in inherited and not isinstance(getattr(cls, name, None), functools.cached_property)
    }


def _flatten_derived(d: Any) -> Flattened:
    children, aux = d.tree_flatten()
    own = own_attributes(d)
    layout = tuple(name for name in d.__dict__.get(_LAYOUT, ()) if name in own)
    layout += tuple(name for name, value in own.items() if name not in layout and _is_child(value))
    static = tuple((name, value) for name, value in own.items() if name not in layout)
    for name, value in static:
        if not _is_hashable(value):
            raise TypeError(
                f"Attribute '{name}' of {type(d).__name__} is a {type(value).__name__} without arrays, which "
                "JAX can keep neither as leaves nor as static data. Make it hashable, such as a tuple."
            )
    return (*children, *(own[name] for name in layout)), (aux, layout, static)


def _unflatten_derived(cls: Any, aux: Any, children: Iterable[Any]) -> Any:
    aux, layout, static = aux
    children = tuple(children)
    count = len(children) - len(layout)
    d = cls.tree_unflatten(aux, children[:count])
    d.__dict__.update(zip(layout, children[count:], strict=True), **dict(static), **{_LAYOUT: layout})
    return d


def _is_child(value: Any) -> bool:
    """Whether it holds arrays, or is an empty container, which holds none yet."""
    leaves = jax.tree.leaves(value)
    if not leaves:
        return not _is_hashable(value)
    return any(isinstance(leaf, jax.Array | np.ndarray | np.generic) for leaf in leaves)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _serialize(aux: Any) -> bytes:
    return json.dumps(aux, default=_dtype_as_json).encode()


def _deserialize(data: bytes | bytearray) -> Any:
    return _tuples(json.loads(bytes(data), object_hook=lambda entry: jnp.dtype(entry["dtype"])))


def _dtype_as_json(value: Any) -> dict[str, str]:
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    raise TypeError(f"{value!r} is static data that cannot be serialised.")


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value

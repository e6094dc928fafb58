"""What becomes of the arguments that an object of TFP was made with.

Arrays, nested objects and functions are stored, everything else is static. A layout has an entry for each
argument, `(name, kind, detail)`, with one of these kinds and details:

- `array`: its shape is `batch_shape + event dimensions`; the number of event dimensions;
- `object`: a distribution or a bijector; the number of its batch dimensions that belong to events;
- `whole`: an array or an object that has no batch dimensions of the owner; its rank;
- `part`: an object that is neither distribution nor bijector, such as a linear operator; 0;
- `function`: a function, which may be a pytree; the ranks of its arrays;
- `list`: a list of these; the entries of its elements;
- `static`: anything else; the value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np
from tensorflow_probability.substrates import jax as tfp

from . import nesting
from .fields import Child, Field, Function, Pytree
from .functions import FunctionParameter, as_function, with_strong_leaves
from .parameters import Parameters, Stored

__all__ = [
    "PARTS",
    "Entry",
    "Layout",
    "Reader",
    "Shape",
    "as_whole",
    "batch_shape",
    "rank",
    "stored",
    "table",
]

Shape = tuple[int, ...]
Entry = tuple[str, str, Any]
Layout = tuple[Entry, ...]

PARTS = (tfp.tf2jax.linalg.LinearOperator, tfp.math.psd_kernels.PositiveSemidefiniteKernel)


def stored(layout: Layout) -> Iterator[Entry]:
    """The entries of what is stored, elements of lists among them."""
    for entry in layout:
        if entry[1] == "list":
            yield from stored(entry[2])
        elif entry[1] != "static":
            yield entry


def table(layout: Layout) -> Parameters:
    """The parameters of an object with this layout."""
    return _table(tuple(stored(layout)))


def as_whole(layout: Layout, values: dict[str, Any]) -> Layout:
    """The layout in which nothing has batch dimensions of the owner."""

    def whole(entry: Entry) -> Entry:
        name, kind, detail = entry
        if kind == "list":
            return name, kind, tuple(map(whole, detail))
        return (name, "whole", rank(values[name])) if kind in ("array", "object") else entry

    return tuple(map(whole, layout))


def rank(value: Any) -> Any:
    """The rank of an array, that of the batch shape of an object, or those of the arrays of a function."""
    if isinstance(value, FunctionParameter):
        return tuple(np.ndim(x) for x in value.arrays)
    return len(nesting.batch_shape(value)) if nesting.is_object(value) else np.ndim(value)


def batch_shape(x: Any) -> Shape | None:
    """The batch shape of an object of TFP; None where TFP does not know it."""
    try:
        is_bijector = isinstance(x, tfp.bijectors.Bijector)
        return tuple(x.experimental_batch_shape() if is_bijector else x.batch_shape)
    except (NotImplementedError, ValueError):  # The latter comes from a shape of unknown rank.
        return None


class Reader:
    """Reads an object of TFP: its layout, and the values to be stored, by name.

    Args:
        x: the object.
        convert: makes an object of this package of one of TFP.

    Raises:
        TypeError: where parameters are missing or of an unknown kind.
        ValueError: where one is a function that captures arrays.
    """

    def __init__(self, x: Any, convert: Callable[[Any], Any]) -> None:
        if x.parameters is None:
            raise TypeError(f"{type(x).__name__} does not keep the parameters that it was built from.")
        self._x = x
        self._convert = convert
        # A bare object stands for an argument that is not given.
        self._arguments = {name: value for name, value in x.parameters.items() if type(value) is not object}
        if self._arguments.get("reinterpreted_batch_ndims", 0) is None:
            # It would depend on the batch shape, which vmap changes.
            self._arguments["reinterpreted_batch_ndims"] = x.reinterpreted_batch_ndims
        self._properties, self._lists_all = _properties(x)
        self.values: dict[str, Any] = {}
        self.layout: Layout = tuple(
            self._entry(name, value, self._event_ndims(name)) for name, value in self._arguments.items()
        )

    @property
    def is_batched(self) -> bool:
        """Whether all values have the batch dimensions of the object, as far as they have any."""
        expected = batch_shape(self._x)
        if expected is None:
            return not jax.tree.leaves(self.values)
        if any(map(self._hides_batch, self.layout)):
            return False
        fields = {f.name: f for f in table(self.layout).fields}
        try:
            shapes = (f.batch_shape(self.values[name], None) for name, f in fields.items())
            return jnp.broadcast_shapes(*shapes) == expected
        except ValueError:
            return False

    def _hides_batch(self, entry: Entry) -> bool:
        """Whether there are batch dimensions that the layout does not tell of."""
        name, kind, detail = entry
        if kind == "list":
            return any(map(self._hides_batch, detail))
        if kind == "whole":
            return detail > 0 and name.partition("[")[0] not in self._properties
        if kind == "part":
            return bool(self.values[name].batch_shape)
        ndims = self._event_ndims(name) if kind == "static" else None
        return isinstance(ndims, int) and np.ndim(detail) > ndims

    def _event_ndims(self, name: str) -> Any:
        """The number of event dimensions of a parameter, or that of each element; None without batch."""
        known = self._properties.get(name)
        # A name stands for what takes no part in batches.
        if known is None or self._arguments[name] is None or isinstance(known.event_ndims, str):
            return None
        if isinstance(self._x, tfp.bijectors.Bijector):
            least = self._x.forward_min_event_ndims
            ndims = known.bijector_instance_event_ndims(self._x, least, require_static=True)
        else:
            ndims = known.instance_event_ndims(self._x, require_static=True)
        return None if isinstance(ndims, str) else jax.tree.map(int, ndims)

    def _entry(self, name: str, value: Any, ndims: Any) -> Entry:
        if isinstance(value, list | tuple) and any(map(_is_node, value)):
            each = ndims if isinstance(ndims, list | tuple) else [ndims] * len(value)
            elements = enumerate(zip(value, each, strict=True))
            return name, "list", tuple(self._entry(f"{name}[{i}]", v, n) for i, (v, n) in elements)
        if not (_is_node(value) or self._is_array(name, value)):
            return name, "static", _static(value, f"`{name}` of {type(self._x).__name__}")
        kind, detail, self.values[name] = self._finished(name, value, ndims)
        return name, kind, detail

    def _finished(self, name: str, value: Any, ndims: Any) -> tuple[str, Any, Any]:
        if isinstance(value, PARTS):
            return "part", 0, self._convert(value)
        if nesting.is_object(value):
            return _object(self._convert(value), ndims)
        if _is_node(value):
            function = as_function(value, name)
            return "function", rank(function), function
        array = self._array(name, value)
        return ("whole", array.ndim, array) if ndims is None else ("array", ndims, array)

    def _is_array(self, name: str, value: Any) -> bool:
        known = self._properties.get(name)
        if known is not None and (known.specifies_shape or not known.is_tensor):
            return False
        dtype = _dtype(value)
        if dtype is None or isinstance(value, jax.Array):
            return dtype is not None
        is_inexact = jnp.issubdtype(dtype, jnp.inexact)
        if known is None:
            # A Python number that TFP does not list where it lists others decides how to compute.
            return is_inexact and (not self._lists_all or isinstance(value, np.ndarray | np.generic))
        # What stays an integer in a bijector is a permutation, which TFP has to know.
        return not isinstance(self._x, tfp.bijectors.Bijector) or jnp.issubdtype(
            self._dtype(name, value), jnp.inexact
        )

    def _array(self, name: str, value: Any) -> Any:
        if isinstance(value, jax.Array):
            return with_strong_leaves(value)
        return jnp.array(value, self._dtype(name, value))

    def _dtype(self, name: str, value: Any) -> Any:
        """The dtype that TFP has given a number or an array of numbers."""
        converted = getattr(self._x, name, None)
        if isinstance(converted, jax.Array | np.ndarray | np.generic):
            return converted.dtype
        given = [v.dtype for v in self._arguments.values() if isinstance(v, jax.Array | np.ndarray)]
        floating = [dtype for dtype in given if jnp.issubdtype(dtype, jnp.floating)]
        return jnp.result_type(*floating) if floating else np.float32


def _properties(x: Any) -> tuple[dict[str, Any], bool]:
    """What TFP says of the parameters of an object, and whether it says anything."""
    try:
        return type(x).parameter_properties(), True
    except (AttributeError, NotImplementedError):
        return {}, False


def _object(value: Any, ndims: int | None) -> tuple[str, int, Any]:
    if ndims is None and jax.tree.leaves(value):
        return "whole", rank(value), value
    # What a bijector maps has at least as many dimensions as it takes, and may have more.
    least = value.event_ndims_in if isinstance(value, distrax.Bijector) else 0
    return "object", max((ndims or 0) - least, 0), value


def _is_node(x: Any) -> bool:
    return nesting.is_object(x) or isinstance(x, PARTS) or (callable(x) and not isinstance(x, type))


def _dtype(value: Any) -> Any:
    """The dtype of a number, or of a list or an array of numbers; None for anything else."""
    leaves = jax.tree.leaves(value, is_leaf=lambda x: not isinstance(x, list | tuple))
    numbers = bool | int | float | complex | np.generic | np.ndarray | jax.Array
    return jnp.result_type(*leaves) if leaves and all(isinstance(x, numbers) for x in leaves) else None


def _static(value: Any, owner: str) -> Any:
    """A value as one that can be hashed.

    Raises:
        TypeError: for what may hold arrays, or is an array whose values are not known.
    """
    if value is None or isinstance(value, bool | int | float | str | np.dtype):
        return value
    if isinstance(value, type) and np.dtype(value) != object:
        return np.dtype(value)
    is_array = isinstance(value, jax.Array | np.ndarray | np.generic)
    if is_array and not isinstance(value, jax.core.Tracer) and not jnp.issubdtype(value.dtype, jnp.inexact):
        return _static(np.asarray(value).tolist(), owner)
    if isinstance(value, list | tuple | tfp.tf2jax.TensorShape):
        return tuple(_static(v, owner) for v in value)
    raise TypeError(f"{owner} is a {type(value).__name__}, which can be neither finished nor static.")


@functools.cache
def _table(entries: Layout) -> Parameters:
    return Parameters(tuple(map(_field, entries)))


def _field(entry: Entry) -> Stored:
    name, kind, ndims = entry
    if kind == "array":
        return Field(name, event=("",) * ndims)
    if kind == "object":
        return Child(name, inner=ndims, convert=_unchanged)
    return Function(name) if kind == "function" else Pytree(name)


def _unchanged(x: Any) -> Any:
    return x

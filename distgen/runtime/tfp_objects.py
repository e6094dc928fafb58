"""Objects of TFP as pytrees of their parameters.

An object of TFP is made of the arguments of its constructor, which TFP keeps. They are what is stored here,
and methods make the object of TFP of them again. So nothing that its constructor computes is ever stored, and
unflattening runs no constructor.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, ClassVar, Self

import jax

from . import conversion
from .derived import DerivedClasses, plain_metaclass
from .finished import Finished
from .functions import FunctionParameter
from .parameters import Parameters, unaliased
from .sharding import Spec, has_explicit_axes
from .tfp_compatible import compatible
from .tfp_layouts import PARTS, Entry, Layout, Reader, Shape, as_whole, batch_shape, rank, stored, table

__all__ = ["FromTFP", "derive", "unwrapped"]


class FromTFP(Finished):
    """An object that is nothing but the finished parameters of one of TFP."""

    # The class of TFP.
    _wrapped: ClassVar[Any]
    # Whether the values have the batch shape of the object, and the layout.
    _parameterization: tuple[bool, Layout]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes the arguments of the class of TFP."""
        self._adopt(self._wrapped(*args, **kwargs))

    def to_tfp(self) -> Any:
        """The object of TFP with these parameters.

        Raises:
            ValueError: where `vmap` has given a batch dimension to a parameter that can have none.
        """
        _, layout = self._parameterization
        return self._wrapped(**{entry[0]: self._argument(entry) for entry in layout})

    def finished(self) -> dict[str, Any]:
        _, layout = self._parameterization
        return {name: self.__dict__[f"_{name}"] for name, _, _ in stored(layout)}

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        return tuple(self.finished().values()), self._parameterization

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Self:
        self = object.__new__(cls)
        names = (f"_{name}" for name, _, _ in stored(aux[1]))
        self.__dict__.update(zip(names, children, strict=True), _parameterization=aux)
        return self

    @property
    def batch_shape(self) -> Shape:
        """The shape to which the parameters broadcast, without their event dimensions."""
        is_batched, _ = self._parameterization
        return super().batch_shape if is_batched else batch_shape(self.to_tfp()) or ()

    def replace(self, **arguments: Any) -> Self:
        """A copy with other arguments of the constructor of TFP."""
        return self._of(self.to_tfp().copy(**arguments))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_parameterization" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self.to_tfp(), name)

    def __str__(self) -> str:
        return repr(self)

    @property
    def _parameters(self) -> Parameters:  # type: ignore[override]
        _, layout = self._parameterization
        return table(layout)

    @classmethod
    def _of(cls, x: Any) -> Self:
        """The object with the parameters of one of TFP, as `from_tfp` makes it."""
        self = object.__new__(cls)
        self._adopt(x)
        return self

    def _adopt(self, x: Any) -> None:
        """Takes the parameters of an object of TFP."""
        reader = Reader(x, _converted)
        is_batched = reader.is_batched
        layout = reader.layout if is_batched else as_whole(reader.layout, reader.values)
        values = {f"_{name}": value for name, value in reader.values.items()}
        self.__dict__.update(values, _parameterization=(is_batched, layout))
        if is_batched:
            spec = self._batch_spec() if has_explicit_axes() else ()
            self.__dict__.update(self._broadcast(batch_shape(x) or (), spec).__dict__)
        fields = unaliased(self._parameters.present(self))
        self.__dict__.update({f.attribute: value for f, value in fields.items()})
        if not type(x).__module__.startswith("tensorflow_probability."):
            # Those of TFP are known to be made of their parameters.
            _check(self, x)

    def _broadcast(self, batch_shape: Shape, spec: Spec = ()) -> Self:
        is_batched, _ = self._parameterization
        return super()._broadcast(batch_shape, spec) if is_batched else self

    def _at(self, index: Any, inner: int = 0) -> Self:
        is_batched, _ = self._parameterization
        if not is_batched:
            raise NotImplementedError(f"TFP does not say along which dimensions {self!r} can be indexed.")
        return super()._at(index, inner)

    def _argument(self, entry: Entry) -> Any:
        name, kind, detail = entry
        if kind == "static":
            return detail
        if kind == "list":
            return [self._argument(element) for element in detail]
        value = self.__dict__[f"_{name}"]
        if kind in ("whole", "function") and rank(value) != detail:
            raise ValueError(
                f"`{name}` of {type(self).__name__} can have no batch dimensions, but vmap has given it "
                "some. Call methods inside the function that vmap maps, or map a function over the object."
            )
        if isinstance(value, FromTFP):
            return value.to_tfp()
        return value.function if isinstance(value, FunctionParameter) else value


class PartFromTFP(FromTFP):
    """An object of TFP that is neither a distribution nor a bijector, inside of one."""

    # An operator has a shape, but is not printed as an array is.
    shape = None


def derive(kind: type[FromTFP], cls: Any, namespace: dict[str, Any], bases: tuple[Any, ...] = ()) -> Any:
    """The class whose objects have the parameters of a class of TFP."""
    namespace = {
        **namespace,
        "__doc__": f"`{cls.__name__}` of TFP. The constructor takes the same arguments.",
        # What registers the class as a pytree looks for them here.
        "tree_flatten": FromTFP.tree_flatten,
        "tree_unflatten": FromTFP.__dict__["tree_unflatten"],
    }
    metaclass: Any = type(cls)
    metaclass = plain_metaclass(metaclass) if bases else type(kind)
    derived = metaclass(cls.__name__, (kind, *bases), namespace)
    derived._wrapped = cls
    return derived


def unwrapped(x: Any) -> Any:
    """`x`, or the object in it for which distrax has made a class."""
    cls: Any = type(x)
    if not cls.__module__.startswith("distrax."):
        return x
    if cls.__name__ == "BijectorFromTFP":
        return x._tfp_bijector
    if cls.__name__ == "DistributionFromTFP":
        return inspect.getclosurevars(cls.__getattr__).nonlocals["tfp_distribution"]
    if cls.__name__ in ("TFPCompatibleDistribution", "TFPCompatibleBijector"):
        (base,) = inspect.getclosurevars(cls.__getattr__).nonlocals.values()
        return compatible(conversion.from_distrax(base), x.name)
    return x


def _converted(x: Any) -> Any:
    return _parts.of(type(x))._of(x) if isinstance(x, PARTS) else conversion.from_distrax(unwrapped(x))


def _check(derived: FromTFP, x: Any) -> None:
    """Checks that `x` is made of its parameters and nothing else.

    Raises:
        TypeError: if an object of other shapes is made of them, or none where they are traced.
    """
    name = type(x).__name__
    found: list[Any] = []
    try:
        jax.eval_shape(lambda d: found.append(_signature(d.to_tfp())), derived)
    except Exception as error:
        raise TypeError(f"{name} cannot be made of its parameters under jit: {error}") from error
    if found != [_signature(x)]:
        raise TypeError(f"{name} does not keep all the parameters that it was made of.")


def _signature(x: Any) -> Any:
    names = ("event_shape", "dtype", "forward_min_event_ndims", "inverse_min_event_ndims")
    return batch_shape(x), *(getattr(x, name, None) for name in names)


_parts = DerivedClasses(__name__, functools.partial(derive, PartFromTFP), PARTS)


def __getattr__(name: str) -> Any:
    return _parts.named(name)

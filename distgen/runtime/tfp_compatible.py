"""Distributions and bijectors of distrax as TFP expects them.

For each class there is one that is derived from it, whose objects hold what those of the class hold, and a
name. They offer what TFP asks of an object that it is given, such as shapes as `TensorShape`. Everything else
they leave to the object that they were made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import distrax
import jax
import jax.numpy as jnp
import numpy as np
from tensorflow_probability.substrates import jax as tfp

from . import nesting
from .derived import DerivedClasses, forwarded
from .finished import Finished
from .sharding import Spec

__all__ = ["Compatible", "compatible"]

TensorShape = tfp.tf2jax.TensorShape


def compatible(x: Any, name: str | None = None) -> Any:
    """A distribution or bijector of distrax as one that TFP can use."""
    cls = _classes.of(type(x))
    result = cls.__new__(cls)
    result.__dict__.update(x.__dict__, _tfp_name=name)
    return result


class Compatible:
    """What distributions and bijectors have in common.

    The state is that of the base class, so that the leaves, and what is done to them, are so too.
    """

    _base_class: ClassVar[Any]
    _tfp_name: str | None

    def to_base(self) -> Any:
        """The object that this one was made of."""
        base = self._base_class.__new__(self._base_class)
        base.__dict__.update({k: v for k, v in self.__dict__.items() if k != "_tfp_name"})
        return base

    def to_distrax(self) -> Any:
        """The object of distrax that TFP can use."""
        base = self.to_base()
        return distrax.to_tfp(base.to_distrax() if isinstance(base, Finished) else base, self._tfp_name)

    @property
    def name(self) -> str:
        return self._tfp_name or f"TFPCompatible{self.to_base().name}"

    def _broadcast(self, batch_shape: tuple[int, ...], spec: Spec = ()) -> Any:
        return compatible(nesting.broadcast(self.to_base(), batch_shape, spec), self._tfp_name)

    def _at(self, index: Any, inner: int = 0) -> Any:
        return compatible(nesting.at(self.to_base(), index, inner), self._tfp_name)


class CompatibleDistribution(Compatible):
    """A distribution that TFP can use."""

    allow_nan_stats = True
    reparameterization_type = tfp.distributions.NOT_REPARAMETERIZED

    def __getitem__(self, index: Any) -> Any:
        return self._at(index)

    @property
    def batch_shape(self) -> Any:
        return TensorShape(self.to_base().batch_shape)

    def batch_shape_tensor(self) -> Any:
        return jnp.array(self.to_base().batch_shape, dtype=jnp.int32)

    @property
    def event_shape(self) -> Any:
        return TensorShape(self.to_base().event_shape)

    def event_shape_tensor(self) -> Any:
        return np.array(self.to_base().event_shape, dtype=np.int32)

    @property
    def experimental_shard_axis_names(self) -> list[str]:
        return []

    @property
    def parameters(self) -> dict[str, str]:
        return {"name": self.name}

    def sample(self, sample_shape: int | Sequence[int] = (), seed: Any = None, **unused: Any) -> Any:
        shape = sample_shape if np.isscalar(sample_shape) else tuple(sample_shape)  # type: ignore[arg-type]
        return self.to_base().sample(sample_shape=shape, seed=seed)

    def _sample_n(self, key: Any, n: int) -> Any:
        return self.to_base().sample(seed=key, sample_shape=(n,))

    def experimental_local_measure(self, value: Any, backward_compat: bool = True, **unused: Any) -> Any:
        # distrax knows no other base measure.
        return self.to_base().log_prob(value), tfp.experimental.tangent_spaces.FullSpace()


class CompatibleBijector(Compatible):
    """A bijector that TFP can use. Methods raise ValueError for events of too few dimensions."""

    _is_injective = True
    _is_permutation = False
    _parts_interact = False
    dtype = None
    has_static_min_event_ndims = True

    @property
    def forward_min_event_ndims(self) -> int:
        return int(self.to_base().event_ndims_in)

    @property
    def inverse_min_event_ndims(self) -> int:
        return int(self.to_base().event_ndims_out)

    def experimental_batch_shape(self, x_event_ndims: Any = None, y_event_ndims: Any = None) -> Any:
        raise NotImplementedError

    def experimental_batch_shape_tensor(self, x_event_ndims: Any = None, y_event_ndims: Any = None) -> Any:
        raise NotImplementedError

    def forward_dtype(self, _: Any) -> None:
        """None, which promises nothing."""

    def inverse_dtype(self, _: Any) -> None:
        """None, which promises nothing."""

    def forward_event_ndims(self, event_ndims: int) -> int:
        extra = self._extra_ndims("Forward", event_ndims, self.forward_min_event_ndims)
        return self.inverse_min_event_ndims + extra

    def inverse_event_ndims(self, event_ndims: int) -> int:
        extra = self._extra_ndims("Inverse", event_ndims, self.inverse_min_event_ndims)
        return self.forward_min_event_ndims + extra

    def forward_event_shape(self, event_shape: Any) -> Any:
        return TensorShape(self._forward_shape(event_shape))

    def inverse_event_shape(self, event_shape: Any) -> Any:
        return TensorShape(self._inverse_shape(event_shape))

    def forward_event_shape_tensor(self, event_shape: Any) -> Any:
        return jnp.array(self._forward_shape(event_shape), dtype=jnp.int32)

    def inverse_event_shape_tensor(self, event_shape: Any) -> Any:
        return jnp.array(self._inverse_shape(event_shape), dtype=jnp.int32)

    def forward_log_det_jacobian(self, x: Any, event_ndims: int | None = None) -> Any:
        extra = self._extra_ndims("Forward", event_ndims, self.forward_min_event_ndims)
        return _sum_last(self.to_base().forward_log_det_jacobian(x), extra)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: int | None = None) -> Any:
        extra = self._extra_ndims("Inverse", event_ndims, self.inverse_min_event_ndims)
        return _sum_last(self.to_base().inverse_log_det_jacobian(y), extra)

    def experimental_compute_density_correction(
        self, x: Any, tangent_space: Any, backward_compat: bool = True, **kwargs: Any
    ) -> Any:
        # distrax knows no other base measure.
        return tangent_space.transform_dimension_preserving(x, self, **kwargs)

    def _forward_shape(self, shape: Any) -> Any:
        self._check_rank("Forward", shape, self.forward_min_event_ndims)
        return jax.eval_shape(self.to_base().forward, _event(shape)).shape

    def _inverse_shape(self, shape: Any) -> Any:
        self._check_rank("Inverse", shape, self.inverse_min_event_ndims)
        return jax.eval_shape(self.to_base().inverse, _event(shape)).shape

    def _extra_ndims(self, direction: str, ndims: int | None, least: int) -> int:
        if ndims is not None and ndims < least:
            raise ValueError(
                f"{direction} `event_ndims` of {self.name} must be at least {least} but was passed {ndims} "
                "instead."
            )
        return 0 if ndims is None else ndims - least

    def _check_rank(self, direction: str, shape: Any, least: int) -> None:
        if len(shape) < least:
            raise ValueError(
                f"{direction} `event_shape` of {self.name} must have at least {least} dimensions, but was "
                f"{shape} which has only {len(shape)} dimensions instead."
            )


def _event(shape: Any) -> Any:
    return jax.ShapeDtypeStruct(tuple(shape), jnp.result_type(float))


def _sum_last(x: Any, ndims: int) -> Any:
    return jnp.sum(x, axis=tuple(range(-ndims, 0)))


def _make(base: Any, names: dict[str, Any]) -> Any:
    # Public methods run on the base object: they may need shapes to be tuples.
    mixin = CompatibleDistribution if issubclass(base, distrax.Distribution) else CompatibleBijector
    private = (name for name in dir(base) if name.startswith("_"))
    others = forwarded(base, mixin.to_base, but={*dir(mixin), *dir(Finished), *private})
    namespace = {**others, **names, "_base_class": base}
    return type(base)(f"TFPCompatible{base.__name__}", (mixin, base), namespace)


_classes = DerivedClasses(__name__, _make, distrax.Distribution | distrax.Bijector)


def __getattr__(name: str) -> Any:
    return _classes.named(name)

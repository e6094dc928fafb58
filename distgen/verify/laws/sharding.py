"""Law 11: objects over many devices, of one process or of many.

`assert_alike` is what each process of a run over several asserts, too (see `distgen.verify.processes`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from distgen.verify.acting import act, event
from distgen.verify.agreement import assert_close, structure
from distgen.verify.cases import FLOAT32, Case, Precision
from distgen.verify.exemptions import leaves_under
from distgen.verify.laws.registry import law
from distgen.verify.laws.transformations import COMPILED_ULP
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.trees import first_case

AXIS = "x"
SHARDED, REPLICATED = PartitionSpec(AXIS), PartitionSpec()
# A constructor may compute its parameters, by a logarithm for instance.
BUILT_ULP = 8
_LEAST_BATCH = 8
_SEEDS = 8


def case_over(devices: int, subject: Subject, subjects: Subjects, precision: Precision = FLOAT32) -> Case:
    """A small case whose batch so many devices can share, if the class has one with a batch."""
    batch = (devices * -(-_LEAST_BATCH // devices),)
    tried = [first_case(subject, subjects, batch, precision, seed) for seed in range(_SEEDS)]
    return min(tried, key=lambda case: (case.batch_shape != batch, _size(case)))


def _size(case: Case) -> tuple[int, int]:
    """By how many objects a case is made of, and then by how few arrays, of which there should be some."""
    parts = jax.tree.leaves(dict(case.children), is_leaf=lambda x: isinstance(x, Case))
    sizes = [_size(part) for part in parts]
    return 1 + sum(objects for objects, _ in sizes), sum(arrays for _, arrays in sizes) - len(case.values)


def one_over_all_devices(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> list[Case]:
    """One case: whatever its precision, an array is sharded in the same way."""
    return [case_over(len(jax.devices()), subject, subjects, precisions[0])]


@law(11, examined=one_over_all_devices)
def sharding(case: Case) -> None:
    """Sharded over all devices, an object has the values and the batch shape of the unsharded one."""
    devices = np.array(jax.devices())
    over = Sharded.over(Mesh(devices, (AXIS,)), case)
    _assert_placed(over)
    _assert_alike(over)
    if over.is_batched and hasattr(jax, "pmap"):
        _assert_pmapped(over)
    if over.is_batched and hasattr(jax, "set_mesh") and _can_broadcast_to_shardings():
        mesh = Mesh(devices, (AXIS,), axis_types=(jax.sharding.AxisType.Explicit,))
        with jax.set_mesh(mesh):
            _assert_typed(replace(over, mesh=mesh))


def assert_alike(mesh: Mesh, case: Case) -> None:
    """Whatever holds of one process and of many: building, passing, donating and mapping over shards.

    Raises:
        AssertionError: where a shard of this process differs from its part of the unsharded result.
    """
    _assert_alike(Sharded.over(mesh, case))


@dataclass(frozen=True)
class Sharded:
    """A case over a mesh, with what is known without one.

    Attributes:
        d: the unsharded object.
        value: what it is put to.
        answers: what it answers to that, and what is drawn from it.
        specs: how each of its leaves is sharded.
        input_specs: how each array that it is built from is.
        value_spec: how the value is, and what it answers.
    """

    mesh: Mesh
    case: Case
    d: Any
    value: Any
    answers: Any
    specs: Any
    input_specs: Any
    value_spec: PartitionSpec

    @classmethod
    def over(cls, mesh: Mesh, case: Case) -> Sharded:
        """The case with its batch sharded over the only axis of the mesh.

        Raises:
            AssertionError: for a leaf without the batch.
        """
        d = case.build()
        value = event(case, d)
        rank = len(case.batch_shape)
        batched = leaves_under(8, d) if rank else {}
        for name, leaf in batched.items():
            assert leaf.shape[:rank] == case.batch_shape, (
                f"{name} has shape {leaf.shape}, which does not begin with the batch shape {case.batch_shape}"
            )
        specs = jax.tree_util.tree_map_with_path(
            lambda path, _: SHARDED if jax.tree_util.keystr(path) in batched else REPLICATED, d
        )
        has_batch = rank > 0 and tuple(getattr(d, "batch_shape", ())) == case.batch_shape
        return cls(
            mesh=mesh,
            case=case,
            d=d,
            value=value,
            answers=jax.jit(_ask, static_argnames="kind")(d, value, kind=case.subject.plan.kind),
            specs=specs,
            input_specs=_input_specs(case),
            value_spec=SHARDED if has_batch else REPLICATED,
        )

    @property
    def kind(self) -> str:
        return self.case.subject.plan.kind

    @property
    def is_batched(self) -> bool:
        """Whether it has leaves, and the batch with them."""
        return SHARDED in _specs(self.specs)

    @property
    def single_spec(self) -> Any:
        """One spec for all leaves, or the tree where they differ."""
        return SHARDED if {*_specs(self.specs)} == {SHARDED} else self.specs

    @property
    def value_specs(self) -> Any:
        return jax.tree.map(lambda _: self.value_spec, self.value)

    def shardings(self, specs: Any) -> Any:
        return jax.tree.map(lambda spec: NamedSharding(self.mesh, spec), specs, is_leaf=_is_spec)

    def place(self, tree: Any, specs: Any) -> Any:
        """Arrays over all devices, of all processes, from values that every process has."""

        def place(x: Any, sharding: NamedSharding) -> Any:
            host = np.asarray(x)
            return jax.make_array_from_callback(host.shape, sharding, host.__getitem__)

        return jax.tree.map(place, tree, self.shardings(specs))

    def placed(self) -> Any:
        """The object with its leaves over all devices."""
        return self.place(self.d, self.specs)

    def assert_object(self, got: Any, what: str) -> None:
        """An object like the unsharded one, with its leaves sharded as asked."""
        assert type(got) is type(self.d), f"{what}: a {type(got).__name__}"
        wanted, found = (getattr(x, "batch_shape", None) for x in (self.d, got))
        assert found == wanted, f"{what}: batch shape {found} instead of {wanted}"
        assert_shards(got, self.d, what, ulp=BUILT_ULP)
        shardings = jax.tree.leaves(self.shardings(self.specs))
        for (path, leaf), wanted in zip(jax.tree_util.tree_leaves_with_path(got), shardings, strict=True):
            is_right = leaf.sharding.is_equivalent_to(wanted, leaf.ndim)
            assert is_right, f"{what}: {jax.tree_util.keystr(path)} has {leaf.sharding} instead of {wanted}"


def assert_shards(got: Any, want: Any, what: str, *, ulp: int) -> None:
    """Each shard that this process has is its part of the unsharded value."""
    assert structure(got) == structure(want), f"{what}: other structure"
    for a, b in zip(jax.tree.leaves(got), map(np.asarray, jax.tree.leaves(want)), strict=True):
        assert a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}"
        for shard in a.addressable_shards:
            assert_close(shard.data, b[shard.index], f"{what}, shard {shard.index}", ulp=ulp)


def _ask(d: Any, value: Any, kind: str) -> Any:
    """What an object answers, what is drawn from it, and a sum, for which devices must talk."""
    answer = act(d, value, kind)
    key = jax.random.key(0)
    drawn = {
        "distribution": lambda: d.sample(seed=key),
        "model": lambda: d.sample(seed=key, seq_len=4),
        "bijector": lambda: None,
    }[kind]()
    return answer, drawn, jax.tree.map(jnp.sum, answer)


def _input_specs(case: Case) -> Any:
    arrays, treedef = jax.tree.flatten(case.inputs())
    axes = jax.tree.leaves(case.axes(), is_leaf=lambda axis: axis is None)
    has_batch = [bool(case.batch_shape) and axis == 0 for axis in axes]
    assert len(has_batch) == len(arrays)
    return jax.tree.unflatten(treedef, [SHARDED if batched else REPLICATED for batched in has_batch])


def _specs(tree: Any) -> list[PartitionSpec]:
    return jax.tree.leaves(tree, is_leaf=_is_spec)


def _axes(specs: Any) -> Any:
    """Which axis is mapped over, for each leaf."""
    return jax.tree.map(lambda spec: 0 if spec == SHARDED else None, specs, is_leaf=_is_spec)


def _is_spec(x: Any) -> bool:
    return isinstance(x, PartitionSpec)


def _assert_placed(over: Sharded) -> None:
    """An object is put onto devices, and built from arrays that are there."""
    over.assert_object(jax.device_put(over.d, over.shardings(over.specs)), "device_put with a tree")
    placed = jax.device_put(over.d, over.shardings(over.single_spec))
    over.assert_object(placed, "device_put with one sharding")


def _assert_alike(over: Sharded) -> None:
    inputs = over.place(over.case.inputs(), over.input_specs)
    shardings = over.shardings(over.specs)
    build = jax.jit(
        over.case.build_from, in_shardings=(over.shardings(over.input_specs),), out_shardings=shardings
    )
    over.assert_object(build(inputs), "built in jit")
    value = over.place(over.value, over.value_specs)
    _assert_passed(over, value)
    _assert_donated(over)
    _assert_shard_mapped(over, inputs, value)


def _assert_passed(over: Sharded, value: Any) -> None:
    """In and out of jit, by trees of shardings; what it answers on the way, and what is drawn from it."""
    shardings = over.shardings(over.specs)

    def through(d: Any, value: Any) -> Any:
        return d, _ask(d, value, over.kind)

    passed, answers = jax.jit(
        through,
        in_shardings=(shardings, over.shardings(over.value_specs)),
        out_shardings=(shardings, None),
    )(over.placed(), value)
    over.assert_object(passed, "passed through jit")
    names = ("the object passed acts", "a draw of the object passed", "the sum over the batch")
    for got, want, what in zip(answers, over.answers, names, strict=True):
        assert_shards(got, want, what, ulp=COMPILED_ULP)


def _assert_donated(over: Sharded) -> None:
    """In and out of jit by one sharding for all leaves, in the same buffers."""
    sharding = over.shardings(over.single_spec)
    donated = over.placed()
    leaves = jax.tree.leaves(donated)
    move = jax.jit(lambda d: d, donate_argnums=0, in_shardings=(sharding,), out_shardings=sharding)
    over.assert_object(move(donated), "donated")
    assert all(leaf.is_deleted() for leaf in leaves), "a buffer that was donated is still there"


def _assert_shard_mapped(over: Sharded, inputs: Any, value: Any) -> None:
    """Out of shard_map and into it, where each device has its part of the batch."""
    spec = over.single_spec
    built = _shard_map(over.case.build_from, over, in_specs=(over.input_specs,), out_specs=spec)(inputs)
    over.assert_object(built, "built in shard_map")
    passed = _shard_map(lambda d: d, over, in_specs=(over.specs,), out_specs=over.specs)(built)
    over.assert_object(passed, "passed through shard_map")

    def act_on_shard(d: Any, value: Any) -> Any:
        return act(d, value, over.kind)

    specs = (spec, over.value_spec)
    answer = _shard_map(act_on_shard, over, in_specs=specs, out_specs=over.value_spec)(built, value)
    assert_shards(answer, over.answers[0], "an object in shard_map acts", ulp=COMPILED_ULP)


def _shard_map(f: Callable[..., Any], over: Sharded, in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    if hasattr(jax, "shard_map"):
        mapped = jax.shard_map(f, mesh=over.mesh, in_specs=in_specs, out_specs=out_specs)
    else:
        # JAX before 0.6, which cannot tell what a loop replicates.
        home = import_module("jax.experimental.shard_map")
        mapped = home.shard_map(f, over.mesh, in_specs=in_specs, out_specs=out_specs, check_rep=False)
    return jax.jit(mapped)


def _assert_pmapped(over: Sharded) -> None:
    """Over the first axis of an object that has one part of the batch for each device."""
    count = over.mesh.size

    def split(x: Any, spec: PartitionSpec) -> Any:
        return x.reshape(count, -1, *x.shape[1:]) if spec == SHARDED else x

    d, value = (
        jax.tree.map(split, tree, specs)
        for tree, specs in ((over.d, over.specs), (over.value, over.value_specs))
    )
    mapped = jax.pmap(lambda d, x: act(d, x, over.kind), in_axes=(_axes(over.specs), 0))
    answer = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), mapped(d, value))
    assert_shards(answer, over.answers[0], "an object in pmap acts", ulp=COMPILED_ULP)


def _assert_typed(over: Sharded) -> None:
    """Under a mesh with explicit axes, where shardings are types, an object is built and mapped over."""
    d = over.case.build_from(over.place(over.case.inputs(), over.input_specs))
    over.assert_object(d, "built under an explicit mesh")
    axes = _axes(over.specs)
    mapped = jax.vmap(lambda d: d, in_axes=(axes,), out_axes=axes)
    over.assert_object(jax.jit(mapped)(d), "mapped over under an explicit mesh")
    value = over.place(over.value, over.value_specs)
    answer = _under_types(jax.vmap(lambda d, x: act(d, x, over.kind), in_axes=(axes, 0)), d, value)
    assert_shards(answer, over.answers[0], "an object under an explicit mesh acts", ulp=COMPILED_ULP)


def _under_types(f: Callable[..., Any], *arguments: Any) -> Any:
    """What the compiled function returns. The compiler shards what JAX has no typing rule for.

    Such are some special functions, which ones depends on the version of JAX.
    """
    try:
        return jax.jit(f)(*arguments)
    except Exception as error:
        # It has no public name.
        if type(error).__name__ != "ShardingTypeError":
            raise
        return jax.jit(jax.sharding.auto_axes(f, out_sharding=SHARDED))(*arguments)


def _can_broadcast_to_shardings() -> bool:
    """Whether JAX has what the runtime needs to broadcast under an explicit mesh."""
    return (
        hasattr(jax.sharding, "AxisType") and "out_sharding" in inspect.signature(jnp.broadcast_to).parameters
    )

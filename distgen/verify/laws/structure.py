"""Laws 1 to 5: what the leaves are, and what the treedef is."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from distgen.verify.acting import calls
from distgen.verify.agreement import assert_same, outcome, structure
from distgen.verify.cases import Case
from distgen.verify.laws.registry import law


@law(1)
def only_finished_parameters(case: Case) -> None:
    """The leaves are the finished parameters, concrete, each in a buffer of its own."""
    d = case.build()
    leaves = jax.tree.leaves(d)
    names = [f.name for f in case.fields]
    if case.subject.is_finished:
        assert [*d.finished()] == names, f"finished parameters {[*d.finished()]} instead of {names}"
        finished = jax.tree.leaves([*d.finished().values()])
        assert all(a is b for a, b in zip(leaves, finished, strict=True)), "a leaf is no finished parameter"
    if not case.subject.is_composite:
        assert len(leaves) == len(names), f"{len(leaves)} leaves for the parameters {names}"
    for path, leaf in jax.tree_util.tree_leaves_with_path(d):
        assert isinstance(leaf, jax.Array), f"leaf {jax.tree_util.keystr(path)} is a {type(leaf).__name__}"
        assert not leaf.weak_type, f"leaf {jax.tree_util.keystr(path)} is of a weak dtype"
    _assert_donatable(d)
    inputs = case.inputs()
    one_for_all = {(array.shape, array.dtype): array for array in jax.tree.leaves(inputs)}
    shared = jax.tree.map(lambda array: one_for_all[array.shape, array.dtype], inputs)
    _assert_donatable(case.build_from(shared))
    _assert_independent(case)


def _assert_donatable(d: Any) -> None:
    pointers = [leaf.unsafe_buffer_pointer() for leaf in jax.tree.leaves(d) if leaf.size]
    assert len({*pointers}) == len(pointers), "two leaves share a buffer"
    expected = jax.tree.map(np.array, d)
    donated = jax.jit(lambda d: d, donate_argnums=0)(jax.tree.map(jnp.copy, d))
    assert_same(donated, expected, "a donated object")


def _assert_independent(case: Case) -> None:
    """An object has no memory in common with the NumPy arrays that it is built from."""
    inputs = jax.tree.map(_aligned, case.inputs())
    d = case.build_from(inputs)
    expected = jax.tree.map(np.array, d)
    for array in jax.tree.leaves(inputs):
        array[...] = 0
    assert_same(d, expected, "an object whose NumPy arguments change")


def _aligned(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy array at an address that JAX takes as its own: a multiple of 64."""
    memory = np.empty(x.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    array: np.ndarray[Any, Any] = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    array[...] = x
    return array


@law(2)
def fixed_structure(case: Case) -> None:
    """The treedef depends on the class, the parameterisation and statics, and on nothing else."""
    d, other = case.build(), case.redrawn().build()
    treedef = structure(d)
    assert treedef == structure(other), "the treedef depends on values"
    assert hash(treedef) == hash(structure(other)), "the hash of the treedef depends on values"
    numpy_twin = case.build_from(jax.tree.map(np.asarray, case.inputs()))
    assert treedef == structure(numpy_twin), "the treedef depends on whether arguments are NumPy arrays"
    for name, call in calls(case, d).items():
        outcome(lambda call=call: jax.eval_shape(lambda: jax.tree.leaves(call(d))))
        assert treedef == structure(d), f"{name} changes the treedef"
    for attribute in ("batch_shape", "event_shape", "dtype", "name"):
        getattr(d, attribute, None)
    assert treedef == structure(d), "reading an attribute changes the treedef"
    assert {*d.__dict__} == {*other.__dict__}, "what is stored depends on what was called"
    _assert_plain_nodes(treedef)


def _assert_plain_nodes(treedef: Any) -> None:
    data = treedef.node_data()
    if data is not None and data[0] not in (list, tuple, dict):
        assert_plain(data[1])
    for child in treedef.children():
        _assert_plain_nodes(child)


def assert_plain(aux: Any) -> None:
    """Aux data of strings, flags, numbers of dimensions, dtypes and plain functions, in tuples."""
    is_plain = aux is None or isinstance(aux, str | bool | int | np.dtype | tuple)
    assert is_plain or inspect.isfunction(inspect.unwrap(aux)), f"aux data holds {aux!r}"
    for part in aux if isinstance(aux, tuple) else ():
        assert_plain(part)


@law(3)
def blind_unflattening(case: Case) -> None:
    """Whatever stands in place of the leaves passes through and comes back."""
    built = case.build()
    leaves, treedef = jax.tree.leaves(built), structure(built)
    mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
    spec = PartitionSpec()
    for stand_in in (
        object(),
        None,
        True,
        "text",
        jax.ShapeDtypeStruct((7,), jnp.int8),
        spec,
        NamedSharding(mesh, spec),
    ):
        d = jax.tree.unflatten(treedef, [stand_in] * len(leaves))
        assert type(d) is case.subject.generated

        def is_stand_in(x: Any, stand_in: Any = stand_in) -> bool:
            return x is stand_in

        back = jax.tree.leaves(d, is_leaf=is_stand_in)
        assert len(back) == len(leaves) and all(x is stand_in for x in back), (
            f"{stand_in!r} does not come back"
        )
        if stand_in is not None:
            assert structure(d) == treedef or stand_in is spec, f"{stand_in!r} changes the treedef"
        assert repr(d)
    mask = jax.tree.map(lambda _: True, built)
    assert structure(mask) == treedef, "a tree of flags has another treedef"


@law(4)
def named_leaves(case: Case) -> None:
    """Key paths are the names of the finished parameters."""
    d = case.build()
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(d)]
    names = [f.name for f in case.fields]
    if not case.subject.is_composite:
        assert paths == [f".{name}" for name in names], f"{paths} instead of {names}"
    for path in paths:
        assert path.lstrip(".").split(".")[0].split("[")[0] in names, f"{path} is no path of names"
        assert "flat index" not in path, f"{path} is no path of names"
    for f in case.fields if case.subject.is_finished else ():
        assert f.has_property or getattr(d, f.name) is d.finished()[f.name]


@law(5)
def round_trips(case: Case) -> None:
    """Copies, pickles, devices, `from_finished` and exported functions give the object back."""
    d = case.build()
    same = {
        "flatten": lambda d: jax.tree.unflatten(structure(d), jax.tree.leaves(d)),
        "pickle": lambda d: pickle.loads(pickle.dumps(d)),
        "cloudpickle": lambda d: pickle.loads(cloudpickle.dumps(d)),
        "deepcopy": copy.deepcopy,
        "copy": copy.copy,
        "device_put": lambda d: jax.device_put(d, jax.devices()[0]),
    }
    if case.subject.is_finished:
        same["from_finished"] = lambda d: type(d).from_finished(**d.finished(), **_statics(d))
        same["replace"] = lambda d: d.replace()
        same["replacing all"] = lambda d: case.redrawn().build().replace(**case.arguments)
    for name, trip in same.items():
        back = trip(d)
        assert type(back) is type(d)
        assert_same(back, d, name)
    on_host = jax.device_get(d)
    assert type(on_host) is type(d) and all(isinstance(x, np.ndarray) for x in jax.tree.leaves(on_host))
    exported = jax.export.export(jax.jit(lambda d: d))(d)
    revived = jax.export.deserialize(exported.serialize())
    assert_same(revived.call(d), d, "export")


def _statics(d: Any) -> dict[str, Any]:
    return {s.name: getattr(d, s.attribute) for s in d._parameters.statics}

"""Inverses and Jacobians of elementwise functions, read from their jaxprs.

distrax derives them as well, from tables of primitives that follow one version of JAX. Here primitives go
by their names, which hold in all versions, and parameters that an inverse has no use for are not looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr, Literal
from jax.typing import ArrayLike

__all__ = ["has_constant_jacobian", "invert", "log_det_of"]

_HINT = "Give both `forward` and `inverse` to Lambda."
_INDEPENDENT = f"The function does not depend on its input, and so has no inverse. {_HINT}"


def invert(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The inverse of a scalar, elementwise function in which the variable occurs once.

    Of several inverses, as those of squares and cosh, it is the positive one. The inverse raises what is
    below when it is called, since only then the function is traced.

    Raises:
        NotImplementedError: where the variable occurs more than once, or an operation has no inverse.
        ValueError: where the function does not depend on its input.
    """

    def inverse(y: ArrayLike) -> Array:
        y = _inexact(y)
        traced = jax.make_jaxpr(function)(y)
        shape = jnp.broadcast_shapes(y.shape, traced.out_avals[0].shape)
        if shape != y.shape:  # The function holds arrays that its input is broadcast to.
            y = jnp.broadcast_to(y, shape)
            traced = jax.make_jaxpr(function)(y)
        (result,) = _propagate(traced, [_Dependent(lambda x: x)], _evaluate)
        if not isinstance(result, _Dependent):
            raise ValueError(_INDEPENDENT)
        return result.back(y.astype(traced.out_avals[0].dtype))

    return inverse


def log_det_of(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """log |f'(x)| of an elementwise function."""

    def log_det(x: ArrayLike) -> Array:
        x = _inexact(x)
        # The Jacobian is diagonal: its product with ones is its diagonal.
        _, derivative = jax.jvp(function, (x,), (jnp.ones_like(x),))
        return jnp.log(jnp.abs(derivative))

    return log_det


def has_constant_jacobian(function: Callable[[Array], Array]) -> bool:
    """Whether the derivative of an elementwise function is seen not to depend on its input."""
    scalar = jax.ShapeDtypeStruct((), jnp.result_type(float))
    traced = jax.make_jaxpr(jax.jacfwd(function))(scalar)
    # Which values depend on the input is all that is asked: nothing is computed.
    results = _propagate(traced, [_Dependent(lambda x: x)], lambda eqn, _: [None] * len(eqn.outvars))
    return not any(isinstance(r, _Dependent) for r in results)


@dataclass(frozen=True)
class _Dependent:
    """What stands for a value that depends on the variable: the way back from it to the variable."""

    back: Callable[[Array], Array]


_Evaluate = Callable[[Any, Sequence[Any]], Sequence[Any]]


def _propagate(traced: ClosedJaxpr, operands: Sequence[Any], evaluate: _Evaluate) -> list[Any]:
    """The results of a jaxpr, of which any operand may be a `_Dependent`.

    Equations without such operands are left to `evaluate`.
    """
    jaxpr = traced.jaxpr
    values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*traced.consts, *operands), strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for eqn in jaxpr.eqns:
        inputs = [read(a) for a in eqn.invars]
        if not any(isinstance(i, _Dependent) for i in inputs):
            outputs = evaluate(eqn, inputs)
        elif (inner := _called(eqn)) and not _recognized(eqn):
            outputs = _propagate(inner, inputs, evaluate)
        else:
            outputs = [_Dependent(_way_back(eqn, inputs))] * len(eqn.outvars)
        values.update(zip(eqn.outvars, outputs, strict=True))
    return [read(a) for a in jaxpr.outvars]


def _evaluate(eqn: Any, operands: Sequence[Any]) -> Sequence[Any]:
    bound = eqn.primitive.get_bind_params(eqn.params)
    # Older versions of JAX keep the functions that are called apart from the parameters.
    functions, params = bound if isinstance(bound, tuple) else ((), bound)
    results = eqn.primitive.bind(*functions, *operands, **params)
    return results if eqn.primitive.multiple_results else [results]


def _way_back(eqn: Any, operands: Sequence[Any]) -> Callable[[Array], Array]:
    """The way back from the result of an equation.

    It raises only when it is taken: a result that nothing uses need not have one.
    """

    def back(y: Array) -> Array:
        positions = [i for i, o in enumerate(operands) if isinstance(o, _Dependent)]
        if len(positions) > 1:
            raise NotImplementedError(
                f"The variable occurs more than once: it meets itself in {eqn.primitive.name!r}. {_HINT}"
            )
        (i,) = positions
        solution = _solve(eqn, i, [y if j == i else o for j, o in enumerate(operands)])
        x: Array = operands[i].back(_like(solution, eqn.invars[i].aval))
        return x

    return back


def _solve(eqn: Any, i: int, operands: Sequence[Any]) -> Any:
    """The operand of an equation at position i, where its result stands among the operands."""
    name = _recognized(eqn) or eqn.primitive.name
    before, after = eqn.invars[i].aval, eqn.outvars[0].aval
    y, *others = operands[i], *operands[:i], *operands[i + 1 :]
    if name in _UNARY:
        return _UNARY[name](y)
    if name in _BINARY:
        return _BINARY[name][i](y, jnp.asarray(others[0]))
    if name == "integer_pow":
        if eqn.params["y"] == 0:
            raise ValueError(_INDEPENDENT)
        return _root(y, eqn.params["y"])
    if name in _RELABELLING and before.size == after.size and jnp.issubdtype(after.dtype, jnp.inexact):
        return y
    rule: Any = _registered().get(eqn.primitive)
    if rule is None or len(operands) > 2 or len(eqn.outvars) > 1:
        raise NotImplementedError(f"There is no inverse of {name!r}. {_HINT}")
    if isinstance(rule, tuple):
        rule = rule[i]
    return getattr(rule, "bind", rule)(*operands, **eqn.params)


def _registered() -> Mapping[Any, Any]:
    """What users gave to `distrax.register_inverse`."""
    try:
        from distrax._src.utils import transformations
    except ImportError:
        return {}
    return getattr(transformations, "_inverse_registry", {})


def _inexact(x: ArrayLike) -> Array:
    x = jnp.asarray(x)
    return x.astype(jnp.result_type(x, float))


def _like(x: Any, aval: Any) -> Array:
    """x in the dtype and the shape of a value."""
    if not jnp.issubdtype(aval.dtype, jnp.complexfloating):
        x = jnp.real(x)
    array: Array = jnp.asarray(x, aval.dtype).reshape(aval.shape)
    return array


def _root(y: Array, n: Any) -> Array:
    # The sign is taken out before the power, for roots of negative numbers have no derivative either.
    sign = jnp.where((n % 2 == 1) & (y < 0), -1.0, 1.0)
    root: Array = sign * (sign * y) ** (1 / n)
    return root


_UNARY: Mapping[str, Callable[[Array], Any]] = {
    "acosh": jnp.cosh,
    "asinh": jnp.sinh,
    "atanh": jnp.tanh,
    "cbrt": lambda y: y * y * y,
    "conj": jnp.conj,
    "cosh": jnp.arccosh,
    "erf": jax.lax.erf_inv,
    "erf_inv": jax.lax.erf,
    "exp": jnp.log,
    "exp2": jnp.log2,
    "expm1": jnp.log1p,
    "log": jnp.exp,
    "log1p": jnp.expm1,
    "logistic": lambda y: jnp.log(y) - jnp.log1p(-y),
    "logit": jax.nn.sigmoid,
    "neg": jnp.negative,
    "rsqrt": lambda y: 1 / (y * y),
    "sinh": jnp.arcsinh,
    "sqrt": jnp.square,
    "square": jnp.sqrt,
    "tanh": jnp.arctanh,
}


def _log_difference(y: Array, c: Array) -> Array:
    return y + jnp.log(-jnp.expm1(c - y))


# Where the variable is the first operand, and where it is the second one.
_BINARY: Mapping[str, tuple[Callable[[Array, Array], Any], Callable[[Array, Array], Any]]] = {
    "add": (lambda y, c: y - c, lambda y, c: y - c),
    "div": (lambda y, c: y * c, lambda y, c: c / y),
    "logaddexp": (_log_difference, _log_difference),
    "mul": (lambda y, c: y / c, lambda y, c: y / c),
    "pow": (_root, lambda y, c: jnp.log(y) / jnp.log(c)),
    "sub": (lambda y, c: y + c, lambda y, c: c - y),
}

# What changes no value where it keeps the size: only dtypes, shapes and places.
_RELABELLING = frozenset(
    {"broadcast_in_dim", "convert_element_type", "copy", "device_put", "reshape", "squeeze"}
)

_CALLS = frozenset(
    {
        "checkpoint",
        "closed_call",
        "core_call",
        "custom_jvp_call",
        "custom_vjp_call",
        "custom_vjp_call_jaxpr",
        "jit",
        "pjit",
        "remat",
        "remat2",
    }
)


def _called(eqn: Any) -> ClosedJaxpr | None:
    """The jaxpr that an equation does nothing but call."""
    if eqn.primitive.name not in _CALLS:
        return None
    jaxpr = next(eqn.params[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in eqn.params)
    return jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())


# Functions of JAX that use their operands several times and have inverses all the same, by their arity.
_FUNCTIONS: Mapping[int, tuple[str, Callable[..., Array]]] = {
    1: ("logit", jax.scipy.special.logit),
    2: ("logaddexp", jnp.logaddexp),
}


def _recognized(eqn: Any) -> str | None:
    """Which of the functions above an equation calls.

    They are recognized by what they do, since not all versions of JAX keep their names.
    """
    inner, arity = _called(eqn), len(eqn.invars)
    if inner is None or arity not in _FUNCTIONS or len(eqn.outvars) != 1:
        return None
    dtype = eqn.outvars[0].aval.dtype
    if not jnp.issubdtype(dtype, jnp.inexact) or _skeleton(inner) != _skeleton_of(arity, dtype):
        return None
    return _FUNCTIONS[arity][0]


@functools.cache
def _skeleton_of(arity: int, dtype: Any) -> tuple[str, ...]:
    _, function = _FUNCTIONS[arity]
    return _skeleton(jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct((), dtype)] * arity))


def _skeleton(traced: ClosedJaxpr) -> tuple[str, ...]:
    """The operations of a jaxpr and what each is applied to, whatever calls and shapes it has them in."""
    operations: list[str] = []

    def note(eqn: Any, operands: Sequence[Any]) -> Sequence[Any]:
        if inner := _called(eqn):
            return _propagate(inner, operands, note)
        if eqn.primitive.name in _RELABELLING:
            return operands
        operations.append(f"{eqn.primitive.name} {' '.join(map(str, operands))}")
        return [f"#{len(operations)}"] * len(eqn.outvars)

    _propagate(traced, [f"@{i}" for i in range(len(traced.jaxpr.invars))], note)
    return tuple(operations)

"""The faults: what a developer could get wrong in the templates, the passes, the runtime or the specs.

Each is an exact piece of text and what takes its place, so that the list cannot rot unseen: the tests ask
that every piece still occurs. Its classes are those that show it for certain, and build and verify quickly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TEMPLATE = "templates/class.py.jinja"
PACKAGE = "templates/package.py.jinja"
RUNTIME = "distgen/runtime"


@dataclass(frozen=True)
class Edit:
    """A piece of text that is replaced.

    Attributes:
        old: the text.
        new: what takes its place.
        count: how often the text occurs; each occurrence is replaced.
    """

    old: str
    new: str
    count: int = 1


@dataclass(frozen=True)
class Fault:
    """A deliberate fault.

    Attributes:
        name: a few words.
        breaks: what is wrong with it.
        file: the file that it is put into.
        edits: how that file is changed.
        classes: the classes that are put to the laws.
        laws: the laws that should catch it, others aside; none where the build should refuse it.
        dtypes: the dtypes of parameters that show it, if not all; a law may draw others only.
    """

    name: str
    breaks: str
    file: str
    edits: tuple[Edit, ...]
    classes: tuple[str, ...]
    laws: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = ()

    def inject(self, root: Path) -> None:
        """Changes the file below `root`.

        Raises:
            ValueError: if the text does not occur as often as it should.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        for edit in self.edits:
            if (found := text.count(edit.old)) != edit.count:
                raise ValueError(f"{self.name}: {edit.old!r} occurs {found} times in {self.file}")
            text = text.replace(edit.old, edit.new)
        path.write_text(text, encoding="utf-8")


def _fault(  # noqa: PLR0917 - the list below reads like a table
    name: str,
    breaks: str,
    file: str,
    old: str,
    new: str,
    classes: str,
    *laws: int,
    count: int = 1,
    also: tuple[Edit, ...] = (),
    dtypes: tuple[str, ...] = (),
) -> Fault:
    edits = (Edit(old, new, count), *also)
    return Fault(name, breaks, file, edits, tuple(classes.split()), laws, dtypes)


# Flattening, unflattening and what else is printed for each class.
IN_TEMPLATES = (
    _fault(
        "leaf-left-out",
        "Flattening leaves out the first parameter.",
        TEMPLATE,
        "        return {{ plan.variants[-1].leaves_code }}, {{ plan.aux_code }}",
        "        return {{ plan.variants[-1].leaves_code }}[1:], {{ plan.aux_code }}",
        "Normal",
        1,
    ),
    _fault(
        "finished-computes",
        "`finished` gives copies, and not the leaves themselves.",
        TEMPLATE,
        "        return {{ plan.variants[-1].mapping_code }}",
        "        return {name: value + 0 for name, value in {{ plan.variants[-1].mapping_code }}.items()}",
        "Normal",
        1,
    ),
    _fault(
        "leaves-in-another-order",
        "Unflattening puts the leaves back in another order than flattening lists them.",
        TEMPLATE,
        "        {% else %}\n        {{ plan.variants[-1].targets_code }} = children\n",
        "        {% else %}\n        {{ plan.variants[-1].targets_code }} = reversed([*children])\n",
        "Normal",
        5,
    ),
    _fault(
        "constructor-in-unflatten",
        "Unflattening runs the constructor, which converts what stands in place of arrays.",
        TEMPLATE,
        '        """Puts the leaves back, whatever they are."""\n',
        '        """Puts the leaves back, whatever they are."""\n'
        "        {% if not plan.aux %}\n        return cls(*children)\n        {% endif %}\n",
        "Normal",
        3,
    ),
    _fault(
        "copies-in-unflatten",
        "Unflattening computes with arrays, if with nothing else.",
        TEMPLATE,
        "        {% else %}\n        {{ plan.variants[-1].targets_code }} = children\n",
        "        {% else %}\n        {{ plan.variants[-1].targets_code }} = "
        "(x + 0 if isinstance(x, Array) else x for x in children)\n",
        "Normal",
        17,
    ),
    _fault(
        "batch-shape-in-aux",
        "The batch shape is static data, which `vmap` and stacking leave as it was.",
        TEMPLATE,
        "        return {{ plan.variants[-1].leaves_code }}, {{ plan.aux_code }}",
        "        return {{ plan.variants[-1].leaves_code }}, "
        "{{ plan.aux_code if plan.aux else \"getattr(self._loc, 'shape', ())\" }}",
        "Normal",
        3,
    ),
    _fault(
        "identity-in-aux",
        "The treedef holds what tells one object from another.",
        TEMPLATE,
        "        return {{ plan.variants[-1].leaves_code }}, {{ plan.aux_code }}",
        '        return {{ plan.variants[-1].leaves_code }}, {{ plan.aux_code if plan.aux else "id(self)" }}',
        "Normal",
        2,
    ),
    _fault(
        "list-in-aux",
        "Static data is a list, which has no hash.",
        TEMPLATE,
        ", {{ plan.aux_code }}",
        ', {{ "[*" ~ plan.aux_code ~ "]" if plan.aux else "None" }}',
        "Categorical",
        2,
        count=3,
    ),
    _fault(
        "tracing-in-aux",
        "The treedef says whether parameters are traced, so that it differs within a loop.",
        TEMPLATE,
        "        return {{ plan.variants[-1].leaves_code }}, {{ plan.aux_code }}",
        "        return {{ plan.variants[-1].leaves_code }}, "
        '{{ plan.aux_code if plan.aux else "isinstance(self._loc, jax.core.Tracer)" }}',
        "Normal",
        9,
        also=(Edit("from jax import Array\n", "import jax\nfrom jax import Array\n"),),
    ),
    _fault(
        "parameters-swapped",
        "`from_finished` stores the parameters under each other's names.",
        TEMPLATE,
        "        {% else %}\n        self.{{ field.attribute }} = {{ field.name }}\n",
        "        {% else %}\n        self.{{ field.attribute }} = {{ plan.fields[-loop.index].name }}\n",
        "Normal",
        5,
    ),
    _fault(
        "gradient-stopped",
        "`from_finished` stops gradients.",
        TEMPLATE,
        "        {% else %}\n        self.{{ field.attribute }} = {{ field.name }}\n",
        "        {% else %}\n        self.{{ field.attribute }} = jax.lax.stop_gradient({{ field.name }})\n",
        "Normal",
        10,
        also=(Edit("from jax import Array\n", "import jax\nfrom jax import Array\n"),),
    ),
    _fault(
        "stale-constant",
        "A constant that depends on parameters is kept where it was first read.",
        TEMPLATE,
        "        return {{ derived.code }}\n",
        '        return self.__dict__.setdefault("_kept{{ derived.name }}", {{ derived.code }})\n',
        "Beta",
        2,
    ),
    _fault(
        "property-of-another-field",
        "Each property gives the first parameter.",
        TEMPLATE,
        "        {% else %}\n        return self.{{ field.attribute }}\n",
        "        {% else %}\n        return self.{{ plan.fields[0].attribute }}\n",
        "ClippedNormal",
        4,
    ),
    _fault(
        "methods-not-printed",
        "The methods that a spec mends are left as distrax has them.",
        TEMPLATE,
        "    {% for method in plan.methods %}",
        "    {% for method in [] %}",
        "Normal",
        14,
    ),
    _fault(
        "eager-package",
        "The package imports all of its classes.",
        PACKAGE,
        "if TYPE_CHECKING:\n",
        "if True:\n",
        "Normal",
        18,
        also=(Edit("import TYPE_CHECKING, Any", "import Any"),),
    ),
)

# What makes classes pytrees.
IN_REGISTRATION = (
    _fault(
        "keys-are-numbers",
        "Key paths are numbers.",
        f"{RUNTIME}/registration.py",
        "        keys = names(d.finished(), aux)\n",
        "        keys = map(str, range(len(names(d.finished(), aux))))\n",
        "Normal",
        4,
    ),
    _fault(
        "keys-are-sorted",
        "Key paths are sorted, and leaves are not.",
        f"{RUNTIME}/registration.py",
        "def _own_names(finished: Iterable[str], aux: Any) -> list[str]:\n    return [*finished]",
        "def _own_names(finished: Iterable[str], aux: Any) -> list[str]:\n    return sorted(finished)",
        "Uniform",
        4,
    ),
    _fault(
        "unserialised-dtype",
        "A function of an object whose static data holds a dtype cannot be exported.",
        f"{RUNTIME}/registration.py",
        "    if isinstance(value, np.dtype):\n",
        "    if isinstance(value, np.generic):\n",
        "Categorical",
        5,
    ),
    _fault(
        "arrays-of-users-are-static",
        "An array that a derived class stores is no leaf.",
        f"{RUNTIME}/registration.py",
        "    return any(isinstance(leaf, jax.Array | np.ndarray | np.generic) for leaf in leaves)",
        "    return any(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves)",
        "Normal",
        15,
    ),
    _fault(
        "layout-forgotten",
        "Which attributes of a derived class are leaves is guessed anew from what stands in their place.",
        f"{RUNTIME}/registration.py",
        ", **dict(static), **{_LAYOUT: layout})",
        ", **dict(static))",
        "Normal",
        15,
    ),
    _fault(
        "derived-classes-unregistered",
        "A class that a user derives is no pytree.",
        f"{RUNTIME}/finished.py",
        "            cls._wrapped = cls.__bases__[-1]\n        register(cls)",
        "            cls._wrapped = cls.__bases__[-1]\n            register(cls)",
        "Normal",
        15,
    ),
)

# From arguments to finished parameters.
IN_CONSTRUCTORS = (
    _fault(
        "weak-dtype",
        "Python numbers become arrays of a weak dtype.",
        f"{RUNTIME}/parameters.py",
        "return {f.name: jnp.asarray(x, dtype=dtype_of(f, x)) for f, x in numbers.items()}, dtype",
        "return {f.name: jnp.asarray(x) for f, x in numbers.items()}, dtype",
        "Normal",
        7,
    ),
    _fault(
        "no-common-dtype",
        "Each parameter keeps a dtype of its own.",
        f"{RUNTIME}/parameters.py",
        "return {f.name: jnp.asarray(x, dtype=dtype_of(f, x)) for f, x in numbers.items()}, dtype",
        "return {f.name: jnp.asarray(x, dtype=jnp.result_type(x)) for f, x in numbers.items()}, dtype",
        "Normal",
        16,
        dtypes=("bfloat16",),
    ),
    _fault(
        "aliased-leaf",
        "One array that is given twice is one buffer in two leaves.",
        f"{RUNTIME}/parameters.py",
        "        for f, value in unaliased(self._broadcast(present, owner)).items():",
        "        for f, value in self._broadcast(present, owner).items():",
        "Normal",
        1,
    ),
    _fault(
        "memory-of-the-caller",
        "A NumPy array is not copied, so that the caller can change the object later.",
        f"{RUNTIME}/parameters.py",
        "isinstance(value, jax.Array | int | float) else jnp.array(value)",
        "isinstance(value, jax.Array | int | float) else jax.device_put(value)",
        "Normal",
        1,
    ),
    _fault(
        "no-broadcast",
        "Parameters are not broadcast to the batch shape.",
        f"{RUNTIME}/fields.py",
        "        return value if value.shape == target else sharding.broadcast_to(value, target, spec)",
        "        return sharding.broadcast_to(value, target, spec) if spec else value",
        "Normal",
        8,
    ),
    _fault(
        "alternatives-unchecked",
        "None of several alternatives is accepted.",
        f"{RUNTIME}/parameters.py",
        "        if self.exactly_one_of and len(found) != 1:",
        "        if self.exactly_one_of and len(found) > 1:",
        "Categorical",
        12,
    ),
    _fault(
        "event-sizes-unchecked",
        "Parameters with event dimensions of different sizes are accepted.",
        f"{RUNTIME}/parameters.py",
        "                if size != expected or size < at_least:",
        "                if size < at_least:",
        "MultivariateNormalTri",
        12,
    ),
    _fault(
        "complex-parameters",
        "Complex numbers are accepted.",
        f"{RUNTIME}/parameters.py",
        "not (jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer))",
        "not jnp.issubdtype(dtype, jnp.number)",
        "Normal",
        12,
    ),
    _fault(
        "values-looked-at",
        "The constructor looks at values, which may be traced.",
        f"{RUNTIME}/finishing.py",
        "    return jnp.tril(matrix) if is_lower else jnp.triu(matrix)",
        "    if not jnp.all(jnp.diagonal(matrix, axis1=-2, axis2=-1)):\n"
        '        raise ValueError("The matrix is singular.")\n'
        "    return jnp.tril(matrix) if is_lower else jnp.triu(matrix)",
        "MultivariateNormalTri",
        6,
    ),
    _fault(
        "triangle-of-one-side",
        "An upper triangular matrix loses its upper triangle.",
        f"{RUNTIME}/finishing.py",
        "    return jnp.tril(matrix) if is_lower else jnp.triu(matrix)",
        "    return jnp.tril(matrix)",
        "MultivariateNormalTri",
        13,
    ),
    _fault(
        "unnormalised-logits",
        "Logits are left as they are.",
        f"{RUNTIME}/finishing.py",
        "    return jax.nn.log_softmax(logits, axis=-1)",
        "    return logits",
        "Categorical",
        13,
    ),
    _fault(
        "normalised-over-the-batch",
        "Probabilities are normalised over all of a batch.",
        f"{RUNTIME}/finishing.py",
        "    return probs / jnp.sum(probs, axis=-1, keepdims=True)",
        "    return probs / jnp.sum(probs, keepdims=True)",
        "Categorical",
        8,
        13,
    ),
    _fault(
        "narrow-factorisation",
        "A matrix is factorised in a dtype for which JAX has no factorisation.",
        f"{RUNTIME}/finishing.py",
        "    wide = matrix.astype(jnp.promote_types(matrix.dtype, jnp.float32))",
        "    wide = matrix",
        "MultivariateNormalFullCovariance",
        16,
        19,
    ),
    _fault(
        "pinned-parameters",
        "The constructor puts its parameters onto the first device.",
        f"{RUNTIME}/parameters.py",
        "return {f.name: jnp.asarray(x, dtype=dtype_of(f, x)) for f, x in numbers.items()}, dtype",
        "return {f.name: jax.device_put(jnp.asarray(x, dtype=dtype_of(f, x)), jax.devices()[0])\n"
        "            for f, x in numbers.items()}, dtype",
        "Normal",
        11,
    ),
    _fault(
        "default-of-ones",
        "A default mean is one.",
        f"{RUNTIME}/defaults.py",
        "    return jnp.zeros(event_shape, dtype)",
        "    return jnp.ones(event_shape, dtype)",
        "MultivariateNormalDiag MultivariateNormalTri MultivariateNormalFullCovariance",
        13,
    ),
    _fault(
        "dtype-not-canonical",
        "The dtype of samples is the one that is named, also where JAX works with 32 bits.",
        f"{RUNTIME}/statics.py",
        "    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))",
        "    return np.dtype(dtype)",
        "Categorical",
        16,
    ),
    _fault(
        "fresh-function",
        "A function is wrapped anew for each object, and equals no other.",
        f"{RUNTIME}/functions.py",
        "        return FunctionParameter((), (value, None, ()))\n    leaves = ",
        "        return FunctionParameter((), (functools.partial(value), None, ()))\n    leaves = ",
        "Lambda",
        2,
    ),
    _fault(
        "function-lost",
        "An exported function gives the name of a function back in the place of it.",
        f"{RUNTIME}/functions.py",
        "    return (_find(bytes(data).decode()), None, ())",
        "    return (bytes(data).decode(), None, ())",
        "Lambda",
        5,
    ),
    _fault(
        "replicated-parameters",
        "What is broadcast is not sharded like the batch.",
        f"{RUNTIME}/sharding.py",
        "    if not any(axes is not None for axes in spec):",
        "    if True:",
        "Normal",
        11,
    ),
    _fault(
        "shardings-unread",
        "How the parameters of a batch are sharded is not looked at.",
        f"{RUNTIME}/sharding.py",
        "    return tuple(jax.typeof(array).sharding.spec)",
        "    return ()",
        "Normal MultivariateNormalTri",
        11,
    ),
)

# Indexing, copies and conversions.
IN_OBJECTS = (
    _fault(
        "element-without-statics",
        "An element of a batch has lost the static arguments.",
        f"{RUNTIME}/finished.py",
        '        kept = {s.attribute for s in self._parameters.statics} | {"_parameterization"}',
        '        kept = {"_parameterization"}',
        "Categorical",
        8,
    ),
    _fault(
        "element-without-attributes",
        "An element of a batch of a derived class has lost its attributes.",
        f"{RUNTIME}/finished.py",
        "if k in kept}, **own_attributes(self))",
        "if k in kept})",
        "Normal",
        15,
    ),
    _fault(
        "replace-forgets-statics",
        "`replace` sets static arguments back.",
        f"{RUNTIME}/finished.py",
        "        merged = dict.fromkeys(table.arguments) | "
        "{s.name: getattr(self, s.attribute) for s in table.statics}",
        "        merged = dict.fromkeys(table.arguments)",
        "MultivariateNormalTri",
        5,
    ),
    _fault(
        "replace-keeps-all",
        "`replace` keeps the finished parameter that is to be replaced.",
        f"{RUNTIME}/finished.py",
        "            if f.name in kept and (f.argument in arguments or rival):\n",
        "            if f.name in kept and rival:\n",
        "Normal",
        5,
    ),
    _fault(
        "index-into-events",
        "An index with an ellipsis reaches into the event dimensions.",
        f"{RUNTIME}/indexing.py",
        "array[(*parts, *[slice(None)] * event_ndims) if Ellipsis in map(_plain, parts) else parts]",
        "array[parts]",
        "MultivariateNormalTri",
        8,
    ),
    _fault(
        "static-index-only",
        "A traced index is handed to NumPy.",
        f"{RUNTIME}/indexing.py",
        "    is_dynamic = isinstance(part, jax.Array) and",
        "    is_dynamic = isinstance(part, np.ndarray) and",
        "Normal",
        8,
    ),
    _fault(
        "index-never-ends",
        "A static index out of bounds is clamped, so that iteration does not end.",
        f"{RUNTIME}/indexing.py",
        '            raise IndexError(f"Batch shape {batch_shape} is not compatible with index {index!r}.") '
        "from error",
        "            pass",
        "Normal",
        8,
    ),
    _fault(
        "index-into-parts",
        "An index reaches into the batch dimensions of a part that are those of events.",
        f"{RUNTIME}/fields.py",
        "        inner += self.inner_ndims(owner)\n",
        "",
        "Independent",
        8,
    ),
    _fault(
        "inner-dimensions-in-batch",
        "The batch shape has the dimensions of a part that are those of events.",
        f"{RUNTIME}/fields.py",
        "        inner = self.inner_ndims(owner)\n        shapes = ",
        "        inner = 0\n        shapes = ",
        "Independent",
        12,
    ),
    _fault(
        "unconverted-parts",
        "Parts stay objects of distrax.",
        f"{RUNTIME}/conversion.py",
        "        )\n    return from_distrax(x)\n\n\ndef as_bijector",
        "        )\n    return x\n\n\ndef as_bijector",
        "Independent",
        15,
    ),
    _fault(
        "parts-not-converted-back",
        "The object of distrax that an object is converted to has parts of this package.",
        f"{RUNTIME}/finished.py",
        "    if isinstance(x, Finished):\n        return x.to_distrax()\n",
        "    if isinstance(x, Finished):\n        return x\n",
        "Independent",
        15,
    ),
    _fault(
        "attribute-not-converted",
        "The object of distrax that an object is converted to lacks an attribute.",
        f"{RUNTIME}/finished.py",
        "        for name in self._distrax_attributes:\n",
        "        for name in self._distrax_attributes[:-1]:\n",
        "Beta",
        15,
    ),
    _fault(
        "same-as-anything",
        "A bijector is the same as any of its structure, whatever its parameters.",
        f"{RUNTIME}/finished.py",
        "        return all(a is b or _are_equal(a, b) for a, b in pairs)",
        "        return all(a is b or a.shape == b.shape for a, b in pairs)",
        "ScalarAffine",
        13,
    ),
)

# Mathematics.
IN_MATHEMATICS = (
    _fault(
        "wrong-normaliser",
        "A sign of the beta function is wrong.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) + jax.lax.lgamma(a + b)",
        "Beta",
        13,
        20,
    ),
    _fault(
        "other-order-of-operations",
        "The same value is computed with other rounding errors than in distrax.",
        f"{RUNTIME}/finishing.py",
        "    return jax.nn.log_softmax(logits, axis=-1)",
        "    return logits - jax.scipy.special.logsumexp(logits, axis=-1, keepdims=True)",
        "Categorical",
        13,
    ),
    _fault(
        "normaliser-without-gradient",
        "The normaliser is taken for a constant.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "    return jax.lax.stop_gradient(jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b))",
        "Beta",
        10,
    ),
    _fault(
        "arguments-swapped",
        "Shape and rate of a gamma law are swapped in its distribution function.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.scipy.special.gammainc(concentration, rate * value)",
        "    return jax.scipy.special.gammainc(rate, concentration * value)",
        "Gamma",
        13,
        20,
    ),
    _fault(
        "logarithm-of-a-negative",
        "The logarithm of a negative scale is taken without its absolute value.",
        f"{RUNTIME}/bijections.py",
        "        return jnp.log(jnp.abs(scale))",
        "        return jnp.log(scale)",
        "ScalarAffine",
        13,
    ),
    _fault(
        "any-for-all",
        "A chain is said to have a constant Jacobian if one of its bijectors has.",
        f"{RUNTIME}/bijections.py",
        "    return all(map(is_constant_jacobian, bijectors))",
        "    return any(map(is_constant_jacobian, bijectors))",
        "Chain",
        12,
    ),
    _fault(
        "default-float-inside",
        "What is computed from parameters is of the default dtype.",
        f"{RUNTIME}/compositions.py",
        "    base = normal(jnp.zeros_like(loc), jnp.ones_like(loc))",
        "    base = normal(jnp.zeros(loc.shape), jnp.ones(loc.shape))",
        "MultivariateNormalTri",
        16,
        dtypes=("bfloat16",),
    ),
    _fault(
        "not-narrowed",
        "What is computed in float32 stays in float32.",
        f"{RUNTIME}/dtypes.py",
        "    return keep_dtype(call(cast(distribution, jnp.float32)), dtype, *arguments)",
        "    return call(cast(distribution, jnp.float32))",
        "Normal",
        16,
        dtypes=("bfloat16",),
    ),
    _fault(
        "not-widened",
        "Narrow dtypes are not widened for functions that JAX has for wide ones only.",
        f"{RUNTIME}/dtypes.py",
        "jnp.finfo(dtype).bits >= 32:",
        "jnp.finfo(dtype).bits >= 16:",
        "Normal",
        14,
    ),
    _fault(
        "keys-swapped",
        "A mixture draws with its keys the other way round.",
        f"{RUNTIME}/compositions.py",
        "    key_mixture, key_components = jax.random.split(key)",
        "    key_components, key_mixture = jax.random.split(key)",
        "MixtureSameFamily",
        13,
    ),
    _fault(
        "one-key-for-two",
        "A mixture draws its component and the value with one key.",
        f"{RUNTIME}/compositions.py",
        "    key_mixture, key_components = jax.random.split(key)",
        "    key_mixture = key_components = jax.random.split(key)[0]",
        "MixtureSameFamily",
        13,
    ),
    _fault(
        "divergence-reversed",
        "The divergence of transformed distributions is that in the other direction.",
        f"{RUNTIME}/divergences.py",
        "p.distribution.kl_divergence(q.distribution)",
        "q.distribution.kl_divergence(p.distribution)",
        "Transformed",
        20,
    ),
    _fault(
        "divergence-in-float32",
        "The divergence is of the default dtype.",
        f"{RUNTIME}/divergences.py",
        "    divergence: Array = p.distribution.kl_divergence(q.distribution)",
        "    divergence: Array = p.distribution.kl_divergence(q.distribution).astype(float)",
        "Transformed",
        16,
        dtypes=("bfloat16",),
    ),
    _fault(
        "constant-of-the-module",
        "A module computes a constant when it is imported, which starts a backend.",
        f"{RUNTIME}/mathematics.py",
        "def either(first: Array",
        "HALF_LOG_TWO_PI = 0.5 * jnp.log(2 * jnp.pi)\n\n\ndef either(first: Array",
        "Beta",
        18,
    ),
    _fault(
        "sibling-imported",
        "A module of the runtime imports a generated class.",
        f"{RUNTIME}/compositions.py",
        "from . import nesting\nfrom .conversion import build\n",
        "from ..normal import Normal\nfrom . import nesting\nfrom .conversion import build\n",
        "Clipped ClippedLogistic",
        18,
        also=(
            Edit(
                "    return build(distrax.Normal, loc=loc, scale=scale)",
                "    return Normal.from_finished(loc=loc, scale=scale)",
            ),
        ),
    ),
    _fault(
        "two-platforms",
        "A function is written for two platforms only.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "    def compute(a: Array, b: Array) -> Array:\n"
        "        return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)\n\n"
        "    return jax.lax.platform_dependent(a, b, cpu=compute, cuda=compute)",
        "Beta",
        19,
    ),
    _fault(
        "callback-left-behind",
        "A callback of the host is left behind from debugging.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "    jax.debug.callback(lambda a: None, a)\n"
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "Beta",
        19,
    ),
    _fault(
        "pinned-to-a-device",
        "A method computes on the first device.",
        f"{RUNTIME}/mathematics.py",
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "    a = jax.device_put(a, jax.sharding.SingleDeviceSharding(jax.devices()[0]))\n"
        "    return jax.lax.lgamma(a) + jax.lax.lgamma(b) - jax.lax.lgamma(a + b)",
        "Beta",
        21,
    ),
)

SPECS = "specs/distributions"
IN_SPECS = (
    _fault(
        "derived-left-out",
        "A spec does not account for what distrax stores.",
        f"{SPECS}/beta.yaml",
        "derived:\n  _log_normalization_constant: log_beta(alpha, beta)\n",
        "",
        "Beta",
    ),
    _fault(
        "one-parameter-twice",
        "The normaliser is that of other parameters.",
        f"{SPECS}/beta.yaml",
        "log_beta(alpha, beta)",
        "log_beta(alpha, alpha)",
        "Beta",
        13,
        20,
    ),
    _fault(
        "wrong-support",
        "The support is that of another law.",
        f"{SPECS}/uniform.yaml",
        "support: interval(low, high)",
        "support: unit_interval",
        "Uniform",
        20,
    ),
    _fault(
        "wrong-constraint",
        "The upper end of an interval may be below the lower one.",
        f"{SPECS}/uniform.yaml",
        "constraint: greater_than(low)",
        "constraint: real",
        "Uniform",
        20,
    ),
    _fault(
        "wrong-median",
        "A method that distrax lacks gives a wrong value, the same in every dtype.",
        f"{SPECS}/gamma.yaml",
        "methods:\n",
        "methods:\n  median: {use: itself(concentration), because: distrax has none}\n",
        "Gamma",
        20,
    ),
    _fault(
        "wrong-finish",
        "Logits are finished like probabilities.",
        f"{SPECS}/categorical.yaml",
        "finish: normalize_logits",
        "finish: normalize_probs",
        "Categorical",
        13,
    ),
    _fault(
        "dimension-unbounded",
        "A Dirichlet law over one component is accepted.",
        f"{SPECS}/dirichlet.yaml",
        "dimensions: {K: 2}\n",
        "",
        "Dirichlet",
        12,
    ),
    _fault(
        "wrong-event-ndims",
        "A bijector of numbers is said to take vectors.",
        "specs/bijectors/scalar_affine.yaml",
        "  _event_ndims_in: 0\n",
        "  _event_ndims_in: 1\n",
        "ScalarAffine",
        12,
    ),
    _fault(
        "wrong-inverse",
        "The inverse multiplies by the scale.",
        "specs/bijectors/scalar_affine.yaml",
        "  _inv_scale: affine_inverse_scale(scale, log_scale)",
        "  _inv_scale: affine_scale(scale, log_scale)",
        "ScalarAffine",
        13,
    ),
    _fault(
        "wrong-source",
        "Two alternatives are read from an object of distrax, which has one.",
        "specs/bijectors/scalar_affine.yaml",
        "    source: given_log_scale(_scale, _inv_scale, _log_scale)",
        "    source: itself(_log_scale)",
        "ScalarAffine",
        15,
    ),
)

FAULTS: tuple[Fault, ...] = (
    *IN_TEMPLATES,
    *IN_REGISTRATION,
    *IN_CONSTRUCTORS,
    *IN_OBJECTS,
    *IN_MATHEMATICS,
    *IN_SPECS,
)

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distgen import catalog as module
from distgen.catalog import Argument, Catalog, ClassEntry, fingerprint, load_catalog, lookup

JITTABLE = "distrax._src.utils.jittable.Jittable"
LINEAR = {
    "_event_ndims_in",
    "_event_ndims_out",
    "_is_constant_jacobian",
    "_is_constant_log_det",
    "_event_dims",
    "_batch_shape",
    "_dtype",
}
TRANSFORMED = {"_distribution", "_bijector", "_batch_shape", "_event_shape", "_dtype"}

# Constructor calls whose instances show what the classes store.
INSTANCES = {
    "Bernoulli": "distrax.Bernoulli(0.0)",
    "Beta": "distrax.Beta(1.0, 2.0)",
    "Categorical": "distrax.Categorical(jnp.zeros(3))",
    "CategoricalUniform": "distrax.CategoricalUniform(low=0.0, high=1.0, logits=jnp.zeros(3))",
    "Chain": "distrax.Chain([distrax.Tanh()])",
    "ClippedNormal": "distrax.ClippedNormal(0.0, 1.0, -1.0, 1.0)",
    "DiagLinear": "distrax.DiagLinear(jnp.ones(3))",
    "EpsilonGreedy": "distrax.EpsilonGreedy(jnp.arange(3.0), 0.1)",
    "Independent": "distrax.Independent(distrax.Normal(jnp.zeros(3), 1.0))",
    "Joint": "distrax.Joint([distrax.Normal(0.0, 1.0)])",
    "Lambda": "distrax.Lambda(jnp.tanh)",
    "LogStddevNormal": "distrax.LogStddevNormal(0.0, 0.0)",
    "MultivariateNormalDiag": "distrax.MultivariateNormalDiag(jnp.zeros(3), jnp.ones(3))",
    "MultivariateNormalFullCovariance": "distrax.MultivariateNormalFullCovariance(jnp.zeros(3), jnp.eye(3))",
    "Quantized": "distrax.Quantized(distrax.Normal(0.0, 1.0))",
    "RationalQuadraticSpline": "distrax.RationalQuadraticSpline(jnp.zeros(10), 0.0, 1.0)",
    "ScalarAffine": "distrax.ScalarAffine(0.0, 2.0)",
    "Softmax": "distrax.Softmax(jnp.zeros(3))",
    "Transformed": "distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Tanh())",
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    found, diagnostics = load_catalog(tmp_path_factory.mktemp("cache"))
    assert diagnostics == []
    assert found is not None
    return found


@pytest.fixture(scope="module")
def instances() -> dict[str, list[str]]:
    """The names in the `__dict__` of real instances, from another process: this one stays without JAX."""
    code = f"""if True:
        import json, distrax, jax.numpy as jnp
        print(json.dumps({{name: sorted(vars(eval(call))) for name, call in {INSTANCES!r}.items()}}))
    """
    environment = {"JAX_PLATFORMS": "cpu", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    result: dict[str, list[str]] = json.loads(done.stdout)
    return result


class TestDistrax:
    def test_covers_every_public_class(self, catalog: Catalog) -> None:
        assert len(catalog.classes) >= 50
        assert "distrax.as_bijector" not in catalog.classes
        assert "distrax.BijectorLike" not in catalog.classes
        assert list(catalog.classes) == sorted(catalog.classes)
        assert all(entry.name == name and entry.summary for name, entry in catalog.classes.items())
        assert catalog.version.startswith("0.1.")
        assert catalog.digest == fingerprint()

    def test_kinds(self, catalog: Catalog) -> None:
        kinds = {name: entry.kind for name, entry in catalog.classes.items()}
        assert kinds["distrax.Distribution"] == kinds["distrax.Beta"] == "distribution"
        assert kinds["distrax.Bijector"] == kinds["distrax.Chain"] == "bijector"
        assert [name for name, kind in kinds.items() if kind == "other"] == ["distrax.HMM"]

    def test_entry(self, catalog: Catalog) -> None:
        entry = catalog.classes["distrax.Beta"]
        assert entry.module == "distrax._src.distributions.beta"
        assert entry.bases == ("distrax.Distribution", JITTABLE)
        assert entry.summary == "Beta distribution with parameters `alpha` and `beta`."
        assert entry.arguments == (
            Argument("alpha", "positional", None, "Numeric"),
            Argument("beta", "positional", None, "Numeric"),
        )
        assert entry.attributes == ("_alpha", "_beta", "_batch_shape", "_log_normalization_constant")
        assert {
            "log_prob",
            "_sample_n",
            "__getitem__",
            "tree_flatten",
            "kl_divergence",
        } <= entry.methods.keys()
        assert {"alpha", "batch_shape", "name"} <= set(entry.properties)
        assert not entry.methods.keys() & set(entry.properties)
        assert entry.methods["log_prob"] == (Argument("value", "positional", None, "EventT"),)
        assert [argument.kind for argument in entry.methods["sample"]] == ["keyword", "keyword"]

    def test_bases_along_the_hierarchy(self, catalog: Catalog) -> None:
        assert catalog.classes["distrax.MultivariateNormalFullCovariance"].bases == (
            "distrax.MultivariateNormalTri",
            "distrax.MultivariateNormalFromBijector",
            "distrax.Transformed",
            "distrax.Distribution",
            JITTABLE,
        )

    def test_arguments(self, catalog: Catalog) -> None:
        defaults = {a.name: a.default for a in catalog.classes["distrax.Categorical"].arguments}
        assert defaults == {"logits": "None", "probs": "None", "dtype": "int"}
        uniform = catalog.classes["distrax.CategoricalUniform"].arguments
        assert [(a.name, a.kind, a.default) for a in uniform] == [
            ("low", "keyword", None),
            ("high", "keyword", None),
            ("logits", "keyword", None),
        ]
        spline = {a.name: a.default for a in catalog.classes["distrax.RationalQuadraticSpline"].arguments}
        assert spline["min_bin_size"] == "1e-4"
        assert spline["boundary_slopes"] == "'unconstrained'"

    @pytest.mark.parametrize(
        ("name", "attributes"),
        [
            ("Beta", {"_alpha", "_beta", "_batch_shape", "_log_normalization_constant"}),
            ("MultivariateNormalDiag", TRANSFORMED | {"_scale", "_loc", "_scale_diag"}),
            ("Categorical", {"_probs", "_logits", "_dtype"}),
            ("Greedy", {"_probs", "_logits", "_dtype", "_preferences"}),
            (
                "ClippedNormal",
                {"_distribution", "_minimum", "_maximum", "_log_prob_minimum", "_log_prob_maximum"},
            ),
            (
                "DiagLinear",
                LINEAR
                | {"_bijector", "_diag", "forward", "forward_log_det_jacobian", "inverse"}
                | {"inverse_log_det_jacobian", "inverse_and_log_det"},
            ),
            ("Distribution", set()),
        ],
    )
    def test_attributes(self, catalog: Catalog, name: str, attributes: set[str]) -> None:
        assert set(catalog.classes[f"distrax.{name}"].attributes) == attributes

    def test_attributes_of_bases_come_first(self, catalog: Catalog) -> None:
        assert catalog.classes["distrax.Shift"].attributes[-2:] == ("_shift", "_batch_shape")

    @pytest.mark.parametrize("name", INSTANCES)
    def test_attributes_are_those_of_instances(
        self, catalog: Catalog, instances: dict[str, list[str]], name: str
    ) -> None:
        assert sorted(catalog.classes[f"distrax.{name}"].attributes) == instances[name]


class TestLoading:
    def test_nothing_is_imported(self, tmp_path: Path) -> None:
        code = """if True:
            import sys
            from pathlib import Path
            from distgen.catalog import load_catalog, lookup
            assert "griffe" not in sys.modules
            catalog, _ = load_catalog(Path(sys.argv[1]))
            assert catalog and lookup(catalog, "distrax._src.distributions.beta.Beta")
            heavy = {"jax", "distrax", "tensorflow_probability"}
            print(*heavy & {name.partition(".")[0] for name in sys.modules})
        """
        root = Path(module.__file__).parents[2]
        command = [sys.executable, "-c", code, str(tmp_path)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout == "\n"

    def test_cache(self, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "a" / "b"
        monkeypatch.setenv("DISTGEN_CACHE_DIR", str(folder))
        assert load_catalog() == (catalog, [])
        [file] = folder.iterdir()
        monkeypatch.setattr(module, "_read_distrax", lambda digest: pytest.fail("the cache is not used"))
        assert load_catalog() == (catalog, [])
        assert list(folder.iterdir()) == [file]

    def test_default_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DISTGEN_CACHE_DIR", raising=False)
        monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
        load_catalog()
        assert len(list((tmp_path / "distgen").iterdir())) == 1

    @pytest.mark.parametrize(
        "content", [b"", b"\xff", b"[]", b"{", b"[" * 100_000, b'["0.1.9", "x", {"distrax.Beta": 1}]']
    )
    def test_damaged_cache_is_replaced(self, catalog: Catalog, tmp_path: Path, content: bytes) -> None:
        load_catalog(tmp_path)
        [file] = tmp_path.iterdir()
        intact = file.read_bytes()
        file.write_bytes(content)
        assert load_catalog(tmp_path) == (catalog, [])
        assert file.read_bytes() == intact

    def test_cache_of_another_source_is_replaced(self, catalog: Catalog, tmp_path: Path) -> None:
        load_catalog(tmp_path)
        [file] = tmp_path.iterdir()
        file.write_bytes(file.read_bytes().replace(catalog.digest.encode(), b"0" * 64))
        assert load_catalog(tmp_path) == (catalog, [])

    def test_unwritable_cache(self, catalog: Catalog, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert load_catalog(tmp_path / "file") == (catalog, [])
        assert load_catalog(tmp_path / "a\0b") == (catalog, [])

    def test_distrax_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("distgen.catalog.reader._find_package", lambda name: None)
        found, [diagnostic] = load_catalog()
        assert found is None
        assert (diagnostic.code, diagnostic.message) == ("DG301", "distrax is not installed")
        assert diagnostic.hint == "pip install distrax"
        assert fingerprint() is None

    def test_distrax_is_damaged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "distrax").mkdir()
        (tmp_path / "distrax" / "__init__.py").write_text("from distrax._src import (")
        monkeypatch.syspath_prepend(tmp_path)
        found, [diagnostic] = load_catalog(tmp_path / "cache")
        assert found is None
        assert diagnostic.code == "DG301"
        assert diagnostic.message == "the source of the installed distrax cannot be read"

    def test_fingerprint(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = tmp_path / "distrax"
        package.mkdir()
        (package / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        before = fingerprint()
        (package / "beta_test.py").touch()
        assert fingerprint() == before
        (package / "beta.py").touch()
        assert fingerprint() != before


Find = Callable[..., ClassEntry | None]


@pytest.fixture
def find(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """Looks a class up in a package 'mine' that holds the given modules."""

    def find(dotted: str, **modules: str) -> ClassEntry | None:
        package = tmp_path / "mine"
        package.mkdir()
        for name, code in {"__init__": "", **modules}.items():
            (package / f"{name}.py").write_text(code, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return lookup(catalog, dotted)

    return find


class TestLookup:
    def test_public_class(self, catalog: Catalog) -> None:
        assert lookup(catalog, "distrax.Beta") is catalog.classes["distrax.Beta"]

    def test_private_path(self, catalog: Catalog) -> None:
        entry = lookup(catalog, "distrax._src.distributions.beta.Beta")
        assert entry is not None
        assert entry.attributes == catalog.classes["distrax.Beta"].attributes

    def test_own_class(self, find: Find) -> None:
        entry = find(
            "mine.models.Scaled",
            models="""
import distrax


class Scaled(distrax.Beta):
  \"\"\"A scaled Beta.

  More.
  \"\"\"

  def __init__(self, alpha, /, beta: "float" = 1e-3, *rest, factor=max(1,
      2), **options) -> None:
    self._factor: float = factor
    super().__init__(alpha, beta)
""",
        )
        assert entry is not None
        assert (entry.name, entry.module, entry.kind) == ("mine.models.Scaled", "mine.models", "distribution")
        assert entry.bases == ("distrax.Beta", "distrax.Distribution", JITTABLE)
        assert entry.summary == "A scaled Beta."
        assert entry.arguments == (
            Argument("alpha", "positional", None, None),
            Argument("beta", "positional", "1e-3", '"float"'),
            Argument("rest", "var_positional", None, None),
            Argument("factor", "keyword", "max(1, 2)", None),
            Argument("options", "var_keyword", None, None),
        )
        assert entry.attributes == (
            "_alpha",
            "_beta",
            "_batch_shape",
            "_log_normalization_constant",
            "_factor",
        )

    @pytest.mark.parametrize(
        ("imports", "base"),
        [
            ("import distrax", "distrax.Normal"),
            ("import distrax as dx", "dx.Normal"),
            ("from distrax import Normal", "Normal"),
            ("from distrax import Normal as N", "N"),
            ("from distrax import *", "Normal"),
            ("from distrax._src.distributions import normal", "normal.Normal"),
            ("import distrax\nBase = distrax.Normal", "Base"),
            ("from mine.base import Base", "Base"),
            ("from .base import Base", "Base"),
            ("from . import base", "base.Base"),
            ("from distrax import Normal", "Normal[int]"),
            ("from distrax import Normal as Own", "Own"),
        ],
    )
    def test_bases_are_found_through_imports(self, find: Find, imports: str, base: str) -> None:
        own = f"{imports}\nclass Own({base}): pass\n"
        entry = find(
            "mine.models.Own", models=own, base="from distrax import Normal\nclass Base(Normal): pass\n"
        )
        assert entry is not None
        assert entry.kind == "distribution"
        assert entry.bases[0] == "distrax.Normal"
        assert entry.attributes == ("_loc", "_scale")
        assert [argument.name for argument in entry.arguments] == ["loc", "scale"]

    def test_export_of_a_package(self, find: Find) -> None:
        entry = find("mine.Own", __init__="from .models import Own", models="class Own: pass")
        assert entry is not None
        assert (entry.name, entry.module, entry.kind) == ("mine.Own", "mine.models", "other")

    def test_nested_class_and_namespace_package(
        self, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "space" / "inner").mkdir(parents=True)
        (tmp_path / "space" / "inner" / "module.py").write_text("class A:\n  class B: pass\n")
        monkeypatch.chdir(tmp_path)
        assert lookup(catalog, "space.inner.module.A.B") is not None
        assert not any(name.startswith("space") for name in sys.modules)

    def test_what_counts_as_stored(self, find: Find) -> None:
        entry = find(
            "mine.models.Own",
            models="""
import functools


class Base:
  def __init__(self):
    self.base = 1

  def fill(self):
    self.lazy_base = 1

  def skip(self):
    self.skipped = 1


class Own(Base):
  constant = 1

  def __init__(this, x):
    this.declared: int
    this.annotated: int = 1
    this.a, (this.b, *this.c) = x
    this.base += 1
    this.d = this.e = 2
    object.__setattr__(this, "set", 1)
    setattr(this, "set_too", 1)
    if x:
      with x as this.entered:
        for this.looped in x:
          pass
    else:
      super(Own, this).__init__()
    this.__private = 1
    this.method = len
    this.through_setter = 1
    x.other = this.a[0] = this.a.deep = 1

    class Local:
      def __init__(this):
        this.local = 1

  @property
  def through_setter(self):
    self._read = 1

  @through_setter.setter
  def through_setter(self, value):
    self._written = value

  @functools.cached_property
  def kept(self):
    return 1

  @staticmethod
  def static(self):
    self.of_static = 1

  @classmethod
  def make(cls):
    cls.of_class = 1

  def method(self):
    return lambda: setattr(self, "lazy", 1)

  def fill(self):
    super().fill()

  def skip(self):
    pass
""",
        )
        assert entry is not None
        stored = ["base", "annotated", "a", "b", "c", "d", "e", "set", "set_too", "entered", "looped"]
        stored += ["_Own__private", "method", "lazy_base", "_read", "_written", "kept", "lazy"]
        assert entry.attributes == tuple(stored)
        assert list(entry.methods) == ["__init__", "fill", "make", "method", "skip", "static"]
        assert entry.properties == ("kept", "through_setter")

    def test_constructors_that_do_not_go_on(self, find: Find) -> None:
        entry = find(
            "mine.models.Own",
            models="""
class A:
  def __init__(self):
    self.a = 1

class B:
  def __init__(self):
    self.b = 1

class C(A):
  def __init__(self):
    self.c = 1

class Own(C, B):
  def __init__(self):
    C.__init__(self)
    B.__init__(self)
    self.own = 1
""",
        )
        assert entry is not None
        assert entry.attributes == ("c", "b", "own")

    def test_circular_and_inconsistent_bases(self, find: Find) -> None:
        code = "from mine.models import B\nclass A(B): pass\nclass B(A): pass\nclass C(A, B, A): x: int\n"
        assert find("mine.models.C", models=code) is not None

    @pytest.mark.parametrize(
        "code",
        [
            "class Other: pass",
            "def Own(): pass",
            "Own = 1",
            "Own = Own",
            "from mine.models import Own",
            "class Own(",
            "\0",
        ],
    )
    def test_not_a_class(self, find: Find, code: str) -> None:
        assert find("mine.models.Own", models=code) is None

    @pytest.mark.parametrize(
        "dotted",
        [
            "",
            ".",
            "distrax",
            "distrax.",
            "distrax..Beta",
            "distrax.Bet",
            "distrax.Beta.log_prob",
            "nowhere.Own",
            "os.PathLike",
            "builtins.int",
            "__main__.Own",
            "../distrax.Beta",
            "yaml._yaml.CParser",
        ],
    )
    def test_not_found(self, catalog: Catalog, dotted: str) -> None:
        assert lookup(catalog, dotted) is None

    @settings(deadline=None, max_examples=50)
    @given(
        dotted=st.text() | st.lists(st.sampled_from(["distrax", "_src", "Beta", "numpy", ""])).map(".".join)
    )
    def test_nothing_escapes(self, catalog: Catalog, dotted: str) -> None:
        assert isinstance(lookup(catalog, dotted), ClassEntry | None)

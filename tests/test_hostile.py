"""Whatever a spec says, the answer is a diagnostic, or a module that says the same and runs none of it.

`HYPOTHESIS_PROFILE=thorough` looks longer.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from commandline import run
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distgen.catalog import Catalog, load_catalog
from distgen.diagnostics import Diagnostic, render_text
from distgen.formatting import format_sources
from distgen.passes import compile_spec
from distgen.passes.reserved import IMPORTS, MEMBERS
from distgen.plan import ClassPlan
from distgen.render import render_class
from distgen.source import parse_document
from distgen.spec import Spec
from distgen.validation import read_spec
from distgen.vocabulary import load_vocabulary

PIECES = [
    '"',
    "'",
    '"""',
    "'''",
    '""""',
    "\\",
    "\\\\",
    '\\"',
    "\\N{BULLET}",
    "\\x41",
    "{",
    "}",
    "{{ plan.name }}",
    "{% for x in y %}",
    "{# comment #}",
    "{name}",
    "{0!r}",
    "%s",
    "$HOME",
    "#",
    "# type: ignore",
    "# fmt: off",
    "\n",
    "\n\n",
    "\r",
    "\t",
    " ",
    "\u200f",
    "\u202e",
    "\u2028",
    "\u2029",
    "\u00a0",
    "\u0085",
    "\ufeff",
    "\ue000",
    "\U0001f3b2",
    "e\u0301",
    "\u0130",
    "lambda",
    "None",
    "class",
    "import os",
    "self",
    "):",
    "](",
    "0x",
    "1e999",
    "9" * 400,
    "w" * 200,
    "loc",
    "(",
    ")",
    ",",
    "-",
    ": ",
    "~",
    "<<",
    "*a",
    "&a",
    "!!python/object",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)

HARMLESS: dict[str, Any] = {
    "distribution": "Categorical",
    "wraps": "distrax.Categorical",
    "summary": "Categorical distribution",
    "description": "More about it.",
    "source": "A book",
    "parameters": {
        "logits": {"event": ["K"], "constraint": "real", "finish": "normalize_logits", "doc": "The logits"},
        "probs": {
            "event": ["K"],
            "constraint": "simplex",
            "argument_event": ["K"],
            "doc": "The probabilities",
        },
        "dtype": {"static": "discrete_dtype", "doc": "The dtype of samples"},
    },
    "exactly_one_of": ["logits", "probs"],
    "dimensions": {"K": 2},
    "event_shape": [],
    "support": "integers_below(num_categories)",
    "methods": {"log_prob": {"use": "exp(value)", "because": "it is so"}},
}
MATRIX: dict[str, Any] = {
    "distribution": "Tri",
    "wraps": "distrax.MultivariateNormalTri",
    "summary": "Multivariate normal distribution",
    "source": "A book",
    "parameters": {
        "loc": {
            "event": ["D"],
            "constraint": "real",
            "default": "zeros",
            "doc": "The mean",
            "dtype": "floating",
        },
        "scale_tri": {
            "event": ["D", "D"],
            "constraint": "triangular_matrix",
            "finish": "triangular(is_lower)",
            "default": "identity",
            "finished": "scale_tri",
            "requires": "loc",
            "doc": "The scale",
        },
        "is_lower": {"static": "flag", "doc": "Whether it is lower triangular"},
    },
    "at_least_one_of": ["loc", "scale_tri"],
    "event_shape": ["D"],
    "support": "real_vector",
    "derived": {
        "_scale": "triangular_linear(scale_tri, is_lower)",
        "_bijector": "shifted(loc, _scale)",
        "_distribution": "standard_normal(loc)",
    },
    "methods": {"mean": {"inherited": "kept", "because": "it is so"}},
}
KEYS = [
    *(
        "logits",
        "probs",
        "loc",
        "dtype",
        "K",
        "_scale",
        "_logits",
        "mean",
        "tree_flatten",
        "log_prob",
        "nothing",
    ),
    *("doc", "static", "finish", "finished", "default", "requires", "event", "constraint", "argument_event"),
    *(
        "use",
        "inherited",
        "because",
        "exactly_one_of",
        "at_least_one_of",
        "dimensions",
        "event_shape",
        "derived",
    ),
    *("methods", "parameters", "extends_batch"),
]
PROSE = {"summary", "description", "source", "doc", "because"}

Place = tuple[str | int, ...]


def places(node: Any, path: Place = ()) -> Iterator[Place]:
    """Every string of a spec; the place of a key ends in "[key]"."""
    if isinstance(node, str):
        yield path
    elif isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key, "[key]")
            yield from places(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from places(value, (*path, i))


def put(spec: dict[str, Any], place: Place, text: str) -> dict[str, Any]:
    spec = copy.deepcopy(spec)
    *path, last = place[:-1] if place[-1] == "[key]" else place
    node: Any = spec
    for part in path:
        node = node[part]
    if place[-1] == "[key]":
        node[text] = node.pop(last)
    else:
        node[last] = text
    return spec


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    found, diagnostics = load_catalog()
    assert diagnostics == []
    assert found is not None
    return found


def compiled(spec: dict[str, Any], catalog: Catalog) -> tuple[ClassPlan | None, list[Diagnostic]]:
    """The stages from text to plan, as `distgen build` runs them."""
    # JSON is YAML, and says exactly what is meant.
    document, diagnostics = parse_document(json.dumps(spec, ensure_ascii=False), "hostile.yaml")
    if document is None:
        return None, diagnostics
    model, found = read_spec(document, "0" * 64)
    diagnostics += found
    assert (model is None) == bool(found)
    if model is None or diagnostics:
        return None, diagnostics
    assert isinstance(model, Spec)
    plan, found = compile_spec(model, catalog, load_vocabulary())
    return (None if found else plan), found


def check_diagnostics(diagnostics: list[Diagnostic]) -> None:
    assert diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.code.startswith(("DG1", "DG2", "DG3"))
        assert diagnostic.span is not None
        assert diagnostic.hint or diagnostic.code == "DG103"
        assert diagnostic.message in render_text(diagnostic)
        json.dumps(diagnostic.message)


def shape(tree: ast.AST) -> Any:
    """The tree without the words in it: of names and literals only the type counts."""
    fields = [
        (name, [shape(x) if isinstance(x, ast.AST) else type(x) for x in value])
        if isinstance(value, list)
        else (name, shape(value) if isinstance(value, ast.AST) else type(value))
        for name, value in ast.iter_fields(tree)
    ]
    return type(tree), fields


def strings(tree: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def contains(tree: ast.AST, text: str) -> bool:
    """Whether one of the strings holds the words of `text` in order; a full stop may follow the last one."""
    wanted = " ".join(text.split())
    return any(wanted in " ".join(string.split()) for string in strings(tree))


def all_places() -> list[Any]:
    return [
        pytest.param(spec, place, id=f"{spec['distribution']}-{'.'.join(map(str, place))}")
        for spec in (HARMLESS, MATRIX)
        for place in places(spec)
    ]


def test_the_harmless_specs_compile(catalog: Catalog) -> None:
    for spec in (HARMLESS, MATRIX):
        plan, diagnostics = compiled(spec, catalog)
        assert diagnostics == []
        assert plan is not None
        assert format_sources({"a.py": render_class(plan)})[1] == []


@pytest.mark.parametrize(("spec", "place"), all_places())
def test_text_is_refused_or_kept(spec: dict[str, Any], place: Place, catalog: Catalog) -> None:
    plan, _ = compiled(spec, catalog)
    assert plan is not None
    harmless = shape(ast.parse(render_class(plan)))

    @given(text=texts)
    @example(text="")
    @example(text="".join(PIECES))
    @example(text=" ".join(reversed(PIECES)))
    @example(text="\\")
    @example(text='"')
    @example(text='x"""\nimport os\n"""')
    def check(text: str) -> None:
        hostile = put(spec, place, text)
        plan, diagnostics = compiled(hostile, catalog)
        if plan is None:
            check_diagnostics(diagnostics)
            return
        source = render_class(plan)
        tree = ast.parse(source)
        compile(tree, "hostile.py", "exec", dont_inherit=True)
        if place[-1] in PROSE:
            assert shape(tree) == harmless
            assert contains(tree, text)

    check()


@given(text=texts.filter(str.strip))
def test_ruff_takes_what_is_rendered(text: str, catalog: Catalog) -> None:
    spec = MATRIX
    for place in places(MATRIX):
        if place[-1] in PROSE:
            spec = put(spec, place, text)
    plan, diagnostics = compiled(spec, catalog)
    if plan is None:
        check_diagnostics(diagnostics)
        return
    formatted, diagnostics = format_sources({"tri.py": render_class(plan)})
    assert diagnostics == []
    assert contains(ast.parse(formatted["tri.py"]), text)


@given(text=texts)
def test_any_text_is_a_spec_or_refused(text: str, catalog: Catalog) -> None:
    for document in (text, f"distribution: {text}", yaml.safe_dump({"distribution": text})):
        parsed, diagnostics = parse_document(document, "hostile.yaml")
        if parsed is not None:
            spec, found = read_spec(parsed, "0" * 64)
            assert spec is None
            diagnostics += found
        check_diagnostics(diagnostics)


def nodes(node: Any, path: Place = ()) -> Iterator[Place]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in children:
        yield (*path, key)
        yield from nodes(value, (*path, key))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["K", "1", "loc", "logits", "dtype", "real", "zeros", "own", "kept", "exp(loc)", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(data=st.data())
def test_any_structure_is_compiled_or_refused(data: st.DataObject, catalog: Catalog) -> None:
    spec = copy.deepcopy(data.draw(st.sampled_from([HARMLESS, MATRIX])))
    for place in data.draw(st.lists(st.sampled_from(list(nodes(spec))), min_size=1, max_size=3, unique=True)):
        node = spec
        for part in place[:-1]:
            node = node[part] if isinstance(node, dict) and part in node else {}
        if isinstance(node, dict):
            if data.draw(st.booleans()):
                node[data.draw(st.sampled_from(KEYS))] = data.draw(VALUES)
            else:
                node[place[-1]] = data.draw(VALUES)
    plan, diagnostics = compiled(spec, catalog)
    if plan is None:
        check_diagnostics(diagnostics)
    else:
        formatted, found = (
            format_sources({"a.py": render_class(plan)}) if data.draw(st.booleans()) else ({}, [])
        )
        assert found == [], formatted


class TestReservedNames:
    """The lists of reserved names are those of the names that a rendered module uses."""

    @pytest.mark.parametrize("spec", [HARMLESS, MATRIX], ids=["Categorical", "Tri"])
    def test_imports(self, spec: dict[str, Any], catalog: Catalog) -> None:
        tree = self.tree(spec, catalog)
        imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
        names = {alias.name for node in imports for alias in node.names}
        assert {name for name in names if name[0].isupper()} <= IMPORTS

    @pytest.mark.parametrize("spec", [HARMLESS, MATRIX], ids=["Categorical", "Tri"])
    def test_members(self, spec: dict[str, Any], catalog: Catalog) -> None:
        (generated,) = (node for node in self.tree(spec, catalog).body if isinstance(node, ast.ClassDef))
        members = {node.name for node in generated.body if isinstance(node, ast.FunctionDef)}
        targets = (node.target for node in generated.body if isinstance(node, ast.AnnAssign))
        members |= {target.id for target in targets if isinstance(target, ast.Name)}
        chosen = {*spec["parameters"], *(f"_{name}" for name in spec["parameters"]), *spec["methods"]}
        chosen |= {*spec.get("derived", {}), "__init__", "dtype", "_batch_shape", "_event_shape", "_dtype"}
        assert members - chosen <= MEMBERS

    def tree(self, spec: dict[str, Any], catalog: Catalog) -> ast.Module:
        plan, _ = compiled(spec, catalog)
        assert plan is not None
        return ast.parse(render_class(plan))


NAMES = [
    "with space.yaml",
    "quo\"te's.yaml",
    '""".yaml',
    "new\nline.yaml",
    "carriage\rreturn.yaml",
    "back\\slash.yaml",
    "{{ jinja }}.yaml",
    "# comment.yaml",
    "-dash.yaml",
    "\u202eright\u2028to\u00a0left\U0001f3b2.yaml",
    "%0A::error::.yaml",
    "\udcff not utf-8.yaml",
]


@pytest.fixture
def beta() -> str:
    file = Path(__file__).parent / "golden" / "good" / "plain" / "beta.yaml"
    return file.read_text(encoding="utf-8")


def test_file_names_are_only_names(tmp_path: Path, beta: str) -> None:
    (tmp_path / "specs").mkdir()
    for i, name in enumerate(NAMES):
        spec = beta.replace("distribution: Beta", f"distribution: Beta{i}")
        (tmp_path / "specs" / name).write_text(spec, encoding="utf-8")
    done = run("build", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for i, _ in enumerate(NAMES):
        tree = ast.parse((tmp_path / "generated" / f"beta{i}.py").read_text(encoding="utf-8"))
        assert len([node for node in tree.body if isinstance(node, ast.ClassDef)]) == 1
    assert run("build", "--check", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("style", ["text", "json", "github"])
def test_file_names_are_shown(style: str, tmp_path: Path, beta: str) -> None:
    for i, name in enumerate(NAMES):
        spec = beta.replace("positive", "positve").replace("distribution: Beta", f"distribution: Beta{i}")
        (tmp_path / name).write_text(spec, encoding="utf-8")
    arguments = [str(tmp_path / name) for name in NAMES]
    done = run(
        "build", "--format", style, "--", *arguments, cwd=tmp_path, env={"PYTHONUTF8": "0", "LC_ALL": "C"}
    )
    assert done.returncode == 2, done.stderr
    shown = done.stdout if style != "text" else done.stderr
    match style:
        case "json":
            assert len(json.loads(shown)["diagnostics"]) == 2 * len(NAMES)
        case "github":
            assert all(line.startswith("::error file=") for line in shown.splitlines())
            assert len(shown.splitlines()) == 2 * len(NAMES)
        case _:
            assert shown.count("error[DG203]") == 2 * len(NAMES)


def test_shape_tells_code_from_words() -> None:
    assert shape(ast.parse("x = 'a'")) == shape(ast.parse("x = 'b'"))
    assert shape(ast.parse("x = 'a'")) != shape(ast.parse("x = 'a' + 'b'"))

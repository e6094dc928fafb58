"""The page of `--report`: what it shows, without a browser, and how it behaves in one."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest

from distgen.verify.page import render_page
from distgen.verify.page.details import clipped
from distgen.verify.page.model import LISTED, in_words, view_of
from distgen.verify.page.plots import drawing_of
from distgen.verify.page.wording import count, duration, pieces_of, style_of, words_of
from distgen.verify.results import RESULTS, Cell, LawText, Plot, Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

# One Chromium is enough for all of them.
pytestmark = pytest.mark.xdist_group("page")

PROGRAM = "import jax\n\nd = Beta(0.5, 2)\nassert d.mode() == '<b>' & \"x\"\n"
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><!--<script>"

LAWS = (
    LawText(1, "only-finished-parameters", "The leaves are the finished parameters."),
    LawText(5, "round-trips", "Copies, `from_finished` and pickles give the object back."),
    LawText(19, "lowers-everywhere", "Methods lower for each platform."),
)


def cell(subject: str, law: int, result: str = "kept", **other: Any) -> Cell:
    defaults: dict[str, Any] = {"origin": "generated", "backend": "cpu", "mode": "executed"}
    defaults |= {"dtypes": ("float32", "bfloat16"), "examples": 25, "seconds": 1.5}
    return Cell(subject=subject, law=law, result=result, **defaults | other)  # type: ignore[arg-type]


CELLS = (
    cell("Beta", 1),
    cell("Beta", 1, "broken", origin="distrax", message="A leaf is missing.", program="Beta(1, 1)\n"),
    cell("Beta", 5, "broken", message="AssertionError: 0.5 is not 2\n  twice", program=PROGRAM, examples=3),
    cell("Beta", 5, "broken", origin="distrax"),
    cell("Beta", 19),
    cell("Beta", 19, backend="cuda", mode="lowered"),
    cell("Beta", 19, backend="tpu", mode="lowered", result="unfinished"),
    cell("Normal", 1, "exempt", reasons=("A field of `functions` has no leaves.",)),
    cell("Normal", 1, origin="distrax"),
    cell("Normal", 5, "departs", reasons=("Draws differ by 2 ulp.",)),
    cell("Normal", 19),
    cell("Normal", 19, backend="cuda", mode="lowered", result="broken", message="No rule for digamma."),
    cell("MultivariateNormalTri", 1),
    cell("MultivariateNormalTri", 5),
    cell("MultivariateNormalTri", 5, origin="distrax"),
)

NORMAL = Plot(
    "Normal",
    "Normal(loc=0.0, scale=1.0)",
    False,
    (-2.0, -1.0, 0.0, 1.0, 2.0),
    (0.14, 0.34, 0.36, 0.13),
    (-2.0, -1.5, -0.5, 0.5, 1.5, 2.0),
    (0.05, 0.13, 0.35, 0.35, 0.13, 0.05),
    10_000,
)
BERNOULLI = Plot(
    "Bernoulli", "Bernoulli(probs=0.3)", True, (0.0, 1.0), (0.69, 0.31), (0.0, 1.0), (0.7, 0.3), 1000
)

REPORT = Report(
    versions={"python": "3.11.9", "jax": "0.10.2"},
    options={"laws": None, "backends": ("cpu", "cuda"), "baseline": True},
    laws=LAWS,
    cells=CELLS,
    plots=(NORMAL, BERNOULLI),
    seconds=125.2,
    origins=("generated", "distrax"),
)


def large(classes: int = 51, backends: int = 4) -> Report:
    """Classes under 20 laws on up to 4 backends, beside a baseline, where much is broken."""
    places = (("cpu", "executed"), ("cuda", "lowered"), ("rocm", "lowered"), ("tpu", "lowered"))
    cells = [
        cell(
            f"MultivariateNormal{number}",
            law,
            "broken" if (number + law) % 3 == 0 and origin == "distrax" else "kept",
            origin=origin,
            backend=backend,
            mode=mode,
            message=f"AssertionError: {number} {law}" + " is not what was expected" * 20,
            program="import jax\n" * 20 + f"# {number} {law}",
        )
        for number in range(classes)
        for law in range(1, 21)
        for origin in ("generated", "distrax")
        for backend, mode in places[:backends]
    ]
    laws = tuple(LawText(number, f"law-{number}", "A sentence.") for number in range(1, 21))
    return replace(REPORT, laws=laws, cells=tuple(cells), plots=(NORMAL,) * 51)


class TestWords:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0, "0.00 s"),
            (9.994, "9.99 s"),
            (9.996, "10.0 s"),
            (99.94, "99.9 s"),
            (99.96, "1 min 40 s"),
            (3599.7, "1 h 00 min"),
            (7320, "2 h 02 min"),
            (math.nan, "an unknown time"),
        ],
    )
    def test_durations(self, seconds: float, text: str) -> None:
        assert duration(seconds) == text

    def test_counts(self) -> None:
        assert count(1, "class", "classes") == "1 class"
        assert count(0, "class", "classes") == "0 classes"
        assert count(1234, "cell") == "1,234 cells"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("Beta", ("Beta",)),
            ("MultivariateNormalTri", ("Multivariate", "Normal", "Tri")),
            ("GumbelCDF", ("Gumbel", "CDF")),
            ("package.my_class", ("package.", "my_", "class")),
            ("", ("",)),
        ],
    )
    def test_words_of_a_name_are_the_name(self, name: str, words: tuple[str, ...]) -> None:
        assert words_of(name) == words
        assert "".join(words) == name

    def test_backquotes_mark_code(self) -> None:
        assert pieces_of("a `b` c") == (("a ", False), ("b", True), (" c", False))
        assert pieces_of("a ` b") == (("a ` b", False),)

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "not given"),
            (True, "yes"),
            (0, "0"),
            ((), "none"),
            (["cpu", "tpu"], "cpu, tpu"),
            ({"b", "a"}, "a, b"),
            ({"a": None}, "a: not given"),
        ],
    )
    def test_options(self, value: object, text: str) -> None:
        assert in_words(value) == text

    def test_marks_tell_mode_and_baseline(self) -> None:
        assert [style_of(result, "generated") for result in RESULTS] == ["k", "d", "e", "b", "u"]
        assert style_of("broken", "generated", "lowered") == "b l"
        assert style_of("broken", "distrax", "lowered") == "b w l"
        assert style_of("kept", "distrax") == "k"


class TestView:
    def test_a_column_is_of_a_law_a_backend_a_mode_and_an_origin(self) -> None:
        matrix = view_of(REPORT).matrix
        assert [(c.law, c.backend, c.mode, c.origin) for c in matrix.columns] == [
            (1, "cpu", "executed", "generated"),
            (1, "cpu", "executed", "distrax"),
            (5, "cpu", "executed", "generated"),
            (5, "cpu", "executed", "distrax"),
            (19, "cpu", "executed", "generated"),
            (19, "cuda", "lowered", "generated"),
            (19, "tpu", "lowered", "generated"),
        ]
        assert [(head.number, head.span) for head in matrix.law_heads] == [(1, 2), (5, 2), (19, 3)]
        assert [(head.backend, head.span, head.is_first) for head in matrix.group_heads] == [
            ("cpu", 2, True),
            ("cpu", 2, True),
            ("cpu", 1, True),
            ("cuda", 1, False),
            ("tpu", 1, False),
        ]
        assert len(matrix.origin_heads) == 7

    def test_each_cell_stands_in_its_place(self) -> None:
        matrix = view_of(REPORT).matrix
        placed = {
            slot.index: (row.subject, column.law, column.backend, column.origin)
            for row in matrix.rows
            for column, slot in zip(matrix.columns, row.slots, strict=True)
            if slot.index is not None
        }
        assert placed == {i: (c.subject, c.law, c.backend, c.origin) for i, c in enumerate(CELLS)}
        beta = matrix.rows[0]
        assert [slot.text for slot in beta.slots] == [
            "kept, executed",
            "broken, executed",
            "broken, executed",
            "broken, executed",
            "kept, executed",
            "kept, lowered",
            "unfinished, lowered",
        ]

    def test_of_cells_in_one_place_the_worst_is_shown(self) -> None:
        cells = (cell("Beta", 1, "exempt"), cell("Beta", 1, "broken"), cell("Beta", 1))
        (row,) = view_of(replace(REPORT, cells=cells)).matrix.rows
        assert row.slots[0].index == 1

    def test_laws_without_cells_and_cells_without_laws_are_there(self) -> None:
        view = view_of(replace(REPORT, cells=(cell("Beta", 5), cell("Beta", 42, origin="mine"))))
        assert [(head.number, head.span) for head in view.matrix.law_heads] == [
            (1, 1),
            (5, 1),
            (19, 1),
            (42, 1),
        ]
        assert view.matrix.columns[0].backend == ""
        assert view.origins == ("generated", "distrax", "mine")

    def test_one_origin_needs_no_head(self) -> None:
        report = replace(REPORT, origins=("generated",), cells=(cell("Beta", 1),))
        assert view_of(report).matrix.origin_heads == ()

    def test_totals(self) -> None:
        view = view_of(REPORT)
        assert [(row.origin, row.cells, *(c.text for c in row.counts)) for row in view.totals] == [
            ("generated", "11", "6", "1", "1", "2", "1"),
            ("distrax", "4", "2", "0", "0", "2", "0"),
        ]
        for row in view.totals:
            assert [c.text for c in row.counts] == [str(n) for n in REPORT.totals(row.origin).values()]
        assert [c.style for c in view.totals[1].counts] == ["k", "none", "none", "w", "none"]
        assert [c.text for c in view.laws[1].counts] == ["1", "1", "0", "1", "0", "1", "0", "0", "1", "0"]

    @pytest.mark.parametrize(
        ("change", "verdict", "tone"),
        [
            ({}, "2 cells broken in 2 classes", "bad"),
            ({"cells": (cell("Beta", 1),)}, "No class breaks a law", "good"),
            ({"cells": (cell("Beta", 1, "broken", origin="distrax"),)}, "No class breaks a law", "good"),
            ({"cells": (cell("Beta", 1, "broken"),)}, "1 cell broken in 1 class", "bad"),
            ({"cells": (cell("Beta", 1),), "is_complete": False}, "No class breaks a law so far", "open"),
            ({"cells": (cell("Beta", 1, "unfinished"),)}, "No class breaks a law so far", "open"),
            ({"cells": ()}, "Nothing was asked", "open"),
        ],
    )
    def test_verdict(self, change: dict[str, Any], verdict: str, tone: str) -> None:
        view = view_of(replace(REPORT, **change))
        assert (view.verdict, view.tone) == (verdict, tone)

    def test_warns_of_a_run_that_was_stopped(self) -> None:
        assert view_of(REPORT).warning == ""
        assert "1 cell is unfinished" in view_of(replace(REPORT, is_complete=False)).warning
        assert "Cells may be missing" in view_of(replace(REPORT, is_complete=False, cells=())).warning

    def test_lists_some_of_many_broken_cells(self) -> None:
        cells = tuple(cell(f"C{i}", 1, "broken") for i in range(LISTED + 2))
        view = view_of(replace(REPORT, cells=cells))
        assert len(view.broken) == LISTED
        assert view.unlisted == "2 more are in the matrix."

    def test_details_are_those_of_the_cells(self) -> None:
        data = json.loads(view_of(REPORT).data)
        subject, column, result, dtypes, examples, seconds, message, program, reasons = data["cells"][2]
        assert data["subjects"][subject] == "Beta"
        assert data["columns"][column] == [5, "cpu", "executed", "generated"]
        assert data["results"][result][0] == "broken"
        texts = data["texts"]
        assert [texts[i] for i in (dtypes, seconds, message, program)] == [
            "float32, bfloat16",
            "1.50 s",
            "AssertionError: 0.5 is not 2\n  twice",
            PROGRAM,
        ]
        assert (examples, reasons) == (3, [])
        assert [data["texts"][i] for i in data["cells"][7][8]] == ["A field of `functions` has no leaves."]
        assert data["plots"] == ["", "plot-1", ""]

    def test_details_hold_nothing_that_html_knows(self) -> None:
        cells = (cell("Beta", 1, "broken", message=HOSTILE, program="\N{LINE SEPARATOR}]]>&amp;"),)
        data = view_of(replace(REPORT, cells=cells)).data
        assert not set("<>&\N{LINE SEPARATOR}") & set(data)
        assert HOSTILE in json.loads(data)["texts"]

    def test_long_messages_lose_their_middle(self) -> None:
        text = clipped("a" * 20_000 + "z")
        assert len(text) < 17_000
        assert text.startswith("aaa")
        assert "4,001 characters are left out" in text
        assert text.endswith("az")
        assert clipped("short") == "short"


class TestDrawing:
    def test_of_a_continuous_class(self) -> None:
        drawing = drawing_of(NORMAL, "plot-1")
        assert drawing.bars.count("M") == 4
        assert drawing.line.count("M") == 1
        assert drawing.line.count("L") == 5
        assert drawing.dots == ()
        assert (drawing.across, drawing.upwards) == ("value", "density")
        labels = ["−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2"]
        assert [tick.label for tick in drawing.ticks_across] == labels
        assert drawing.description == (
            "Bars: 10,000 samples of Normal(loc=0.0, scale=1.0) in 4 bins from -2 to 2. Line: the density. "
            "They are furthest apart at 0.5: 0.36 of the samples, 0.35 computed."
        )

    def test_of_a_discrete_class(self) -> None:
        drawing = drawing_of(BERNOULLI, "plot-2")
        assert drawing.bars.count("M") == len(drawing.dots) == drawing.line.count("M") == 2
        assert drawing.upwards == "probability"
        assert [tick.label for tick in drawing.ticks_across] == ["0", "1"]
        assert "1,000 samples of Bernoulli(probs=0.3) at 2 values" in drawing.description

    def test_of_a_density_with_a_pole(self) -> None:
        pole = replace(NORMAL, points=(-1.0, 0.0, 1.0), density=(0.1, math.inf, 0.1))
        drawing = drawing_of(pole, "plot-1")
        assert "inf" not in drawing.line
        steep = drawing_of(replace(pole, density=(0.1, 1e9, 0.1)), "plot-1")
        assert "beyond the top" in steep.description
        assert float(steep.ticks_upwards[-1].at) >= 0
        assert steep.bars.count("M") == 4

    @pytest.mark.parametrize(
        "plot",
        [
            Plot("A", "", False, (), (), (), (), 0),
            Plot("A", "", True, (), (), (), (), 0),
            Plot("A", "", True, (3.0,), (1.0,), (3.0,), (1.0,), 10),
            Plot("A", "", False, (0.0, 1.0), (math.nan,), (0.0, 1.0), (math.nan, math.nan), 10),
            Plot("A", "", False, (1e300, 1.1e300), (1e-300,), (1e300, 1.1e300), (0.0, 0.0), 10),
            Plot("A", "", False, (-1.7e308, 1.7e308), (0.0,), (math.inf,), (0.0,), 10),
            Plot("A", "", False, (5.0, 5.0), (1.0,), (5.0,), (1.0,), 1),
        ],
    )
    def test_of_odd_numbers(self, plot: Plot) -> None:
        drawing = drawing_of(plot, "plot-1")
        assert not re.search("nan|inf", drawing.bars + drawing.line + str(drawing.ticks_across))


class TestText:
    def test_the_same_report_gives_the_same_text(self) -> None:
        assert render_page(REPORT) == render_page(replace(REPORT))

    def test_asks_for_nothing(self) -> None:
        text = render_page(REPORT)
        assert "http" not in text.replace("http-equiv", "")
        assert not re.search(r"@import|url\(|src=", text)
        assert "default-src &#39;none&#39;" in text

    def test_the_policy_names_what_is_inlined(self) -> None:
        text = render_page(REPORT)
        for tag in ("style", "script"):
            (source,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
            assert f"{tag}-src &#39;sha256-{digest.replace('+', '&#43;')}&#39;" in text.replace("+", "&#43;")

    def test_hostile_text_is_escaped(self) -> None:
        cells = (cell(HOSTILE, 1, "broken", message=HOSTILE, program=HOSTILE, origin=HOSTILE),)
        report = Report({HOSTILE: HOSTILE}, {HOSTILE: HOSTILE}, (LawText(1, HOSTILE, HOSTILE),), cells)
        text = render_page(replace(report, plots=(replace(NORMAL, subject=HOSTILE, title=HOSTILE),)))
        assert "<img" not in text
        assert text.count("</script>") == 2

    def test_can_be_written_whatever_it_holds(self) -> None:
        render_page(replace(REPORT, versions={"a": "\udc80"})).encode()

    def test_of_nothing(self) -> None:
        text = render_page(Report({}, {}, (), ()))
        assert "There are no cells." in text

    def test_stays_small(self) -> None:
        report = large()
        assert len(report.cells) == 8160
        assert len(render_page(report).encode()) < 3_000_000


ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

CONTRAST = """() => {
  const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const alpha = (color) => numbers(color)[3] ?? 1;
  const luminance = (color) => {
    const [r, g, b] = numbers(color).slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (alpha(color) === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (x + 0.05) / (y + 0.05);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.matches("script, style, noscript, option, td > i, .sr")) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim())) {
      const color = element.matches("svg text") ? style.fill : style.color;
      found.push([element.tagName, element.className, ratio(color, ground(element)), 4.5]);
    }
    for (const pseudo of ["::before", "::after"]) {
      const mark = getComputedStyle(element, pseudo);
      if (!/^".+"$/.test(mark.content)) continue;
      const own = alpha(mark.backgroundColor) === 1 ? mark.backgroundColor : ground(element);
      // The letter of a diamond stands on its shape.
      const shape = getComputedStyle(element, "::before").backgroundColor;
      const behind = pseudo === "::after" && alpha(shape) === 1 ? shape : own;
      found.push([element.tagName + pseudo, element.className, ratio(mark.color, behind), 4.5]);
    }
    if (element.matches(".m, td") && /\\b[kdebu]\\b/.test(element.className)) {
      const edge = getComputedStyle(element, "::before").borderTopColor;
      found.push([element.tagName + " edge", element.className, ratio(edge, ground(element)), 3]);
    }
  }
  return found;
}"""


def missing(what: str) -> NoReturn:
    """Skips, but for continuous integration, where all must be there."""
    reason = f"{what} is not there, so the page cannot be opened in a browser"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, headless=True, args=ARGUMENTS)
        yield started
        started.close()


Opener = Callable[..., "Page"]


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Callable[[bool], Page]:
    """A page with JavaScript, and one without; tests share them, as it takes long to make one."""

    @functools.cache
    def tab(has_scripts: bool) -> Page:
        context = browser.new_context(
            java_script_enabled=has_scripts, permissions=["clipboard-read", "clipboard-write"]
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        return page

    return tab


@pytest.fixture
def show(tabs: Callable[[bool], Page], tmp_path: Path) -> Iterator[Opener]:
    """Opens the page of a report. It must make no error and ask for nothing but the file."""
    faults: list[str] = []
    listeners: dict[str, Callable[[Any], None]] = {
        "console": lambda m: faults.append(m.text) if m.type in ("error", "warning") else None,
        "pageerror": lambda error: faults.append(str(error)),
        "request": lambda r: faults.append(r.url) if not r.url.startswith("file://") else None,
    }
    numbers = itertools.count()
    opened: list[Page] = []

    def open_page(
        report: Report = REPORT,
        *,
        fragment: str = "",
        width: int = 1600,
        has_scripts: bool = True,
        scheme: Literal["light", "dark"] = "light",
        motion: Literal["reduce", "no-preference"] = "reduce",
    ) -> Page:
        file = tmp_path / f"report-{next(numbers)}.html"
        file.write_text(render_page(report), encoding="utf-8")
        page = tabs(has_scripts)
        if page not in opened:
            opened.append(page)
            for event, listener in listeners.items():
                page.on(event, listener)  # type: ignore[call-overload]
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(file.as_uri() + fragment)
        return page

    yield open_page
    for page in opened:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    assert faults == []


def wait(page: Page, condition: str) -> None:
    """Waits for what follows an event. Playwright's own way evaluates strings, which the page forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"it never came to {condition}")


def shown(page: Page) -> list[Cell]:
    """The cells that can be seen in the matrix."""
    indices = page.locator("#grid td[data-i]:visible:not(.out)").evaluate_all(
        "all => all.map((td) => Number(td.dataset.i))"
    )
    return [CELLS[i] for i in sorted(indices)]


def td(page: Page, subject: str, law: int, origin: str = "generated", backend: str = "cpu") -> Locator:
    (i,) = [
        i
        for i, c in enumerate(CELLS)
        if (c.subject, c.law, c.origin, c.backend) == (subject, law, origin, backend)
    ]
    return page.locator(f"#grid td[data-i='{i}']")


def focused(page: Page) -> int | None:
    """The index of the cell that has the focus, -1 for a place without one."""
    found = page.evaluate(
        "() => { const td = document.activeElement.closest('#grid td');"
        " return td && Number(td.dataset.i ?? -1); }"
    )
    assert found is None or isinstance(found, int)
    return found


def close(page: Page) -> None:
    """Closes the dialog with Escape and waits for the event that this brings about."""
    page.keyboard.press("Escape")
    wait(page, "!document.querySelector('dialog').open && !location.hash.includes('cell=')")


class TestMatrix:
    def test_shows_classes_by_laws(self, show: Opener) -> None:
        page = show()
        grid = page.get_by_role("grid", name="Classes by laws")
        assert grid.get_by_role("rowheader").all_inner_texts() == ["Beta", "Normal", "MultivariateNormalTri"]
        assert grid.get_by_role("gridcell").count() == 21
        assert grid.get_by_role("gridcell", name="broken, executed").count() == 3
        assert grid.get_by_role("gridcell", name="kept, lowered").count() == 1
        heads = grid.get_by_role("columnheader").all_inner_texts()
        assert [" ".join(head.split()) for head in heads[1:9]] == [
            "1 only-finished-parameters",
            "5 round-trips",
            "19 lowers-everywhere",
            "cpu executed",
            "cpu executed",
            "cpu executed",
            "cuda lowered",
            "tpu lowered",
        ]
        assert heads[9:] == ["generated", "distrax"] * 2 + ["generated"] * 3
        assert shown(page) == list(CELLS)

    def test_results_can_be_told_without_colour(self, show: Opener) -> None:
        page = show()
        marks = page.locator(".legend .m:not([class$='m'])").evaluate_all(
            """all => all.map((mark) => {
              const style = getComputedStyle(mark, "::before");
              const letters = style.content + getComputedStyle(mark, "::after").content;
              return [mark.className, letters, style.borderRadius, style.rotate, style.borderTopStyle];
            })"""
        )
        told = {name: (letters, radius, turn) for name, letters, radius, turn, _ in marks[:5]}
        assert sorted(told) == ["m b", "m d", "m e", "m k", "m u"]
        assert len({letters for letters, *_ in told.values()}) == 5
        assert len({(radius, turn) for _, radius, turn in told.values()}) == 5
        edges = {name: edge for name, *_, edge in marks}
        assert (edges["m k"], edges["m k l"]) == ("solid", "dashed")

    def test_what_is_lowered_has_no_ground(self, show: Opener) -> None:
        cells = [
            cell(f"{result}-{origin}-{mode}", 1, result, origin=origin, mode=mode)
            for result in RESULTS
            for origin in ("generated", "distrax")
            for mode in ("executed", "lowered")
        ]
        page = show(replace(REPORT, cells=tuple(cells)))
        grounds = page.locator("#grid td[data-i]").evaluate_all(
            "all => all.map((td) => [td.innerText, getComputedStyle(td, '::before').backgroundColor])"
        )
        assert len(grounds) == 20
        assert [("lowered" in text) for text, _ in grounds] == [
            ground == "rgba(0, 0, 0, 0)" for _, ground in grounds
        ]

    def test_heads_stay_in_sight(self, show: Opener) -> None:
        page = show(large(classes=24, backends=1), width=400)
        page.evaluate("document.getElementById('matrix-scroll').scrollTo(300, 250)")
        box = page.locator("#matrix-scroll").bounding_box()
        head = page.locator("#grid thead").bounding_box()
        first = page.locator("#grid tbody th").nth(12).bounding_box()
        assert box and head and first
        assert abs(head["y"] - box["y"]) <= 1.5
        assert abs(first["x"] - box["x"]) <= 1.5

    def test_a_cell_that_is_moved_to_is_not_under_the_heads(self, show: Opener) -> None:
        page = show(large(classes=24, backends=1), width=400)
        page.locator("#grid td").first.focus()
        for key in ("Control+End", "PageUp", "PageUp", "PageUp", "ArrowLeft", *["ArrowUp"] * 12):
            page.keyboard.press(key)
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
        is_on_top = page.evaluate(
            """() => {
              const td = document.activeElement, box = td.getBoundingClientRect();
              return td.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
            }"""
        )
        assert is_on_top is True

    def test_can_be_read_without_javascript(self, show: Opener) -> None:
        page = show(has_scripts=False)
        assert page.locator("#grid tbody tr").first.locator("td").nth(2).inner_text() == "broken, executed"
        assert page.locator("noscript p").is_visible()
        assert not page.locator("#filters").is_visible()
        page.locator("#broken summary").first.click()
        assert page.locator("#broken pre").nth(1).text_content() == PROGRAM


class TestFilters:
    def test_class(self, show: Opener) -> None:
        page = show()
        page.get_by_label("Class", exact=True).press_sequentially("NORM")
        assert {c.subject for c in shown(page)} == {"Normal", "MultivariateNormalTri"}
        assert page.locator("#shown").inner_text() == "8 of 15 cells, 2 of 3 classes."
        assert page.url.endswith("#class=NORM")
        assert page.locator("figure:visible").evaluate_all("all => all.map((f) => f.dataset.subject)") == [
            "Normal"
        ]
        page.get_by_label("Class", exact=True).fill("nothing")
        assert page.locator("#shown").inner_text() == "No cell matches."
        assert not page.locator("#grid").is_visible()

    def test_law(self, show: Opener) -> None:
        page = show()
        page.get_by_label("Law", exact=True).focus()
        page.keyboard.type("19")
        assert shown(page) == [c for c in CELLS if c.law == 19]
        assert page.url.endswith("#law=19")
        heads = page.locator("#grid .by-law th:visible").all_inner_texts()
        assert [" ".join(head.split()) for head in heads] == ["Class", "19 lowers-everywhere"]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("result", "broken"),
            ("result", "exempt"),
            ("backend", "cuda"),
            ("mode", "lowered"),
            ("origin", "distrax"),
        ],
    )
    def test_choices(self, show: Opener, name: str, value: str) -> None:
        page = show()
        page.get_by_role("group", name=name.title()).get_by_label(value).focus()
        page.keyboard.press("Space")
        assert shown(page) == [c for c in CELLS if getattr(c, name) == value]
        assert page.url.endswith(f"#{name}={value}")
        page.keyboard.press("Space")
        assert shown(page) == list(CELLS)
        assert "#" not in page.url

    def test_heads_span_what_is_left(self, show: Opener) -> None:
        page = show(fragment="#origin=generated&backend=cpu&backend=tpu")
        spans = page.locator("#grid .by-law th:visible").evaluate_all("all => all.map((th) => th.colSpan)")
        assert spans == [1, 1, 1, 2]
        widths = page.locator("#grid tr:visible").evaluate_all(
            "all => all.map((tr) => tr.lastElementChild.getBoundingClientRect().right)"
        )
        assert shown(page) == [c for c in CELLS if c.origin == "generated" and c.backend in ("cpu", "tpu")]
        assert widths

    def test_can_be_walked_with_tab(self, show: Opener) -> None:
        page = show()
        page.get_by_label("Class", exact=True).focus()
        walked = []
        for _ in range(15):
            page.keyboard.press("Tab")
            walked.append(page.evaluate("(document.activeElement.value ?? '') || document.activeElement.id"))
        assert walked == [
            "filter-law",
            *RESULTS,
            *["cpu", "cuda", "tpu"],
            *["executed", "lowered"],
            *["generated", "distrax"],
            "reset",
            "",
        ]
        # Behind them the matrix has one place in the order.
        assert focused(page) == 0
        page.keyboard.press("Tab")
        assert focused(page) is None

    def test_a_view_can_be_linked(self, show: Opener) -> None:
        page = show()
        page.get_by_label("Class", exact=True).fill("beta")
        page.get_by_label("Law", exact=True).select_option("5")
        page.locator("input[value=broken]").check()
        page.locator("input[value=kept]").check()
        page.locator("input[value=generated]").check()
        fragment = page.url.partition("#")[2]
        assert fragment == "class=beta&law=5&result=kept&result=broken&origin=generated"
        other = show(fragment=f"#{fragment}")
        assert shown(other) == [CELLS[2]]
        assert other.get_by_label("Class", exact=True).input_value() == "beta"
        assert other.get_by_label("Law", exact=True).input_value() == "5"
        other.evaluate("location.hash = '#result=exempt'")
        wait(other, "document.querySelector('input[value=exempt]').checked")
        assert shown(other) == [CELLS[7]]
        other.get_by_role("button", name="Show all").press("Enter")
        wait(other, "!location.hash")
        assert shown(other) == list(CELLS)

    def test_links_inside_the_page_leave_them(self, show: Opener) -> None:
        page = show(fragment="#law=5")
        page.get_by_role("link", name="Laws").press("Enter")
        assert page.url.endswith("#laws")
        assert {c.law for c in shown(page)} == {5}

    def test_an_odd_fragment_does_no_harm(self, show: Opener) -> None:
        page = show(fragment="#law=77&result=fine&cell=nobody&x=%ZZ&class=")
        assert shown(page) == list(CELLS)


class TestCells:
    def test_arrows_walk_through_the_matrix(self, show: Opener) -> None:
        page = show()
        page.locator("#reset").focus()
        page.keyboard.press("Tab")
        walked = [focused(page)]
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
            page.keyboard.press(key)
            walked.append(focused(page))
        assert walked == [0, 1, 2, 9, -1, 9, 2]
        walked = []
        for key in (
            "End",
            "Home",
            "ArrowLeft",
            "ArrowUp",
            "Control+End",
            "Home",
            "ArrowDown",
            "Control+Home",
        ):
            page.keyboard.press(key)
            walked.append(focused(page))
        assert walked == [6, 0, 0, 0, -1, 12, 12, 0]
        assert page.locator("#grid [tabindex='0']").count() == 1

    def test_arrows_leave_out_what_is_filtered(self, show: Opener) -> None:
        page = show(fragment="#origin=generated&class=r")
        td(page, "Normal", 1).focus()
        page.keyboard.press("ArrowRight")
        assert focused(page) == 9
        page.keyboard.press("ArrowUp")
        assert focused(page) == 9

    def test_the_focused_cell_is_told(self, show: Opener) -> None:
        page = show()
        td(page, "Beta", 5).focus()
        assert page.locator("#readout").inner_text() == (
            "Beta · law 5 round-trips · cpu executed · generated: broken. AssertionError: 0.5 is not 2"
        )

    @pytest.mark.parametrize("how", ["Enter", "Space", "click"])
    def test_opens_and_gives_the_focus_back(self, show: Opener, how: str) -> None:
        page = show()
        place = td(page, "Beta", 5)
        if how == "click":
            place.click()
        else:
            place.focus()
            page.keyboard.press(how)
        dialog = page.get_by_role("dialog", name="Beta")
        assert dialog.is_visible()
        text = " ".join(dialog.inner_text().split())
        assert "Law 5 round-trips: Copies, from_finished and pickles give the object back." in text
        assert "broken (an example breaks the law)" in text
        assert "float32, bfloat16 examples 3 time 1.50 s" in text
        assert dialog.locator("#cell-message").inner_text() == "AssertionError: 0.5 is not 2\n  twice"
        assert dialog.locator("#cell-program").text_content() == PROGRAM
        assert "cell=generated%2FBeta%2F5%2Fcpu%2Fexecuted" in page.url
        close(page)
        assert not dialog.is_visible()
        assert focused(page) == 2
        assert "#" not in page.url

    def test_shows_reasons(self, show: Opener) -> None:
        page = show()
        for law, title, reason in (
            (1, "Why it is exempt", "A field of functions has no leaves."),
            (5, "The departure", "Draws differ by 2 ulp."),
        ):
            td(page, "Normal", law).click()
            assert page.locator("#cell-reasons-title").inner_text() == title
            assert page.locator("#cell-reasons").inner_text() == reason
            assert not page.locator("#cell-program-part").is_visible()
            page.get_by_role("button", name="Close").click()
            wait(page, "!location.hash")
        assert focused(page) == 9

    def test_shows_the_same_of_other_origins_and_backends(self, show: Opener) -> None:
        page = show()
        td(page, "Beta", 19).press("Enter")
        others = page.locator("#cell-others button")
        assert others.all_inner_texts() == [
            "generated, cpu executed: kept",
            "generated, cuda lowered: kept",
            "generated, tpu lowered: unfinished",
        ]
        others.nth(1).press("Enter")
        assert page.locator("#cell-backend").inner_text() == "cuda, lowered"
        assert others.nth(1).evaluate("e => e === document.activeElement") is True
        close(page)
        assert focused(page) == 4

    def test_can_be_linked(self, show: Opener) -> None:
        page = show(fragment="#law=19&cell=generated/Normal/19/cuda/lowered")
        assert page.get_by_role("dialog", name="Normal").is_visible()
        assert page.locator("#cell-message").inner_text() == "No rule for digamma."
        close(page)
        assert focused(page) == 11
        assert page.url.endswith("#law=19")

    def test_empty_and_hidden_places_do_not_open(self, show: Opener) -> None:
        page = show(fragment="#result=broken")
        page.locator("#grid td.out:visible").first.click(force=True)
        page.locator("#grid td:not([data-i]):visible").first.click()
        page.keyboard.press("Enter")
        assert not page.locator("dialog").is_visible()

    def test_leads_to_the_plot(self, show: Opener) -> None:
        page = show()
        td(page, "Normal", 1).press("Enter")
        page.get_by_role("link", name="Samples of this class").press("Enter")
        wait(page, "document.activeElement.id === 'plot-1'")

    def test_copies_the_program(self, show: Opener) -> None:
        page = show()
        td(page, "Beta", 5).press("Enter")
        page.locator("dialog .copy").press("Enter")
        page.locator("dialog .copy", has_text="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == PROGRAM
        assert page.locator("#said").text_content() == "The program is copied."

    def test_copies_without_the_clipboard_of_modern_browsers(self, show: Opener) -> None:
        page = show()
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
        page.locator("#broken summary").nth(0).press("Enter")
        button = page.locator("#broken .copy").first
        button.press("Enter")
        page.locator("#broken .copy", has_text="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == PROGRAM
        assert button.evaluate("e => e === document.activeElement") is True


class TestPage:
    def test_totals(self, show: Opener) -> None:
        page = show()
        rows = page.locator("#totals-table tbody tr").all_inner_texts()
        assert [row.split() for row in rows] == [
            ["generated", "6", "1", "1", "2", "1", "11"],
            ["distrax", "the", "baseline", "2", "0", "0", "2", "0", "4"],
        ]
        law = page.locator("#laws-table tbody tr").nth(1)
        assert law.locator("td").all_inner_texts() == ["1", "1", "0", "1", "0", "1", "0", "0", "1", "0"]
        assert page.locator("h1").inner_text() == "2 cells broken in 2 classes"
        assert page.locator(".summary").inner_text() == "3 classes under 3 laws: 15 cells in 2 min 05 s."
        run = page.locator("#run").inner_text()
        assert "0.10.2" in run
        assert "cpu, cuda" in run

    def test_says_when_the_run_was_stopped(self, show: Opener) -> None:
        assert show().locator("#incomplete").count() == 0
        banner = show(replace(REPORT, is_complete=False)).get_by_role("alert")
        assert banner.is_visible()
        assert "stopped before its end" in banner.inner_text()

    def test_plots_have_words(self, show: Opener) -> None:
        page = show()
        plot = page.get_by_role("img", name=re.compile(r"Bars: 10,000 samples of Normal\(loc=0.0"))
        assert plot.locator(".curve").count() == 1
        assert plot.locator(".label").all_text_contents() == ["value", "density"]
        discrete = page.get_by_role("img", name=re.compile("Bernoulli"))
        assert discrete.locator(".dot").count() == 2
        assert discrete.locator(".label").all_text_contents() == ["value", "probability"]

    @pytest.mark.parametrize("width", [400, 1600])
    def test_fits(self, show: Opener, width: int) -> None:
        long = replace(NORMAL, title="Transformed(" * 40)
        cells = (*CELLS, cell("A" * 120, 1, "broken", origin="o" * 90, message="x" * 500, program="y" * 500))
        options = {"specs": "/".join(["directory"] * 60), "x" * 90: "y"}
        page = show(replace(REPORT, cells=cells, plots=(long, BERNOULLI), options=options), width=width)
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.locator(f"#grid td[data-i='{len(CELLS)}']").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        sheet = page.locator("dialog").evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert sheet[0] == sheet[1]
        for button in page.locator("button:visible").all():
            assert button.evaluate("e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth")

    def test_the_large_matrix_scrolls_in_its_frame(self, show: Opener) -> None:
        page = show(large(classes=24, backends=1), width=400)
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        assert page.locator("#matrix-scroll").evaluate("e => e.scrollWidth > e.clientWidth") is True

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_can_be_read_in_light_and_in_dark(self, show: Opener, scheme: Literal["light", "dark"]) -> None:
        page = show(replace(REPORT, is_complete=False), scheme=scheme)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}[scheme]
        for subject in ("Beta", "Normal"):
            # The row of the focus has another ground.
            td(page, subject, 19).focus()
            found = page.evaluate(CONTRAST)
            assert len(found) > 150
            assert [what for what in found if what[2] < what[3]] == []
        td(page, "Beta", 5).press("Enter")
        assert [what for what in page.evaluate(CONTRAST) if what[2] < what[3]] == []

    def test_moves_less_where_that_is_asked(self, show: Opener) -> None:
        behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
        assert show(motion="reduce").evaluate(behaviour) == "auto"
        assert show(motion="no-preference").evaluate(behaviour) == "smooth"

    def test_hostile_text_is_inert(self, show: Opener) -> None:
        hostile = cell(HOSTILE, 1, "broken", message=HOSTILE, program=HOSTILE, reasons=(HOSTILE,))
        report = Report({HOSTILE: HOSTILE}, {HOSTILE: HOSTILE}, (LawText(1, HOSTILE, HOSTILE),), (hostile,))
        page = show(replace(report, plots=(replace(NORMAL, subject=HOSTILE, title=HOSTILE),)))
        assert page.locator("#grid tbody th").inner_text() == HOSTILE
        page.locator("#grid td").focus()
        page.keyboard.press("Enter")
        assert page.locator("#cell-title").inner_text() == HOSTILE
        assert page.locator("#cell-message").inner_text() == HOSTILE
        assert page.locator("#cell-program").inner_text() == HOSTILE
        assert page.locator("#cell-reasons").inner_text() == HOSTILE
        page.reload()
        assert page.locator("#cell-title").inner_text() == HOSTILE
        assert page.locator("body img").count() == 0
        assert "owned" not in page.title()

    def test_of_nothing(self, show: Opener) -> None:
        page = show(Report({}, {}, (), ()))
        assert page.get_by_text("There are no cells.").is_visible()
        page.get_by_label("Class", exact=True).fill("x")
        assert page.locator("#shown").inner_text() == "No cell matches."

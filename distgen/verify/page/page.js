"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const SUBJECT = 0, COLUMN = 1, RESULT = 2, DTYPES = 3, EXAMPLES = 4, SECONDS = 5, MESSAGE = 6, PROGRAM = 7, REASONS = 8;
  const LAW = 0, BACKEND = 1, MODE = 2, ORIGIN = 3;
  const grid = $("grid"), form = $("filters"), dialog = $("cell");
  const say = (text) => { $("said").textContent = text; };
  const markOf = (result, style, mode, origin) =>
    `m ${style}${result === "broken" && origin === data.baseline ? " w" : ""}${mode === "executed" ? "" : " l"}`;
  // What stands in backquotes is code.
  const prose = (element, text) => {
    const pieces = text.split("`");
    element.replaceChildren(...(pieces.length % 2 === 0 ? [text] : pieces.map((piece, i) => {
      if (i % 2 === 0) return piece;
      const code = document.createElement("code");
      code.textContent = piece;
      return code;
    })));
  };
  const number = (n) => n.toLocaleString("en-US");

  // A cell is named in the fragment by what it is of, not by its position, which another run may change.
  const nameOf = (i) => {
    const cell = data.cells[i], column = data.columns[cell[COLUMN]];
    return [column[ORIGIN], data.subjects[cell[SUBJECT]], ...column.slice(LAW, ORIGIN)].join("/");
  };

  // The matrix, as the page came with it.
  const rows = grid ? Array.from(grid.tBodies[0].rows, (tr) => ({ tr, tds: Array.from(tr.cells).slice(1) })) : [];
  const heads = grid ? Array.from(grid.tHead.rows, (tr) => Array.from(tr.cells).filter((th) => !th.matches(".corner"))) : [];
  // For each row of the head: the head over each column.
  const over = heads.map((ths) => ths.flatMap((th) => Array(th.colSpan).fill(th)));
  const indexOf = (td) => (td.dataset.i === undefined ? -1 : Number(td.dataset.i));
  const shownColumns = data.columns.map(() => true);

  // Filters.
  const CHOICES = ["result", "backend", "mode", "origin"];
  const chosen = (name) => new Set(Array.from(form.querySelectorAll(`input[name=${name}]:checked`), (box) => box.value));

  function filters() {
    const state = { class: $("filter-class").value.trim().toLowerCase(), law: $("filter-law").value };
    for (const name of CHOICES) state[name] = chosen(name);
    return state;
  }

  function apply() {
    const state = filters();
    const any = (name, value) => state[name].size === 0 || state[name].has(value);
    const inColumn = data.columns.map((column) =>
      (state.law === "" || String(column[LAW]) === state.law) &&
      any("backend", column[BACKEND]) && any("mode", column[MODE]) && any("origin", column[ORIGIN]));
    const filtered = state.class !== "" || state.law !== "" || CHOICES.some((name) => state[name].size > 0);
    const full = data.columns.map(() => state.result.size === 0);
    let cells = 0, classes = 0;
    rows.forEach((row, r) => {
      const named = data.subjects[r].toLowerCase().includes(state.class);
      let matches = 0;
      row.tds.forEach((td, c) => {
        const i = indexOf(td);
        const match = named && i >= 0 && inColumn[c] && any("result", data.results[data.cells[i][RESULT]][0]);
        if (match) { matches += 1; full[c] = true; }
        if (i >= 0) td.classList.toggle("out", !match);
      });
      row.tr.hidden = filtered && matches === 0;
      cells += matches;
      classes += matches > 0;
    });
    const isShown = inColumn.map((match, c) => match && full[c] && (cells > 0 || !filtered));
    showColumns(isShown);
    for (const figure of document.querySelectorAll("figure[data-subject]")) {
      figure.hidden = !figure.dataset.subject.toLowerCase().includes(state.class);
    }
    if ($("no-plots")) $("no-plots").hidden = document.querySelector("figure[data-subject]:not([hidden])") !== null;
    if (grid) $("matrix-scroll").hidden = filtered && cells === 0;
    $("shown").textContent = filtered
      ? (cells === 0 ? "No cell matches." : `${number(cells)} of ${number(data.cells.length)} cells, ${number(classes)} of ${number(data.subjects.length)} classes.`)
      : `${number(data.cells.length)} cells, ${number(data.subjects.length)} classes.`;
    if (grid) { keepCurrent(); measure(); }
  }

  function showColumns(isShown) {
    let law = null;
    isShown.forEach((shown, c) => {
      const isFirst = shown && data.columns[c][LAW] !== law;
      if (shown) law = data.columns[c][LAW];
      for (const row of rows) {
        if (shown !== shownColumns[c]) row.tds[c].hidden = !shown;
        row.tds[c].classList.toggle("f", isFirst);
      }
      shownColumns[c] = shown;
    });
    heads.forEach((ths, level) => {
      for (const th of ths) {
        const span = over[level].filter((head, c) => head === th && isShown[c]).length;
        th.hidden = span === 0;
        if (span > 0) th.colSpan = span;
      }
    });
  }

  // The fragment of the address holds the filters and the open cell.
  let opened = -1;

  function writeFragment() {
    const state = filters(), parts = new URLSearchParams();
    if (state.class) parts.set("class", $("filter-class").value.trim());
    if (state.law) parts.set("law", state.law);
    for (const name of CHOICES) for (const value of state[name]) parts.append(name, value);
    if (opened >= 0) parts.set("cell", nameOf(opened));
    const fragment = parts.toString();
    if (fragment !== location.hash.slice(1)) {
      history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    }
  }

  function readFragment() {
    const text = location.hash.slice(1);
    // Others are the names of parts of the page.
    if (text !== "" && !text.includes("=")) return;
    const parts = new URLSearchParams(text);
    $("filter-class").value = parts.get("class") ?? "";
    $("filter-law").value = parts.get("law") ?? "";
    if ($("filter-law").selectedIndex < 0) $("filter-law").value = "";
    for (const name of CHOICES) {
      const values = parts.getAll(name);
      for (const box of form.querySelectorAll(`input[name=${name}]`)) box.checked = values.includes(box.value);
    }
    apply();
    const named = parts.get("cell");
    const i = named === null ? -1 : data.cells.findIndex((_, i) => nameOf(i) === named);
    if (i >= 0) open(i, tdOf(i)); else if (dialog.open) dialog.close();
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { apply(); writeFragment(); });
  // A reset takes effect after its event.
  form.addEventListener("reset", () => setTimeout(() => { apply(); writeFragment(); }));

  // Moving through the matrix: one of its cells can be reached by Tab, the arrows move on from there.
  let current = null;

  const tdOf = (i) => {
    const cell = data.cells[i];
    return rows[cell[SUBJECT]].tds[cell[COLUMN]];
  };
  const isVisible = (td) => !td.hidden && !td.parentElement.hidden;

  function setCurrent(td) {
    if (current) current.tabIndex = -1;
    current = td;
    if (td) td.tabIndex = 0;
  }

  function keepCurrent() {
    if (current && isVisible(current) && !current.matches(".out")) return;
    const shown = (td) => isVisible(td) && !td.matches(".out");
    for (const { tds } of rows) {
      const td = tds.find((td) => shown(td) && indexOf(td) >= 0);
      if (td) return setCurrent(td);
    }
    setCurrent(rows.flatMap(({ tds }) => tds).find(isVisible) ?? null);
  }

  function measure() {
    // So that a cell that is moved to is not under the heads.
    const scroll = $("matrix-scroll");
    scroll.style.scrollPaddingTop = `${grid.tHead.offsetHeight}px`;
    scroll.style.scrollPaddingLeft = `${grid.querySelector(".corner").offsetWidth}px`;
  }

  function focusOn(td) {
    setCurrent(td);
    td.focus({ preventScroll: true });
    td.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  }

  function target(td, key, isFar) {
    const shownRows = rows.filter(({ tr }) => !tr.hidden);
    const columns = shownColumns.flatMap((shown, c) => (shown ? [c] : []));
    const lastRow = shownRows.length - 1, lastColumn = columns.length - 1;
    let r = shownRows.findIndex(({ tr }) => tr === td.parentElement);
    let c = columns.indexOf(shownRows[r].tds.indexOf(td));
    if (key === "ArrowLeft") c = Math.max(c - 1, 0);
    else if (key === "ArrowRight") c = Math.min(c + 1, lastColumn);
    else if (key === "ArrowUp") r = Math.max(r - 1, 0);
    else if (key === "ArrowDown") r = Math.min(r + 1, lastRow);
    else if (key === "PageUp") r = Math.max(r - 10, 0);
    else if (key === "PageDown") r = Math.min(r + 10, lastRow);
    else if (key === "Home") { c = 0; if (isFar) r = 0; }
    else if (key === "End") { c = lastColumn; if (isFar) r = lastRow; }
    else return null;
    return shownRows[r].tds[columns[c]];
  }

  function describe(td) {
    for (const th of grid.querySelectorAll("th.on")) th.classList.remove("on");
    const readout = $("readout");
    readout.replaceChildren();
    if (!td) return;
    const c = Array.prototype.indexOf.call(td.parentElement.cells, td) - 1, column = data.columns[c];
    for (const level of over) level[c].classList.add("on");
    const subject = data.subjects[rows.findIndex(({ tr }) => tr === td.parentElement)];
    const i = td.matches(".out") ? -1 : indexOf(td);
    const where = [`law ${column[LAW]} ${data.laws[column[LAW]][0]}`, `${column[BACKEND]} ${column[MODE]}`, column[ORIGIN]];
    const name = document.createElement("b");
    name.textContent = subject;
    readout.append(name, ` \u00b7 ${where.map((x) => x.trim()).filter(Boolean).join(" \u00b7 ")}: `);
    if (i < 0) return readout.append(td.matches(".out") ? "not shown" : "no cell");
    const cell = data.cells[i], result = document.createElement("b");
    result.textContent = data.results[cell[RESULT]][0];
    const more = (data.texts[cell[MESSAGE]] || data.texts[cell[REASONS][0] ?? 0]).trim().split("\n")[0];
    readout.append(result, more ? `. ${more.length > 160 ? `${more.slice(0, 159)}\u2026` : more}` : "");
  }

  if (grid) {
    grid.setAttribute("role", "grid");
    grid.setAttribute("aria-readonly", "true");
    $("matrix-scroll").removeAttribute("tabindex");
    $("keys").hidden = false;
    for (const { tds } of rows) for (const td of tds) td.tabIndex = -1;
    const body = grid.tBodies[0];
    body.addEventListener("keydown", (event) => {
      const td = event.target.closest("td");
      if (!td || event.altKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        openAt(td);
        return;
      }
      const next = target(td, event.key, event.ctrlKey);
      if (!next) return;
      event.preventDefault();
      focusOn(next);
    });
    body.addEventListener("click", (event) => {
      const td = event.target.closest("td");
      if (!td) return;
      focusOn(td);
      openAt(td);
    });
    body.addEventListener("focusin", (event) => {
      const td = event.target.closest("td");
      if (td) { setCurrent(td); describe(td); }
    });
    body.addEventListener("mouseover", (event) => { const td = event.target.closest("td"); if (td) describe(td); });
    body.addEventListener("mouseleave", () => describe(document.activeElement.closest("#grid td")));
    body.addEventListener("focusout", () => describe(null));
    addEventListener("resize", measure);
  }

  // The details of a cell.
  let opener = null;

  function openAt(td) {
    if (indexOf(td) >= 0 && !td.matches(".out")) open(indexOf(td), td);
  }

  function open(i, from) {
    opener = from;
    show(i);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    $("cell-title").focus();
    writeFragment();
  }

  function part(name, text) {
    $(`cell-${name}-part`).hidden = text === "";
    $(`cell-${name}`).textContent = text;
  }

  function show(i) {
    opened = i;
    const cell = data.cells[i], [law, backend, mode, origin] = data.columns[cell[COLUMN]];
    const [result, style, meaning] = data.results[cell[RESULT]];
    const [name, statement] = data.laws[law];
    $("cell-title").textContent = data.subjects[cell[SUBJECT]];
    prose($("cell-law"), `Law ${law} ${name}`.trim() + (statement ? `: ${statement}` : ""));
    $("cell-mark").className = markOf(result, style, mode, origin);
    $("cell-result").textContent = result;
    $("cell-meaning").textContent = `(${meaning})`;
    $("cell-origin").textContent = origin;
    $("cell-backend").textContent = `${backend}, ${mode}`;
    $("cell-dtypes").textContent = data.texts[cell[DTYPES]] || "none";
    $("cell-examples").textContent = number(cell[EXAMPLES]);
    $("cell-seconds").textContent = data.texts[cell[SECONDS]];
    $("cell-reasons-title").textContent = { departs: "The departure", exempt: "Why it is exempt" }[result] ?? "Remarks";
    $("cell-reasons-part").hidden = cell[REASONS].length === 0;
    $("cell-reasons").replaceChildren(...cell[REASONS].map((t) => {
      const item = document.createElement("li");
      prose(item, data.texts[t]);
      return item;
    }));
    $("cell-message-title").textContent = result === "broken" ? "Why it is broken" : "Message";
    part("message", data.texts[cell[MESSAGE]]);
    $("cell-program-title").textContent = result === "broken" ? "Smallest failing example" : "Example";
    part("program", data.texts[cell[PROGRAM]]);
    showOthers(i);
    const plot = data.plots[cell[SUBJECT]];
    $("cell-plot-part").hidden = plot === "";
    $("cell-plot").href = `#${plot || "plots"}`;
  }

  function showOthers(shown) {
    const [subject, column] = data.cells[shown];
    const others = data.cells.flatMap((cell, i) =>
      (cell[SUBJECT] === subject && data.columns[cell[COLUMN]][LAW] === data.columns[column][LAW] ? [i] : []));
    $("cell-others-part").hidden = others.length < 2;
    $("cell-others").replaceChildren(...others.map((i) => {
      const [, backend, mode, origin] = data.columns[data.cells[i][COLUMN]];
      const [result, style] = data.results[data.cells[i][RESULT]];
      const item = document.createElement("li"), button = document.createElement("button"), mark = document.createElement("span");
      mark.className = markOf(result, style, mode, origin);
      mark.setAttribute("aria-hidden", "true");
      button.type = "button";
      button.append(mark, `${origin}, ${backend} ${mode}: ${result}`);
      if (i === shown) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => {
        show(i);
        writeFragment();
        $("cell-others").querySelector("[aria-current]").focus();
      });
      item.append(button);
      return item;
    }));
  }

  $("close").addEventListener("click", () => dialog.close());
  // Only what is beside the sheet has the dialog itself as its target.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    opened = -1;
    writeFragment();
    if (opener && isVisible(opener)) focusOn(opener); else if (current) current.focus();
    opener = null;
  });
  $("cell-plot").addEventListener("click", (event) => {
    event.preventDefault();
    const figure = document.querySelector($("cell-plot").getAttribute("href"));
    opener = null;
    dialog.addEventListener("close", () => {
      figure.hidden = false;
      figure.tabIndex = -1;
      figure.focus();
    }, { once: true });
    dialog.close();
  });

  // Copying, also where the browser gives pages of files no clipboard.
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      (dialog.open ? dialog : document.body).append(area);
      area.select();
      const isCopied = document.execCommand("copy");
      area.remove();
      return isCopied;
    }
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const isCopied = await copy($(button.dataset.of).textContent);
      button.focus();
      button.textContent = isCopied ? "Copied" : "Not copied";
      say(isCopied ? "The program is copied." : "The program could not be copied.");
      setTimeout(() => { button.textContent = label; say(""); }, 2000);
    });
  }

  addEventListener("hashchange", readFragment);
  apply();
  if (location.hash.includes("=")) readFragment();
})();

// What if values were others: the model predicts again while they change, exactly as in Python.

import { isCategory, spreadOf } from "./data.js";
import { announce, bar, button, classLabel, h, replace, select } from "./dom.js";
import { MISSING, counted, percent, valueText } from "./format.js";
import { similarText, voteBars } from "./row.js";

const N_NEAR = 6;
// Steps of a slider over the range of numbers that are no integers.
const N_STEPS = 400;

// The range, step and decimals of a column of numbers.
function scaleOf(column) {
  if (column.scale) return column.scale;
  const present = Array.from(column.values).filter((value) => !Number.isNaN(value));
  const [low, high] = present.reduce(([least, most], v) => [Math.min(least, v), Math.max(most, v)], [Infinity, -Infinity]);
  const sample = present.slice(0, 2000);
  let decimals = 0;
  while (decimals < 10 && sample.some((v) => Math.abs(v * 10 ** decimals - Math.round(v * 10 ** decimals)) > 1e-6)) decimals++;
  const fine = Math.max(Math.ceil(-Math.log10((high - low) / N_STEPS || 1)), 0);
  decimals = Math.min(decimals, Math.max(fine, 0));
  column.scale = { low, high, decimals, step: 10 ** -decimals };
  return column.scale;
}

export class WhatIfView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    this.controls = new Map();
    const { state } = app;
    state.on(["row"], () => {
      if (this.rowShown !== undefined && this.rowShown !== app.row()) state.set({ edits: {} });
      this.build();
    });
    state.on(["tab"], () => this.update());
    state.on(["edits", "map"], (names) => {
      if (names.includes("edits")) this.showValues();
      this.update();
    });
    this.build();
  }

  // The changed values of the state that columns have: {column: number, or null for a gap}.
  edits() {
    const given = this.app.state.get("edits");
    const known = Object.entries(given ?? {}).filter(([j, value]) => this.app.rows.columns[j] && (value === null || Number.isFinite(value)));
    return new Map(known.map(([j, value]) => [Number(j), value === null ? NaN : value]));
  }

  changedRow(i) {
    const row = this.app.rows.row(i);
    for (const [j, value] of this.edits()) row[j] = value;
    return row;
  }

  edit(j, value) {
    const edits = { ...this.app.state.get("edits") };
    const own = this.app.rows.columns[j].values[this.app.row()];
    if (Object.is(value, own) || value === own) delete edits[j];
    else edits[j] = Number.isNaN(value) ? null : value;
    this.app.state.set({ edits });
  }

  build() {
    const { app, box } = this;
    const i = (this.rowShown = app.row());
    this.controls.clear();
    if (!app.rows.hasModel) return replace(box, h("p", { class: "soft" }, app.rows.notes[0]));
    if (i < 0) return replace(box, h("p", { class: "soft" }, "Select a row first; then its values can be changed here."));
    const order = Array.from(app.rows.columns.keys()).filter((j) => app.rows.columns[j].kind !== "empty").sort((a, b) => app.rows.relevanceAt(i, b) - app.rows.relevanceAt(i, a));
    this.result = h("div", { class: "result" });
    this.near = h("div", {});
    this.wish = h("div", { class: "wish" });
    replace(box,
      h("div", { class: "row-head" }, h("h2", {}, `What if ${app.rows.name(i)} were different`), h("span", { class: "buttons" }, button("Reset all", () => app.state.set({ edits: {} }), { id: "reset-all" }))),
      this.result, h("div", { class: "sliders" }, order.map((j) => this.control(i, j))), h("section", {}, h("h3", {}, "Smallest change to another prediction"), this.wish), this.near);
    this.showWish();
    this.showValues();
    this.update();
  }

  // The control of one column, with its lock and reset.
  control(i, j) {
    const { app } = this;
    const column = app.rows.columns[j];
    const own = column.values[i];
    const reset = button("↺", () => this.edit(j, own), { class: "reset", "aria-label": `Reset ${column.name}`, title: `Back to ${valueText(column, own)}` });
    const lock = h("input", { type: "checkbox", checked: !app.state.get("frozen").includes(j), "aria-label": `${column.name} may change`, title: "May change in the smallest change", onchange: () => this.toggleFrozen(j) });
    const set = isCategory(column) ? this.categoryControl(column) : this.numberControl(column);
    const line = h("div", { class: "slider", id: `edit-${j}` }, lock, h("span", { class: "slider-name", title: column.name }, column.name), set.parts, reset);
    this.controls.set(j, { ...set, line });
    return line;
  }

  toggleFrozen(j) {
    const { state } = this.app;
    const frozen = state.get("frozen");
    state.set({ frozen: frozen.includes(j) ? frozen.filter((other) => other !== j) : [...frozen, j] });
  }

  categoryControl(column) {
    const codes = new Map();
    for (const value of column.values) codes.set(value, (codes.get(value) ?? 0) + 1);
    const order = [...codes.keys()].filter((code) => !Number.isNaN(code)).sort((a, b) => (column.kind === "category" ? codes.get(b) - codes.get(a) : a - b));
    const options = [...order.map((code) => ({ value: String(code), title: valueText(column, code) })), { value: "gap", title: MISSING }];
    const control = select(column.name, options, "gap", (value) => this.edit(column.index, value === "gap" ? NaN : Number(value)), { class: "wide" });
    return { parts: [control], show: (value) => (control.value = Number.isNaN(value) ? "gap" : String(value)) };
  }

  numberControl(column) {
    const { low, high, step, decimals } = scaleOf(column);
    const j = column.index;
    const own = () => column.values[this.app.row()];
    const set = (text) => {
      const value = Number(text);
      // The slider has steps, between which the own value can be.
      this.edit(j, Math.abs(value - own()) < step / 2 ? own() : value);
    };
    const slider = h("input", { type: "range", min: String(low), max: String(high), step: String(step), "aria-label": column.name, oninput: (event) => set(event.target.value) });
    const box = column.kind === "date" ? h("span", { class: "date" }) : h("input", { type: "number", step: "any", "aria-label": `${column.name}, exactly`, onchange: (event) => event.target.value !== "" && this.edit(j, Number(event.target.value)) });
    const gap = h("label", { class: "gap", title: "No value" }, h("input", { type: "checkbox", "aria-label": `${column.name} is missing`, onchange: (event) => this.edit(j, event.target.checked ? NaN : Number.isNaN(own()) ? Number(slider.value) : own()) }), MISSING);
    const show = (value) => {
      const isGap = Number.isNaN(value);
      gap.firstChild.checked = isGap;
      slider.disabled = box.disabled = isGap;
      if (!isGap) slider.value = String(value);
      slider.setAttribute("aria-valuetext", valueText(column, value));
      if (column.kind === "date") box.textContent = valueText(column, value);
      else if (document.activeElement !== box) box.value = isGap ? "" : String(Number(value.toFixed(Math.max(decimals, 0) + 4)));
    };
    return { parts: [slider, box, gap], show };
  }

  showValues() {
    const i = this.app.row();
    if (i < 0) return;
    const edits = this.edits();
    for (const [j, { show, line }] of this.controls) {
      show(edits.has(j) ? edits.get(j) : this.app.rows.columns[j].values[i]);
      line.classList.toggle("edited", edits.has(j));
    }
  }

  // Predict the changed row, and show the result; while one question is answered, only the newest waits.
  async update() {
    if (this.app.row() < 0 || !this.app.rows.hasModel || this.app.state.get("tab") !== "whatif") return;
    this.isStale = true;
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.isStale) {
        this.isStale = false;
        await this.predict();
      }
    } finally {
      this.isBusy = false;
    }
  }

  async predict() {
    const { app } = this;
    const i = app.row();
    const start = performance.now();
    const row = this.changedRow(i);
    const before = await app.voteOf(i);
    const after = await app.asker.ask("predict", { row, exclude: app.exclude(i) });
    if (app.row() !== i || !this.controls.size) return;
    const voters = app.votersOf(after);
    this.showResult(i, before, after, voters);
    const place = app.map.placeOf(row, after);
    app.map.mark({ row: i, at: this.edits().size ? place : null, neighbors: voters.map((voter) => voter.row), shares: voters.map((voter) => voter.share) });
    app.timings.whatif.push(performance.now() - start);
    this.showAlone(i, row, after);
  }

  showResult(i, before, after, voters) {
    const { rows } = this.app;
    const [first, now] = [before.probabilities, after.probabilities].map((p) => p.indexOf(Math.max(...p)));
    const hasEdits = this.edits().size > 0;
    const share = percent(after.probabilities[now]);
    const sentence = !hasEdits ? ["Predicted ", classLabel(rows.classes[now], now), `, with probability ${share}.`]
      : first === now ? ["Still ", classLabel(rows.classes[now], now), `, with probability ${share} (before ${percent(before.probabilities[now])}).`]
      : ["Now ", classLabel(rows.classes[now], now), `, with probability ${share}; before `, classLabel(rows.classes[first], first), "."];
    replace(this.result, h("p", { class: "sentence", id: "whatif-sentence" }, sentence, " ", hasEdits ? similarText(rows, voters, now) : "Change a value below."), voteBars(rows, after.probabilities, hasEdits ? before.probabilities : null));
    const old = new Set(before.voters.map(({ row }) => row));
    const isNew = ({ row }) => hasEdits && !old.has(row);
    const nNew = voters.filter(isNew).length;
    const most = Math.max(...voters.map(({ share }) => share));
    replace(this.near, h("h3", {}, "Rows that decide now", nNew ? h("small", {}, ` ${nNew} of ${voters.length} are new`) : ""),
      h("div", { class: "near" }, voters.slice(0, N_NEAR).map((voter) => h("span", { class: isNew(voter) ? "is-new" : "" }, button(rows.name(voter.row), () => this.app.state.set({ row: rows.key(voter.row), tab: "row" }), { class: "link" }), classLabel(rows.classes[rows.labels[voter.row]], rows.labels[voter.row]), bar(voter.share, { color: `c${rows.labels[voter.row] % 10}`, full: most }), percent(voter.share)))));
  }

  // What each change does: the probability without it.
  async showAlone(i, row, after) {
    const edits = [...this.edits().keys()];
    for (const [j, { line }] of this.controls) if (!edits.includes(j)) delete line.dataset.alone;
    if (edits.length < 2) return edits.forEach((j) => delete this.controls.get(j)?.line.dataset.alone);
    const rowsWithout = edits.map((j) => Object.assign(row.slice(), { [j]: this.app.rows.columns[j].values[i] }));
    const now = after.probabilities.indexOf(Math.max(...after.probabilities));
    const found = await this.app.asker.ask("predictAll", { rows: rowsWithout, exclude: this.app.exclude(i) });
    edits.forEach((j, at) => this.controls.get(j) && (this.controls.get(j).line.dataset.alone = `without this change: ${percent(found[at][now])} for ${this.app.rows.classes[now]}`));
  }

  showWish() {
    const { rows } = this.app;
    const classes = [{ value: "-1", title: "any other class" }, ...Array.from({ length: rows.nClasses }, (_, y) => ({ value: String(y), title: rows.classes[y] }))];
    this.wanted = select("Wanted class", classes, "-1", () => {}, { id: "wanted" });
    this.atLeast = select("Least probability", [0.5, 0.6, 0.7, 0.8, 0.9].map((p) => ({ value: String(p), title: `at least ${percent(p)}` })), "0.6", () => {}, { id: "at-least" });
    this.found = h("div", { id: "found-change", "aria-live": "polite" });
    replace(this.wish, h("p", {}, "To ", this.wanted, " with ", this.atLeast, " ", button("Find", () => this.find(), { class: "main", id: "find-change" })), h("p", { class: "soft" }, "Columns without a tick on the left may not change."), this.found);
  }

  async find() {
    const { app } = this;
    const i = app.row();
    replace(this.found, "Searching …");
    const { columns } = app.rows;
    const wish = {
      row: app.rows.row(i), exclude: app.exclude(i), label: Number(this.wanted.value), atLeast: Number(this.atLeast.value), frozen: app.state.get("frozen"),
      decimals: columns.map((column) => (isCategory(column) ? null : column.kind === "date" ? 0 : scaleOf(column).decimals)),
      scales: columns.map((column) => (isCategory(column) ? 0 : spreadOf(column))),
    };
    const found = await app.asker.ask("change", wish);
    if (app.row() !== i) return;
    if (!found) {
      replace(this.found, "No change of up to three columns leads there.");
      return announce("No change found");
    }
    const label = found.probabilities.indexOf(Math.max(...found.probabilities));
    const steps = found.changed.map((j) => h("li", {}, h("b", {}, columns[j].name), ` ${valueText(columns[j], wish.row[j])} → ${valueText(columns[j], found.row[j])}`));
    const apply = () => app.state.set({ edits: Object.fromEntries(found.changed.map((j) => [j, found.row[j]])) });
    replace(this.found, h("p", {}, `With ${counted(found.changed.length, "change")}: `, classLabel(app.rows.classes[label], label), `, ${percent(found.probabilities[label])} `, button("Apply", apply, { id: "apply-change" })), h("ul", {}, steps));
  }
}

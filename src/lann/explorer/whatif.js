// What if values were others: the model predicts again while they change, exactly as in Python.

import { countsOf, isCategory, spreadOf } from "./data.js";
import { announce, bar, button, h, labelOf, panelHead, replace, select } from "./dom.js";
import { MISSING, counted, extent, percent, valueText } from "./format.js";
import { argmax } from "./model.js";
import { similarText, voteBars } from "./row.js";

const N_NEAR = 6;
// Steps of a slider over the range of numbers that are no integers.
const N_STEPS = 400;

// The range, step and decimals of a column of numbers.
function scaleOf(column) {
  if (column.scale) return column.scale;
  const [low, high] = extent(column.values);
  const sample = Array.from(column.values.slice(0, 2000)).filter((value) => !Number.isNaN(value));
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
    const known = Object.entries(given ?? {}).filter(([j, value]) => this.app.rows.columns[j]
      && (value === null || Number.isFinite(value)));
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
    const order = Array.from(app.rows.columns.keys()).filter((j) => app.rows.columns[j].kind !== "empty")
      .sort((a, b) => app.rows.relevanceAt(i, b) - app.rows.relevanceAt(i, a));
    this.result = h("div", { class: "result" });
    this.near = h("div", {});
    this.wish = h("div", { class: "wish" });
    const reset = button("Reset all", () => app.state.set({ edits: {} }), { id: "reset-all" });
    const sliders = h("div", { class: "sliders" }, order.map((j) => this.control(i, j)));
    const change = h("section", {}, h("h3", {}, "Smallest change to another prediction"), this.wish);
    replace(box, panelHead(`What if ${app.rows.name(i)} were different`, reset), this.result, sliders, change, this.near);
    this.showWish();
    this.showValues();
    this.update();
  }

  // The control of one column, with its lock and reset.
  control(i, j) {
    const { app } = this;
    const column = app.rows.columns[j];
    const own = column.values[i];
    const title = `Back to ${valueText(column, own)}`;
    const reset = button("↺", () => this.edit(j, own), { class: "reset", title, "aria-label": `Reset ${column.name}` });
    const lock = h("input", {
      type: "checkbox", checked: !app.state.get("frozen").includes(j), onchange: () => this.toggleFrozen(j),
      title: "May change in the smallest change", "aria-label": `${column.name} may change`,
    });
    const set = isCategory(column) ? this.categoryControl(column) : this.numberControl(column);
    const name = h("span", { class: "slider-name", title: column.name }, column.name);
    const line = h("div", { class: "slider", id: `edit-${j}` }, lock, name, set.parts, reset);
    this.controls.set(j, { ...set, line });
    return line;
  }

  toggleFrozen(j) {
    const { state } = this.app;
    const frozen = state.get("frozen");
    state.set({ frozen: frozen.includes(j) ? frozen.filter((other) => other !== j) : [...frozen, j] });
  }

  categoryControl(column) {
    const counts = countsOf(column.values);
    const order = [...counts.keys()].filter((code) => !Number.isNaN(code));
    order.sort((a, b) => (column.kind === "category" ? counts.get(b) - counts.get(a) : a - b));
    const options = order.map((code) => ({ value: String(code), title: valueText(column, code) }));
    const set = (value) => this.edit(column.index, value === "gap" ? NaN : Number(value));
    const control = select(column.name, [...options, { value: "gap", title: MISSING }], "gap", set, { class: "wide" });
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
    const range = { type: "range", min: String(low), max: String(high), step: String(step), "aria-label": column.name };
    const slider = h("input", { ...range, oninput: () => set(slider.value) });
    const exact = () => box.value !== "" && this.edit(j, Number(box.value));
    const isDate = column.kind === "date";
    const box = isDate
      ? h("span", { class: "date" })
      : h("input", { type: "number", step: "any", "aria-label": `${column.name}, exactly`, onchange: exact });
    const known = () => (Number.isNaN(own()) ? Number(slider.value) : own());
    const setGap = () => this.edit(j, check.checked ? NaN : known());
    const check = h("input", { type: "checkbox", "aria-label": `${column.name} is missing`, onchange: setGap });
    const gap = h("label", { class: "gap", title: "No value" }, check, MISSING);
    const show = (value) => {
      const isGap = Number.isNaN(value);
      check.checked = isGap;
      slider.disabled = box.disabled = isGap;
      if (!isGap) slider.value = String(value);
      slider.setAttribute("aria-valuetext", valueText(column, value));
      if (isDate) box.textContent = valueText(column, value);
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
    app.map.mark({ row: i, at: this.edits().size ? place : null, voters });
    app.timings.whatif.push(performance.now() - start);
    this.showAlone(i, row, after);
  }

  showResult(i, before, after, voters) {
    const { rows } = this.app;
    const [first, now] = [before.probabilities, after.probabilities].map(argmax);
    const hasEdits = this.edits().size > 0;
    const start = hasEdits ? (first === now ? "Still " : "Now ") : "Predicted ";
    const old = first === now ? [" (before ", percent(before.probabilities[now]), ")"] : ["; before ", labelOf(rows, first)];
    const rest = hasEdits ? [old, ". ", similarText(rows, voters, now)] : ". Change a value below.";
    const share = percent(after.probabilities[now]);
    const sentence = h("p", { class: "sentence", id: "whatif-sentence" }, start, labelOf(rows, now), `, with probability ${share}`, rest);
    replace(this.result, sentence, voteBars(rows, after.probabilities, hasEdits ? before.probabilities : null));
    this.showNear(before, voters, hasEdits);
  }

  // The rows that decide now; those that did not decide before are marked.
  showNear(before, voters, hasEdits) {
    const { rows } = this.app;
    const old = new Set(before.voters.map(({ row }) => row));
    const isNew = ({ row }) => hasEdits && !old.has(row);
    const nNew = voters.filter(isNew).length;
    const most = Math.max(...voters.map(({ share }) => share));
    const line = (voter) => h("span", { class: isNew(voter) ? "is-new" : "" },
      this.app.linkTo(voter.row), labelOf(rows, rows.labels[voter.row]),
      bar(voter.share, { color: `c${rows.labels[voter.row] % 10}`, full: most }), percent(voter.share));
    const title = h("h3", {}, "Rows that decide now", nNew ? h("small", {}, ` ${nNew} of ${voters.length} are new`) : "");
    replace(this.near, title, h("div", { class: "near" }, voters.slice(0, N_NEAR).map(line)));
  }

  // What each change does: the probability without it.
  async showAlone(i, row, after) {
    const { asker, rows } = this.app;
    const edits = this.edits().size > 1 ? [...this.edits().keys()] : [];
    for (const [j, { line }] of this.controls) if (!edits.includes(j)) delete line.dataset.alone;
    if (!edits.length) return;
    const rowsWithout = edits.map((j) => Object.assign(row.slice(), { [j]: rows.columns[j].values[i] }));
    const found = await asker.ask("predictAll", { rows: rowsWithout, exclude: this.app.exclude(i) });
    const now = argmax(after.probabilities);
    edits.forEach((j, at) => {
      const line = this.controls.get(j)?.line;
      if (line) line.dataset.alone = `without this change: ${percent(found[at][now])} for ${rows.classes[now]}`;
    });
  }

  showWish() {
    const { rows } = this.app;
    const classes = rows.classes.slice(0, rows.nClasses).map((title, y) => ({ value: String(y), title }));
    const shares = [0.5, 0.6, 0.7, 0.8, 0.9].map((p) => ({ value: String(p), title: `at least ${percent(p)}` }));
    this.wanted = select("Wanted class", [{ value: "-1", title: "any other class" }, ...classes], "-1", () => {}, { id: "wanted" });
    this.atLeast = select("Least probability", shares, "0.6", () => {}, { id: "at-least" });
    this.found = h("div", { id: "found-change", "aria-live": "polite" });
    const find = button("Find", () => this.find(), { class: "main", id: "find-change" });
    const note = h("p", { class: "soft" }, "Columns without a tick on the left may not change.");
    replace(this.wish, h("p", {}, "To ", this.wanted, " with ", this.atLeast, " ", find), note, this.found);
  }

  async find() {
    const { app } = this;
    const i = app.row();
    replace(this.found, "Searching …");
    const { columns } = app.rows;
    const wish = {
      row: app.rows.row(i), exclude: app.exclude(i), frozen: app.state.get("frozen"),
      label: Number(this.wanted.value), atLeast: Number(this.atLeast.value),
      decimals: columns.map((column) => (isCategory(column) ? null : column.kind === "date" ? 0 : scaleOf(column).decimals)),
      scales: columns.map((column) => (isCategory(column) ? 0 : spreadOf(column))),
    };
    const found = await app.asker.ask("change", wish);
    if (app.row() !== i) return;
    if (!found) {
      replace(this.found, "No change of up to three columns leads there.");
      return announce("No change found");
    }
    const label = argmax(found.probabilities);
    const values = (j) => [wish.row, found.row].map((row) => valueText(columns[j], row[j])).join(" → ");
    const steps = found.changed.map((j) => h("li", {}, h("b", {}, columns[j].name), " ", values(j)));
    const edits = Object.fromEntries(found.changed.map((j) => [j, found.row[j]]));
    const apply = button("Apply", () => app.state.set({ edits }), { id: "apply-change" });
    const result = [labelOf(app.rows, label), `, ${percent(found.probabilities[label])} `, apply];
    replace(this.found, h("p", {}, `With ${counted(found.changed.length, "change")}: `, result), h("ul", {}, steps));
  }
}

// The table of the rows: of any length, as only the rows in sight are elements; with filters above it.

import { button, classLabel, download, h, replace, select } from "./dom.js";
import { MISSING, counted, grouped, toCsv } from "./format.js";
import { FLAGS, filterText, indicesOf } from "./select.js";

const HEIGHT = 27;
// Rows beyond the ends of what is in sight, and rows by which the widths of columns are chosen.
const SPARE = 12;
const N_MEASURED = 60;

export class TableView {
  constructor(app) {
    this.app = app;
    const { rows, state } = app;
    const results = ["name", "label", "prediction", "confidence"].map((key) => rows.fields.get(key));
    this.fields = [...results, ...rows.columns.map((_, j) => rows.fields.get(`column:${j}`))];
    this.box = document.getElementById("table-box");
    this.body = h("tbody");
    this.head = h("thead");
    this.table = h("table", { class: "rows", "aria-rowcount": String(rows.nRows + 1) }, h("caption", { class: "hidden" }, "Rows"), h("colgroup", {}, this.fields.map((field) => h("col", { style: `width:${this.widthOf(field)}px` }))), this.head, this.body);
    this.table.style.width = `${this.fields.reduce((sum, field) => sum + this.widthOf(field), 0)}px`;
    replace(this.box, this.table);
    this.box.addEventListener("scroll", () => this.drawSoon());
    this.box.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
    state.on(["filters", "search", "threshold"], () => this.update());
    state.on(["sort"], () => this.update());
    state.on(["row"], () => this.reveal());
    this.filters = new FilterBar(app, this);
    this.update();
    this.reveal();
  }

  widthOf(field) {
    const { nRows } = this.app.rows;
    const step = Math.max(Math.floor(nRows / N_MEASURED), 1);
    let most = field.title.length * 0.95 + 2;
    for (let i = 0; i < nRows; i += step) most = Math.max(most, field.text(i).length + (field.isClass ? 2 : 0));
    return Math.round(Math.min(Math.max(most * 7.8 + 20, 58), 220));
  }

  // The rows that are listed, in order.
  update() {
    const { app, fields } = this;
    const { key, down } = app.state.get("sort") ?? {};
    this.order = indicesOf(app.visible());
    const field = fields.find((one) => one.key === key);
    if (field) {
      const values = new Map(this.order.map((i) => [i, field.get(i)]));
      const compare = field.kind === "text" ? (a, b) => String(a).localeCompare(String(b), undefined, { numeric: true }) : (a, b) => a - b;
      const isGap = (value) => Number.isNaN(value);
      this.order.sort((i, j) => {
        const [a, b] = [values.get(i), values.get(j)];
        if (isGap(a) || isGap(b)) return Number(isGap(a)) - Number(isGap(b));
        return (down ? -1 : 1) * compare(a, b) || i - j;
      });
    }
    replace(this.head, h("tr", {}, fields.map((one) => this.header(one, one.key === key ? down : null))));
    this.filters.show(this.order.length);
    this.box.scrollTop = 0;
    this.draw();
  }

  header(field, down) {
    const next = down === null ? { key: field.key, down: field.key === "confidence" ? false : field.kind === "number" } : { key: field.key, down: !down };
    const sorted = down === null ? null : down ? "descending" : "ascending";
    return h("th", { scope: "col", class: field.kind === "number" ? "number" : "", "aria-sort": sorted ?? "none" },
      button([field.title, sorted ? (down ? " ↓" : " ↑") : ""], () => this.app.state.set({ sort: next }), { title: `Sort by ${field.title}` }));
  }

  drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.draw();
    });
  }

  draw() {
    const first = Math.max(Math.floor(this.box.scrollTop / HEIGHT) - SPARE, 0);
    const last = Math.min(first + Math.ceil(this.box.clientHeight / HEIGHT) + 2 * SPARE, this.order.length);
    const spacer = (n) => h("tr", { "aria-hidden": "true", style: `height:${n * HEIGHT}px` });
    const items = this.order.slice(first, last).map((i, at) => this.line(i, first + at));
    replace(this.body, first ? spacer(first) : null, items, last < this.order.length ? spacer(this.order.length - last) : null);
  }

  line(i, position) {
    const { rows, state } = this.app;
    const isChosen = state.get("row") === rows.key(i);
    const cell = (field) => {
      const value = field.get(i);
      if (field.key === "name") return h("th", { scope: "row" }, button(rows.name(i), null, { class: "link" }));
      if (field.isClass) return h("td", { class: field.key === "prediction" && rows.isMistake(i) ? "wrong" : "" }, Number.isNaN(value) ? "" : classLabel(field.categories[value], value));
      return h("td", { class: field.kind === "number" ? "number" : "" }, Number.isNaN(value) ? h("i", {}, MISSING) : field.text(i));
    };
    const choose = () => state.set({ row: rows.key(i), ...(["model", "group"].includes(state.get("tab")) ? { tab: "row" } : {}) });
    return h("tr", { class: isChosen ? "chosen" : "", "aria-rowindex": String(position + 2), "aria-current": isChosen ? "true" : null, onclick: choose }, this.fields.map(cell));
  }

  // Scroll to the row that is selected.
  reveal() {
    const position = this.order.indexOf(this.app.row());
    if (position >= 0) {
      const top = position * HEIGHT;
      const room = this.box.clientHeight - 2 * HEIGHT;
      if (top < this.box.scrollTop || top > this.box.scrollTop + room) this.box.scrollTop = Math.max(top - room / 2, 0);
    }
    this.draw();
  }

  // Select the row that is some lines below the selected one.
  step(lines) {
    if (!this.order.length) return;
    const position = this.order.indexOf(this.app.row());
    const next = position < 0 ? 0 : Math.min(Math.max(position + lines, 0), this.order.length - 1);
    this.app.state.set({ row: this.app.rows.key(this.order[next]) });
  }

  press(event) {
    const lines = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity }[event.key];
    if (lines === undefined || event.target.tagName === "INPUT") return;
    event.preventDefault();
    this.step(lines);
  }
}

// Rows with their results and values as CSV.
export function rowsAsCsv(rows, indices, extra = []) {
  const keys = ["label", "prediction", "confidence", ...rows.columns.map((_, j) => `column:${j}`)];
  const fields = keys.map((key) => rows.fields.get(key));
  const cell = (field, i) => {
    const value = field.get(i);
    if (Number.isNaN(value)) return null;
    return field.kind === "number" && (!field.column || field.column.kind === "number") ? value : field.text(i);
  };
  const header = [rows.ids ? "id" : "row", ...fields.map((field) => field.title), ...extra.map(({ title }) => title)];
  return toCsv([header, ...indices.map((i) => [rows.id(i), ...fields.map((field) => cell(field, i)), ...extra.map(({ get }) => get(i))])]);
}

// The filters above the table, and the form of a new one.
class FilterBar {
  constructor(app, view) {
    Object.assign(this, { app, view });
    this.bar = document.getElementById("filter-bar");
    this.editor = document.getElementById("filter-editor");
  }

  show(nShown) {
    const { rows, state } = this.app;
    const filters = state.get("filters");
    const without = (filter) => state.set({ filters: filters.filter((other) => other !== filter) });
    const flags = Object.keys(FLAGS).filter((flag) => (flag === "suspicious" ? rows.suspicion : !["training", "new"].includes(flag) || rows.nTraining < rows.nRows));
    const isOn = (flag) => filters.some((filter) => filter.flag === flag);
    const toggle = (flag) => state.set({ filters: isOn(flag) ? filters.filter((filter) => filter.flag !== flag) : [...filters, { flag }] });
    const chips = filters.filter((filter) => !filter.flag).map((filter) => h("span", { class: "chip" }, filterText(rows, filter), button("×", () => without(filter), { "aria-label": `Remove the filter ${filterText(rows, filter)}` })));
    replace(
      this.bar,
      h("strong", { id: "row-count" }, nShown === rows.nRows ? counted(nShown, "row") : `${grouped(nShown)} of ${counted(rows.nRows, "row")}`),
      flags.map((flag) => button(FLAGS[flag].title.replace("far from all training rows", "far"), () => toggle(flag), { class: "flag", "aria-pressed": String(isOn(flag)), title: `Only rows that are ${FLAGS[flag].title}` })),
      chips,
      button("+ Filter", () => this.edit(), { id: "add-filter", "aria-expanded": "false", "aria-controls": "filter-editor" }),
      filters.length || state.get("search") ? button("Clear", () => state.set({ filters: [], search: "" }), { id: "clear-filters" }) : null,
      h("span", { class: "spring" }),
      button("As group", () => state.set({ group: { filters, search: state.get("search") }, tab: "group" }), { title: "Describe these rows as a group", id: "as-group" }),
      button("CSV", () => download("rows.csv", rowsAsCsv(rows, this.view.order)), { title: "Download these rows as CSV", id: "rows-csv" }),
    );
  }

  // Open or close the form of a new filter.
  edit(key = `column:${this.app.rows.order[0]}`) {
    const { rows } = this.app;
    const isOpen = !this.editor.hidden;
    document.getElementById("add-filter")?.setAttribute("aria-expanded", String(!isOpen));
    this.editor.hidden = isOpen;
    if (isOpen) return;
    const options = [...rows.fields.values()].filter((field) => field.kind !== "text").map((field) => ({ value: field.key, title: field.title }));
    const form = h("div", { class: "form" });
    const choose = (chosen) => replace(form, rows.fields.get(chosen).kind === "number" ? this.rangeForm(rows.fields.get(chosen)) : this.valueForm(rows.fields.get(chosen)));
    const chooser = select("Column of the filter", options, key, choose, { id: "filter-field" });
    replace(this.editor, h("label", {}, "Rows by ", chooser), form, button("Close", () => this.edit()));
    choose(key);
    chooser.focus();
  }

  add(filter) {
    const { state } = this.app;
    this.edit();
    state.set({ filters: [...state.get("filters").filter((other) => other.field !== filter.field), filter] });
  }

  rangeForm(field) {
    const { nRows } = this.app.rows;
    const [low, high] = this.app.extremes(field, nRows);
    const isDate = field.column?.kind === "date";
    const unit = field.column?.unit === "D" ? 86_400_000 : 1000;
    const shown = (value) => (isDate ? new Date(value * unit).toISOString().slice(0, 10) : String(Number(value.toPrecision(6))));
    const input = (label, value) => h("input", { type: isDate ? "date" : "number", step: "any", value: shown(value), "aria-label": `${label} ${field.title}` });
    const ends = [input("Least", low), input("Largest", high)];
    const read = (control, end) => (control.value === "" || control.value === shown(end) ? null : isDate ? Date.parse(control.value) / unit : Number(control.value));
    const apply = () => this.add({ field: field.key, range: [read(ends[0], low), read(ends[1], high)] });
    return [ends[0], " to ", ends[1], button("Apply", apply, { class: "main", id: "apply-filter" }), h("small", {}, "Shares are from 0 to 1.")].slice(0, field.column ? 4 : 5);
  }

  valueForm(field) {
    const { nRows } = this.app.rows;
    const counts = new Map();
    for (let i = 0; i < nRows; i++) counts.set(field.get(i), (counts.get(field.get(i)) ?? 0) + 1);
    const codes = [...field.categories.keys()].filter((code) => counts.has(code)).slice(0, 300);
    const gaps = [...counts].reduce((sum, [code, n]) => (Number.isNaN(code) ? sum + n : sum), 0);
    const item = (code, text, n) => h("label", { class: "check" }, h("input", { type: "checkbox", value: String(code) }), text, h("small", {}, grouped(n)));
    const list = h("div", { class: "checks" }, codes.map((code) => item(code, field.categories[code], counts.get(code))), gaps ? item("gap", MISSING, gaps) : null);
    const apply = () => {
      const values = [...list.querySelectorAll("input:checked")].map((control) => (control.value === "gap" ? null : Number(control.value)));
      if (values.length) this.add({ field: field.key, values });
    };
    return [list, button("Apply", apply, { class: "main", id: "apply-filter" })];
  }
}

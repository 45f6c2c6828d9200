// The filters above the table, and the form of a new one.

import { countsOf } from "./data.js";
import { button, download, h, replace, select } from "./dom.js";
import { MISSING, counted, extent, grouped } from "./format.js";
import { FLAGS, filterText } from "./select.js";
import { rowsAsCsv } from "./table.js";

// Categories that can be chosen.
const MOST_LISTED = 300;
const DAY = 86_400_000;

export class FilterBar {
  constructor(app) {
    this.app = app;
    this.bar = document.getElementById("filter-bar");
    this.editor = document.getElementById("filter-editor");
    app.state.on(["filters", "search", "threshold"], () => this.show());
    this.show();
  }

  // The flags that some rows can have.
  flags() {
    const { rows } = this.app;
    const hasBoth = rows.nTraining < rows.nRows;
    const isUsed = { suspicious: Boolean(rows.suspicion), training: hasBoth, new: hasBoth };
    return Object.keys(FLAGS).filter((flag) => isUsed[flag] ?? true);
  }

  show() {
    const { rows, state, table } = this.app;
    const filters = state.get("filters");
    const n = table.order.length;
    const count = n === rows.nRows ? counted(n, "row") : `${grouped(n)} of ${counted(rows.nRows, "row")}`;
    const without = (isGone) => state.set({ filters: filters.filter((filter) => !isGone(filter)) });
    const flag = (name) => {
      const isOn = filters.some((filter) => filter.flag === name);
      const toggle = () => (isOn ? without((filter) => filter.flag === name) : state.set({ filters: [...filters, { flag: name }] }));
      const { title, short = title } = FLAGS[name];
      return button(short, toggle, { class: "flag", "aria-pressed": String(isOn), title: `Only rows that are ${title}` });
    };
    const chip = (filter) => {
      const text = filterText(rows, filter);
      const remove = button("×", () => without((other) => other === filter), { "aria-label": `× remove the filter ${text}` });
      return h("span", { class: "chip" }, text, remove);
    };
    const asGroup = () => state.set({ group: { filters, search: state.get("search") }, tab: "group" });
    const save = () => download("rows.csv", rowsAsCsv(rows, table.order));
    const clear = button("Clear", () => state.set({ filters: [], search: "" }), { id: "clear-filters" });
    replace(
      this.bar, h("strong", { id: "row-count" }, count), this.flags().map(flag), filters.filter((filter) => !filter.flag).map(chip),
      button("+ Filter", () => this.edit(), { id: "add-filter", "aria-expanded": "false", "aria-controls": "filter-editor" }),
      filters.length || state.get("search") ? clear : null, h("span", { class: "spring" }),
      button("As group", asGroup, { title: "Describe these rows as a group", id: "as-group" }),
      button("CSV", save, { title: "Download these rows as CSV", id: "rows-csv" }),
    );
  }

  // Open or close the form of a new filter.
  edit() {
    const { rows } = this.app;
    const isOpen = !this.editor.hidden;
    document.getElementById("add-filter").setAttribute("aria-expanded", String(!isOpen));
    this.editor.hidden = isOpen;
    if (isOpen) return;
    const fields = [...rows.fields.values()].filter((field) => field.kind !== "text");
    const form = h("div", { class: "form" });
    const choose = (key) => {
      const field = rows.fields.get(key);
      replace(form, field.kind === "number" ? this.rangeForm(field) : this.valueForm(field));
    };
    const first = `column:${rows.order[0]}`;
    const options = fields.map((field) => ({ value: field.key, title: field.title }));
    const chooser = select("Column of the filter", options, first, choose, { id: "filter-field" });
    replace(this.editor, h("label", {}, "Rows by ", chooser), form, button("Close", () => this.edit()));
    choose(first);
    chooser.focus();
  }

  add(filter) {
    const { state } = this.app;
    this.edit();
    state.set({ filters: [...state.get("filters").filter((other) => other.field !== filter.field), filter] });
  }

  rangeForm(field) {
    const { nRows } = this.app.rows;
    const limits = extent(Float64Array.from({ length: nRows }, (_, i) => field.get(i)));
    const isDate = field.column?.kind === "date";
    const unit = field.column?.unit === "D" ? DAY : 1000;
    const shown = (value) => (isDate ? new Date(value * unit).toISOString().slice(0, 10) : String(Number(value.toPrecision(6))));
    const kind = { type: isDate ? "date" : "number", step: "any" };
    const control = (value, k) => h("input", { ...kind, value: shown(value), "aria-label": k ? "Largest value" : "Least value" });
    const controls = limits.map(control);
    const valueOf = (text) => (isDate ? Date.parse(text) / unit : Number(text));
    const end = ({ value }, k) => (value === "" || value === shown(limits[k]) ? null : valueOf(value));
    const apply = button("Apply", () => this.add({ field: field.key, range: controls.map(end) }), { class: "main", id: "apply-filter" });
    const note = field.column ? null : h("small", {}, "Shares are from 0 to 1.");
    return [controls[0], " to ", controls[1], " ", apply, note];
  }

  valueForm(field) {
    const { nRows } = this.app.rows;
    const counts = countsOf(Array.from({ length: nRows }, (_, i) => field.get(i)));
    const codes = [...field.categories.keys()].filter((code) => counts.has(code)).slice(0, MOST_LISTED);
    const item = (code, text, n) => {
      const check = h("input", { type: "checkbox", value: String(code) });
      return h("label", { class: "check" }, check, text, h("small", {}, grouped(n)));
    };
    const items = codes.map((code) => item(code, field.categories[code], counts.get(code)));
    if (counts.has(NaN)) items.push(item("gap", MISSING, counts.get(NaN)));
    const list = h("div", { class: "checks" }, items);
    const apply = () => {
      const chosen = [...list.querySelectorAll("input:checked")].map(({ value }) => (value === "gap" ? null : Number(value)));
      if (chosen.length) this.add({ field: field.key, values: chosen });
    };
    return [list, button("Apply", apply, { class: "main", id: "apply-filter" })];
  }
}

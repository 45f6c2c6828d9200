// The table of the rows: of any length, as only the rows in sight are elements.

import { button, h, labelOf, replace } from "./dom.js";
import { MISSING, toCsv } from "./format.js";
import { indicesOf } from "./select.js";

const HEIGHT = 27;
// Rows beyond the ends of what is in sight, and rows by which the widths of columns are chosen.
const SPARE = 8;
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
    const widths = this.fields.map((field) => this.widthOf(field));
    const columns = h("colgroup", {}, widths.map((width) => h("col", { style: `width:${width}px` })));
    const caption = h("caption", { class: "hidden" }, "Rows");
    const look = { class: "rows", style: `width:${widths.reduce((sum, width) => sum + width)}px` };
    replace(this.box, h("table", { ...look, "aria-rowcount": String(rows.nRows + 1) }, caption, columns, this.head, this.body));
    this.box.addEventListener("scroll", () => this.drawSoon());
    this.lines = new Map();
    this.box.addEventListener("keydown", (event) => this.press(event));
    // What is in sight is kept, as asking for it later would take a layout.
    [this.top, this.height] = [0, 0];
    new ResizeObserver(() => {
      this.height = this.box.clientHeight;
      this.draw();
    }).observe(this.box);
    state.on(["filters", "search", "threshold", "sort"], () => this.update());
    state.on(["row"], () => this.reveal());
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
      const isGap = Number.isNaN;
      this.order.sort((i, j) => {
        const [a, b] = [values.get(i), values.get(j)];
        if (isGap(a) || isGap(b)) return isGap(a) - isGap(b);
        return (down ? -1 : 1) * compare(a, b) || i - j;
      });
    }
    replace(this.head, h("tr", {}, fields.map((one) => this.header(one, one.key === key ? down : null))));
    this.scrollTo(0);
  }

  header(field, down) {
    const isFirst = down === null;
    const next = { key: field.key, down: isFirst ? field.kind === "number" && field.key !== "confidence" : !down };
    const [sorted, arrow] = isFirst ? ["none", ""] : down ? ["descending", " ↓"] : ["ascending", " ↑"];
    const sort = button([field.title, arrow], () => this.app.state.set({ sort: next }), { title: `Sort by ${field.title}` });
    return h("th", { scope: "col", class: field.kind === "number" ? "number" : "", "aria-sort": sorted }, sort);
  }

  drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      if (Math.abs(this.box.scrollTop - this.top) >= 1) this.scrollTo(this.box.scrollTop);
    });
  }

  draw() {
    const first = Math.max(Math.floor(this.top / HEIGHT) - SPARE, 0);
    const last = Math.min(first + Math.ceil(this.height / HEIGHT) + 2 * SPARE, this.order.length);
    const spacer = (n) => (n ? h("tr", { "aria-hidden": "true", style: `height:${n * HEIGHT}px` }) : null);
    this.lines = new Map(this.order.slice(first, last).map((i, at) => [i, this.line(i, first + at)]));
    replace(this.body, spacer(first), [...this.lines.values()], spacer(this.order.length - last));
    this.mark();
  }

  line(i, position) {
    const { rows } = this.app;
    const cell = (field) => {
      const value = field.get(i);
      if (field.key === "name") return h("th", { scope: "row" }, button(rows.name(i), null, { class: "link" }));
      if (field.isClass && Number.isNaN(value)) return h("td");
      const isWrong = field.key === "prediction" && rows.isMistake(i);
      if (field.isClass) return h("td", { class: isWrong ? "wrong" : "" }, labelOf(rows, value));
      return h("td", { class: field.kind === "number" ? "number" : "" }, Number.isNaN(value) ? h("i", {}, MISSING) : field.text(i));
    };
    return h("tr", { "aria-rowindex": String(position + 2), onclick: () => this.app.choose(i) }, this.fields.map(cell));
  }

  // Mark the line of the row that is selected.
  mark() {
    this.body.querySelector(".chosen")?.removeAttribute("aria-current");
    this.body.querySelector(".chosen")?.classList.remove("chosen");
    const line = this.lines.get(this.app.row());
    line?.classList.add("chosen");
    line?.setAttribute("aria-current", "true");
  }

  scrollTo(top) {
    this.box.scrollTop = this.top = top;
    this.draw();
  }

  // Scroll to the row that is selected.
  reveal() {
    const top = this.order.indexOf(this.app.row()) * HEIGHT;
    const room = this.height - 2 * HEIGHT;
    if (top >= 0 && (top < this.top || top > this.top + room)) this.scrollTo(Math.max(top - room / 2, 0));
    else this.mark();
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
  const line = (i) => [rows.id(i), ...fields.map((field) => cell(field, i)), ...extra.map(({ get }) => get(i))];
  return toCsv([header, ...indices.map(line)]);
}

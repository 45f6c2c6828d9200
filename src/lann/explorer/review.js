// Review: walk through rows that deserve a look, judge them, and take the marks along.

import { announce, button, download, h, replace, select } from "./dom.js";
import { counted, percent } from "./format.js";
import { isRejected } from "./select.js";
import { rowsAsCsv } from "./table.js";

const MOST = 500;
export const VERDICTS = { 1: "right", 2: "wrong", 3: "unsure" };

const QUEUES = {
  suspicious: {
    title: "Suspicious labels", why: (rows, i) => `${percent(rows.suspicion[i])} of the votes of the nearest rows are not for ${rows.classes[rows.labels[i]]}; most are for ${rows.classes[rows.likely[i]]}.`, question: "Is the label right?",
    test: (rows, i) => rows.isSuspicious(i), order: (rows, i) => -rows.suspicion[i],
  },
  mistakes: {
    title: "Most confident mistakes", why: (rows, i) => `Predicted ${rows.classes[rows.predictions[i]]} with ${percent(rows.confidences[i])}, but the label is ${rows.classes[rows.labels[i]]}.`, question: "Is the label right?",
    test: (rows, i) => rows.isMistake(i), order: (rows, i) => -rows.confidences[i],
  },
  rejected: {
    title: "Rejected rows", why: (rows, i) => (rows.far[i] ? "Nothing similar was seen in training." : `The confidence is ${percent(rows.confidences[i])} only.`), question: "Is the prediction right?",
    test: (rows, i, threshold) => isRejected(rows, i, threshold), order: (rows, i) => rows.confidences[i],
  },
};

// Marks and notes of rows, which stay in the browser.
export class Marks {
  constructor(rows) {
    this.rows = rows;
    this.name = `lann-explorer:${rows.title}:${rows.created}`;
    try {
      this.values = JSON.parse(localStorage.getItem(this.name)) ?? {};
    } catch {
      this.values = {};
    }
  }

  get = (i) => this.values[this.rows.key(i)] ?? {};

  set(i, changes) {
    const mark = { ...this.get(i), ...changes };
    if (mark.verdict || mark.note) this.values[this.rows.key(i)] = mark;
    else delete this.values[this.rows.key(i)];
    try {
      localStorage.setItem(this.name, JSON.stringify(this.values));
    } catch {
      // The browser keeps nothing for this page; the marks last until it is closed.
    }
  }

  marked = () => Object.keys(this.values).map((key) => this.rows.byKey.get(key)).filter((i) => i !== undefined);
}

export class ReviewView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    app.state.on(["queue", "row", "threshold", "tab"], () => app.state.get("tab") === "review" && this.show());
    document.addEventListener("keydown", (event) => this.press(event));
    this.show();
  }

  queueName = () => (this.queues().some(([name]) => name === this.app.state.get("queue")) ? this.app.state.get("queue") : this.queues()[0][0]);
  queues = () => Object.entries(QUEUES).filter(([name]) => name !== "suspicious" || this.app.rows.suspicion);

  rowsOf(name) {
    const { rows, state } = this.app;
    const queue = QUEUES[name];
    const found = [];
    for (let i = 0; i < rows.nRows; i++) if ((rows.isTraining || rows.isNew(i)) && queue.test(rows, i, state.get("threshold"))) found.push(i);
    return found.sort((i, j) => queue.order(rows, i) - queue.order(rows, j) || i - j).slice(0, MOST);
  }

  show() {
    const { app, box } = this;
    const { rows, state, marks } = app;
    const name = this.queueName();
    const list = (this.list = this.rowsOf(name));
    const position = list.indexOf(app.row());
    const options = this.queues().map(([value, { title }]) => ({ value, title: `${title} (${this.rowsOf(value).length})` }));
    const head = h("div", { class: "row-head" }, h("h2", {}, "Review"), h("span", { class: "buttons" }, button("Export marks", () => this.export(), { id: "export-marks", disabled: !marks.marked().length })),
      h("p", {}, select("Rows to review", options, name, (queue) => state.set({ queue }), { id: "queue" }), " ", h("span", { id: "queue-position" }, position < 0 ? `${counted(list.length, "row")}, ${list.filter((i) => marks.get(i).verdict).length} judged` : `${position + 1} of ${list.length}`)));
    if (!list.length) return replace(box, head, h("p", { class: "soft" }, "There is no such row."));
    const move = h("p", { class: "buttons" }, button("‹ Previous", () => this.step(-1), { "aria-keyshortcuts": "k" }), button(position < 0 ? "Start" : "Next ›", () => this.step(1), { id: "review-next", class: "main", "aria-keyshortcuts": "j" }));
    if (position < 0) return replace(box, head, move, h("p", { class: "soft" }, "Keys: j next, k previous, 1 right, 2 wrong, 3 unsure, n note. Marks stay in this browser until they are exported."));
    const i = list[position];
    const { verdict, note } = marks.get(i);
    const verdicts = Object.entries(VERDICTS).map(([key, text]) => button(`${key} ${text}`, () => this.judge(text), { "aria-pressed": String(verdict === text), "aria-keyshortcuts": key, id: `verdict-${text}`, class: "verdict" }));
    const noteBox = h("input", { type: "text", value: note ?? "", placeholder: "Note (n)", "aria-label": "Note", id: "note", onchange: (event) => marks.set(i, { note: event.target.value }) });
    replace(box, head, move, h("p", {}, h("b", {}, rows.name(i)), ": ", QUEUES[name].why(rows, i)), h("p", { class: "buttons" }, QUEUES[name].question, " ", verdicts, noteBox), (this.rowBox ??= h("div", { class: "review-row" })));
    this.app.showRowIn(this.rowBox);
  }

  step(by) {
    const { state, rows } = this.app;
    const position = this.list.indexOf(this.app.row());
    const next = position < 0 ? (by > 0 ? 0 : this.list.length - 1) : Math.min(Math.max(position + by, 0), this.list.length - 1);
    if (this.list.length) state.set({ row: rows.key(this.list[next]) });
  }

  // Judge the row and go on; the same judgment again takes it back.
  judge(verdict) {
    const { marks } = this.app;
    const i = this.app.row();
    if (this.list.indexOf(i) < 0) return;
    const isSame = marks.get(i).verdict === verdict;
    marks.set(i, { verdict: isSame ? undefined : verdict });
    announce(isSame ? "Mark removed" : `Marked ${verdict}`);
    const isLast = this.list.indexOf(i) === this.list.length - 1;
    if (isSame || isLast) this.show();
    else this.step(1);
  }

  press(event) {
    if (this.app.state.get("tab") !== "review" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) {
      if (event.key === "Enter" || event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "j") this.step(1);
    else if (event.key === "k") this.step(-1);
    else if (VERDICTS[event.key]) this.judge(VERDICTS[event.key]);
    else if (event.key === "n") document.getElementById("note")?.focus();
    else return;
    event.preventDefault();
  }

  export() {
    const { rows, marks } = this.app;
    const extra = [{ title: "mark", get: (i) => marks.get(i).verdict ?? "" }, { title: "note", get: (i) => marks.get(i).note ?? "" }];
    download("marks.csv", rowsAsCsv(rows, marks.marked().sort((i, j) => i - j), extra));
  }
}

// Review: walk through rows that deserve a look, judge them, and take the marks along.

import { announce, button, download, h, panelHead, replace, select } from "./dom.js";
import { counted, percent } from "./format.js";
import { isRejected } from "./select.js";
import { rowsAsCsv } from "./table.js";

const MOST = 500;
const KEYS = "Keys: j next, k previous, 1 right, 2 wrong, 3 unsure, n note. Marks stay in this browser until they are exported.";
const VERDICTS = { 1: "right", 2: "wrong", 3: "unsure" };

// Which rows are in each queue, in which order, and what is said about them.
const QUEUES = {
  suspicious: {
    title: "Suspicious labels",
    question: "Is the label right?",
    test: (rows, i) => rows.isSuspicious(i),
    order: (rows, i) => -rows.suspicion[i],
    why(rows, i) {
      const [label, likely] = [rows.labels[i], rows.likely[i]].map((y) => rows.classes[y]);
      return `The other rows favor ${likely} over ${label}: suspicion ${percent(rows.suspicion[i])}, where above 50% is for another label.`;
    },
  },
  mistakes: {
    title: "Most confident mistakes",
    question: "Is the label right?",
    test: (rows, i) => rows.isMistake(i),
    order: (rows, i) => -rows.confidences[i],
    why(rows, i) {
      const [label, prediction] = [rows.labels[i], rows.predictions[i]].map((y) => rows.classes[y]);
      return `Predicted ${prediction} with ${percent(rows.confidences[i])}, but the label is ${label}.`;
    },
  },
  rejected: {
    title: "Rejected rows",
    question: "Is the prediction right?",
    test: isRejected,
    order: (rows, i) => rows.confidences[i],
    why: (rows, i) => (rows.far[i] ? "Nothing similar was seen in training." : `The confidence is only ${percent(rows.confidences[i])}.`),
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

  queueName = () => (this.queues().some(([name]) => name === this.app.state.get("queue")) ? this.app.state.get("queue")
    : this.queues()[0][0]);
  queues = () => Object.entries(QUEUES).filter(([name]) => name !== "suspicious" || this.app.rows.suspicion);

  rowsOf(name) {
    const { rows, state } = this.app;
    const { test, order } = QUEUES[name];
    const found = rows.shown.filter((i) => test(rows, i, state.get("threshold")));
    return found.sort((i, j) => order(rows, i) - order(rows, j) || i - j).slice(0, MOST);
  }

  show() {
    const { app, box } = this;
    const { rows, marks } = app;
    const name = this.queueName();
    const list = (this.list = this.rowsOf(name));
    const position = list.indexOf(app.row());
    const head = this.head(name, position);
    if (!list.length) return replace(box, head, h("p", { class: "soft" }, "There is no such row."));
    const next = { id: "review-next", class: "main", "aria-keyshortcuts": "j" };
    const move = h("p", { class: "buttons" },
      button("‹ Previous", () => this.step(-1), { "aria-keyshortcuts": "k" }),
      button(position < 0 ? "Start" : "Next ›", () => this.step(1), next));
    if (position < 0) return replace(box, head, move, h("p", { class: "soft" }, KEYS));
    const i = list[position];
    const { title, question, why } = QUEUES[name];
    const reason = h("p", {}, h("b", {}, rows.name(i)), ": ", why(rows, i));
    this.rowBox ??= h("div", { class: "review-row" });
    replace(box, head, move, reason, h("p", { class: "buttons", title }, question, " ", this.verdicts(i, marks.get(i))), this.rowBox);
    this.rowBox.append(app.rowView.box);
  }

  head(name, position) {
    const { list } = this;
    const { marks, state } = this.app;
    const options = this.queues().map(([value, { title }]) => ({ value, title: `${title} (${this.rowsOf(value).length})` }));
    const chooser = select("Rows to review", options, name, (queue) => state.set({ queue }), { id: "queue" });
    const nJudged = list.filter((i) => marks.get(i).verdict).length;
    const where = position < 0 ? `${counted(list.length, "row")}, ${nJudged} judged` : `${position + 1} of ${list.length}`;
    const exporting = button("Export marks", () => this.export(), { id: "export-marks", disabled: !marks.marked().length });
    return panelHead("Review", exporting, h("p", {}, chooser, " ", h("span", { id: "queue-position" }, where)));
  }

  verdicts(i, { verdict, note }) {
    const choice = ([key, text]) => {
      const properties = { "aria-pressed": String(verdict === text), "aria-keyshortcuts": key, id: `verdict-${text}`, class: "verdict" };
      return button(`${key} ${text}`, () => this.judge(text), properties);
    };
    const keep = (event) => this.app.marks.set(i, { note: event.target.value });
    const noteBox = { type: "text", value: note ?? "", placeholder: "Note (n)", "aria-label": "Note", id: "note", onchange: keep };
    return [Object.entries(VERDICTS).map(choice), h("input", noteBox)];
  }

  step(by) {
    const { state, rows } = this.app;
    const position = this.list.indexOf(this.app.row());
    // A walk begins, and goes on after a break, with the first row that is not judged.
    const start = Math.max(this.list.findIndex((i) => !this.app.marks.get(i).verdict), 0);
    const next = position < 0 ? start : Math.min(Math.max(position + by, 0), this.list.length - 1);
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
    const extra = [["mark", "verdict"], ["note", "note"]].map(([title, part]) => ({ title, get: (i) => marks.get(i)[part] ?? "" }));
    download("marks.csv", rowsAsCsv(rows, marks.marked().sort((i, j) => i - j), extra));
  }
}

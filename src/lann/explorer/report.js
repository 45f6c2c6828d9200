// The model: scores, confusions, which predictions are accepted, and what was learned.

import { countsOf, isCategory, mean, quantiles } from "./data.js";
import { bar, barCell, button, h, labelOf, lineChart, replace, select, table, th } from "./dom.js";
import { counted, grouped, percent, valueText } from "./format.js";

const MOST_CURVES = 12;
const MOST_CLASSES = 12;
const N_CURVE_STEPS = 60;
const OWN_ROWS = "training rows, each without its own vote";
const OPTIMISTIC =
  "These scores are optimistic: the metrics were learned from these rows. New rows (--held-out or --test) give a fair estimate.";

export class ModelView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    this.which = app.rows.shown.some((i) => app.rows.isNew(i) && app.rows.labels[i] >= 0) ? "new" : "training";
    [this.scores, this.decision, this.learned] = [0, 1, 2].map(() => h("section", {}));
    replace(box, h("h2", {}, "The model"), this.scores, this.decision, this.learned);
    app.state.on(["tab"], () => this.show());
    app.state.on(["threshold"], () => app.state.get("tab") === "model" && this.showDecision());
    this.show();
  }

  show() {
    if (this.app.state.get("tab") !== "model" || this.isShown) return;
    this.isShown = true;
    this.showScores();
    this.buildDecision();
    this.showLearned();
  }

  // Labeled rows of the kind that is judged.
  judged() {
    const { rows } = this.app;
    return rows.shown.filter((i) => rows.labels[i] >= 0 && rows.isNew(i) === (this.which === "new"));
  }

  showScores() {
    const { rows } = this.app;
    const indices = this.judged();
    const all = [["new", "new rows", rows.nTraining < rows.nRows], ["training", OWN_ROWS, rows.isTraining]];
    const choices = all.filter(([, , has]) => has).map(([value, title]) => ({ value, title }));
    const judge = (which) => {
      this.which = which;
      this.showScores();
      this.showDecision();
    };
    const chooser = h("p", {}, "Scores of the ", select("Rows that are judged", choices, this.which, judge, { id: "judged" }));
    if (!indices.length) return replace(this.scores, chooser, h("p", {}, "None of them has a label."));
    const facts = [["rows", grouped(indices.length)], ...rows.scores[this.which]];
    const list = h("dl", { class: "facts" }, facts.map((pair) => pair.map((text, k) => h(k ? "dd" : "dt", {}, text))));
    const note = h("p", { class: "soft" }, this.which === "training" ? OPTIMISTIC : "These rows were not learned from.");
    replace(this.scores, chooser, list, note, this.confusion(indices));
  }

  // Labels by predictions; a click on a cell shows its rows.
  confusion(indices) {
    const { rows, state } = this.app;
    const counts = countsOf(indices.map((i) => `${rows.labels[i]}:${rows.predictions[i]}`));
    const totals = countsOf(indices.map((i) => rows.labels[i]));
    const errors = countsOf(indices.filter(rows.isMistake).flatMap((i) => [rows.labels[i], rows.predictions[i]]));
    const all = Array.from(rows.classes.keys()).sort((a, b) => (errors.get(b) ?? 0) - (errors.get(a) ?? 0));
    const shown = all.slice(0, MOST_CLASSES).sort((a, b) => a - b);
    const choose = (label, prediction) => {
      const filters = [{ field: "label", values: [label] }, { field: "prediction", values: [prediction] }, { flag: this.which }];
      state.set({ filters, search: "" });
    };
    const cell = (a, b) => {
      const n = counts.get(`${a}:${b}`);
      if (!n) return h("td", { class: "cell" }, h("span", { class: "soft" }, "·"));
      const title = `Show the rows with label ${rows.classes[a]} that are predicted ${rows.classes[b]}`;
      const style = `--strength:${(8 + (52 * n) / totals.get(a)).toFixed(0)}%`;
      return h("td", { class: `cell ${a === b ? "" : "wrong"}`, style }, button(grouped(n), () => choose(a, b), { title }));
    };
    const predicted = shown.filter((y) => y < rows.nClasses);
    const lines = shown.map((a) => h("tr", {}, h("th", { scope: "row" }, labelOf(rows, a)), predicted.map((b) => cell(a, b))));
    const header = [th("label \\ predicted"), predicted.map((b) => h("th", { scope: "col" }, labelOf(rows, b)))];
    const which = shown.length < all.length ? ` The ${MOST_CLASSES} classes with the most mistakes of ${all.length}.` : "";
    const note = h("p", { class: "soft" }, "Click on a number to see these rows.", which);
    return [h("h3", {}, "Confusions"), table("Labels by predictions", header, lines, "confusion"), note];
  }

  buildDecision() {
    const { state } = this.app;
    const limit = { type: "range", min: "0", max: "1", step: "0.01", id: "threshold", "aria-label": "Least confidence" };
    this.slider = h("input", { ...limit, oninput: (event) => state.set({ threshold: Number(event.target.value) }) });
    this.outcome = h("p", { id: "threshold-outcome", "aria-live": "polite" });
    this.chart = h("div", {});
    const color = button("Color the map by this decision", () => state.set({ color: "decision" }), { id: "color-decision" });
    const showRejected = () => state.set({ filters: [{ flag: "rejected" }], search: "" });
    replace(this.decision, h("h3", {}, "Which predictions to accept"),
      h("p", {}, h("label", {}, "Reject predictions whose confidence is below ", this.slider)), this.outcome, this.chart,
      h("p", { class: "buttons" }, color, button("Show the rejected rows", showRejected, { id: "show-rejected" })));
    this.showDecision();
  }

  showDecision() {
    const { rows, state } = this.app;
    if (!this.slider) return;
    const threshold = state.get("threshold");
    this.slider.value = String(threshold);
    const indices = this.judged().sort((i, j) => rows.confidences[j] - rows.confidences[i]);
    let nWrong = 0;
    const curve = indices.map((i, k) => [(k + 1) / indices.length, (nWrong += Number(rows.isMistake(i))) / (k + 1)]);
    const nAccepted = indices.filter((i) => rows.confidences[i] >= threshold).length;
    const [coverage, risk] = nAccepted ? curve[nAccepted - 1] : [0, 0];
    const [accepted, wrong] = [`${percent(coverage, 1)} accepted`, `${percent(risk, 1)} are wrong`].map((text) => h("b", {}, text));
    replace(this.outcome, `With at least ${percent(threshold)}: `, accepted, ", of which ", wrong, ".");
    const step = Math.max(Math.floor(curve.length / 300), 1);
    const points = curve.filter((_, at) => at % step === 0 && at > curve.length / 200);
    const most = points.reduce((largest, point) => Math.max(largest, point[1]), 0.01);
    const chart = {
      label: "Share of wrong predictions by share of accepted ones", series: [points], xs: [0, 1], ys: [0, most], mark: coverage,
      xTitle: "accepted", yTitle: "wrong", xText: percent, yText: (value) => percent(value, 1),
    };
    if (points.length > 1) replace(this.chart, lineChart(chart));
  }

  async showLearned() {
    const { rows } = this.app;
    const kind = counted(rows.nTraining, rows.isTraining ? "training row" : "prototype");
    const learned = rows.levels.length ? ` Learned: ${rows.levels.join(", ")}.` : "";
    const list = `${rows.estimator}, ${kind}, ${counted(rows.columns.length, "column")}. Vote: ${rows.vote}.${learned}`;
    const made = `Made by lann ${rows.version} on ${rows.created.slice(0, 16).replace("T", " ")} UTC.`;
    const notes = [...rows.notes, made].map((note) => h("p", { class: "soft" }, note));
    const curves = h("div", { class: "curves" });
    replace(this.learned, h("h3", {}, "What was learned"), h("p", {}, list), this.relevances(), curves, notes);
    if (!rows.hasModel) return;
    const charts = await Promise.all(rows.order.slice(0, MOST_CURVES).map((j) => this.curve(rows.columns[j])));
    replace(curves, charts);
  }

  // The curve of a column of numbers.
  async curve(column) {
    if (isCategory(column)) return null;
    const [low, high] = quantiles(column.values, [0.01, 0.99]);
    if (!(low < high)) return null;
    const values = Array.from({ length: N_CURVE_STEPS + 1 }, (_, k) => low + ((high - low) * k) / N_CURVE_STEPS);
    const curve = await this.app.asker.ask("curve", { column: column.index, values });
    const ends = [Math.min(...curve), Math.max(...curve)];
    const isStraight = curve.every((y, k) => Math.abs((y - curve[0]) / (ends[1] - ends[0] || 1) - k / N_CURVE_STEPS) < 0.02);
    const chart = {
      label: `Curve of ${column.name}`, series: [values.map((x, k) => [x, curve[k]])], xs: [low, high], ys: ends,
      xTitle: column.name, yTitle: "", xText: (v) => valueText(column, v), yText: () => "",
    };
    const note = isStraight ? "Differences count alike everywhere." : "Differences count where the curve is steep.";
    return h("figure", {}, lineChart(chart), h("figcaption", {}, note));
  }

  // Mean relevances by class.
  relevances() {
    const { rows } = this.app;
    const classes = Array.from({ length: Math.min(rows.nClasses, 6) }, (_, y) => y);
    const members = classes.map((y) => rows.shown.filter((i) => rows.labels[i] === y));
    const most = rows.meanRelevances[rows.order[0]] * 1.6 || 1;
    const cell = (value, color) => barCell(bar(value / most, { color }), percent(value, 1));
    const meanOf = (j, indices) => mean(indices.map((i) => rows.relevanceAt(i, j)));
    const line = (j) => h("tr", {}, h("th", { scope: "row" }, rows.columns[j].name), cell(rows.meanRelevances[j]),
      members.map((indices, y) => cell(meanOf(j, indices), `c${y}`)));
    const header = [th("mean relevance of"), th("all rows"), classes.map((y) => h("th", { scope: "col" }, labelOf(rows, y)))];
    return table("Mean relevances of the columns, by class", header, rows.order.slice(0, 15).map(line), "dense");
  }
}

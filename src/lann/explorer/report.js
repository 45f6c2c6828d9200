// The model: scores, confusions, which predictions are accepted, and what was learned.

import { isCategory, quantiles } from "./data.js";
import { bar, button, classLabel, h, lineChart, replace, select, table, td, th } from "./dom.js";
import { counted, figure, grouped, percent, valueText } from "./format.js";

const MOST_CURVES = 12;
const MOST_CLASSES = 12;
const N_PLACES = 60;

// Scores of the predictions of some labeled rows.
export function scoresOf(rows, indices) {
  const n = indices.length;
  const totals = new Map();
  let [correct, loss] = [0, 0];
  for (const i of indices) {
    const label = rows.labels[i];
    const [all, right] = totals.get(label) ?? [0, 0];
    const isRight = Number(!rows.isMistake(i));
    totals.set(label, [all + 1, right + isRight]);
    correct += isRight;
    loss -= Math.log(Math.max(rows.labelProbabilities[i], 1e-15));
  }
  const recalls = [...totals.values()].map(([all, right]) => right / all);
  return { n, accuracy: correct / n, balanced: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length, loss: loss / n, auc: rows.nClasses === 2 ? areaUnderCurve(rows, indices) : NaN };
}

// The probability that a row of the second class has a larger probability of it than one of the first.
function areaUnderCurve(rows, indices) {
  const score = (i) => (rows.predictions[i] === 1 ? rows.confidences[i] : 1 - rows.confidences[i]);
  const sorted = indices.map((i) => [score(i), rows.labels[i]]).sort((a, b) => a[0] - b[0]);
  let [rank, positives] = [0, 0];
  for (let first = 0; first < sorted.length; ) {
    let last = first;
    while (last < sorted.length && sorted[last][0] === sorted[first][0]) last++;
    for (let k = first; k < last; k++) {
      if (sorted[k][1] !== 1) continue;
      rank += (first + last + 1) / 2;
      positives++;
    }
    first = last;
  }
  const negatives = sorted.length - positives;
  return positives && negatives ? (rank - (positives * (positives + 1)) / 2) / (positives * negatives) : NaN;
}

export class ModelView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    this.which = app.rows.nTraining < app.rows.nRows && app.rows.labels.subarray(app.rows.nTraining).some((label) => label >= 0) ? "new" : "training";
    this.scores = h("section", {});
    this.decision = h("section", {});
    this.learned = h("section", {});
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
    const found = [];
    for (let i = 0; i < rows.nRows; i++) if (rows.labels[i] >= 0 && rows.isNew(i) === (this.which === "new")) found.push(i);
    return found;
  }

  showScores() {
    const { rows } = this.app;
    const indices = this.judged();
    const has = { training: rows.isTraining, new: rows.nTraining < rows.nRows };
    const choices = [{ value: "new", title: "new rows" }, { value: "training", title: "training rows, each without its own vote" }].filter(({ value }) => has[value]);
    const chooser = select("Rows that are judged", choices, this.which, (which) => {
      this.which = which;
      this.showScores();
      this.showDecision();
    }, { id: "judged" });
    const note = this.which === "training" ? "These scores are optimistic: the metrics were learned from these rows. New rows (--held-out or --test) give a fair estimate." : "These rows were not learned from.";
    if (!indices.length) return replace(this.scores, h("p", {}, "Scores of the ", chooser), h("p", {}, "None of them has a label."));
    const { n, accuracy, balanced, loss, auc } = scoresOf(rows, indices);
    const facts = [["rows", grouped(n)], ["accuracy", percent(accuracy, 1)], ["balanced accuracy", percent(balanced, 1)], ["area under the ROC curve", Number.isNaN(auc) ? null : figure(auc)], ["log-loss", figure(loss)]].filter(([, value]) => value);
    replace(this.scores, h("p", {}, "Scores of the ", chooser), h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), h("p", { class: "soft" }, note), this.confusion(indices));
  }

  // Labels by predictions; a click on a cell shows its rows.
  confusion(indices) {
    const { rows, state } = this.app;
    const counts = new Map();
    const totals = new Map();
    for (const i of indices) {
      const key = `${rows.labels[i]}:${rows.predictions[i]}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      totals.set(rows.labels[i], (totals.get(rows.labels[i]) ?? 0) + 1);
    }
    const errors = (y) => [...counts].reduce((sum, [key, n]) => { const [a, b] = key.split(":").map(Number); return a !== b && (a === y || b === y) ? sum + n : sum; }, 0);
    const all = Array.from(rows.classes.keys());
    const shown = all.length > MOST_CLASSES ? all.sort((a, b) => errors(b) - errors(a)).slice(0, MOST_CLASSES).sort((a, b) => a - b) : all;
    const filter = (label, prediction) => state.set({ filters: [{ field: "label", values: [label] }, { field: "prediction", values: [prediction] }, { flag: this.which }], search: "" });
    const cell = (a, b) => {
      const n = counts.get(`${a}:${b}`) ?? 0;
      const strength = n / (totals.get(a) || 1);
      return h("td", { class: `cell ${a === b ? "right" : "wrong"}`, style: n ? `--strength:${(8 + 52 * strength).toFixed(0)}%` : "" }, n ? button(grouped(n), () => filter(a, b), { title: `Show the rows with label ${rows.classes[a]} that are predicted ${rows.classes[b]}` }) : h("span", { class: "soft" }, "·"));
    };
    const predicted = shown.filter((y) => y < rows.nClasses);
    const lines = shown.map((a) => h("tr", {}, h("th", { scope: "row" }, classLabel(rows.classes[a], a)), predicted.map((b) => cell(a, b))));
    const header = [th("label \\ predicted"), predicted.map((b) => h("th", { scope: "col" }, classLabel(rows.classes[b], b)))];
    return [h("h3", {}, "Confusions"), table("Labels by predictions", header, lines, "confusion"), h("p", { class: "soft" }, "Click on a number to see these rows.", shown.length < rows.classes.length ? ` The ${MOST_CLASSES} classes with the most mistakes of ${rows.classes.length}.` : "")];
  }

  buildDecision() {
    const { state } = this.app;
    const slider = h("input", { type: "range", min: "0", max: "1", step: "0.01", value: String(state.get("threshold")), id: "threshold", "aria-label": "Least confidence", oninput: (event) => state.set({ threshold: Number(event.target.value) }) });
    this.slider = slider;
    this.outcome = h("p", { id: "threshold-outcome", "aria-live": "polite" });
    this.chart = h("div", {});
    replace(this.decision, h("h3", {}, "Which predictions to accept"), h("p", {}, h("label", {}, "Reject predictions whose confidence is below ", slider)), this.outcome, this.chart,
      h("p", {}, button("Color the map by this decision", () => state.set({ color: "decision" }), { id: "color-decision" }), " ", button("Show the rejected rows", () => state.set({ filters: [{ flag: "rejected" }], search: "" }), { id: "show-rejected" })));
    this.showDecision();
  }

  showDecision() {
    const { rows, state } = this.app;
    if (!this.slider) return;
    const threshold = state.get("threshold");
    this.slider.value = String(threshold);
    const indices = this.judged().sort((i, j) => rows.confidences[j] - rows.confidences[i]);
    let wrong = 0;
    const curve = indices.map((i, k) => [(k + 1) / indices.length, (wrong += Number(rows.isMistake(i))) / (k + 1)]);
    const nAccepted = indices.findIndex((i) => rows.confidences[i] < threshold);
    const k = (nAccepted < 0 ? indices.length : nAccepted) - 1;
    const [coverage, risk] = k < 0 ? [0, 0] : curve[k];
    replace(this.outcome, `With at least ${percent(threshold)}: `, h("b", {}, `${percent(coverage, 1)} accepted`), ", of which ", h("b", {}, `${percent(risk, 1)} are wrong`), ".");
    const step = Math.max(Math.floor(curve.length / 300), 1);
    const points = curve.filter((_, at) => at % step === 0 && at > curve.length / 200);
    const most = points.reduce((largest, point) => Math.max(largest, point[1]), 0.01);
    if (points.length > 1) replace(this.chart, lineChart({ label: "Share of wrong predictions by share of accepted ones", series: [points], xs: [0, 1], ys: [0, most], xTitle: "accepted", yTitle: "wrong", mark: coverage, xText: percent, yText: (value) => percent(value, 1) }));
  }

  async showLearned() {
    const { rows } = this.app;
    const list = h("p", {}, `${rows.estimator}, ${counted(rows.nTraining, rows.isTraining ? "training row" : "prototype")}, ${counted(rows.columns.length, "column")}. Vote: ${rows.vote}.`, rows.levels.length ? ` Learned: ${rows.levels.join(", ")}.` : "");
    const curves = h("div", { class: "curves" });
    replace(this.learned, h("h3", {}, "What was learned"), list, this.relevances(), h("div", {}, curves), rows.notes.map((note) => h("p", { class: "soft" }, note)), h("p", { class: "soft" }, `Made by lann ${rows.version} on ${rows.created.slice(0, 16).replace("T", " ")} UTC.`));
    if (!rows.hasModel) return;
    const charts = await Promise.all(rows.order.slice(0, MOST_CURVES).map((j) => this.curve(rows.columns[j])));
    const found = charts.filter(Boolean);
    if (found.length) replace(curves, found);
  }

  // How a column is measured: the curve of its numbers, or its categories, those apart that differ most.
  async curve(column) {
    const { asker } = this.app;
    if (!isCategory(column)) {
      const [low, high] = quantiles(column.values, [0.01, 0.99]);
      if (!(low < high)) return null;
      const values = Array.from({ length: N_PLACES + 1 }, (_, k) => low + ((high - low) * k) / N_PLACES);
      const curve = await asker.ask("curve", { column: column.index, values });
      if (!curve) return null;
      const ends = [Math.min(...curve), Math.max(...curve)];
      const isStraight = curve.every((y, k) => Math.abs((y - curve[0]) / (ends[1] - ends[0] || 1) - k / N_PLACES) < 0.02);
      return h("figure", {}, lineChart({ label: `Curve of ${column.name}`, series: [values.map((x, k) => [x, curve[k]])], xs: [low, high], ys: ends, xTitle: column.name, yTitle: "", xText: (v) => valueText(column, v), yText: () => "" }), h("figcaption", {}, isStraight ? "Differences count alike everywhere." : "Differences count where the curve is steep."));
    }
    const found = await asker.ask("categories", { column: column.index });
    if (!found || found.nCategories < 2) return null;
    const at = (code) => found.positions.slice(code * found.nAxes, (code + 1) * found.nAxes);
    const codes = Array.from({ length: Math.min(found.nCategories, 12) }, (_, code) => code);
    const distance = (a, b) => Math.hypot(...at(a).map((value, axis) => value - at(b)[axis]));
    const most = Math.max(...codes.flatMap((a) => codes.map((b) => distance(a, b))), 1e-9);
    const lines = codes.map((a) => h("tr", {}, h("th", { scope: "row" }, column.categories[a]), codes.map((b) => h("td", { class: "cell", style: `--strength:${((60 * distance(a, b)) / most).toFixed(0)}%`, title: `${column.categories[a]} and ${column.categories[b]}` }, a === b ? "" : (distance(a, b) / most).toFixed(1)))));
    return h("figure", {}, table(`Distances of the categories of ${column.name}`, [th(column.name), codes.map((b) => th(column.categories[b]))], lines, "confusion"), h("figcaption", {}, "How far categories are apart, relative to the farthest pair."));
  }

  // Mean relevances by class.
  relevances() {
    const { rows } = this.app;
    const classes = Array.from({ length: rows.nClasses }, (_, y) => y).slice(0, 6);
    const members = classes.map((y) => Array.from(rows.labels.keys()).filter((i) => rows.labels[i] === y));
    const mean = (j, indices) => indices.reduce((sum, i) => sum + rows.relevanceAt(i, j), 0) / Math.max(indices.length, 1);
    const most = rows.meanRelevances[rows.order[0]] * 1.6 || 1;
    const lines = rows.order.slice(0, 15).map((j) => h("tr", {}, h("th", { scope: "row" }, rows.columns[j].name), h("td", { class: "bars" }, bar(rows.meanRelevances[j] / most), h("span", { class: "amount" }, percent(rows.meanRelevances[j], 1))), members.map((indices, y) => h("td", { class: "bars" }, bar(mean(j, indices) / most, { color: `c${y % 10}` }), h("span", { class: "amount" }, percent(mean(j, indices), 1))))));
    return table("Mean relevances of the columns, by class", [th("mean relevance of"), th("all rows"), classes.map((y) => h("th", { scope: "col" }, classLabel(rows.classes[y], y)))], lines, "dense");
  }
}

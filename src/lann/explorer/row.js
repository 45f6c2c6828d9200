// The selected row: the prediction, the rows that decided, the reasons, and what matters here.

import { countsOf, isCategory, quantiles, spreadOf } from "./data.js";
import { bar, barCell, button, h, labelOf, longTable, panelHead, replace, shareList, signedBar, table, td, th } from "./dom.js";
import { MISSING, counted, general, grouped, percent, shortText, signedPercent, valueText } from "./format.js";

// Neighbors that are listed at first: those that hold this share of the vote, within these numbers.
const LISTED_SHARE = 0.9;
const [FEWEST, MOST] = [5, 8];
// Columns that are listed, and columns beside the neighbors.
const N_COLUMNS = 12;
// Training rows of which typical values are computed.
const MOST_COUNTED = 30_000;
const N_BESIDE = 6;
// Cells of a line before those.
const N_BEFORE = 5;
// Classes whose probabilities are listed.
const MOST_CLASSES = 6;
// Numbers that differ by less than this part of their usual spread are nearly the same.
const NEARLY_SAME = 0.4;
// A reason that is told has this share of the largest one, and adds this much.
const [TOLD_SHARE, LEAST_TOLD, MOST_TOLD, LEAST_ERRORS] = [0.1, 0.01, 4, 2];

// The probabilities as bars, the largest first, with marks at other ones.
export function voteBars(rows, probabilities, before = null) {
  const shown = Array.from(probabilities.keys()).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, MOST_CLASSES);
  const items = shown.map((y) => ({ label: labelOf(rows, y), share: probabilities[y], color: `c${y % 10}`, mark: before?.[y] ?? null }));
  const others = probabilities.length - shown.length;
  return [shareList(items), others > 0 ? h("p", { class: "soft" }, `and ${counted(others, "other class", "other classes")}`) : null];
}

// "3 of 12 similar rows that decided are survived."
export function similarText(rows, voters, prediction) {
  const isSame = ({ row }) => rows.labels[row] === prediction;
  const nSame = voters.filter(isSame).length;
  const nearer = voters.findIndex(isSame);
  const against = nearer > 0 ? ` The nearest ${nearer === 1 ? "one is" : `${nearer} are`} not.` : "";
  const verb = nSame === 1 ? "is" : "are";
  const count = h("b", {}, `${nSame} of ${grouped(voters.length)}`);
  return [count, ` similar rows that decided ${verb} `, labelOf(rows, prediction), ".", against];
}

// The most frequent categories of some rows.
export function frequentText(column, values) {
  const most = [...countsOf(values)].sort((a, b) => b[1] - a[1]).slice(0, 2);
  return most.map(([value, n]) => `${valueText(column, value)} ${percent(n / values.length)}`).join(", ");
}

// Most and least of the middle 80% of the training rows of a class, or its most frequent categories.
const typicalCache = new Map();
export function typicalText(rows, column, label) {
  const key = `${column.index}:${label}`;
  if (typicalCache.has(key)) return typicalCache.get(key);
  const step = Math.ceil(rows.nTraining / MOST_COUNTED);
  const isOwn = (value, i) => i < rows.nTraining && i % step === 0 && rows.labels[i] === label && !Number.isNaN(value);
  const values = Array.from(column.values.filter(isOwn));
  let text = "";
  if (values.length && isCategory(column)) text = frequentText(column, values);
  else if (values.length) text = [...new Set(quantiles(values, [0.1, 0.9]).map((value) => shortText(column, value)))].join(" to ");
  typicalCache.set(key, text);
  return text;
}

// "same" or "differs", or "" for a number that differs little.
function howDifferent(column, a, b) {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return "same";
  if (isCategory(column) || Number.isNaN(a) || Number.isNaN(b)) return "differs";
  return Math.abs(a - b) > NEARLY_SAME * spreadOf(column) ? "differs" : "";
}

export class RowView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    this.isLong = false;
    app.state.on(["row", "map"], () => this.show());
    this.show();
  }

  async show() {
    const { app, box } = this;
    const i = app.row();
    if (i < 0) {
      app.map.mark(null);
      replace(box, this.welcome());
      return;
    }
    const vote = await app.voteOf(i);
    if (app.row() !== i) return;
    if (this.last !== i) [this.last, this.isLong] = [i, false];
    if (app.state.get("tab") !== "whatif") app.map.mark({ row: i, voters: vote.voters });
    const parts = [this.head(i), this.sentence(i, vote), voteBars(app.rows, vote.probabilities)];
    replace(box, parts, this.similar(i, vote), this.columns(i, vote));
  }

  // Rows and views to begin with, before a row is selected.
  welcome() {
    const { rows, state } = this.app;
    const best = (test, size) => rows.shown.reduce((top, i) => (test(i) && (top < 0 || size(i) > size(top)) ? i : top), -1);
    const sure = (i) => rows.confidences[i];
    const wrong = best(rows.isMistake, sure);
    const doubtful = best(() => true, (i) => -sure(i));
    const typical = Array.from({ length: Math.min(rows.nClasses, 5) },
      (_, y) => best((i) => rows.predictions[i] === y && !rows.isMistake(i), sure));
    const nSuspicious = rows.shown.filter(rows.isSuspicious).length;
    const goTo = (text, tab) => button(text, () => state.set({ tab }), { class: "link" });
    const line = (i, text) => (i < 0 ? null : h("li", {}, this.app.linkTo(i), " ", text));
    return [
      h("h2", {}, "Select a row"), h("p", {}, "Click on a point of the map or on a line of the table. For example:"),
      h("ul", {},
        line(wrong, ["the most confident mistake: predicted ", labelOf(rows, rows.predictions[wrong]), ` with ${percent(sure(wrong))}`]),
        line(doubtful, `the least confident prediction, ${percent(sure(doubtful))}`),
        typical.map((i) => line(i, ["a clear case of ", labelOf(rows, rows.predictions[i])]))),
      h("p", {}, "Or ", nSuspicious ? [goTo(`review ${counted(nSuspicious, "suspicious label")}`, "review"), ", "] : "",
        goTo("see scores and what was learned", "model"), ", or draw around points of the map to see what they have in common."),
    ];
  }

  head(i) {
    const { rows, state, table: list } = this.app;
    const marks = [
      rows.isNew(i) ? rows.isTraining && "new row, not learned from" : rows.isTraining && "training row, without its own vote",
      rows.far[i] && "far: nothing similar was seen",
      rows.isDoubtful(i) && "doubtful",
      rows.isSuspicious(i) && `suspicious label: the other rows favor ${rows.classes[rows.likely[i]]}`,
    ];
    const buttons = [
      button("‹", () => list.step(-1), { "aria-label": "Previous row of the table" }),
      button("›", () => list.step(1), { "aria-label": "Next row of the table" }),
      rows.hasModel && button("What if …", () => state.set({ tab: "whatif" }), { class: "main", id: "to-whatif" }),
    ];
    return panelHead(rows.name(i), buttons, h("p", { class: "soft" }, marks.filter(Boolean).join(" · ")));
  }

  sentence(i, vote) {
    const { rows } = this.app;
    const prediction = rows.predictions[i];
    const label = rows.labels[i];
    const wrong = () => [" That is ", h("b", { class: "wrong" }, "wrong"), ": the label is ", labelOf(rows, label), "."];
    const verdict = label < 0 ? "" : rows.isMistake(i) ? wrong() : " That is correct.";
    const probability = `, with probability ${percent(vote.probabilities[prediction])}.`;
    const rest = [" ", similarText(rows, vote.voters, prediction), " ", this.reasonText(i)];
    return h("p", { class: "sentence" }, "Predicted ", labelOf(rows, prediction), probability, verdict, rest);
  }

  reasonText(i) {
    const { rows } = this.app;
    const reasons = rows.reasons(i);
    if (!reasons) return "";
    const size = (j) => Math.abs(reasons.values[j]);
    const columns = Array.from(reasons.values.keys()).sort((a, b) => size(b) - size(a));
    const least = Math.max(TOLD_SHARE * size(columns[0]), LEAST_TOLD);
    const told = columns.filter((j) => size(j) >= least && size(j) > LEAST_ERRORS * reasons.errors[j]).slice(0, MOST_TOLD);
    const phrase = (j) => `${rows.columns[j].name} ${valueText(rows.columns[j], rows.columns[j].values[i])}`;
    const list = (start, isOwn) => (told.some(isOwn) ? `${start}: ${told.filter(isOwn).map(phrase).join(", ")}. ` : "");
    return list("For it", (j) => reasons.values[j] > 0) + list("Against it", (j) => reasons.values[j] < 0);
  }

  // The rows that decided, in the user's values; those that differ are marked.
  similar(i, vote) {
    const { rows, map } = this.app;
    const used = vote.voters;
    let held = 0;
    const enough = used.findIndex(({ share }) => (held += share) >= LISTED_SHARE) + 1 || used.length;
    const nListed = Math.min(Math.max(enough, FEWEST), MOST);
    const listed = this.isLong || used.length <= nListed + 1 ? used : used.slice(0, nListed);
    const beside = this.relevantColumns(i).slice(0, N_BESIDE);
    const value = (j, row) => valueText(rows.columns[j], rows.columns[j].values[row]);
    const cell = (j, row) => {
      const column = rows.columns[j];
      const mark = row === i ? "" : howDifferent(column, column.values[i], column.values[row]);
      return h("td", { class: `${isCategory(column) ? "" : "number"} ${mark}` }, value(j, row));
    };
    const label = rows.labels[i] < 0 ? "" : labelOf(rows, rows.labels[i]);
    this.explainDistances(i, listed, beside);
    const first = h("tr", { class: "own" }, h("th", { scope: "row" }, rows.name(i)), [label, "", "", ""].map((text) => td(text)),
      beside.map((j) => cell(j, i)));
    const most = Math.max(...used.map(({ share }) => share));
    const lines = listed.map(({ row, share, distance }) => h("tr", {},
      h("th", { scope: "row" }, this.app.linkTo(row)),
      td(labelOf(rows, rows.labels[row])),
      barCell(bar(share, { color: `c${rows.labels[row] % 10}`, full: most }), percent(share)),
      td(general(distance, 3), true), td(grouped(map.rankOnMap(i, row)), true), beside.map((j) => cell(j, row))));
    const others = used.slice(listed.length);
    const header = [th("row"), th(rows.target ?? "label"), th("vote"), th("distance", true), th("on map", true),
      beside.map((j) => th(rows.columns[j].name, !isCategory(rows.columns[j])))];
    const nFar = listed.filter(({ row }) => map.rankOnMap(i, row) > Math.max(50, 2 * used.length)).length;
    const notShown = `; ${nFar} of these ${listed.length} are not among the nearest points of the map, which cannot show all distances.`;
    const rest = percent(others.reduce((sum, { share }) => sum + share, 0));
    const more = () => button(`Show ${counted(others.length, "other")}, with ${rest} of the vote`, () => this.showAll(), { class: "link" });
    return h("section", {}, h("h3", {}, "Similar cases, and their votes"),
      table("Rows that decided", header, [first, lines], "dense near-rows"), others.length ? h("p", {}, more()) : null,
      h("p", { class: "soft" }, "Distance: as the row of the line measures it. On the map: 1 is the nearest point", nFar ? notShown : "."));
  }

  // Say in the cells of similar rows what each difference adds to the distance.
  async explainDistances(i, listed, beside) {
    const { asker, rows } = this.app;
    if (!asker) return;
    const parts = await asker.ask("contributions", { row: rows.row(i), neighbors: listed.map(({ row }) => row) });
    const lines = this.box.querySelectorAll(".near-rows tbody tr:not(.own)");
    listed.forEach(({ distance }, k) => beside.forEach((j, at) => {
      const cell = lines[k]?.children[N_BEFORE + at];
      if (cell && distance > 0) cell.title = `adds ${percent(Math.max(parts[k][j], 0) / distance ** 2)} of the squared distance`;
    }));
  }

  showAll() {
    this.isLong = true;
    this.show();
  }

  // Columns by their reasons and relevance, the most important first.
  relevantColumns(i) {
    const { rows } = this.app;
    const reasons = rows.reasons(i)?.values;
    const weight = (j) => (reasons ? Math.abs(reasons[j]) : 0) + rows.relevanceAt(i, j);
    return Array.from(rows.columns.keys()).sort((a, b) => weight(b) - weight(a));
  }

  // What each column adds, what matters here, and typical values.
  columns(i, vote) {
    const { rows } = this.app;
    const reasons = rows.reasons(i);
    const prediction = rows.predictions[i];
    const order = this.relevantColumns(i);
    const largest = reasons ? Math.max(...reasons.values.map(Math.abs)) : 0;
    const largestRelevance = Math.max(...order.map((j) => rows.relevanceAt(i, j)), 1e-9);
    const others = rows.isTraining && rows.nClasses > 1 ? [prediction, rows.runnerUps[i]] : [];
    const added = (j) => [barCell(signedBar(reasons.values[j], largest), signedPercent(reasons.values[j])),
      h("td", { class: "number soft" }, (100 * LEAST_ERRORS * reasons.errors[j]).toFixed(1))];
    const line = (j) => {
      const column = rows.columns[j];
      const value = column.values[i];
      return h("tr", {}, h("th", { scope: "row" }, column.name),
        h("td", { class: isCategory(column) ? "" : "number" }, Number.isNaN(value) ? h("i", {}, MISSING) : valueText(column, value)),
        reasons ? added(j) : null,
        barCell(bar(rows.relevanceAt(i, j), { full: largestRelevance }), percent(rows.relevanceAt(i, j), 1)),
        others.map((y) => td(typicalText(rows, column, y))));
    };
    const header = [th("column"), th("value", true), reasons ? [th("adds"), th("±", true)] : null, th("relevance"),
      others.map((y) => th(`typical of ${rows.classes[y]}`))];
    const [from, to] = reasons ? [reasons.base, vote.probabilities[prediction]].map((share) => percent(share)) : [];
    const adds = `Adds: what the value adds to the probability of ${rows.classes[prediction]}, from ${from} at other rows to ${to}; ± is two standard errors.`;
    const notes = [
      reasons ? adds : "The file has reasons of other rows; --reasons (n_reasons) writes more.",
      "Relevance: how much of the vote changes with the column, for rows like this one.",
      others.length ? "Typical: the middle 80% of the training rows of the class, or its most frequent categories." : "",
    ];
    return h("section", {}, h("h3", {}, reasons ? "Reasons, and what matters here" : "What matters here"),
      longTable("Columns of the row", header, order.map(line), N_COLUMNS), h("p", { class: "soft" }, notes.join(" ")));
  }
}

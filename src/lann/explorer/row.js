// The selected row: the prediction, the rows that decided, the reasons, and what matters here.

import { isCategory, quantiles, spreadOf } from "./data.js";
import { bar, button, classLabel, h, replace, shareList, signedBar, table, td, th } from "./dom.js";
import { MISSING, counted, general, grouped, percent, shortText, signedPercent, valueText } from "./format.js";

// Neighbors that are listed at first: those that hold this share of the vote, within these numbers.
const LISTED_SHARE = 0.9;
const [FEWEST, MOST] = [5, 8];
// Columns beside the neighbors.
const N_BESIDE = 6;
// Classes whose probabilities are listed.
const MOST_CLASSES = 6;
// Numbers that differ by less than this part of their usual spread are nearly the same.
const NEARLY_SAME = 0.4;
// A reason that is told has this share of the largest one, and adds this much.
const [TOLD_SHARE, LEAST_TOLD] = [0.2, 0.02];

// The probabilities as bars, the largest first, with marks at other ones.
export function voteBars(rows, probabilities, before = null) {
  const shown = Array.from(probabilities.keys()).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, MOST_CLASSES);
  const items = shown.map((y) => ({ label: classLabel(rows.classes[y], y), share: probabilities[y], color: `c${y % 10}`, mark: before?.[y] ?? null }));
  const others = probabilities.length - shown.length;
  return [shareList(items), others > 0 ? h("p", { class: "soft" }, `and ${counted(others, "other class", "other classes")}`) : null];
}

// "3 of 12 similar rows that decided are survived."
export function similarText(rows, voters, prediction) {
  const used = voters.filter(({ share }) => share > 0);
  const same = used.filter(({ row }) => rows.labels[row] === prediction).length;
  const nearer = used.findIndex(({ row }) => rows.labels[row] === prediction);
  const against = nearer > 0 ? ` The nearest ${nearer === 1 ? "one is" : `${nearer} are`} not.` : "";
  return [h("b", {}, `${same} of ${grouped(used.length)}`), ` similar rows that decided ${same === 1 ? "is" : "are"} `, classLabel(rows.classes[prediction], prediction), ".", against];
}

// Most and least of the middle 80% of the training rows of a class, or its most frequent categories.
const typicalCache = new Map();
export function typicalText(rows, column, label) {
  const key = `${column.index}:${label}`;
  if (typicalCache.has(key)) return typicalCache.get(key);
  const values = [];
  for (let i = 0; i < rows.nTraining; i++) if (rows.labels[i] === label && !Number.isNaN(column.values[i])) values.push(column.values[i]);
  let text = "";
  if (values.length && isCategory(column)) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 2);
    text = most.map(([value, n]) => `${valueText(column, value)} ${percent(n / values.length)}`).join(", ");
  } else if (values.length) text = [...new Set(quantiles(values, [0.1, 0.9]).map((value) => shortText(column, value)))].join(" to ");
  typicalCache.set(key, text);
  return text;
}

// "same" or "differs", or "" for a number that differs little.
function howDifferent(column, a, b) {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return "same";
  if (isCategory(column) || Number.isNaN(a) || Number.isNaN(b)) return "differs";
  return Math.abs(a - b) > NEARLY_SAME * spreadOf(column) ? "differs" : "";
}

// The share of the training rows below a number, plus half of those equal to it.
function percentileText(rows, column, value) {
  if (isCategory(column) || Number.isNaN(value)) return "";
  let [below, equal, n] = [0, 0, 0];
  for (let i = 0; i < rows.nTraining; i++) {
    const other = column.values[i];
    if (Number.isNaN(other)) continue;
    n++;
    below += other < value;
    equal += other === value;
  }
  return n ? `larger than ${percent((below + equal / 2) / n)}` : "";
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
    if (app.state.get("tab") !== "whatif") app.map.mark({ row: i, neighbors: vote.voters.map(({ row }) => row), shares: vote.voters.map(({ share }) => share) });
    replace(box, this.head(i), this.sentence(i, vote), voteBars(app.rows, vote.probabilities), this.similar(i, vote), this.columns(i, vote));
  }

  // Rows and views to begin with, before a row is selected.
  welcome() {
    const { rows, state } = this.app;
    const shown = Array.from(rows.labels.keys()).filter((i) => rows.isTraining || rows.isNew(i));
    const best = (test, size) => shown.reduce((top, i) => (test(i) && (top < 0 || size(i) > size(top)) ? i : top), -1);
    const goTo = (i) => (i < 0 ? "" : button(rows.name(i), () => state.set({ row: rows.key(i) }), { class: "link" }));
    const sure = (i) => rows.confidences[i];
    const wrong = best(rows.isMistake, sure);
    const doubtful = best(() => true, (i) => -sure(i));
    const typical = Array.from({ length: Math.min(rows.nClasses, 5) }, (_, y) => best((i) => rows.predictions[i] === y && !rows.isMistake(i), sure));
    const nSuspicious = shown.filter(rows.isSuspicious).length;
    const line = (i, text) => (i < 0 ? null : h("li", {}, goTo(i), " ", text));
    return [
      h("h2", {}, "Select a row"), h("p", {}, "Click on a point of the map or on a line of the table. For example:"),
      h("ul", {},
        line(wrong, ["the most confident mistake: predicted ", classLabel(rows.classes[rows.predictions[wrong]], rows.predictions[wrong]), ` with ${percent(sure(wrong))}`]),
        line(doubtful, `the least confident prediction, ${percent(sure(doubtful))}`),
        typical.map((i) => line(i, ["a clear case of ", classLabel(rows.classes[rows.predictions[i]], rows.predictions[i])]))),
      h("p", {}, "Or ", nSuspicious ? [button(`review ${counted(nSuspicious, "suspicious label")}`, () => state.set({ tab: "review", queue: "suspicious" }), { class: "link" }), ", "] : "",
        button("see scores and what was learned", () => state.set({ tab: "model" }), { class: "link" }), ", or draw around points of the map to see what they have in common."),
    ];
  }

  head(i) {
    const { rows } = this.app;
    const marks = [rows.isNew(i) && rows.isTraining ? "new row, not learned from" : rows.isNew(i) ? "" : "training row, without its own vote", rows.far[i] ? "far: nothing similar was seen" : "", rows.isDoubtful(i) ? "doubtful" : "", rows.isSuspicious(i) ? `suspicious label: neighbors say ${rows.classes[rows.likely[i]]}` : ""].filter(Boolean);
    return h("div", { class: "row-head" },
      h("h2", {}, rows.name(i)),
      h("span", { class: "buttons" }, button("‹", () => this.app.table.step(-1), { "aria-label": "Previous row of the table" }), button("›", () => this.app.table.step(1), { "aria-label": "Next row of the table" }),
        this.app.rows.hasModel ? button("What if …", () => this.app.state.set({ tab: "whatif" }), { class: "main", id: "to-whatif" }) : null),
      h("p", { class: "soft" }, marks.join(" · ")));
  }

  sentence(i, vote) {
    const { rows } = this.app;
    const prediction = rows.predictions[i];
    const probability = vote.probabilities[prediction];
    const verdict = rows.labels[i] < 0 ? [] : rows.isMistake(i) ? [" That is ", h("b", { class: "wrong" }, "wrong"), ": the label is ", classLabel(rows.classes[rows.labels[i]], rows.labels[i]), "."] : [" That is correct."];
    return h("p", { class: "sentence" }, "Predicted ", classLabel(rows.classes[prediction], prediction), `, with probability ${percent(probability)}.`, verdict, " ", similarText(rows, vote.voters, prediction), " ", this.reasonText(i));
  }

  reasonText(i) {
    const { rows } = this.app;
    const reasons = rows.reasons(i);
    if (!reasons) return "";
    const most = Math.max(...reasons.values.map(Math.abs));
    const told = Array.from(reasons.values.keys()).filter((j) => Math.abs(reasons.values[j]) >= Math.max(TOLD_SHARE * most, LEAST_TOLD)).sort((a, b) => Math.abs(reasons.values[b]) - Math.abs(reasons.values[a])).slice(0, 4);
    const phrase = (j) => `${rows.columns[j].name} ${valueText(rows.columns[j], rows.columns[j].values[i])}`;
    const list = (columns) => columns.map(phrase).join(", ");
    const [pro, con] = [told.filter((j) => reasons.values[j] > 0), told.filter((j) => reasons.values[j] < 0)];
    return [pro.length ? `For it: ${list(pro)}.` : "", con.length ? ` Against it: ${list(con)}.` : ""].join("");
  }

  // The rows that decided, in the user's values; those that differ are marked.
  similar(i, vote) {
    const { rows, map } = this.app;
    const used = vote.voters.filter(({ share }) => share > 0);
    let held = 0;
    let nListed = used.findIndex(({ share }) => (held += share) >= LISTED_SHARE) + 1 || used.length;
    nListed = Math.min(Math.max(nListed, FEWEST), MOST);
    const listed = this.isLong || used.length <= nListed + 1 ? used : used.slice(0, nListed);
    const beside = this.relevantColumns(i).slice(0, N_BESIDE);
    const value = (j, row) => valueText(rows.columns[j], rows.columns[j].values[row]);
    const cell = (j, row) => {
      const column = rows.columns[j];
      return h("td", { class: `${isCategory(column) ? "" : "number"} ${howDifferent(column, column.values[i], column.values[row])}` }, value(j, row));
    };
    const first = h("tr", { class: "own" }, h("th", { scope: "row" }, rows.name(i)), td(rows.labels[i] < 0 ? "" : classLabel(rows.classes[rows.labels[i]], rows.labels[i])), td(""), td(""), td(""), beside.map((j) => h("td", { class: isCategory(rows.columns[j]) ? "" : "number" }, value(j, i))));
    const most = Math.max(...used.map(({ share }) => share));
    const lines = listed.map(({ row, share, distance }) => h("tr", {},
      h("th", { scope: "row" }, button(rows.name(row), () => this.app.state.set({ row: rows.key(row) }), { class: "link" })),
      td(classLabel(rows.classes[rows.labels[row]], rows.labels[row])),
      h("td", { class: "bars" }, bar(share, { color: `c${rows.labels[row] % 10}`, full: most }), h("span", { class: "amount" }, percent(share))),
      td(general(distance, 3), true), td(grouped(map.rankOnMap(i, row)), true), beside.map((j) => cell(j, row))));
    const others = used.slice(listed.length);
    const header = [th("row"), th(rows.target ?? "label"), th("vote"), th("distance", true), th("on map", true), beside.map((j) => th(rows.columns[j].name, !isCategory(rows.columns[j])))];
    const isFar = listed.filter(({ row }) => map.rankOnMap(i, row) > Math.max(50, 2 * used.length)).length;
    return h("section", {}, h("h3", {}, "Similar rows, and their votes"),
      table("Rows that decided", header, [first, lines], "dense near-rows"),
      others.length ? h("p", {}, button(`Show ${counted(others.length, "other")}, with ${percent(others.reduce((sum, { share }) => sum + share, 0))} of the vote`, () => { this.isLong = true; this.show(); }, { class: "link", id: "more-voters" })) : null,
      h("p", { class: "soft" }, "Distance: as the row in the line measures it. On the map: 1 is the nearest point there", isFar ? `; ${isFar} of these ${listed.length} are not among the nearest points of the map, which cannot show all distances.` : "."));
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
    const others = rows.isTraining ? [prediction, rows.runnerUps[i]].filter((y, k, all) => all.indexOf(y) === k && y < rows.nClasses) : [];
    const line = (j) => {
      const column = rows.columns[j];
      const value = column.values[i];
      const note = percentileText(rows, column, value);
      return h("tr", {}, h("th", { scope: "row" }, column.name),
        h("td", { class: isCategory(column) ? "" : "number", title: note }, Number.isNaN(value) ? h("i", {}, MISSING) : valueText(column, value)),
        reasons ? h("td", { class: "bars" }, signedBar(reasons.values[j], largest), h("span", { class: "amount" }, signedPercent(reasons.values[j]))) : null,
        h("td", { class: "bars" }, bar(rows.relevanceAt(i, j), { full: largestRelevance }), h("span", { class: "amount" }, percent(rows.relevanceAt(i, j), 1))),
        others.map((y) => td(typicalText(rows, column, y))));
    };
    const header = [th("column"), th("value", true), reasons ? th("adds") : null, th("relevance"), others.map((y) => th(`typical of ${rows.classes[y]}`))];
    const [shown, more] = [order.slice(0, 12), order.slice(12)];
    const base = reasons ? `Adds: what the value adds to the probability of ${rows.classes[prediction]}, from ${percent(reasons.base)} at rows to compare with to ${percent(vote.probabilities[prediction])} here. ` : "What each value adds is not in the file for this row. ";
    return h("section", {}, h("h3", {}, reasons ? "Reasons, and what matters here" : "What matters here"),
      table("Columns of the row", header, shown.map(line), "dense"),
      more.length ? h("details", {}, h("summary", {}, counted(more.length, "more column")), table("More columns of the row", header, more.map(line), "dense")) : null,
      h("p", { class: "soft" }, base, "Relevance: how much of the vote changes with the column, for rows like this one.", others.length ? " Typical: the middle 80% of the training rows of the class, or its most frequent categories." : ""));
  }
}

// Groups of rows: who is in them, what they have in common, and how they differ from the rest or from each other.

import { isCategory, quantiles } from "./data.js";
import { announce, bar, button, classLabel, download, h, replace, shareList, table, td, th, twoHistograms } from "./dom.js";
import { counted, grouped, percent, shortText, valueText } from "./format.js";
import { filterText, indicesOf } from "./select.js";
import { rowsAsCsv } from "./table.js";

const N_BINS = 12;
const MOST_COLUMNS = 15;
const MOST_CLASSES = 12;

// How differently a column is distributed in two sets of rows: the largest difference of the shares below a number,
// or half the sum of the differences of the shares of categories; 0 is the same, 1 is nothing in common.
export function difference(column, own, others) {
  const isGap = Number.isNaN;
  if (isCategory(column)) {
    const shares = (indices) => {
      const counts = new Map();
      for (const i of indices) counts.set(String(column.values[i]), (counts.get(String(column.values[i])) ?? 0) + 1 / indices.length);
      return counts;
    };
    const [a, b] = [shares(own), shares(others)];
    let total = 0;
    for (const key of new Set([...a.keys(), ...b.keys()])) total += Math.abs((a.get(key) ?? 0) - (b.get(key) ?? 0)) / 2;
    return total;
  }
  const sorted = (indices) => Float64Array.from(indices, (i) => column.values[i]).map((v) => (isGap(v) ? Infinity : v)).sort();
  const [a, b] = [sorted(own), sorted(others)];
  let [at, bt, most] = [0, 0, 0];
  while (at < a.length && bt < b.length) {
    const value = Math.min(a[at], b[bt]);
    while (at < a.length && a[at] <= value) at++;
    while (bt < b.length && b[bt] <= value) bt++;
    most = Math.max(most, Math.abs(at / a.length - bt / b.length));
  }
  return most;
}

// The values of a column in some rows, in a few words.
function typical(column, indices) {
  const values = indices.map((i) => column.values[i]);
  const present = values.filter((value) => !Number.isNaN(value));
  if (!present.length) return "missing";
  if (!isCategory(column)) {
    const [low, middle, high] = quantiles(present, [0.25, 0.5, 0.75]).map((value) => shortText(column, value));
    return `${middle} (${low} to ${high})`;
  }
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([value, n]) => `${valueText(column, value)} ${percent(n / values.length)}`).join(", ");
}

// The shares of some rows in bins over the range of a column, or in its categories.
function histogram(column, indices, limits) {
  const n = isCategory(column) ? Math.min(Math.max(column.categories.length, 2), 24) : N_BINS;
  const shares = new Array(n).fill(0);
  for (const i of indices) {
    const value = column.values[i];
    const bin = isCategory(column) ? value : Math.floor(((value - limits[0]) / (limits[1] - limits[0] || 1)) * n);
    if (!Number.isNaN(value)) shares[Math.min(Math.max(bin, 0), n - 1)] += 1 / indices.length;
  }
  return shares;
}

export class GroupView {
  constructor(app, box) {
    Object.assign(this, { app, box });
    const names = ["group", "other", "tab", "threshold"];
    app.state.on([...names, "filters"], (changed) => {
      if (app.state.get("tab") === "group" && names.some((name) => changed.includes(name))) this.show();
    });
    this.show();
  }

  describe(group) {
    if (group.polygon) return "drawn on the map";
    const texts = (group.filters ?? []).map((filter) => filterText(this.app.rows, filter));
    if (group.search) texts.push(`with “${group.search}”`);
    return texts.join("; ") || "all rows";
  }

  show() {
    const { app, box } = this;
    const { rows, state } = app;
    const mask = app.group("group");
    if (!mask) {
      replace(box, h("h2", {}, "Groups"), h("p", { class: "soft" }, "Choose “Draw around” above the map (or hold Shift) and draw around some points; or filter the table and choose “As group”. The page then says what these rows have in common."));
      return;
    }
    const [own, second] = [indicesOf(mask), app.group("other")];
    const rest = second ? indicesOf(second) : indicesOf(mask.map((value) => 1 - value));
    const otherName = second ? "second group" : "other rows";
    const actions = [
      button("Copy ids", () => this.copy(own), { id: "copy-ids" }), button("Rows as CSV", () => download("group.csv", rowsAsCsv(rows, own)), { id: "group-csv" }),
      second ? button("Swap", () => state.set({ group: state.get("other"), other: state.get("group") })) : button("Keep as second group", () => state.set({ other: state.get("group"), group: null }), { id: "keep-second", title: "Then choose another group, to compare the two" }),
      button("Clear", () => state.set({ group: null, other: null }), { id: "clear-group" }),
    ];
    const title = h("h2", {}, `Group of ${counted(own.length, "row")}`);
    app.tellSelected(own);
    if (!own.length || !rest.length) {
      replace(box, h("div", { class: "row-head" }, title, h("span", { class: "buttons" }, actions)), h("p", {}, own.length ? "There are no other rows to compare with." : "There is no row in it."));
      return;
    }
    replace(box, h("div", { class: "row-head" }, title, h("span", { class: "buttons" }, actions), h("p", { class: "soft" }, `${this.describe(state.get("group"))} · ${percent(own.length / rows.nRows, 1)} of all rows`, second ? ` · compared with ${counted(rest.length, "row")}: ${this.describe(state.get("other"))}` : "")),
      this.outcomes(own, rest, otherName), this.differences(own, rest, otherName));
  }

  // Class mix, accuracy and confidence, beside those of the others.
  outcomes(own, rest, otherName) {
    const { rows } = this.app;
    const labeled = (indices) => indices.filter((i) => rows.labels[i] >= 0);
    const shares = (indices) => {
      const counts = new Float64Array(rows.classes.length);
      const known = labeled(indices);
      for (const i of known) counts[rows.labels[i]] += 1 / known.length;
      return counts;
    };
    const [a, b] = [shares(own), shares(rest)];
    const order = Array.from(a.keys()).filter((y) => a[y] + b[y] > 0).sort((x, y) => a[y] - a[x] || b[y] - b[x]).slice(0, MOST_CLASSES);
    const items = order.map((y) => ({ label: classLabel(rows.classes[y], y), share: a[y], mark: b[y], color: `c${y % 10}`, text: `${percent(a[y])} (${percent(b[y])})` }));
    const accuracy = (indices) => {
      const known = labeled(indices);
      return known.length ? percent(known.filter((i) => !rows.isMistake(i)).length / known.length, 1) : "–";
    };
    const confidence = (indices) => percent(indices.reduce((sum, i) => sum + rows.confidences[i], 0) / indices.length, 1);
    return h("section", {}, h("h3", {}, `Labels, and in parentheses those of the ${otherName}`), shareList(items),
      h("p", {}, `Predicted correctly: ${accuracy(own)} (${accuracy(rest)}). Mean confidence: ${confidence(own)} (${confidence(rest)}).`));
  }

  // The columns that are distributed most differently, with relevances.
  differences(own, rest, otherName) {
    const { rows } = this.app;
    const sampled = (indices) => (indices.length > 20_000 ? indices.filter((_, k) => k % Math.ceil(indices.length / 20_000) === 0) : indices);
    const [a, b] = [sampled(own), sampled(rest)];
    const meanRelevance = (indices, j) => indices.reduce((sum, i) => sum + rows.relevanceAt(i, j), 0) / indices.length;
    const found = rows.columns.map((column, j) => ({ column, size: difference(column, a, b), relevance: meanRelevance(a, j), other: meanRelevance(b, j) })).sort((x, y) => y.size - x.size);
    const largest = Math.max(...found.map(({ relevance, other }) => Math.max(relevance, other)), 1e-9);
    const line = ({ column, size, relevance, other }) => {
      const limits = isCategory(column) ? null : quantiles(column.values, [0.01, 0.99]);
      return h("tr", {}, h("th", { scope: "row" }, column.name), h("td", { class: "bars" }, bar(size), h("span", { class: "amount" }, size.toFixed(2))),
        td(twoHistograms(histogram(column, a, limits), histogram(column, b, limits))), td(typical(column, a)), td(typical(column, b)),
        h("td", { class: "bars" }, bar(relevance / largest, { mark: other / largest }), h("span", { class: "amount" }, percent(relevance, 1))));
    };
    const header = [th("column"), th("difference"), th("distribution"), th("group"), th(otherName), th("mean relevance")];
    const [shown, more] = [found.slice(0, MOST_COLUMNS), found.slice(MOST_COLUMNS)];
    return h("section", {}, h("h3", {}, "Columns that differ most"), table("Columns by the size of their difference", header, shown.map(line), "dense"),
      more.length ? h("details", {}, h("summary", {}, counted(more.length, "more column")), table("Columns that differ less", header, more.map(line), "dense")) : null,
      h("p", { class: "soft" }, `Difference: the largest difference of the shares of rows up to a value (0: the same, 1: nothing in common); of categories, the share of the rows that would have to change. Numbers: median, and the middle half of the rows. Gray: the ${otherName}; the mark is their mean relevance.`));
  }

  async copy(indices) {
    const text = indices.map((i) => this.app.rows.id(i)).join("\n");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page in a file may not write to the clipboard in this way.
      const area = h("textarea", { value: text, class: "hidden" });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    announce(`${grouped(indices.length)} ids copied`);
  }
}

// Groups of rows: who is in them, what they have in common, and how they differ from the rest or from each other.

import { countsOf, isCategory, mean, quantiles } from "./data.js";
import {
  announce, bar, barCell, button, download, h, labelOf, longTable, panelHead, replace, shareList, td, th, twoHistograms,
} from "./dom.js";
import { counted, grouped, percent, shortText } from "./format.js";
import { frequentText } from "./row.js";
import { filterText, indicesOf } from "./select.js";
import { rowsAsCsv } from "./table.js";

const N_BINS = 12;
const MOST_COLUMNS = 15;
// Rows of a group, or of the others, by which distributions are compared.
const MOST_COMPARED = 20_000;
const MOST_CLASSES = 12;

// How differently a column is distributed in two sets of rows: the largest difference of the shares below a number,
// or half the sum of the differences of the shares of categories; 0 is the same, 1 is nothing in common.
export function difference(column, own, others) {
  if (isCategory(column)) {
    const [a, b] = [own, others].map((indices) => countsOf(indices.map((i) => column.values[i])));
    const share = (counts, value, n) => (counts.get(value) ?? 0) / n;
    const differs = (value) => Math.abs(share(a, value, own.length) - share(b, value, others.length)) / 2;
    return [...new Set([...a.keys(), ...b.keys()])].reduce((sum, value) => sum + differs(value), 0);
  }
  const sorted = (indices) => Float64Array.from(indices, (i) => column.values[i]).map((v) => (Number.isNaN(v) ? Infinity : v)).sort();
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
  return frequentText(column, values);
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
    app.state.on(["group", "other", "tab", "threshold"], () => app.state.get("tab") === "group" && this.show());
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
      const how = "Choose “Draw around” above the map (or hold Shift) and draw around some points";
      const text = `${how}; or filter the table and choose “As group”. The page then says what these rows have in common.`;
      return replace(box, h("h2", {}, "Groups"), h("p", { class: "soft" }, text));
    }
    const [own, second] = [indicesOf(mask), app.group("other")];
    const rest = second ? indicesOf(second) : indicesOf(mask.map((value) => 1 - value));
    const otherName = second ? "second group" : "other rows";
    const keep = { id: "keep-second", title: "Then choose another group, to compare the two" };
    const buttons = [
      button("Copy ids", () => this.copy(own), { id: "copy-ids" }),
      button("Rows as CSV", () => download("group.csv", rowsAsCsv(rows, own)), { id: "group-csv" }),
      second ? null : button("Keep as second group", () => state.set({ other: state.get("group"), group: null }), keep),
      button("Clear", () => state.set({ group: null, other: null }), { id: "clear-group" }),
    ];
    const size = `${this.describe(state.get("group"))} · ${percent(own.length / rows.nRows, 1)} of all rows`;
    const compared = second ? ` · compared with ${counted(rest.length, "row")}: ${this.describe(state.get("other"))}` : "";
    const head = panelHead(`Group of ${counted(own.length, "row")}`, buttons, h("p", { class: "soft" }, size, compared));
    app.tellSelected(own);
    if (!own.length) return replace(box, head, h("p", {}, "There is no row in it."));
    if (!rest.length) return replace(box, head, h("p", {}, "There are no other rows to compare with."));
    replace(box, head, this.outcomes(own, rest, otherName), this.differences(own, rest, otherName));
  }

  // Class mix, accuracy and confidence, beside those of the others.
  outcomes(own, rest, otherName) {
    const { rows } = this.app;
    const known = [own, rest].map((indices) => indices.filter((i) => rows.labels[i] >= 0));
    const counts = known.map((indices) => countsOf(indices.map((i) => rows.labels[i])));
    const [a, b] = counts.map((of, k) => (y) => (of.get(y) ?? 0) / Math.max(known[k].length, 1));
    const order = Array.from(rows.classes.keys()).filter((y) => a(y) + b(y) > 0).sort((x, y) => a(y) - a(x) || b(y) - b(x));
    const text = (y) => `${percent(a(y))} (${percent(b(y))})`;
    const item = (y) => ({ label: labelOf(rows, y), share: a(y), mark: b(y), color: `c${y % 10}`, text: text(y) });
    const [right, otherRight] = known.map((indices) => percent(mean(indices.map((i) => Number(!rows.isMistake(i)))), 1));
    const [sure, otherSure] = [own, rest].map((indices) => percent(mean(indices.map((i) => rows.confidences[i])), 1));
    const sentence = `Predicted correctly: ${right} (${otherRight}). Mean confidence: ${sure} (${otherSure}).`;
    const title = `Labels, and in parentheses those of the ${otherName}`;
    return h("section", {}, h("h3", {}, title), shareList(order.slice(0, MOST_CLASSES).map(item)), h("p", {}, sentence));
  }

  // The columns that are distributed most differently, with relevances.
  differences(own, rest, otherName) {
    const { rows } = this.app;
    const [a, b] = [own, rest].map((indices) => indices.filter((_, k) => k % Math.ceil(indices.length / MOST_COMPARED) === 0));
    const relevanceIn = (indices, j) => mean(indices.map((i) => rows.relevanceAt(i, j)));
    const describe = (column, j) => ({ column, size: difference(column, a, b), relevance: relevanceIn(a, j), other: relevanceIn(b, j) });
    const found = rows.columns.map(describe).sort((x, y) => y.size - x.size);
    const largest = Math.max(...found.map(({ relevance, other }) => Math.max(relevance, other)), 1e-9);
    const line = ({ column, size, relevance, other }) => {
      const limits = isCategory(column) ? null : quantiles(column.values, [0.01, 0.99]);
      const [own, others] = [a, b].map((indices) => histogram(column, indices, limits));
      return h("tr", {}, h("th", { scope: "row" }, column.name), barCell(bar(size), size.toFixed(2)),
        td(twoHistograms(own, others)), td(typical(column, a)), td(typical(column, b)),
        barCell(bar(relevance / largest, { mark: other / largest }), percent(relevance, 1)));
    };
    const header = [th("column"), th("difference"), th("distribution"), th("group"), th(otherName), th("mean relevance")];
    const notes = [
      "Difference: the largest difference of the shares of rows up to a value (0: the same, 1: nothing in common);",
      "of categories, the share of the rows that would have to change. Numbers: median, and the middle half of the rows.",
      `Gray: the ${otherName}; the mark is their mean relevance.`,
    ];
    return h("section", {}, h("h3", {}, "Columns that differ most"),
      longTable("Columns by the size of their difference", header, found.map(line), MOST_COLUMNS),
      h("p", { class: "soft" }, notes.join(" ")));
  }

  async copy(indices) {
    const text = indices.map((i) => this.app.rows.id(i)).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      announce(`${grouped(indices.length)} ids copied`);
    } catch {
      announce("The browser does not allow copying; take the rows as CSV");
    }
  }
}

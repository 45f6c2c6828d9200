// What all parts of the page share: rows, state, the model, and what follows from them.

import { button } from "./dom.js";
import { Marks } from "./review.js";
import { groupMask, rowsPassing } from "./select.js";
import { State } from "./state.js";

// Votes that are kept.
const MOST_VOTES = 200;

export class App {
  constructor(rows, asker, renderer) {
    Object.assign(this, { rows, asker, renderer });
    this.timings = { whatif: [], row: [] };
    this.votes = new Map();
    this.masks = new Map();
    this.state = new State({
      row: "", tab: "row", map: rows.maps[0].id, color: "label", search: "", filters: [], sort: null, group: null, other: null,
      edits: {}, frozen: [], threshold: 0.6, queue: "suspicious", theme: "",
    });
    this.marks = new Marks(rows);
  }

  // The selected row; −1 if there is none.
  row = () => this.rows.byKey.get(this.state.get("row")) ?? -1;

  // Select a row, and show it unless the view on the right follows rows itself.
  choose(i) {
    const tab = this.state.get("tab");
    this.state.set({ row: this.rows.key(i), tab: ["model", "group"].includes(tab) ? "row" : tab });
  }

  // A button with the name of a row that selects it.
  linkTo(i) {
    return button(this.rows.name(i), () => this.state.set({ row: this.rows.key(i), tab: "row" }), { class: "link" });
  }

  // The row of the model that does not vote on a row, as it is the row itself.
  exclude = (i) => (this.rows.isTraining && i < this.rows.nTraining ? i : -1);

  // A result that is kept until what it depends on has changed.
  kept(name, depends, compute) {
    const key = JSON.stringify(depends);
    if (this.masks.get(name)?.key !== key) this.masks.set(name, { key, value: compute() });
    return this.masks.get(name).value;
  }

  // Which rows pass the filters and the search.
  visible() {
    const [filters, search, threshold] = ["filters", "search", "threshold"].map((name) => this.state.get(name));
    const usesThreshold = filters.some(({ flag }) => flag === "rejected");
    const depends = [filters, search, usesThreshold && threshold];
    return this.kept("visible", depends, () => rowsPassing(this.rows, filters, search, threshold));
  }

  // Which rows are in the group, or in the other one that it is compared with; null if there is none.
  group(name) {
    const [group, threshold] = [this.state.get(name), this.state.get("threshold")];
    const coordinates = (map) => this.map.coordinates(map);
    return this.kept(name, [group, threshold], () => groupMask(this.rows, group, coordinates, threshold));
  }

  // The rows that have a share of a vote.
  votersOf({ rows, distances, shares }) {
    const voters = Array.from(rows, (row, k) => ({ row, distance: Math.sqrt(distances[k]), share: shares[k] }));
    return voters.filter(({ share }) => share > 0);
  }

  // Probabilities and voters of a row.
  async voteOf(i) {
    if (!this.votes.has(i)) {
      if (this.votes.size > MOST_VOTES) this.votes.clear();
      this.votes.set(i, this.rows.hasModel ? await this.predict(i) : this.storedVote(i));
    }
    return this.votes.get(i);
  }

  async predict(i) {
    const found = await this.asker.ask("predict", { row: this.rows.row(i), exclude: this.exclude(i) });
    return { probabilities: found.probabilities, voters: this.votersOf(found) };
  }

  // What the file has of the vote on a row, where the page cannot predict.
  storedVote(i) {
    const { rows } = this;
    const probabilities = new Float64Array(rows.nClasses);
    probabilities[rows.predictions[i]] = rows.confidences[i];
    probabilities[rows.runnerUps[i]] = rows.runnerUpProbabilities[i];
    const own = (values) => values.subarray(i * rows.nStored, (i + 1) * rows.nStored);
    const squared = own(rows.distances).map((distance) => distance * distance);
    return { probabilities, voters: this.votersOf({ rows: own(rows.neighbors), distances: squared, shares: own(rows.shares) }) };
  }

  // Tell the notebook around the page which rows are selected.
  tellSelected(indices) {
    if (window.parent !== window) window.parent.postMessage({ lannSelected: indices.map((i) => this.rows.id(i)) }, "*");
  }
}

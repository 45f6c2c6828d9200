// The page: what its parts share, and how it starts; in a worker, the model.

import { Asker, serveWorker } from "./ask.js";
import { Rows, unpack } from "./data.js";
import { button, h, replace } from "./dom.js";
import { counted, percent } from "./format.js";
import { GroupView } from "./groups.js";
import { MapView, mapTools } from "./map.js";
import { ModelView } from "./report.js";
import { Marks, ReviewView } from "./review.js";
import { RowView } from "./row.js";
import { groupMask, rowsPassing } from "./select.js";
import { State } from "./state.js";
import { TableView } from "./table.js";
import { WhatIfView } from "./whatif.js";

const TABS = { row: "Row", whatif: "What if", group: "Group", review: "Review", model: "Model" };
const THEMES = ["auto", "light", "dark"];

// What all parts of the page share.
class App {
  constructor(rows, asker, renderer) {
    Object.assign(this, { rows, asker, renderer });
    this.timings = { whatif: [], row: [] };
    this.votes = new Map();
    this.masks = new Map();
    this.ends = new Map();
    this.state = new State({
      row: "", tab: "row", map: rows.maps[0].id, color: "label", search: "", filters: [], sort: null, group: null, other: null,
      edits: {}, frozen: [], threshold: 0.6, queue: "suspicious", theme: "auto",
    });
    this.marks = new Marks(rows);
  }

  // The selected row; −1 if there is none.
  row = () => this.rows.byKey.get(this.state.get("row")) ?? -1;

  // The row of the model that does not vote on a row, as it is the row itself.
  exclude = (i) => (this.rows.isTraining && i < this.rows.nTraining ? i : -1);

  // A result that is kept until what it depends on has changed.
  kept(name, key, compute) {
    const known = this.masks.get(name);
    if (known?.key === key) return known.value;
    const value = compute();
    this.masks.set(name, { key, value });
    return value;
  }

  visible() {
    const { state } = this;
    const [filters, search, threshold] = ["filters", "search", "threshold"].map((name) => state.get(name));
    const depends = JSON.stringify([filters, search, JSON.stringify(filters).includes("rejected") && threshold]);
    return this.kept("visible", depends, () => rowsPassing(this.rows, filters, search, threshold));
  }

  group(name) {
    const group = this.state.get(name);
    const threshold = this.state.get("threshold");
    return this.kept(name, JSON.stringify([group, threshold]), () => groupMask(this.rows, group, (map) => this.map.coordinates(map), threshold));
  }

  extremes(field, n) {
    if (!this.ends.has(field.key)) {
      let [low, high] = [Infinity, -Infinity];
      for (let i = 0; i < n; i++) [low, high] = [Math.min(low, field.get(i) || (field.get(i) === 0 ? 0 : Infinity)), Math.max(high, Number.isNaN(field.get(i)) ? -Infinity : field.get(i))];
      this.ends.set(field.key, [low, high]);
    }
    return this.ends.get(field.key);
  }

  votersOf = ({ rows, distances, shares }) => Array.from(rows, (row, k) => ({ row, distance: Math.sqrt(distances[k]), share: shares[k] })).filter(({ share }) => share > 0);

  // Probabilities and voters of a row: asked from the model, or as they are stored in the file.
  async voteOf(i) {
    const known = this.votes.get(i);
    if (known) return known;
    const { rows } = this;
    let vote;
    if (rows.hasModel) {
      const found = await this.asker.ask("predict", { row: rows.row(i), exclude: this.exclude(i) });
      vote = { probabilities: found.probabilities, voters: this.votersOf(found) };
    } else {
      const n = rows.nStored;
      const probabilities = new Float64Array(rows.nClasses);
      probabilities[rows.predictions[i]] = rows.confidences[i];
      probabilities[rows.runnerUps[i]] = rows.runnerUpProbabilities[i];
      const stored = Array.from({ length: n }, (_, k) => ({ row: rows.neighbors[i * n + k], distance: rows.distances[i * n + k], share: rows.shares[i * n + k] }));
      vote = { probabilities, voters: stored.filter(({ share }) => share > 0) };
    }
    if (this.votes.size > 200) this.votes.clear();
    this.votes.set(i, vote);
    return vote;
  }

  // Tell the notebook around the page which rows are selected.
  tellSelected(indices) {
    if (window.parent !== window) window.parent.postMessage({ lannSelected: indices.map((i) => this.rows.id(i)) }, "*");
  }

  showRowIn(box) {
    box.append(this.rowView.box);
  }
}

function showHeader(app) {
  const { rows, state } = app;
  const labeled = Array.from(rows.labels.keys()).filter((i) => rows.labels[i] >= 0 && (rows.isTraining || rows.isNew(i)));
  const news = labeled.filter((i) => rows.isNew(i));
  const judged = news.length ? news : labeled;
  const right = judged.filter((i) => !rows.isMistake(i)).length;
  const kind = news.length ? "new rows" : "training rows, each without its own vote";
  const nNew = rows.nRows - rows.nTraining;
  const parts = [counted(rows.nTraining, rows.isTraining ? "training row" : "prototype"), nNew ? counted(nNew, "new row") : "", judged.length ? `${percent(right / judged.length, 1)} of the ${kind} predicted correctly` : ""];
  document.getElementById("subtitle").textContent = parts.filter(Boolean).join(" · ");
  const search = document.getElementById("search");
  let timer;
  search.value = state.get("search");
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => state.set({ search: search.value }), 150);
  });
  search.addEventListener("keydown", (event) => event.key === "Enter" && app.table.order.length && state.set({ search: search.value, row: rows.key(app.table.order[0]), tab: "row" }));
  state.on(["search"], () => search.value !== state.get("search") && (search.value = state.get("search")));
}

// Light, dark, or as the system has it.
function showTheme(app) {
  const control = document.getElementById("theme");
  const media = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = app.state.get("theme");
    document.documentElement.dataset.theme = theme === "auto" ? (media.matches ? "dark" : "light") : theme;
    control.textContent = `Theme: ${theme}`;
  };
  control.addEventListener("click", () => app.state.set({ theme: THEMES[(THEMES.indexOf(app.state.get("theme")) + 1) % 3] }));
  app.state.listeners.unshift({ keys: ["theme"], listener: apply });
  media.addEventListener("change", () => {
    apply();
    app.map?.showLooks();
  });
  apply();
}

function showTabs(app) {
  const { state } = app;
  const list = document.getElementById("tabs");
  const items = Object.entries(TABS).map(([name, title]) => button(title, () => state.set({ tab: name }), { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` }));
  replace(list, items);
  const show = () => {
    const current = TABS[state.get("tab")] ? state.get("tab") : "row";
    for (const name of Object.keys(TABS)) {
      const tab = document.getElementById(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === current));
      tab.tabIndex = name === current ? 0 : -1;
      document.getElementById(`panel-${name}`).hidden = name !== current;
    }
    if (current === "row") document.getElementById("panel-row").append(app.rowView.box);
  };
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const names = Object.keys(TABS);
    const next = names[(names.indexOf(state.get("tab")) + by + names.length) % names.length];
    state.set({ tab: next });
    document.getElementById(`tab-${next}`).focus();
  });
  state.on(["tab"], () => {
    show();
    // What if has marks of its own on the map.
    if (state.get("tab") !== "whatif") app.rowView.show();
  });
  show();
}

function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search").focus();
    } else if (event.key === "?") document.getElementById("help").showModal();
    else if (app.state.get("tab") !== "review" && event.key === "j") app.table.step(1);
    else if (app.state.get("tab") !== "review" && event.key === "k") app.table.step(-1);
  });
  const help = document.getElementById("help");
  document.getElementById("show-help").addEventListener("click", () => help.showModal());
  document.getElementById("close-help").addEventListener("click", () => help.close());
}

async function start() {
  const begin = performance.now();
  const text = (id) => document.getElementById(id)?.textContent ?? "";
  const rows = new Rows(await unpack(text("rows-data")));
  if (rows.task !== "classification") throw new Error(`The task ${rows.task} is unknown to this page.`);
  const asker = rows.hasModel ? new Asker(text("page-script")) : null;
  const given = new URLSearchParams(location.hash.slice(1));
  const app = new App(rows, asker, given.get("renderer") ?? "auto");
  const columns = rows.columns.map((column) => column.values.subarray(0, rows.nTraining));
  const opened = asker?.ask("open", { text: text("model-data"), columns, labels: Uint16Array.from(rows.labels.subarray(0, rows.nTraining)) });
  showTheme(app);
  showHeader(app);
  mapTools(new MapView(app));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  app.timings.map = performance.now() - begin;
  app.table = new TableView(app);
  app.rowView = new RowView(app, h("div", {}));
  showTabs(app);
  app.whatIf = new WhatIfView(app, document.getElementById("panel-whatif"));
  app.groups = new GroupView(app, document.getElementById("panel-group"));
  app.review = new ReviewView(app, document.getElementById("panel-review"));
  app.report = new ModelView(app, document.getElementById("panel-model"));
  listenToKeys(app);
  app.state.on(["row"], () => {
    if (app.row() < 0) return;
    app.tellSelected([app.row()]);
    // On narrow screens the details are not beside the table.
    if (getComputedStyle(document.querySelector(".left")).display === "contents" && document.activeElement?.closest(".list")) document.querySelector(".right").scrollIntoView();
  });
  // For questions from the console of the browser, and for tests.
  window.lannExplorer = app;
  document.documentElement.dataset.ready = "yes";
  await opened;
  app.timings.model = performance.now() - begin;
  document.documentElement.dataset.model = "yes";
}

if (typeof document === "undefined") serveWorker(globalThis);
else
  start().catch((error) => {
    document.getElementById("failure").hidden = false;
    document.getElementById("failure-text").textContent = error?.message ?? String(error);
    throw error;
  });

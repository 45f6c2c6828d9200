// The page, and how it starts; in a worker, the model.

import { App } from "./app.js";
import { Asker, serveWorker } from "./ask.js";
import { Rows, unpack } from "./data.js";
import { button, h, replace } from "./dom.js";
import { FilterBar } from "./filters.js";
import { counted, percent } from "./format.js";
import { GroupView } from "./groups.js";
import { MapView, mapTools } from "./map.js";
import { ModelView } from "./report.js";
import { ReviewView } from "./review.js";
import { RowView } from "./row.js";
import { TableView } from "./table.js";
import { WhatIfView } from "./whatif.js";

const TABS = { row: "Row", whatif: "What if", group: "Group", review: "Review", model: "Model" };
const element = (id) => document.getElementById(id);

function showHeader({ rows }) {
  const labeled = rows.shown.filter((i) => rows.labels[i] >= 0);
  const news = labeled.filter(rows.isNew);
  const judged = news.length ? news : labeled;
  const share = percent(judged.filter((i) => !rows.isMistake(i)).length / judged.length, 1);
  const kind = news.length ? "new rows" : "training rows, each without its own vote";
  const nNew = rows.nRows - rows.nTraining;
  const parts = [counted(rows.nTraining, rows.isTraining ? "training row" : "prototype")];
  if (nNew) parts.push(counted(nNew, "new row"));
  if (judged.length) parts.push(`${share} of the ${kind} predicted correctly`);
  element("subtitle").textContent = parts.join(" · ");
}

// The search: what is typed filters the table, Enter selects the first row that is found.
function listenToSearch(app) {
  const { rows, state } = app;
  const search = element("search");
  let timer;
  const show = () => search.value !== state.get("search") && (search.value = state.get("search"));
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => state.set({ search: search.value }), 150);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    state.set({ search: search.value });
    if (app.table.order.length) state.set({ row: rows.key(app.table.order[0]), tab: "row" });
  });
  state.on(["search"], show);
  show();
}

// Light or dark: as the system has it, until the button is pressed.
function showTheme({ state }) {
  const isDark = () => (state.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const apply = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    element("theme").textContent = isDark() ? "Light" : "Dark";
  };
  element("theme").addEventListener("click", () => state.set({ theme: isDark() ? "light" : "dark" }));
  state.on(["theme"], apply);
  apply();
}

function showTabs(app) {
  const [state, names] = [app.state, Object.keys(TABS)];
  const tab = (name) =>
    button(TABS[name], () => state.set({ tab: name }), { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` });
  replace(element("tabs"), names.map(tab));
  const show = () => {
    const current = TABS[state.get("tab")] ? state.get("tab") : "row";
    for (const name of names) {
      element(`tab-${name}`).setAttribute("aria-selected", String(name === current));
      element(`tab-${name}`).tabIndex = name === current ? 0 : -1;
      element(`panel-${name}`).hidden = name !== current;
    }
    if (current === "row") element("panel-row").append(app.rowView.box);
    // What if has marks of its own on the map.
    if (current !== "whatif") app.rowView.show();
  };
  element("tabs").addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = names[(names.indexOf(state.get("tab")) + by + names.length) % names.length];
    state.set({ tab: next });
    element(`tab-${next}`).focus();
  });
  state.on(["tab"], show);
  show();
}

function listenToKeys(app) {
  const help = element("help");
  element("show-help").addEventListener("click", () => help.showModal());
  element("close-help").addEventListener("click", () => help.close());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const step = app.state.get("tab") === "review" ? 0 : { j: 1, k: -1 }[event.key];
    if (step) app.table.step(step);
    else if (event.key === "?") help.showModal();
    else if (event.key === "/") {
      event.preventDefault();
      element("search").focus();
    }
  });
}

// Tell which row is selected; on narrow screens, where the details are not beside the table, scroll to them.
function followRow(app) {
  app.state.on(["row"], () => {
    if (app.row() < 0) return;
    app.tellSelected([app.row()]);
    const isNarrow = () => getComputedStyle(document.querySelector(".left")).display === "contents";
    if (document.activeElement?.closest(".list") && isNarrow()) document.querySelector(".right").scrollIntoView();
  });
}

async function start() {
  const begin = performance.now();
  const rows = new Rows(await unpack(element("rows-data").textContent));
  if (rows.task !== "classification") throw new Error(`The task ${rows.task} is unknown to this page.`);
  const asker = rows.hasModel ? new Asker(element("page-script").textContent) : null;
  const columns = rows.columns.map((column) => column.values.subarray(0, rows.nTraining));
  const labels = Uint16Array.from(rows.labels.subarray(0, rows.nTraining));
  const opened = asker?.ask("open", { text: element("model-data").textContent, columns, labels });
  const app = new App(rows, asker, new URLSearchParams(location.hash.slice(1)).get("renderer") ?? "auto");
  showTheme(app);
  showHeader(app);
  mapTools(new MapView(app));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  app.timings.map = performance.now() - begin;
  app.table = new TableView(app);
  new FilterBar(app);
  app.rowView = new RowView(app, h("div"));
  app.whatIf = new WhatIfView(app, element("panel-whatif"));
  new GroupView(app, element("panel-group"));
  new ModelView(app, element("panel-model"));
  showTabs(app);
  app.review = new ReviewView(app, element("panel-review"));
  listenToSearch(app);
  listenToKeys(app);
  followRow(app);
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
    element("failure").hidden = false;
    element("failure-text").textContent = error?.message ?? String(error);
    throw error;
  });

// The map: points, legend, tooltip, the lines from a row to the rows that decide, and what can be drawn around.

import { categoryNames, countsOf, quantiles } from "./data.js";
import { N_COLORS, N_SHAPES, button, classLabel, h, labelOf, replace, select } from "./dom.js";
import { MISSING, counted, extent, grouped, percent, valueText } from "./format.js";
import { LEVELS, Points } from "./points.js";
import { isRejected } from "./select.js";

const MOST_IN_LEGEND = 60;
// How much of its color a point has that is not among those in question.
const FAINT = 0.2;
// Neighbors that have a ring; all have a line.
const N_RINGS = 8;
const DECISIONS = ["accepted", "rejected as doubtful", "rejected as far"];

const toRgb = (color) => {
  const digits = color.trim().slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
};

// Where a new row is among its neighbors, as lann.embedding lays it out: each neighbor counts with its similarity, and one
// that is far from the others hardly counts. neighbors: {rows, distances}
export function placeAmong({ rows, distances }, { x, y }, scale) {
  const weights = Array.from(distances, (d) => (d === distances[0] ? 1 : distances[0] / d));
  const unit = scale * scale || 1;
  const squared = (ax, ay, j) => (ax - x[j]) ** 2 + (ay - y[j]) ** 2;
  const cost = (i) => weights.reduce((sum, weight, k) => sum + weight * Math.log1p(squared(x[i], y[i], rows[k]) / unit), 0);
  const costs = Array.from(rows, cost);
  const start = rows[costs.indexOf(Math.min(...costs))];
  let [px, py] = [x[start], y[start]];
  for (let step = 0; step < 200; step++) {
    let [whole, sx, sy] = [0, 0, 0];
    weights.forEach((own, k) => {
      const weight = own / (1 + squared(px, py, rows[k]) / unit);
      whole += weight;
      sx += weight * x[rows[k]];
      sy += weight * y[rows[k]];
    });
    const moved = (sx / whole - px) ** 2 + (sy / whole - py) ** 2;
    [px, py] = [sx / whole, sy / whole];
    if (moved < 1e-12 * unit) break;
  }
  return [px, py];
}

export class MapView {
  constructor(app) {
    this.app = app;
    app.map = this; // groups that are drawn need its coordinates
    const { state } = app;
    this.box = document.getElementById("map-box");
    this.overlay = document.getElementById("map-overlay");
    this.tooltip = document.getElementById("map-tooltip");
    const on = {
      hover: (i, at) => this.hover(i, at),
      choose: (i) => i >= 0 && app.choose(i),
      outline: (polygon) => this.takeOutline(polygon),
      moved: () => this.drawOverlay(),
    };
    this.points = new Points(this.box, document.getElementById("map-points"), on, app.renderer);
    this.coordinateCache = new Map();
    state.on(["map"], () => this.showCoordinates());
    state.on(["color", "threshold", "theme", "filters", "search", "group", "other"], () => this.showLooks());
    state.on(["row"], () => {
      const i = app.row();
      if (i >= 0) this.points.reveal(i);
    });
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.showCoordinates();
    this.showLooks();
  }

  // The coordinates of a map of the state: an embedding, or "xy:1:2" for two columns.
  coordinates(name = this.app.state.get("map")) {
    const { rows } = this.app;
    const found = rows.maps.find((map) => map.id === name) ?? this.coordinateCache.get(name);
    if (found) return found;
    const match = /^xy:(\d+):(\d+)$/.exec(name);
    if (!match || !rows.columns[match[1]] || !rows.columns[match[2]]) return rows.maps[0];
    const axes = [match[1], match[2]].map((j, axis) => this.axisOf(rows.columns[j], axis));
    const own = { id: name, x: axes[0].values, y: axes[1].values, axes };
    this.coordinateCache.set(name, own);
    return own;
  }

  // The values of a column from 0 to 1; categories are spread a little, and gaps are below 0.
  axisOf(column, axis) {
    const spread = (i) => (((i + 1) * (axis ? 0.754877666 : 0.569840291)) % 1) - 0.5;
    const names = categoryNames(column);
    const [low, high] = names ? [-0.5, names.length - 0.5] : extent(column.values);
    const ends = names ? names.slice(0, 6).join(", ") : `${valueText(column, low)} to ${valueText(column, high)}`;
    const place = (value, i) => {
      if (Number.isNaN(value)) return -0.06 + 0.03 * spread(i);
      return (value + (names ? 0.7 * spread(i) : 0) - low) / (high - low || 1);
    };
    return { column, title: `${column.name}: ${ends} →`, place, values: Float32Array.from(column.values, place) };
  }

  showCoordinates() {
    const { rows, state } = this.app;
    const name = state.get("map");
    const { x, y, axes: titles } = this.coordinates();
    this.points.setPositions(x, y);
    ["map-x-title", "map-y-title"].forEach((id, axis) => (document.getElementById(id).textContent = titles?.[axis].title ?? ""));
    const options = rows.maps.map(({ id, title }) => ({ value: id, title }));
    const [, first, second] = /^xy:(\d+):(\d+)$/.exec(name) ?? [];
    const columns = rows.order.map((j) => ({ value: String(j), title: rows.columns[j].name }));
    const pair = `xy:${rows.order[0]}:${rows.order[1] ?? rows.order[0]}`;
    const choose = (value) => state.set({ map: value === "xy" ? pair : value });
    const current = first === undefined ? this.coordinates().id : "xy";
    const chooser = select("Map", [...options, { value: "xy", title: "Two columns" }], current, choose, { id: "map-choice" });
    const axes = first === undefined ? [] : [
      select("Horizontal column", columns, first, (j) => state.set({ map: `xy:${j}:${second}` }), { id: "map-x" }), "×",
      select("Vertical column", columns, second, (j) => state.set({ map: `xy:${first}:${j}` }), { id: "map-y" }),
    ];
    replace(document.getElementById("map-chooser"), chooser, axes);
    this.showColorChooser();
  }

  showColorChooser() {
    const { rows, state } = this.app;
    const option = (key) => ({ value: key, title: rows.fields.get(key).title });
    const results = ["label", "prediction", "confidence", "error", "suspicion"].filter((key) => rows.fields.has(key)).map(option);
    results.push({ value: "decision", title: "decision" });
    const groups = [
      { title: "Results", options: results },
      { title: "Columns", options: rows.order.map((j) => option(`column:${j}`)) },
      { title: "Relevance of", options: rows.order.map((j) => ({ value: `relevance:${j}`, title: rows.columns[j].name })) },
    ];
    this.colorChooser = select("Color", groups, state.get("color"), (color) => state.set({ color }), { id: "color-choice" });
    replace(document.getElementById("color-chooser"), h("label", {}, "Color ", this.colorChooser));
  }

  // The field by which points are colored.
  field() {
    const { rows, state } = this.app;
    if (state.get("color") !== "decision") return rows.fields.get(state.get("color")) ?? rows.fields.get("label");
    const get = (i) => (rows.far[i] ? 2 : Number(isRejected(rows, i, state.get("threshold"))));
    return { key: "decision", title: "decision", kind: "category", categories: DECISIONS, get, text: (i) => DECISIONS[get(i)] };
  }

  showLooks() {
    const { rows } = this.app;
    const style = getComputedStyle(document.documentElement);
    const palette = Array.from({ length: N_COLORS }, (_, k) => toRgb(style.getPropertyValue(`--c${k}`)));
    const ramp = Array.from({ length: 5 }, (_, k) => toRgb(style.getPropertyValue(`--r${k}`)));
    const [none, page] = ["--none", "--card"].map((name) => toRgb(style.getPropertyValue(name)));
    const field = this.field();
    this.colorChooser.value = field.key;
    const n = rows.nRows;
    const [colors, shapes, levels] = [new Uint8Array(4 * n), new Uint8Array(n), new Uint8Array(n)];
    const values = Float64Array.from({ length: n }, (_, i) => field.get(i));
    const range = field.kind === "number" ? this.rangeOf(field, values) : null;
    const visible = this.app.visible();
    const [own, other] = [this.app.group("group"), this.app.group("other")];
    for (let i = 0; i < n; i++) {
      const value = values[i];
      const shown = rows.labels[i] >= 0 ? rows.labels[i] : rows.predictions[i];
      let color = none;
      if (range && !Number.isNaN(value)) color = between(ramp, (value - range[0]) / (range[1] - range[0] || 1));
      else if (!range && value >= 0) color = palette[value % N_COLORS];
      shapes[i] = (range ? shown : value >= 0 ? value : 0) % N_SHAPES;
      const isMember = own?.[i] || other?.[i];
      levels[i] = !visible[i] ? LEVELS.faint : own || other ? (isMember ? LEVELS.strong : LEVELS.faint) : LEVELS.normal;
      if (levels[i] === LEVELS.faint) color = between([page, color], FAINT);
      colors.set(color, 4 * i);
    }
    this.points.setLooks(colors, shapes, levels);
    this.showLegend(field, range, values, visible, ramp);
    this.drawOverlay();
  }

  rangeOf(field, values) {
    if (["confidence", "error", "suspicion"].includes(field.key)) return [0, 1];
    const [low, high] = quantiles(values, [0.02, 0.98]);
    return low < high ? [low, high] : quantiles(values, [0, 1]);
  }

  showLegend(field, range, values, visible, ramp) {
    const { state } = this.app;
    const legend = document.getElementById("map-legend");
    if (range) {
      const [low, high] = range.map((value) => (field.column ? valueText(field.column, value) : percent(value)));
      const stops = ramp.map((color) => `rgb(${color})`).join(",");
      const colors = h("i", { style: `background:linear-gradient(to right,${stops})` });
      const gaps = field.column && values.some(Number.isNaN) ? h("span", { class: "gap-mark" }, MISSING) : null;
      return replace(legend, h("span", { class: "ramp" }, low, colors, high), gaps);
    }
    const counts = countsOf(values.filter((_, i) => visible[i]));
    const others = state.get("filters").filter((filter) => filter.field !== field.key);
    const isOnly = (code) => state.get("filters").some((filter) => filter.field === field.key && filter.values?.join() === String(code));
    const toggle = (code) => state.set({ filters: isOnly(code) ? others : [...others, { field: field.key, values: [code] }] });
    const item = (name, code) => {
      const label = [classLabel(name, code), h("small", {}, grouped(counts.get(code) ?? 0))];
      const properties = { class: "legend-item", disabled: field.key === "decision", "aria-pressed": String(isOnly(code)) };
      return button(label, () => toggle(code), { ...properties, title: "Show these rows only" });
    };
    const hidden = field.categories.length - MOST_IN_LEGEND;
    const more = hidden > 0 ? h("small", {}, `and ${counted(hidden, "more value")}`) : null;
    replace(legend, field.categories.slice(0, MOST_IN_LEGEND).map(item), more);
  }

  hover(i, at) {
    const { rows } = this.app;
    this.box.style.cursor = i >= 0 ? "pointer" : "";
    this.tooltip.hidden = i < 0;
    if (i < 0) return;
    const field = this.field();
    const label = rows.labels[i] >= 0 ? labelOf(rows, rows.labels[i]) : null;
    const prediction = h("span", {}, `predicted ${rows.classes[rows.predictions[i]]}, ${percent(rows.confidences[i])}`);
    const isKnown = ["label", "prediction", "confidence"].includes(field.key);
    replace(this.tooltip, h("b", {}, rows.name(i)), label, prediction, isKnown ? null : h("span", {}, `${field.title}: ${field.text(i)}`));
    const { width } = this.points;
    const side = at[0] > width / 2 ? `right:${width - at[0] + 14}px` : `left:${at[0] + 14}px`;
    this.tooltip.style.cssText = `${side};top:${Math.max(at[1] - 20, 4)}px`;
  }

  takeOutline(polygon) {
    const step = Math.max(Math.ceil(polygon.length / 80), 1);
    const rounded = polygon.filter((_, k) => k % step === 0).map((point) => point.map((value) => Number(value.toPrecision(5))));
    if (rounded.length < 3) return this.drawOverlay();
    this.app.state.set({ group: { map: this.app.state.get("map"), polygon: rounded }, tab: "group" });
  }

  press(event) {
    if (event.target !== this.box) return;
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key]) this.points.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.points.zoom(1.4);
    else if (event.key === "-") this.points.zoom(1 / 1.4);
    else if (event.key === "0") this.points.fit();
    else return;
    event.preventDefault();
  }

  // Set the tool: "pan", or "lasso" to draw around rows.
  setTool(tool) {
    this.points.tool = tool;
    this.box.classList.toggle("lasso", tool === "lasso");
  }

  // The lines from a row to the rows that decide, and other marks over the points.
  drawOverlay() {
    const { points, overlay } = this;
    const ratio = window.devicePixelRatio || 1;
    if (overlay.width !== points.canvas.width || overlay.height !== points.canvas.height)
      [overlay.width, overlay.height] = [points.canvas.width, points.canvas.height];
    const context = overlay.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, points.width, points.height);
    if (!points.x) return;
    const style = getComputedStyle(document.documentElement);
    const [ink, accent, page] = ["--ink", "--accent", "--card"].map((name) => style.getPropertyValue(name).trim());
    const place = (i) => points.toScreen(points.x[i], points.y[i]);
    const ring = ([x, y], radius, color, width = 2) => {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.lineWidth = width + 2;
      context.strokeStyle = page;
      context.stroke();
      context.lineWidth = width;
      context.strokeStyle = color;
      context.stroke();
    };
    this.drawOutlines(context, points, accent);
    const { marked } = this;
    if (marked) {
      const at = marked.at ? points.toScreen(...marked.at) : place(marked.row);
      context.strokeStyle = ink;
      marked.voters.forEach(({ row, share }, k) => {
        const to = place(row);
        context.globalAlpha = 0.25 + 0.6 * Math.min(share * 4, 1);
        context.lineWidth = 0.75 + 5 * share;
        context.beginPath();
        context.moveTo(...at);
        context.lineTo(...to);
        context.stroke();
        context.globalAlpha = 1;
        if (k < N_RINGS) ring(to, points.radius + 2, ink, 1);
      });
      if (marked.at && marked.row >= 0) ring(place(marked.row), points.radius + 3, ink, 1);
      ring(at, points.radius + 5, accent, 2.5);
    }
  }

  drawOutlines(context, points, accent) {
    const { state } = this.app;
    const groups = ["group", "other"].map((name) => state.get(name)).filter((group) => group?.polygon && group.map === state.get("map"));
    const outlines = [...groups.map((group) => group.polygon), ...(points.outline ? [points.outline] : [])];
    context.strokeStyle = accent;
    context.fillStyle = accent;
    for (const polygon of outlines) {
      context.beginPath();
      for (const point of polygon) context.lineTo(...points.toScreen(...point));
      context.closePath();
      context.globalAlpha = 0.07;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }

  // Mark a row, or a place for a changed row, with lines to its neighbors; null marks nothing.
  mark(marked) {
    this.marked = marked;
    this.drawOverlay();
  }

  // Where a changed row is: among its neighbors, or at its values.
  placeOf(row, neighbors) {
    const { axes, x, y, scale } = this.coordinates();
    if (axes) return axes.map(({ column, place }) => place(row[column.index], 0));
    return placeAmong(neighbors, { x, y }, scale);
  }

  // How many rows of the model are nearer to a row on the map than another one.
  rankOnMap(i, j) {
    const { x, y } = this.coordinates();
    const distance = (k) => (x[k] - x[i]) ** 2 + (y[k] - y[i]) ** 2;
    const own = distance(j);
    let rank = 1;
    for (let k = 0; k < this.app.rows.nTraining; k++) if (k !== i && distance(k) < own) rank++;
    return rank;
  }
}

// A color between those of a ramp.
function between(ramp, share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[low].map((value, channel) => value + (ramp[low + 1][channel] - value) * (at - low));
}

// The buttons beside the map.
export function mapTools(view) {
  const tools = ["pan", "lasso"].map((tool) => button(tool === "pan" ? "Move" : "Draw around", () => choose(tool),
    { id: `tool-${tool}`, "aria-pressed": String(tool === "pan") }));
  const choose = (tool) => {
    view.setTool(tool);
    tools.forEach((item) => item.setAttribute("aria-pressed", String(item.id === `tool-${tool}`)));
  };
  replace(
    document.getElementById("map-tools"), tools,
    button("+", () => view.points.zoom(1.5), { "aria-label": "+ zoom in" }),
    button("−", () => view.points.zoom(1 / 1.5), { "aria-label": "− zoom out" }),
    button("Fit", () => view.points.fit(), { title: "Show all points" }),
  );
}

// The map: points, legend, tooltip, the lines from a row to the rows that decide, and what can be drawn around.

import { isCategory, quantiles } from "./data.js";
import { N_COLORS, N_SHAPES, button, classLabel, h, replace, select } from "./dom.js";
import { MISSING, counted, general, grouped, numberText, percent, valueText } from "./format.js";
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

// Where a new row is among its neighbors, as lann.embedding places it: each neighbor counts with its similarity, and one
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
    const { rows, state } = app;
    this.box = document.getElementById("map-box");
    this.overlay = document.getElementById("map-overlay");
    this.tooltip = document.getElementById("map-tooltip");
    const on = {
      hover: (i, at) => this.hover(i, at),
      choose: (i) => i >= 0 && state.set({ row: rows.key(i), tab: state.get("tab") === "model" || state.get("tab") === "group" ? "row" : state.get("tab") }),
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
      this.showLooks();
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
    const present = Array.from(column.values).filter((value) => !Number.isNaN(value));
    const low = isCategory(column) ? -0.5 : present.reduce((least, v) => Math.min(least, v), Infinity);
    const high = isCategory(column) ? Math.max(column.categories?.length ?? 2, 2) - 0.5 : present.reduce((most, v) => Math.max(most, v), -Infinity);
    const place = (value, i) => {
      if (Number.isNaN(value)) return -0.06 + 0.03 * spread(i);
      return (value + (isCategory(column) ? 0.7 * spread(i) : 0) - low) / (high - low || 1);
    };
    return { column, low, high, place, values: Float32Array.from(column.values, place) };
  }

  showCoordinates() {
    const { rows, state } = this.app;
    const name = state.get("map");
    const { x, y } = this.coordinates();
    this.points.setPositions(x, y);
    const options = rows.maps.map(({ id, title }) => ({ value: id, title }));
    const [, first, second] = /^xy:(\d+):(\d+)$/.exec(name) ?? [];
    const columns = rows.order.map((j) => ({ value: String(j), title: rows.columns[j].name }));
    const pair = `xy:${rows.order[0]}:${rows.order[1] ?? rows.order[0]}`;
    const chooser = select("Map", [...options, { value: "xy", title: "Two columns" }], first === undefined ? this.coordinates().id : "xy", (value) => state.set({ map: value === "xy" ? pair : value }), { id: "map-choice" });
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
    const chooser = select("Color", groups, state.get("color"), (color) => state.set({ color }), { id: "color-choice" });
    replace(document.getElementById("color-chooser"), h("label", {}, "Color ", chooser));
  }

  // The field by which points are colored.
  field() {
    const { rows, state } = this.app;
    if (state.get("color") !== "decision") return rows.fields.get(state.get("color")) ?? rows.fields.get("label");
    const get = (i) => (rows.far[i] ? 2 : Number(isRejected(rows, i, state.get("threshold"))));
    return { key: "decision", title: "decision", kind: "category", categories: DECISIONS, get, text: (i) => DECISIONS[get(i)] };
  }

  showLooks() {
    const { rows, state } = this.app;
    const style = getComputedStyle(document.documentElement);
    const palette = Array.from({ length: N_COLORS }, (_, k) => toRgb(style.getPropertyValue(`--c${k}`)));
    const ramp = Array.from({ length: 5 }, (_, k) => toRgb(style.getPropertyValue(`--r${k}`)));
    const [none, page] = ["--none", "--card"].map((name) => toRgb(style.getPropertyValue(name)));
    const field = this.field();
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
    const { rows, state } = this.app;
    const legend = document.getElementById("map-legend");
    if (range) {
      const text = (value) => (field.column ? valueText(field.column, value) : field.key.startsWith("relevance") || range[1] <= 1 ? percent(value) : general(value, 3));
      const stops = ramp.map((color) => `rgb(${color})`).join(",");
      const gaps = values.some(Number.isNaN);
      replace(legend, h("span", { class: "ramp" }, text(range[0]), h("i", { style: `background:linear-gradient(to right,${stops})` }), text(range[1])), gaps && field.column ? h("span", { class: "gap-mark" }, MISSING) : null);
      return;
    }
    const counts = new Map();
    for (let i = 0; i < values.length; i++) if (visible[i]) counts.set(values[i], (counts.get(values[i]) ?? 0) + 1);
    const filters = state.get("filters").filter((filter) => filter.field !== field.key);
    const current = state.get("filters").find((filter) => filter.field === field.key && filter.values)?.values;
    const toggle = (code) => {
      const kept = current?.length === 1 && current[0] === code ? filters : [...filters, { field: field.key, values: [code] }];
      state.set({ filters: kept });
    };
    const names = [...field.categories.keys()].slice(0, MOST_IN_LEGEND);
    const hidden = field.categories.length - names.length;
    replace(
      legend,
      names.map((code) => h("button", {
        type: "button", class: "legend-item", disabled: field.key === "decision", "aria-pressed": String(current?.includes(code) ?? false),
        title: "Show these rows only", onclick: () => toggle(code),
      }, classLabel(field.categories[code], code), h("small", {}, grouped(counts.get(code) ?? 0)))),
      hidden > 0 ? h("small", {}, `and ${counted(hidden, "more value")}`) : null,
    );
  }

  hover(i, at) {
    const { rows } = this.app;
    this.box.style.cursor = i >= 0 ? "pointer" : "";
    this.tooltip.hidden = i < 0;
    if (i < 0) return;
    const field = this.field();
    const lines = [h("b", {}, rows.name(i)), rows.labels[i] >= 0 ? classLabel(rows.classes[rows.labels[i]], rows.labels[i]) : null,
      h("span", {}, `predicted ${rows.classes[rows.predictions[i]]}, ${percent(rows.confidences[i])}`)];
    if (!["label", "prediction", "confidence"].includes(field.key)) lines.push(h("span", {}, `${field.title}: ${field.text(i)}`));
    replace(this.tooltip, lines);
    const left = at[0] > this.points.width / 2;
    this.tooltip.style.cssText = `${left ? "right" : "left"}:${left ? this.points.width - at[0] + 14 : at[0] + 14}px;top:${Math.max(at[1] - 20, 4)}px`;
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
      marked.neighbors.forEach((j, k) => {
        const to = place(j);
        context.globalAlpha = 0.25 + 0.6 * Math.min(marked.shares[k] * 4, 1);
        context.lineWidth = 0.75 + 5 * marked.shares[k];
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
    this.drawAxes(context, points, style.getPropertyValue("--soft").trim());
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

  drawAxes(context, points, color) {
    const { axes } = this.coordinates();
    if (!axes) return;
    context.fillStyle = color;
    context.font = "12px system-ui, sans-serif";
    const text = ({ column, low, high }) => {
      const names = isCategory(column) ? `${column.name}: ${(column.kind === "bool" ? [column.words[1], column.words[0]] : column.categories).slice(0, 6).join(", ")}` : null;
      return names ?? `${column.name}: ${[low, high].map((v) => (column.kind === "number" ? numberText(v, column.notation) : valueText(column, v))).join(" to ")}`;
    };
    context.textAlign = "center";
    context.fillText(`${text(axes[0])} →`, points.width / 2, points.height - 6, points.width - 40);
    context.save();
    context.translate(13, points.height / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(`${text(axes[1])} →`, 0, 0, points.height - 40);
    context.restore();
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
  const tools = ["pan", "lasso"].map((tool) => button(tool === "pan" ? "Move" : "Draw around", () => choose(tool), { id: `tool-${tool}`, "aria-pressed": String(tool === "pan") }));
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

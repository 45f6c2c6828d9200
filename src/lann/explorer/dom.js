// Elements, small charts, and what components share.

import { counted, percent } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
export const N_COLORS = 10;
export const N_SHAPES = 7;

// Those of some children that are there: elements and texts.
const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "style") element.style.cssText = value;
    else if (name in element && !(element instanceof SVGElement) && name !== "list") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

// An element with properties, attributes and listeners ("onclick"), and children: texts are never markup.
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

export const replace = (element, ...children) => element.replaceChildren(...present(children));

export const button = (text, onclick, properties) => h("button", { type: "button", onclick, ...properties }, text);

export function select(label, options, value, onchange, properties) {
  const items = options.map((option) =>
    option.options
      ? h("optgroup", { label: option.title }, option.options.map((one) => h("option", { value: one.value }, one.title)))
      : h("option", { value: option.value }, option.title),
  );
  const control = h("select", { "aria-label": label, onchange: (event) => onchange(event.target.value), ...properties }, items);
  control.value = value;
  return control;
}

// A label with the color and the shape of its class.
export const classLabel = (text, index) =>
  h("span", { class: `class-label c${index % N_COLORS} s${index % N_SHAPES}` }, text);

export const labelOf = (rows, index) => classLabel(rows.classes[index], index);

// A bar from 0 to 1, with a mark at another share.
export function bar(share, { color = "", mark = null, full = 1 } = {}) {
  const width = (value) => `${(100 * Math.min(Math.max(value / full, 0), 1)).toFixed(2)}%`;
  return h(
    "span", { class: `bar ${color}`, "aria-hidden": "true" },
    h("span", { style: `width:${width(share)}` }),
    mark === null ? null : h("i", { style: `left:${width(mark)}` }),
  );
}

// A bar to the right of the middle above 0, to the left below.
export function signedBar(value, full) {
  const width = full > 0 ? Math.min(50 * Math.abs(value / full), 50) : 0;
  const side = value >= 0 ? "left" : "right";
  return h("span", { class: `bar signed ${value >= 0 ? "for" : "against"}`, "aria-hidden": "true" },
    h("span", { style: `${side}:50%;width:${width.toFixed(2)}%` }));
}

export const barCell = (own, text) => h("td", { class: "bars" }, own, h("span", { class: "amount" }, text));
export const th = (text, number = false) => h("th", { scope: "col", class: number ? "number" : "" }, text);
export const td = (content, number = false) => h("td", { class: number ? "number" : "" }, content);

// A table in a box that scrolls; the caption is for screen readers.
export function table(caption, header, rows, className = "") {
  return h(
    "div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
    h("table", { class: className }, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, header.flat().map((cell) => cell?.cloneNode(true)))), h("tbody", {}, rows)),
  );
}

// A table of which the lines after the first n are folded.
export function longTable(caption, header, lines, n) {
  const rest = lines.slice(n);
  const more = counted(rest.length, "more column");
  const folded = () => h("details", {}, h("summary", {}, more), table(`${caption}: ${more}`, header, rest, "dense"));
  return [table(caption, header, lines.slice(0, n), "dense"), rest.length ? folded() : null];
}

// The first line of a panel.
export const panelHead = (title, buttons, ...notes) =>
  h("div", { class: "row-head" }, h("h2", {}, title), h("span", { class: "buttons" }, buttons), notes);

// A list of shares with bars: [{label, share, color, mark}].
export const shareList = (items) =>
  h("div", { class: "shares" }, items.map((item) => [
    h("span", {}, item.label), bar(item.share, item), h("span", { class: "amount" }, item.text ?? percent(item.share)),
  ]));

// A line chart: series of points [x, y] within limits, with a mark at one x.
export function lineChart({ label, series, xs, ys, xTitle, yTitle, mark = null, xText = String, yText = String }) {
  const [width, height, left, bottom] = [320, 150, 44, 30];
  const x = (value) => left + ((value - xs[0]) / (xs[1] - xs[0] || 1)) * (width - left - 8);
  const y = (value) => height - bottom - ((value - ys[0]) / (ys[1] - ys[0] || 1)) * (height - bottom - 8);
  const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const text = (content, at) => s("text", at, content);
  return s(
    "svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    s("path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - 8}` }),
    mark === null ? null : s("path", { class: "mark", d: `M${x(mark)} 8V${height - bottom}` }),
    series.map((points, i) => s("path", { class: `line l${i}`, d: path(points) })),
    text(xText(xs[0]), { x: left, y: height - bottom + 12 }),
    text(xText(xs[1]), { x: width - 8, y: height - bottom + 12, "text-anchor": "end" }),
    text(xTitle, { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }),
    text(yText(ys[1]), { x: left - 4, y: 15, "text-anchor": "end" }),
    text(yText(ys[0]), { x: left - 4, y: height - bottom, "text-anchor": "end" }),
    yTitle ? text(yTitle, { x: 10, y: (height - bottom) / 2, "text-anchor": "middle",
      transform: `rotate(-90 10 ${(height - bottom) / 2})` }) : null,
  );
}

// Bars of two distributions over the same bins: that of a group, and behind it that of the others.
export function twoHistograms(own, other) {
  const [width, height] = [72, 18];
  const most = Math.max(...own, ...other, 1e-9);
  const step = width / own.length;
  const bars = (values, className) => values.map((value, i) =>
    s("rect", { class: className, x: i * step, width: Math.max(step - 0.5, 0.5), y: height - (height * value) / most,
      height: (height * value) / most }));
  return s("svg", { class: "histograms", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, bars(other, "other"),
    bars(own, "own"));
}

export function download(name, text, type = "text/csv;charset=utf-8") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Say something to screen readers, and shortly to all.
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = text;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => (live.textContent = ""), 4000);
}

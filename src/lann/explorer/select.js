// Which rows are shown, and which are in a group: filters, search and outlines drawn on the map.

import { categoryNames } from "./data.js";
import { general, numberText, valueText } from "./format.js";

export const FLAGS = {
  mistaken: { title: "mistaken", test: (rows, i) => rows.isMistake(i) },
  doubtful: { title: "doubtful", test: (rows, i) => rows.isDoubtful(i) },
  far: { title: "far from all training rows", short: "far", test: (rows, i) => rows.far[i] === 1 },
  suspicious: { title: "suspicious label", test: (rows, i) => rows.isSuspicious(i) },
  rejected: { title: "rejected", test: (rows, i, threshold) => isRejected(rows, i, threshold) },
  training: { title: "training rows", test: (rows, i) => !rows.isNew(i) },
  new: { title: "new rows", test: (rows, i) => rows.isNew(i) },
};

export const isRejected = (rows, i, threshold) => rows.far[i] === 1 || rows.confidences[i] < threshold;

// A function from a row to whether it passes a filter; null for a filter that an address has wrong.
function compile(rows, filter, threshold) {
  if (filter?.flag in FLAGS) return (i) => FLAGS[filter.flag].test(rows, i, threshold);
  const field = rows.fields.get(filter?.field);
  if (!field) return null;
  if (Array.isArray(filter.values)) {
    const wanted = new Set(filter.values.map((value) => value ?? "gap"));
    return (i) => wanted.has(Number.isNaN(field.get(i)) ? "gap" : field.get(i));
  }
  if (!Array.isArray(filter.range)) return null;
  const [low, high] = [filter.range[0] ?? -Infinity, filter.range[1] ?? Infinity];
  return (i) => field.get(i) >= low && field.get(i) <= high;
}

// Which rows pass all filters and have the text: an array of 0 and 1.
export function rowsPassing(rows, filters, search, threshold) {
  const tests = (Array.isArray(filters) ? filters : []).map((filter) => compile(rows, filter, threshold)).filter(Boolean);
  const text = String(search ?? "").trim().toLowerCase();
  if (text) {
    // Categories are compared once.
    const sets = rows.columns.map((column) => {
      const names = categoryNames(column);
      return names ? new Set([...names.keys()].filter((code) => names[code].toLowerCase().includes(text))) : null;
    });
    const hasText = (i) =>
      rows.name(i).toLowerCase().includes(text) ||
      rows.columns.some((column, j) => (sets[j] ? sets[j].has(column.values[i])
        : valueText(column, column.values[i]).toLowerCase() === text));
    tests.push(hasText);
  }
  return Uint8Array.from({ length: rows.nRows }, (_, i) => Number(tests.every((test) => test(i))));
}

// Which rows are inside an outline, given as points on the map.
export function rowsInside({ x, y }, polygon) {
  const xs = polygon.map(([px]) => px);
  const ys = polygon.map(([, py]) => py);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return Uint8Array.from(x, (px, i) => {
    const py = y[i];
    if (px < left || px > right || py < low || py > high) return 0;
    let inside = 0;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      if (ys[a] > py !== ys[b] > py && px < ((xs[b] - xs[a]) * (py - ys[a])) / (ys[b] - ys[a]) + xs[a]) inside ^= 1;
    }
    return inside;
  });
}

// The rows of a group of the state; null if there is none.
export function groupMask(rows, group, coordinatesOf, threshold) {
  if (!group) return null;
  if (Array.isArray(group.polygon) && group.polygon.length > 2 && group.polygon.every((point) => Array.isArray(point))) {
    const coordinates = coordinatesOf(group.map);
    return coordinates && rowsInside(coordinates, group.polygon);
  }
  return group.filters || group.search ? rowsPassing(rows, group.filters ?? [], group.search, threshold) : null;
}

export const indicesOf = (mask) => {
  const found = [];
  for (let i = 0; i < mask.length; i++) if (mask[i]) found.push(i);
  return found;
};

// A filter in words.
export function filterText(rows, filter) {
  if (filter.flag) return FLAGS[filter.flag]?.title ?? filter.flag;
  const field = rows.fields.get(filter.field);
  if (!field) return "unknown filter";
  const shown = (value) => {
    if (field.column) return field.column.kind === "number" ? numberText(value, field.column.notation) : valueText(field.column, value);
    return general(value, 4);
  };
  if (filter.values) {
    const names = filter.values.map((value) => (value === null ? "missing" : field.categories?.[value] ?? shown(value)));
    return `${field.title}: ${names.length > 3 ? `${names.length} values` : names.join(" or ")}`;
  }
  const [low, high] = filter.range ?? [];
  if (low === null || low === undefined) return `${field.title} ≤ ${shown(high)}`;
  return high === null || high === undefined ? `${field.title} ≥ ${shown(low)}` : `${field.title} ${shown(low)} to ${shown(high)}`;
}

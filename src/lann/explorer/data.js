// Arrays and their header from the compressed text that lann/explorer/_pack.py writes.

import { percent, valueText } from "./format.js";

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
// Relevances and coordinates are integers up to this one.
const LARGEST = 65_535;
// Characters of base64 that are decoded at once: a multiple of 4.
const PART = 2 ** 20;

// The arrays of a text, by name, and its header.
export async function unpack(text) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = (async () => {
    for (let start = 0; start < text.length; start += PART) {
      const binary = atob(text.slice(start, start + PART));
      const bytes = new Uint8Array(binary.length);
      for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
      await writer.write(bytes);
    }
    await writer.close();
  })();
  const bytes = new Uint8Array(await new Response(stream.readable).arrayBuffer());
  await written;
  const start = 8 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const arrays = {};
  for (const [name, entry] of Object.entries(header.arrays)) arrays[name] = fromPlanes(bytes, start, entry);
  return { header, arrays };
}

// The numbers of an array whose bytes are stored plane by plane.
function fromPlanes(bytes, start, { type, length, at }) {
  const values = new TYPES[type](length);
  const out = new Uint8Array(values.buffer);
  const width = values.BYTES_PER_ELEMENT;
  for (let plane = 0; plane < width; plane++) {
    const from = start + at + plane * length;
    for (let i = 0, to = plane; i < length; i++, to += width) out[to] = bytes[from + i];
  }
  return values;
}

// The numbers of a column of `Pack.add_column`.
export function unpackColumn(arrays, name) {
  const distinct = arrays[`${name} values`];
  return distinct ? Float64Array.from(arrays[name], (code) => distinct[code]) : Float64Array.from(arrays[name]);
}

// The rows of the page: values and results by column, and the fields by which they are colored, sorted and filtered.
export class Rows {
  constructor({ header, arrays }) {
    Object.assign(this, header);
    Object.assign(this, arrays);
    this.columns = header.columns.map((column, j) => ({ ...column, index: j, values: unpackColumn(arrays, `column ${j}`) }));
    // New rows also go by their number, where no training row has it.
    const indices = Array.from({ length: this.nRows }, (_, i) => i);
    // All but prototypes.
    this.shown = indices.filter((i) => this.isTraining || this.isNew(i));
    this.byKey = new Map([...indices.reverse().map((i) => [String(this.rowNumbers[i]), i]), ...indices.map((i) => [this.key(i), i])]);
    this.reasonOf = new Map(Array.from(this.reasonRows, (row, at) => [row, at]));
    const total = (j) => this.relevances.subarray(j * this.nRows, (j + 1) * this.nRows).reduce((sum, value) => sum + value, 0);
    this.meanRelevances = this.columns.map((_, j) => (total(j) / this.nRows / LARGEST) * this.largestRelevance);
    this.order = Array.from(this.columns.keys()).sort((a, b) => this.meanRelevances[b] - this.meanRelevances[a]);
    this.maps = header.maps.map((map) => ({ ...map, ...this.coordinates(map) }));
    this.fields = new Map(this.allFields().map((field) => [field.key, field]));
  }

  isNew = (i) => i >= this.nTraining;

  // The name of a row in the address of the page, and in what Python reads back.
  key = (i) => `${this.isNew(i) && this.nTraining ? "new-" : ""}${this.rowNumbers[i]}`;

  name(i) {
    if (this.ids?.[i] || this.ids?.[i] === 0) return String(this.ids[i]);
    const kind = this.isNew(i) ? "new row" : this.isTraining ? "row" : "prototype";
    return `${kind} ${this.rowNumbers[i]}`;
  }

  // What Python reads back.
  id(i) {
    if (this.ids?.[i] || this.ids?.[i] === 0) return this.ids[i];
    return this.isNew(i) ? `new ${this.rowNumbers[i]}` : this.rowNumbers[i];
  }

  row = (i) => Float64Array.from(this.columns, (column) => column.values[i]);
  relevanceAt = (i, j) => (this.relevances[j * this.nRows + i] / LARGEST) * this.largestRelevance;

  // What each column adds to the probability of the prediction; null where this is not in the file.
  reasons(i) {
    const at = this.reasonOf.get(i);
    if (at === undefined) return null;
    const n = this.columns.length;
    const [values, errors] = [this.supports, this.supportErrors].map((all) => all.subarray(at * n, (at + 1) * n));
    return { values, errors, base: this.baseValues[at] };
  }

  coordinates({ id, low, span }) {
    const values = this[`map ${id}`];
    const scaled = (axis) => Float32Array.from({ length: this.nRows },
      (_, i) => low[axis] + (values[axis * this.nRows + i] / 65535) * span);
    return { x: scaled(0), y: scaled(1) };
  }

  isMistake = (i) => this.labels[i] >= 0 && this.labels[i] !== this.predictions[i];
  isDoubtful = (i) => this.confidences[i] - this.runnerUpProbabilities[i] < 0.2;
  isSuspicious = (i) => this.suspects?.[i] === 1;

  allFields() {
    const number = (key, title, get, text) => ({ key, title, kind: "number", get, text: (i) => text(get(i)) });
    const named = { key: "name", title: this.ids ? "id" : "row", kind: "text", get: (i) => this.name(i), text: (i) => this.name(i) };
    const columns = this.columns.map((column, j) => ({
      key: `column:${j}`, title: column.name, column, kind: isCategory(column) ? "category" : "number", categories: categoryNames(column),
      get: (i) => column.values[i], text: (i) => valueText(column, column.values[i]),
    }));
    const relevances = this.order.map((j) =>
      number(`relevance:${j}`, `relevance of ${this.columns[j].name}`, (i) => this.relevanceAt(i, j), (value) => percent(value, 1)));
    return [named, ...outcomeFields(this, number), ...columns, ...relevances];
  }
}

// The fields of what is predicted: a class, with probabilities.
function outcomeFields(rows, number) {
  const share = (value) => (Number.isNaN(value) ? "" : percent(value));
  const label = (key, title, values) => ({
    key, title, kind: "category", isClass: true, categories: rows.classes,
    get: (i) => (values[i] < 0 ? NaN : values[i]), text: (i) => rows.classes[values[i]] ?? "",
  });
  const fields = [
    label("label", rows.target ?? "label", rows.labels),
    label("prediction", "prediction", rows.predictions),
    number("confidence", "confidence", (i) => rows.confidences[i], share),
    number("error", "error", (i) => 1 - rows.labelProbabilities[i], share),
  ];
  if (rows.suspicion) fields.push(number("suspicion", "suspicion of the label", (i) => (i < rows.nTraining ? rows.suspicion[i] : NaN),
    share));
  return fields;
}

export const isCategory = (column) => ["category", "bool", "ordered", "empty"].includes(column.kind);

export function categoryNames(column) {
  if (column.kind === "bool") return [column.words[1], column.words[0]];
  return isCategory(column) ? column.categories : null;
}

// How often each value occurs.
export function countsOf(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

// The quantiles of numbers, without gaps: of a sample where there are many.
export function quantiles(values, shares, most = 20_000) {
  const step = Math.max(Math.floor(values.length / most), 1);
  const sorted = Float64Array.from({ length: Math.ceil(values.length / step) }, (_, i) => values[i * step]).filter((v) => !Number.isNaN(v))
    .sort();
  return shares.map((share) => (sorted.length ? sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] : NaN));
}

// Half the width of the middle two thirds of the numbers of a column: about a standard deviation.
export function spreadOf(column) {
  if (column.spread === undefined) {
    const [low, high, least, most] = quantiles(column.values, [0.16, 0.84, 0, 1]);
    column.spread = (high - low) / 2 || (most - least) / 4 || 1;
  }
  return column.spread;
}

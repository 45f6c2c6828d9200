// A fitted model: the rows that decide on a query, and their vote. The steps are those of lann.model, with sums in the
// same order, so that neighbors are the same as in Python and probabilities differ by rounding only.

import { Encoding } from "./encoding.js";

// The position of the largest of some numbers.
export const argmax = (values) => values.indexOf(Math.max(...values));

const LANES = new Float64Array(16);

// Σ w (x − p)², with w from `v` and p from `o` on; the order of the additions is that of lann/_native/simd.hpp.
export function diagonalDistance(x, p, o, w, v, n) {
  let a = 0, b = 0, c = 0, d = 0, i = 0, t;
  if (n >= 16) {
    LANES.fill(0);
    for (; i + 16 <= n; i += 16)
      for (let k = 0; k < 16; k++) {
        t = x[i + k] - p[o + i + k];
        LANES[k] += w[v + i + k] * t * t;
      }
    a = LANES[0] + LANES[4] + (LANES[8] + LANES[12]);
    b = LANES[1] + LANES[5] + (LANES[9] + LANES[13]);
    c = LANES[2] + LANES[6] + (LANES[10] + LANES[14]);
    d = LANES[3] + LANES[7] + (LANES[11] + LANES[15]);
  }
  for (; i + 4 <= n; i += 4) {
    t = x[i] - p[o + i]; a += w[v + i] * t * t;
    t = x[i + 1] - p[o + i + 1]; b += w[v + i + 1] * t * t;
    t = x[i + 2] - p[o + i + 2]; c += w[v + i + 2] * t * t;
    t = x[i + 3] - p[o + i + 3]; d += w[v + i + 3] * t * t;
  }
  let total = a + c + (b + d);
  for (; i < n; i++) {
    t = x[i] - p[o + i];
    total += w[v + i] * t * t;
  }
  return total;
}

// The k nearest rows so far, nearest first, equal distances by row.
class Nearest {
  constructor(k) {
    this.distances = new Float64Array(k).fill(Infinity);
    this.rows = new Int32Array(k).fill(-1);
    this.last = k - 1;
  }

  insert(distance, row) {
    const { distances, rows } = this;
    let slot = this.last;
    const before = (at) => distance < distances[at] || (distance === distances[at] && (rows[at] < 0 || row < rows[at]));
    if (!before(slot)) return;
    for (; slot > 0 && before(slot - 1); slot--) {
      distances[slot] = distances[slot - 1];
      rows[slot] = rows[slot - 1];
    }
    distances[slot] = distance;
    rows[slot] = row;
  }
}

function raise(base, power) {
  if (power === 0.5) return Math.sqrt(base);
  if (power === 1) return base;
  if (power === 2) return base * base;
  if (power === 3) return base * base * base;
  if (power === 4) return base * base * (base * base);
  if (power === 6) return base * base * (base * base) * (base * base);
  return base ** power;
}

const HUGE = 1e300;

// The share of each neighbor in the weighted mean of votes [number, power, weight], of which each counts the nearest
// rows until their number is reached.
export function voteShares(distances, factors, counts, votes, epsilon) {
  const n = distances.length;
  const guarded = Array.from(distances, (distance) => Math.min(distance, HUGE) + epsilon);
  const shares = new Float64Array(n);
  for (const [number, power, weight] of votes) {
    const supports = guarded.map((distance, i) => raise(distance === guarded[0] ? 1 : guarded[0] / distance, power) * factors[i]);
    const counted = new Float64Array(n);
    let left = number, total = 0;
    for (let i = 0; i < n && left > 0; i++) {
      counted[i] = Math.min(counts[i], left);
      left -= counted[i];
      total += counted[i] * supports[i];
    }
    for (let i = 0; i < n; i++) shares[i] += (supports[i] * counted[i] * weight) / total;
  }
  return shares;
}

// The cells of rows that are nearest to a query, as lann.search.CellSearch probes them.
class Cells {
  constructor({ nProbed, usual, far }, { cells, cellCenters, cellOffset, cellScale }) {
    Object.assign(this, { nProbed, usual, far, centers: cellCenters, offset: cellOffset, scale: cellScale });
    this.nCells = cellCenters.length / cellOffset.length;
    this.starts = new Int32Array(this.nCells + 1);
    for (const cell of cells) this.starts[cell + 1]++;
    for (let c = 0; c < this.nCells; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.rows = new Int32Array(cells.length);
    cells.forEach((cell, row) => (this.rows[next[cell]++] = row));
  }

  // The cells to search for k neighbors; null is all rows.
  probed(x, k) {
    const n = this.offset.length;
    const scaled = x.map((value, a) => (value - this.offset[a]) * this.scale[a]);
    if (scaled.some((value) => Math.abs(value) > this.far)) return null;
    const distances = Float64Array.from({ length: this.nCells }, (_, cell) => {
      let total = 0;
      for (let a = 0; a < n; a++) total += (scaled[a] - this.centers[cell * n + a]) ** 2;
      return total;
    });
    const nProbed = Math.min(Math.ceil((this.nProbed * Math.max(k, this.usual)) / this.usual), this.nCells);
    return Array.from(distances.keys()).sort((c, d) => distances[c] - distances[d]).slice(0, nProbed);
  }
}

// header: that of Python (lann/explorer/_model_data.py); columns: the values of the training rows, an array each
export class Model {
  constructor(header, arrays, columns) {
    Object.assign(this, header);
    Object.assign(this, arrays);
    this.columns = columns;
    this.encoding = new Encoding(header.encoding, arrays);
    // A map for all rows, or one for each group of rows; without maps, the axes are the coordinates.
    const size = this.nAxes * this.encoding.nCoordinates;
    this.maps = arrays.maps ? Array.from({ length: header.nMaps }, (_, g) => arrays.maps.subarray(g * size, (g + 1) * size)) : null;
    this.cells = arrays.cells ? new Cells(header.cells, arrays) : null;
    this.ones = new Float64Array(Math.max(this.nAxes, header.rank)).fill(1);
    this.variants = new Map();
  }

  trainingRow(j) {
    return Float64Array.from(this.columns, (column) => column[j]);
  }

  toAxes(encoded, group = 0) {
    if (!this.maps) return encoded;
    const n = encoded.length;
    const out = new Float64Array(this.nAxes);
    for (let r = 0; r < this.nAxes; r++) {
      let total = 0;
      for (let c = 0; c < n; c++) total += encoded[c] * this.maps[group][r * n + c];
      out[r] = total;
    }
    return out;
  }

  // The training rows on the axes, measured without some features.
  points(leftOut) {
    const key = leftOut.join();
    let points = this.variants.get(key);
    if (!points) {
      points = new (this.pointsAreSingle ? Float32Array : Float64Array)(this.nRows * this.nAxes);
      for (let j = 0; j < this.nRows; j++) {
        const encoded = this.encoding.encode(this.trainingRow(j), leftOut);
        points.set(this.toAxes(encoded, this.groups?.[j]), j * this.nAxes);
      }
      if (this.variants.size > 2) this.variants.clear();
      this.variants.set(key, points);
    }
    return points;
  }

  // A query on the axes, for each map.
  place(row) {
    const leftOut = this.encoding.unmeasured(row);
    const encoded = this.encoding.encode(row, leftOut);
    const axes = this.maps ? this.maps.map((_, group) => this.toAxes(encoded, group)) : [encoded];
    return { leftOut, encoded, axes, points: this.points(leftOut) };
  }

  // The squared distance of a query to a row, as the row measures.
  distance({ axes, points }, j) {
    const { nAxes, rank, labels } = this;
    const x = axes[this.groups?.[j] ?? 0];
    if (rank) {
      const projected = new Float64Array(rank);
      const own = j * nAxes * rank;
      for (let a = 0; a < nAxes; a++) {
        const step = x[a] - points[j * nAxes + a];
        for (let r = 0; r < rank; r++) projected[r] += step * this.matrices[own + a * rank + r];
      }
      return diagonalDistance(projected, new Float64Array(rank), 0, this.ones, 0, rank);
    }
    if (this.weights) return diagonalDistance(x, points, j * nAxes, this.weights, j * nAxes, nAxes);
    return diagonalDistance(x, points, j * nAxes, this.classWeights ?? this.ones, this.classWeights ? labels[j] * nAxes : 0, nAxes);
  }

  // The rows that are nearest to a query under the metrics of the classes.
  shortlist(query, k, exclude) {
    const { nAxes, labels, classWeights } = this;
    const x = query.axes[0];
    const probed = this.cells && !query.leftOut.length ? this.cells.probed(x, k) : null;
    const weights = classWeights ?? this.ones;
    const stride = classWeights ? nAxes : 0;
    const scan = (found, rows, first, end) => {
      for (let at = first; at < end; at++) {
        const j = rows ? rows[at] : at;
        const distance = diagonalDistance(x, query.points, j * nAxes, weights, labels[j] * stride, nAxes);
        if (distance <= found.distances[found.last] && j !== exclude) found.insert(distance, j);
      }
    };
    if (probed) {
      const found = new Nearest(k);
      for (const cell of probed) scan(found, this.cells.rows, this.cells.starts[cell], this.cells.starts[cell + 1]);
      if (found.rows[k - 1] >= 0) return found.rows;
    }
    const found = new Nearest(k);
    scan(found, null, 0, this.nRows);
    return found.rows;
  }

  // The k nearest rows of a row of values, without one that is excluded; of one class if `label` is given.
  nearest(row, k, exclude = -1, label = -1) {
    const query = this.place(row);
    const found = new Nearest(k);
    if (label < 0 && this.nCandidates && !this.groups) {
      const n = Math.min(Math.max(this.nCandidates, k), this.nRows - (exclude >= 0));
      for (const j of this.shortlist(query, n, exclude)) if (j >= 0) found.insert(this.distance(query, j), j);
      return found;
    }
    for (let j = 0; j < this.nRows; j++)
      if (j !== exclude && (label < 0 || this.labels[j] === label)) found.insert(this.distance(query, j), j);
    return found;
  }

  // The rows that vote on a row of values, their squared distances and shares, and the probabilities of the classes.
  predict(row, exclude = -1) {
    const k = Math.min(this.nVoters, this.nRows - (exclude >= 0));
    const { rows, distances } = this.prototypes ? this.nearestOfClasses(row) : this.nearest(row, k, exclude);
    const labels = Array.from(rows, (j) => this.labels[j]);
    const factors = labels.map((label) => this.classWeight?.[label] ?? 1);
    const counts = Array.from(rows, (j) => this.rowWeights?.[j] ?? 1);
    const votes = this.mixture ?? [[this.nNeighbors, this.power, 1]];
    const shares = voteShares(distances, factors, counts, votes, this.epsilon);
    const totals = new Float64Array(this.nClasses);
    labels.forEach((label, i) => (totals[label] += shares[i]));
    const whole = totals.reduce((sum, total) => sum + total, 0);
    const probabilities = totals.map((total) => (total / whole + this.floor / this.nClasses) / (1 + this.floor));
    return { rows, distances, shares, probabilities };
  }

  // The nearest row of each class, nearest first: how prototypes vote.
  nearestOfClasses(row) {
    const found = new Nearest(this.nClasses);
    for (let label = 0; label < this.nClasses; label++) {
      const { rows, distances } = this.nearest(row, 1, -1, label);
      found.insert(distances[0], rows[0]);
    }
    return found;
  }

  // What each feature adds to the squared distance of a row.
  contributions(row, j) {
    const query = this.place(row);
    const { nAxes, rank } = this;
    const map = this.maps?.[this.groups?.[j] ?? 0];
    const own = this.encoding.encode(this.trainingRow(j), query.leftOut);
    const steps = query.encoded.map((value, c) => value - own[c]);
    const along = query.axes[this.groups?.[j] ?? 0].map((value, a) => value - query.points[j * nAxes + a]);
    const n = steps.length;
    let parts;
    if (rank || this.groups) {
      const product = rank ? this.metricProduct(along, j) : along;
      parts = steps.map((step, c) => {
        if (!map) return step * product[c];
        let total = 0;
        for (let a = 0; a < nAxes; a++) total += product[a] * map[a * n + c];
        return step * total;
      });
    } else {
      const added = along.map((step, a) => this.axisWeight(j, a) * step * step);
      parts = map ? new Float64Array(n) : added;
      for (let a = 0; map && a < nAxes; a++) {
        let total = 0;
        for (let c = 0; c < n; c++) total += (map[a * n + c] * steps[c]) ** 2;
        if (total > 0) for (let c = 0; c < n; c++) parts[c] += (added[a] / total) * (map[a * n + c] * steps[c]) ** 2;
      }
    }
    const { firsts, widths } = this.encoding;
    return Float64Array.from(firsts, (first, f) => parts.subarray(first, first + widths[f]).reduce((s, v) => s + v, 0));
  }

  axisWeight(j, a) {
    if (this.weights) return this.weights[j * this.nAxes + a];
    return this.classWeights ? this.classWeights[this.labels[j] * this.nAxes + a] : 1;
  }

  metricProduct(along, j) {
    const { nAxes, rank, matrices } = this;
    const own = j * nAxes * rank;
    const projected = new Float64Array(rank);
    for (let a = 0; a < nAxes; a++) for (let r = 0; r < rank; r++) projected[r] += along[a] * matrices[own + a * rank + r];
    return along.map((_, a) => projected.reduce((sum, value, r) => sum + value * matrices[own + a * rank + r], 0));
  }
}

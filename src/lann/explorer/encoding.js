// Rows as coordinates, as lann.metric encodes them: curves with jumps, positions of categories, gaps.

// How many of the ascending values from `first` to `end` are at most x.
function countUpTo(values, first, end, x) {
  let low = first;
  while (low < end) {
    const middle = (low + end) >> 1;
    if (values[middle] <= x) low = middle + 1;
    else end = middle;
  }
  return low - first;
}

// The inverse of a small matrix, given as rows, by elimination with pivots.
function inverse(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => Number(i === j))]);
  for (let i = 0; i < n; i++) {
    let pivot = i;
    for (let r = i + 1; r < n; r++) if (Math.abs(rows[r][i]) > Math.abs(rows[pivot][i])) pivot = r;
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    const scale = rows[i][i];
    for (let c = 0; c < 2 * n; c++) rows[i][c] /= scale;
    for (let r = 0; r < n; r++) {
      const factor = rows[r][i];
      if (r === i || factor === 0) continue;
      for (let c = 0; c < 2 * n; c++) rows[r][c] -= factor * rows[i][c];
    }
  }
  return rows.map((row) => row.slice(n));
}

// header: {nFeatures, numbers: [feature, ...], categories: [{feature, nCategories, hasGaps, nAxes}, ...]}
// arrays: edges, slopes, widths, thresholds, jumps: (nNumbers, ...); heights, centers, scales: (nNumbers,), 0 is no
//   gap in the training rows; precision: (nNumbers, nNumbers) or none; positions: of all categories
export class Encoding {
  constructor(header, arrays) {
    Object.assign(this, header);
    this.arrays = arrays;
    this.nEdges = arrays.slopes.length / this.numbers.length - 1 || 0;
    this.nSteps = arrays.thresholds.length / this.numbers.length || 0;
    this.hasGaps = new Array(this.nFeatures).fill(false);
    const widths = new Array(this.nFeatures).fill(1);
    this.numbers.forEach((feature, i) => {
      this.hasGaps[feature] = arrays.heights[i] > 0;
      widths[feature] += arrays.heights[i] > 0;
    });
    let first = 0;
    for (const category of this.categories) {
      const { feature, nCategories, hasGaps, nAxes } = category;
      const n = nCategories + hasGaps;
      category.positions = arrays.positions.subarray(first, (first += n * nAxes));
      category.mean = arrays.categoryMeans.subarray(this.meanEnd || 0, (this.meanEnd = (this.meanEnd || 0) + nAxes));
      [this.hasGaps[feature], widths[feature]] = [hasGaps, nAxes];
    }
    this.widths = widths;
    this.firsts = [];
    this.nCoordinates = widths.reduce((sum, width) => (this.firsts.push(sum), sum + width), 0);
    this.patterns = new Map();
  }

  // The value of number i on its curve.
  curve(i, x) {
    const { edges, slopes, widths, thresholds, jumps } = this.arrays;
    const { nEdges, nSteps } = this;
    const bin = countUpTo(edges, i * nEdges, (i + 1) * nEdges, x);
    let start = 0;
    for (let b = 0; b < bin; b++) start += slopes[i * (nEdges + 1) + b] * widths[i * (nEdges + 1) + b];
    const origin = nEdges ? edges[i * nEdges + Math.max(bin - 1, 0)] : 0;
    let value = start + slopes[i * (nEdges + 1) + bin] * (x - (Number.isFinite(origin) ? origin : 0));
    if (nSteps) {
      const nLeft = countUpTo(thresholds, i * nSteps, (i + 1) * nSteps, x);
      let height = 0;
      for (let t = 0; t < nLeft; t++) height += jumps[i * nSteps + t];
      value += height;
    }
    return value;
  }

  // Features in which the row has a gap that no training row has; they are not measured.
  unmeasured(row) {
    const features = [];
    for (let f = 0; f < this.nFeatures; f++) if (Number.isNaN(row[f]) && !this.hasGaps[f]) features.push(f);
    return features;
  }

  // The numbers of a row, with the value that is predicted from the others in place of each gap.
  filled(row) {
    const { centers, scales, precision } = this.arrays;
    const n = this.numbers.length;
    const values = new Float64Array(n);
    const gaps = [];
    for (let i = 0; i < n; i++) {
      values[i] = row[this.numbers[i]];
      if (Number.isNaN(values[i])) {
        gaps.push(i);
        values[i] = centers[i];
      }
    }
    if (!gaps.length || !precision || gaps.length === n) return values;
    const key = gaps.join();
    let factors = this.patterns.get(key); // (number of gaps, n)
    if (!factors) {
      const own = inverse(gaps.map((g) => gaps.map((h) => precision[g * n + h])));
      factors = own.map((weights) => {
        const factor = new Float64Array(n);
        for (let c = 0; c < n; c++) gaps.forEach((h, at) => (factor[c] -= precision[h * n + c] * weights[at]));
        return factor;
      });
      if (this.patterns.size > 5000) this.patterns.clear();
      this.patterns.set(key, factors);
    }
    const expected = factors.map((factor) => {
      let total = 0;
      for (let c = 0; c < n; c++) total += ((values[c] - centers[c]) / scales[c]) * factor[c];
      return total;
    });
    gaps.forEach((g, at) => (values[g] = centers[g] + expected[at] * scales[g]));
    return values;
  }

  // The coordinates of a row; those of features that are left out are 0.
  encode(row, leftOut = []) {
    const out = new Float64Array(this.nCoordinates);
    const values = this.filled(row);
    for (let i = 0; i < values.length; i++) {
      const feature = this.numbers[i];
      const first = this.firsts[feature];
      out[first] = this.curve(i, values[i]);
      if (this.hasGaps[feature] && Number.isNaN(row[feature])) out[first + 1] = this.arrays.heights[i];
    }
    for (const { feature, nCategories, hasGaps, nAxes, positions, mean } of this.categories) {
      let code = row[feature];
      if (Number.isNaN(code)) code = hasGaps ? nCategories : -1;
      const position = code < 0 ? mean : positions.subarray(code * nAxes, (code + 1) * nAxes);
      out.set(position, this.firsts[feature]);
    }
    for (const f of leftOut) out.fill(0, this.firsts[f], this.firsts[f] + this.widths[f]);
    return out;
  }
}

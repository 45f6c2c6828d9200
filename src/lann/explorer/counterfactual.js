// The smallest change of a row, in few columns, that leads to another prediction.

import { argmax } from "./model.js";

// Rows of the wanted class toward which a row is changed, columns that change together, and steps of a bisection.
const N_TARGETS = 6;
const MOST_CHANGES = 3;
const N_STEPS = 12;

// How a number that has a number of decimals is rounded.
const toDecimals = (value, decimals) => (decimals === null ? value : Number(value.toFixed(decimals)));

// wish: {row, exclude, label (the wanted class, or -1 for any other), atLeast, frozen: [column, ...], decimals: of each
//   column, null for categories and dates, scales: of each column, 0 for one that has categories}
// Returns {row, changed: [column, ...], probabilities}, or null if no change of a few columns suffices.
export function findChange(model, wish) {
  const { row, exclude, atLeast, frozen } = wish;
  const before = model.predict(row, exclude).probabilities;
  const origin = argmax(before);
  const isReached = (probabilities) => {
    const best = argmax(probabilities);
    return best !== origin && (wish.label < 0 || best === wish.label) && probabilities[best] >= atLeast;
  };
  const wanted = (probabilities) => (wish.label >= 0 ? probabilities[wish.label]
    : Math.max(...probabilities.filter((_, y) => y !== origin)));
  const free = Array.from(row.keys()).filter((f) => !frozen.includes(f));
  const found = [];
  for (const target of targets(model, row, exclude, origin, wish.label)) {
    const change = towards(model, row, target, free, exclude, wanted, isReached);
    if (change) found.push(shrink(model, row, change, exclude, isReached, wish));
  }
  found.sort((a, b) => a.changed.length - b.changed.length || a.size - b.size);
  return found[0] ?? null;
}

// The nearest rows of the wanted class, or of each other class, in the user's values.
function targets(model, row, exclude, origin, label) {
  const labels = label >= 0 ? [label] : Array.from({ length: model.nClasses }, (_, y) => y).filter((y) => y !== origin);
  const each = Math.max(Math.ceil(N_TARGETS / labels.length), 1);
  const rows = labels.slice(0, N_TARGETS).flatMap((y) => Array.from(model.nearest(row, each, exclude, y).rows));
  return rows.filter((j) => j >= 0).map((j) => model.trainingRow(j));
}

// Take the values of another row, one column at a time: always the one that helps most.
function towards(model, row, target, free, exclude, wanted, isReached) {
  const now = row.slice();
  const changed = [];
  const different = free.filter((f) => target[f] !== row[f] && !Number.isNaN(target[f]));
  while (changed.length < MOST_CHANGES) {
    let best = null;
    for (const f of different) {
      if (changed.includes(f)) continue;
      const other = now.slice();
      other[f] = target[f];
      const { probabilities } = model.predict(other, exclude);
      if (!best || wanted(probabilities) > wanted(best.probabilities)) best = { f, probabilities };
    }
    if (!best) return null;
    now[best.f] = target[best.f];
    changed.push(best.f);
    if (isReached(best.probabilities)) return { row: now, changed };
  }
  return null;
}

// Take back what is not needed, and make the changes of numbers as small as they can be.
function shrink(model, row, { row: end, changed }, exclude, isReached, { decimals, scales }) {
  const now = end.slice();
  const reaches = (values) => isReached(model.predict(values, exclude).probabilities);
  const kept = changed.filter((f) => {
    const without = now.slice();
    without[f] = row[f];
    if (!reaches(without)) return true;
    now[f] = row[f];
    return false;
  });
  for (const f of kept) {
    if (scales[f] === 0 || Number.isNaN(row[f])) continue;
    let low = 0, high = 1;
    for (let step = 0; step < N_STEPS; step++) {
      const middle = (low + high) / 2;
      const trial = now.slice();
      trial[f] = toDecimals(row[f] + middle * (end[f] - row[f]), decimals[f]);
      if (reaches(trial)) {
        high = middle;
        now[f] = trial[f];
      } else low = middle;
    }
  }
  const size = kept.reduce((sum, f) => sum + (scales[f] === 0 || Number.isNaN(row[f]) ? 1 : Math.abs(now[f] - row[f]) / scales[f]), 0);
  return { row: now, changed: kept, size, probabilities: model.predict(now, exclude).probabilities };
}

// Colorings of the rows.
const N_COLORS = 10, N_STEPS = 32, MOST_NAMED = 8;
const themeColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const classColor = j => `--c${j % N_COLORS}`;
const classPalette = () => Array.from({length: N_COLORS}, (_, k) => themeColor(classColor(k)));
const rgbOf = hex => [1, 3, 5].map(start => parseInt(hex.slice(start, start + 2), 16));

function mixColors(first, second, share) {
  const [a, b] = [first, second].map(rgbOf);
  return `rgb(${a.map((value, k) => Math.round(value + share * (b[k] - value))).join(' ')})`;
}

// A palette in steps between some colors of the theme.
function colorRamp(...names) {
  const stops = names.map(themeColor);
  return Array.from({length: N_STEPS}, (_, step) => {
    const position = step / (N_STEPS - 1) * (stops.length - 1), from = Math.min(Math.floor(position), stops.length - 2);
    return mixColors(stops[from], stops[from + 1], position - from);
  });
}

// A coloring has a palette and the index of each row in it. It may have a priority, by which rows are drawn in
// ascending order; names of groups for the legend; or the ends and the unit of a scale.
const colorings = {
  class: () => ({indexOf: i => classOf(i) % N_COLORS, palette: classPalette()}),
  prediction: () => ({indexOf: i => predictions[i] % N_COLORS, palette: classPalette()}),
  errors: () => ({
    indexOf: i => !hasLabel(i) ? 2 : isError(i) ? 1 : 0,
    palette: ['--correct', '--error', '--bar'].map(themeColor), priority: i => isError(i) ? 1 : 0,
    groups: ['predicted correctly', 'predicted wrongly', 'no label'],
  }),
  confidence: () => {
    const low = confidences.reduce((a, b) => Math.min(a, b), .99);
    const palette = colorRamp('--unsure', '--between', '--sure');
    return scaleColoring(i => confidences[i], low, 1, palette, i => -confidences[i], 'probability of the prediction');
  },
  column: () => {
    const counts = new Uint32Array(columns.length);
    for (let i = 0; i < nRows; i++) counts[topColumns[i * nTop]]++;
    const order = [...counts.keys()].filter(c => counts[c]).sort((a, b) => counts[b] - counts[a] || a - b);
    const named = order.length > MOST_NAMED + 1 ? order.slice(0, MOST_NAMED) : order;
    const rank = new Map(named.map((column, k) => [column, k]));
    const groups = named.map(column => columns[column]);
    if (named.length < order.length) groups.push(`${order.length - named.length} other columns`);
    return {
      indexOf: i => rank.get(topColumns[i * nTop]) ?? named.length, groups,
      palette: groups.map((_, k) => themeColor(k < named.length ? classColor(k) : '--correct')),
    };
  },
};

// By the relevance of a column, given by its rank among those by which rows can be colored.
function relevanceColoring(rank) {
  const start = rank * nRows;
  let largest = 1e-9;
  for (let i = 0; i < nRows; i++) largest = Math.max(largest, relevances[start + i]);
  const value = i => relevances[start + i];
  return scaleColoring(value, 0, largest, colorRamp('--little', '--much'), value, 'share of the vote that depends on it');
}

function scaleColoring(value, low, high, palette, priority, unit) {
  const last = N_STEPS - 1;
  const indexOf = i => Math.max(0, Math.min(last, Math.round((value(i) - low) / (high - low) * last)));
  return {indexOf, palette, priority, low, high, unit};
}

// What colors say, and the marks of points in them.
const N_COLORS = 10, STEPS = 32, NAMED = 8;
const outlines = given.shapes.map(path => new Path2D(path));
const themed = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const classColor = j => `--c${j % N_COLORS}`;

function mixed(one, other, part) {
  const [a, b] = [one, other].map(hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)));
  return `rgb(${a.map((value, k) => Math.round(value + part * (b[k] - value))).join(' ')})`;
}

// A scale in steps, through some colors of the theme.
function ramp(...stops) {
  const through = stops.map(themed);
  return Array.from({length: STEPS}, (_, step) => {
    const at = step / (STEPS - 1) * (through.length - 1), from = Math.min(Math.floor(at), through.length - 2);
    return mixed(through[from], through[from + 1], at - from);
  });
}

// Each: the palette, which of it a point has, and what the key shows. `first` are drawn last, over the others.
const colorings = {
  class: () => ({of: i => classOf(i) % N_COLORS, palette: classPalette(), first: null}),
  prediction: () => ({of: i => predictions[i] % N_COLORS, palette: classPalette(), first: null}),
  mistakes: () => ({
    of: i => labels[i] < 0 ? 2 : isWrong(i) ? 1 : 0,
    palette: ['--right', '--wrong', '--bar'].map(themed), first: i => isWrong(i) ? 1 : 0,
    groups: ['as labeled', 'not as labeled', 'no label'],
  }),
  confidence: () => scale(i => confidences[i], confidences.reduce((a, b) => Math.min(a, b), .99), 1, ramp('--unsure', '--between', '--sure'),
    i => -confidences[i], 'share of the vote'),
  dominant: () => {
    const counts = new Uint32Array(columns.length);
    for (let i = 0; i < n; i++) counts[topColumns[i * top]]++;
    const order = [...counts.keys()].filter(c => counts[c]).sort((a, b) => counts[b] - counts[a] || a - b);
    const named = order.length > NAMED + 1 ? order.slice(0, NAMED) : order;
    const rank = new Map(named.map((column, k) => [column, k]));
    const groups = named.map(column => columns[column]);
    if (named.length < order.length) groups.push(`${order.length - named.length} other columns`);
    return {
      of: i => rank.get(topColumns[i * top]) ?? named.length, groups, first: null,
      palette: groups.map((_, k) => themed(k < named.length ? classColor(k) : '--right')),
    };
  },
};

function relevanceOf(place) {
  const from = place * n;
  let most = 1e-9;
  for (let i = 0; i < n; i++) most = Math.max(most, relevances[from + i]);
  const value = i => relevances[from + i];
  return scale(value, 0, most, ramp('--little', '--much'), value, 'share of the vote that hangs on it');
}

function scale(value, low, high, palette, first, unit) {
  const of = i => Math.max(0, Math.min(STEPS - 1, Math.round((value(i) - low) / (high - low) * (STEPS - 1))));
  return {of, palette, first, low, high, unit};
}

const classPalette = () => Array.from({length: N_COLORS}, (_, k) => themed(classColor(k)));

// The mark of a point, drawn once; `rim` is the color around it.
function mark(shape, color, rim, radius) {
  const ratio = devicePixelRatio || 1, size = Math.ceil(2 * 1.5 * radius * ratio) + 2;
  const canvas = make('canvas', {width: size, height: size}), pen = canvas.getContext('2d', {willReadFrequently: true});
  pen.translate(size / 2, size / 2);
  pen.scale(radius * ratio, radius * ratio);
  Object.assign(pen, {lineJoin: 'round', fillStyle: color, strokeStyle: rim, lineWidth: Math.min(.7, radius / 5) / radius});
  pen.fill(outlines[shape]);
  pen.stroke(outlines[shape]);
  return canvas;
}

// A class as a small picture, for texts.
function icon(j, color = `var(${classColor(j)})`) {
  const name = 'http://www.w3.org/2000/svg', svg = document.createElementNS(name, 'svg');
  svg.setAttribute('viewBox', '-1.4 -1.4 2.8 2.8');
  svg.setAttribute('class', 'mark');
  svg.setAttribute('aria-hidden', 'true');
  svg.style.setProperty('--own', color);
  svg.append(document.createElementNS(name, 'path'));
  svg.firstChild.setAttribute('d', given.shapes[j % given.shapes.length]);
  return svg;
}
const classMark = j => make('span', {className: 'class'}, icon(j), make('span', {textContent: classes[j]}));

// What is shown, and from where.
const state = {
  coloring: 'class', mistakes: false, which: 'all', hidden: new Set(), lit: null, hover: -1, pinned: -1,
  found: [], names: classes.length > 7,
};
const stage = byId('stage'), base = byId('points'), over = byId('over');
const view = {x: 0, y: 0, scale: 1, width: 1, height: 1};
let colors, marks, order, ghosts, lit, heads, waiting = false;

// By lot, the same at every visit, so that no class covers the others.
const shuffled = (() => {
  const places = Uint32Array.from({length: n}, (_, i) => i);
  for (let i = n - 1, seed = 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [places[i], places[j]] = [places[j], places[i]];
  }
  return places;
})();
const isAsked = i => (!state.mistakes || isWrong(i)) && (state.which === 'all' || isNew(i) === (state.which === 'placed'));
const isShown = i => !state.hidden.has(classOf(i)) && isAsked(i);
const isLit = i => state.lit === null
  || (state.lit.by === 'class' ? classOf(i) === state.lit.of : colors.of(i) === state.lit.of);
const current = () => state.hover >= 0 ? state.hover : state.pinned;
const toX = x => (x - view.x) * view.scale + view.width / 2;
const toY = y => view.height / 2 - (y - view.y) * view.scale;

// After a change of the theme or of what colors say.
function recolor() {
  const place = state.coloring.startsWith('column ') ? Number(state.coloring.slice(7)) : -1;
  colors = place >= 0 ? relevanceOf(place) : colorings[state.coloring]();
  marks = new Map();
  refilter();
}

// After a change of what is shown.
function refilter() {
  const shown = shuffled.filter(isShown), rank = colors.first;
  // Placed points over those of the training, then what matters most.
  if (rank) shown.sort((a, b) => rank(a) - rank(b));
  else if (training < n) shown.sort((a, b) => isNew(a) - isNew(b));
  // The others, where not their class is hidden, are a faint map behind.
  ghosts = shuffled.filter(i => !isAsked(i) && !state.hidden.has(classOf(i)));
  order = [...shown.filter(i => !isLit(i)), ...shown.filter(isLit)];
  lit = shown.filter(isLit).length;
  heads = state.names ? headings() : [];
  redraw();
}

// Where the names of classes stand: over the densest part of each, large classes first.
const CELLS = 30;
function headings() {
  const members = classes.map(() => []);
  for (const i of order) members[classOf(i)].push(i);
  return members.map((own, j) => ({j, own})).filter(({own}) => own.length).map(({j, own}) => {
    const cells = new Map(), cell = i => Math.round(X[i] * CELLS) * 1000 + Math.round(Y[i] * CELLS);
    for (const i of own) cells.set(cell(i), (cells.get(cell(i)) ?? 0) + 1);
    const [dense] = [...cells].reduce((most, one) => one[1] > most[1] ? one : most);
    const there = own.filter(i => cell(i) === dense);
    const mean = values => there.reduce((sum, i) => sum + values[i], 0) / there.length;
    return {j, x: mean(X), y: mean(Y), size: own.length};
  }).sort((a, b) => b.size - a.size);
}

const shapeOf = i => (state.coloring === 'prediction' ? predictions[i] : classOf(i)) % given.shapes.length;
const rimOf = (i, ink, page) => isNew(i) ? `${ink}90` : page;

const radius = () => {
  const usual = Math.max(1.8, Math.min(5.5, 46 / Math.sqrt(Math.max(n, 1)) + 2.2));
  return Math.min(9, usual * Math.max(1, view.scale / view.whole) ** .3);
};

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); drawOver(); });
}

function draw() {
  const pen = base.getContext('2d'), ratio = devicePixelRatio || 1, r = Math.round(4 * radius()) / 4;
  const page = themed('--card'), ink = themed('--ink'), dim = order.length - lit;
  // Placed points stand out among those of the training, which are pale, unless shades mean something else.
  const pale = state.which === 'all' && training < n && colors.low === undefined ? training : 0;
  begin(base.width, base.height, page);
  const ghost = stamp(0, themed('--right'), page, r, .2);
  for (const i of ghosts) put(ghost, Math.round(toX(X[i]) * ratio), Math.round(toY(Y[i]) * ratio));
  for (let place = 0; place < order.length; place++) {
    const i = order[place], x = toX(X[i]), y = toY(Y[i]);
    if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20) continue;
    const shape = shapeOf(i), color = colors.of(i), fresh = isNew(i);
    const strength = place < dim ? 0 : i < pale ? 1 : 2;
    const key = ((((r * 4) * 64 + color) * outlines.length + shape) * 2 + (fresh ? 1 : 0)) * 3 + strength;
    let drawn = marks.get(key);
    if (!drawn) {
      const fill = strength ? colors.palette[color] : themed('--right');
      marks.set(key, drawn = stamp(shape, fill, strength ? rimOf(i, ink, page) : page, r, [.12, .4, 1][strength]));
    }
    put(drawn, Math.round(x * ratio), Math.round(y * ratio));
  }
  pen.putImageData(painting.image, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawHeadings(pen, page);
}

function drawHeadings(pen, page) {
  const taken = [], height = 15, above = radius() + 9;
  Object.assign(pen, {font: '600 12.5px system-ui, sans-serif', textAlign: 'center', textBaseline: 'middle',
    lineJoin: 'round', lineWidth: 3.5, strokeStyle: page, fillStyle: themed('--ink')});
  for (const head of heads) {
    const {j} = head, text = shortened(classes[j], 24), half = pen.measureText(text).width / 2;
    const x = toX(head.x), y = toY(head.y) - above;
    const box = [x - half, y - height / 2, x + half, y + height / 2];
    if (taken.some(b => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) continue;
    taken.push(box);
    pen.globalAlpha = state.lit && state.lit.by === 'class' && state.lit.of !== j ? .3 : 1;
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }
  pen.globalAlpha = 1;
}
const shortened = (text, most) => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

// Up to so many found points have wide rings.
const FEW = 30;

// The point in question with lines to those that voted, and what was searched for.
function drawOver() {
  const pen = over.getContext('2d'), ratio = devicePixelRatio || 1, i = current(), r = radius();
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, over.width, over.height);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const ring = (at, wide, color, size) => {
    pen.beginPath();
    pen.arc(toX(X[at]), toY(Y[at]), size, 0, 2 * Math.PI);
    Object.assign(pen, {lineWidth: wide, strokeStyle: color});
    pen.stroke();
  };
  const ink = themed('--ink'), page = themed('--card');
  const few = state.found.length <= FEW;
  for (const at of state.found.slice(0, 1000)) ring(at, few ? 2 : 1, themed('--link'), r + (few ? 5 : 2));
  if (i < 0) return;
  const voted = votersOf(i);
  for (const [by, share] of [...voted].reverse()) {
    const wide = 1 + 5 * share;
    for (const [width, color] of [[wide + 2.5, page], [wide, themed(classColor(labels[by]))]]) {
      pen.beginPath();
      pen.moveTo(toX(X[i]), toY(Y[i]));
      pen.lineTo(toX(X[by]), toY(Y[by]));
      Object.assign(pen, {lineWidth: width, strokeStyle: color, lineCap: 'round'});
      pen.stroke();
    }
  }
  const onto = (at, drawn) => pen.drawImage(drawn, toX(X[at]) - drawn.width / 2 / ratio,
    toY(Y[at]) - drawn.height / 2 / ratio, drawn.width / ratio, drawn.height / ratio);
  for (const [by] of voted) onto(by, mark(labels[by] % outlines.length, themed(classColor(labels[by])), page, r + 1));
  ring(i, 5, page, r + 3.5);
  ring(i, 2.5, ink, r + 3.5);
  // Once more, for the lines begin on it.
  onto(i, mark(shapeOf(i), colors.palette[colors.of(i)], rimOf(i, ink, page), r));
}

function resize() {
  const ratio = devicePixelRatio || 1, {clientWidth: width, clientHeight: height} = stage;
  const untouched = view.scale === view.whole;
  for (const canvas of [base, over]) {
    [canvas.width, canvas.height] = [width, height].map(size => Math.max(1, Math.round(size * ratio)));
  }
  Object.assign(view, {width, height});
  marks?.clear();
  if (untouched || !view.whole) fit(); else redraw();
}

const bounds = (() => {
  let [left, right, low, high] = [1, 0, 1, 0];
  for (let i = 0; i < n; i++) {
    left = Math.min(left, X[i]); right = Math.max(right, X[i]); low = Math.min(low, Y[i]); high = Math.max(high, Y[i]);
  }
  return {x: (left + right) / 2, y: (low + high) / 2, width: Math.max(right - left, .01), height: Math.max(high - low, .01)};
})();

function fit() {
  view.whole = view.scale = Math.min((view.width - 40) / bounds.width, (view.height - 40) / bounds.height);
  [view.x, view.y] = [bounds.x, bounds.y];
  redraw();
}

// Around a place on the screen, which stays where it is.
function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const next = Math.max(view.whole / 2, Math.min(view.whole * 200, view.scale * factor));
  const move = 1 / view.scale - 1 / next;
  view.x += (x - view.width / 2) * move;
  view.y -= (y - view.height / 2) * move;
  view.scale = next;
  redraw();
}

function pan(x, y) {
  view.x -= x / view.scale;
  view.y += y / view.scale;
  redraw();
}

function bringIntoView(i) {
  const x = toX(X[i]), y = toY(Y[i]), rim = 30;
  if (x > rim && y > rim && x < view.width - rim && y < view.height - rim) return;
  [view.x, view.y] = [X[i], Y[i]];
}

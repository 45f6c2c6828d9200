// Mouse, touch and keyboard.
const REACH = 14, LEAST_DRAG = 4;
const pointers = new Map();
let dragDistance = 0;

// The row nearest to a point of the figure, -1 if none is within reach.
function nearestRow(x, y, reach) {
  let found = -1, least = reach ** 2;
  for (const i of drawOrder) {
    const squared = (toX(X[i]) - x) ** 2 + (toY(Y[i]) - y) ** 2;
    if (squared <= least && isHighlighted(i)) [found, least] = [i, squared];
  }
  return found;
}

const positionOf = event => [event.offsetX, event.offsetY];
function hover(i) {
  overlay.style.cursor = i >= 0 ? 'pointer' : 'grab';
  if (i === state.hovered) return;
  state.hovered = i;
  showCurrentRow();
}

overlay.addEventListener('pointerdown', event => {
  overlay.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, positionOf(event));
  if (pointers.size === 1) dragDistance = 0;
});
overlay.addEventListener('pointermove', event => {
  const now = positionOf(event), before = pointers.get(event.pointerId);
  if (!before) {
    hover(nearestRow(...now, REACH));
    return;
  }
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  if (pointers.size === 2) {
    const [, other] = [...pointers].find(([id]) => id !== event.pointerId);
    const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    pan(dx / 2, dy / 2);
    zoom(distance(now) / distance(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    dragDistance = Infinity;
  } else {
    dragDistance += Math.hypot(dx, dy);
    if (dragDistance <= LEAST_DRAG) return;
    overlay.style.cursor = 'grabbing';
    pan(dx, dy);
    moveTooltip();
  }
  pointers.set(event.pointerId, now);
});
for (const name of ['pointerup', 'pointercancel']) overlay.addEventListener(name, event => {
  if (name === 'pointerup' && pointers.size === 1 && dragDistance <= LEAST_DRAG) {
    // A finger is less precise than a mouse.
    const reach = event.pointerType === 'mouse' ? REACH : 2 * REACH;
    select(nearestRow(...positionOf(event), reach), {announce: false});
  }
  pointers.delete(event.pointerId);
  overlay.style.cursor = 'grab';
});
overlay.addEventListener('pointerleave', () => { if (!pointers.size) hover(-1); });
overlay.addEventListener('wheel', event => {
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1);
  zoom(Math.exp(-Math.max(-200, Math.min(200, pixels)) / 300), ...positionOf(event));
  moveTooltip();
}, {passive: false});
overlay.addEventListener('dblclick', event => zoom(2, ...positionOf(event)));

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
figure.addEventListener('keydown', event => {
  if (event.target !== figure || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow && event.shiftKey) pan(-60 * arrow[0], -60 * arrow[1]);
  else if (arrow) selectInDirection(...arrow);
  else if (event.key === '+' || event.key === '=') zoom(1.4);
  else if (event.key === '-') zoom(1 / 1.4);
  else if (event.key === '0') fit();
  else if (event.key === 'n') selectNext(1);
  else if (event.key === 'p') selectNext(-1);
  else if (event.key === 'Escape') select(-1);
  else return;
  event.preventDefault();
  moveTooltip();
});

// Select the next row in a direction; at first the one in the middle of the figure.
function selectInDirection(dx, dy) {
  const from = state.selected;
  if (from < 0) {
    const i = nearestRow(view.width / 2, view.height / 2, Infinity);
    if (i >= 0) select(i);
    return;
  }
  let found = -1, least = Infinity;
  for (const i of drawOrder) {
    const ahead = (X[i] - X[from]) * dx - (Y[i] - Y[from]) * dy, aside = (X[i] - X[from]) * dy + (Y[i] - Y[from]) * dx;
    const cost = ahead + 2 * Math.abs(aside);
    if (ahead > 0 && Math.abs(aside) <= ahead && cost < least && isHighlighted(i)) [found, least] = [i, cost];
  }
  if (found >= 0) select(found);
}

// Select the next or the previous one of the rows that are shown.
function selectNext(step) {
  const shown = drawOrder.filter(isHighlighted).sort((a, b) => a - b);
  if (!shown.length) return;
  const position = shown.indexOf(state.selected);
  const next = position < 0 ? (step > 0 ? 0 : shown.length - 1) : (position + step + shown.length) % shown.length;
  select(shown[next]);
}

// Mouse, fingers and keys.
const NEAR = 14, DRAGGED = 4;
const held = new Map();
let traveled = 0;

function nearest(x, y, reach) {
  let found = -1, least = reach ** 2;
  for (const i of order) {
    const far = (toX(X[i]) - x) ** 2 + (toY(Y[i]) - y) ** 2;
    if (far <= least && isLit(i)) [found, least] = [i, far];
  }
  return found;
}

const at = event => [event.offsetX, event.offsetY];
function hover(i) {
  over.style.cursor = i >= 0 ? 'pointer' : 'grab';
  if (i === state.hover) return;
  state.hover = i;
  show();
}

over.addEventListener('pointerdown', event => {
  over.setPointerCapture(event.pointerId);
  held.set(event.pointerId, at(event));
  if (held.size === 1) traveled = 0;
});
over.addEventListener('pointermove', event => {
  const here = at(event), before = held.get(event.pointerId);
  if (!before) {
    hover(nearest(...here, NEAR));
    return;
  }
  const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
  if (held.size === 2) {
    const [, other] = [...held].find(([id]) => id !== event.pointerId);
    const length = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    pan(dx / 2, dy / 2);
    zoom(length(here) / length(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    traveled = Infinity;
  } else {
    traveled += Math.hypot(dx, dy);
    if (traveled <= DRAGGED) return;
    over.style.cursor = 'grabbing';
    pan(dx, dy);
    place(current());
  }
  held.set(event.pointerId, here);
});
for (const name of ['pointerup', 'pointercancel']) over.addEventListener(name, event => {
  if (name === 'pointerup' && held.size === 1 && traveled <= DRAGGED) {
    // Fingers are wider than a mouse is.
    pin(nearest(...at(event), event.pointerType === 'mouse' ? NEAR : 2 * NEAR), {aloud: false});
  }
  held.delete(event.pointerId);
  over.style.cursor = 'grab';
});
over.addEventListener('pointerleave', () => { if (!held.size) hover(-1); });
over.addEventListener('wheel', event => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 : 1;
  zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) / 300), ...at(event));
  place(current());
}, {passive: false});
over.addEventListener('dblclick', event => zoom(2, ...at(event)));

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
stage.addEventListener('keydown', event => {
  if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow && event.shiftKey) pan(-60 * arrow[0], -60 * arrow[1]);
  else if (arrow) go(...arrow);
  else if (event.key === '+' || event.key === '=') zoom(1.4);
  else if (event.key === '-') zoom(1 / 1.4);
  else if (event.key === '0') fit();
  else if (event.key === 'n') step(1);
  else if (event.key === 'p') step(-1);
  else if (event.key === 'Escape') pin(-1);
  else return;
  event.preventDefault();
  place(current());
});

// To the next point in a direction; at first to the one in the middle.
function go(dx, dy) {
  const from = state.pinned;
  if (from < 0) {
    const i = nearest(view.width / 2, view.height / 2, Infinity);
    if (i >= 0) pin(i);
    return;
  }
  let found = -1, least = Infinity;
  for (const i of order) {
    const x = (X[i] - X[from]) * dx - (Y[i] - Y[from]) * dy, y = (X[i] - X[from]) * dy + (Y[i] - Y[from]) * dx;
    const far = x + 2 * Math.abs(y);
    if (x > 0 && Math.abs(y) <= x && far < least && isLit(i)) [found, least] = [i, far];
  }
  if (found >= 0) pin(found);
}

// Through the points that are shown, in their order.
function step(by) {
  const shown = [...order].filter(isLit).sort((a, b) => a - b);
  if (!shown.length) return;
  const here = shown.indexOf(state.pinned);
  const next = here < 0 ? (by > 0 ? 0 : shown.length - 1) : (here + by + shown.length) % shown.length;
  pin(shown[next]);
}

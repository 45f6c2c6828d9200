// The visible part of the embedding: from coordinates to pixels of the figure, zoom, and size.
const figure = byId('figure'), pointsCanvas = byId('points'), overlay = byId('overlay');
const view = {x: 0, y: 0, scale: 1, fittedScale: 0, width: 1, height: 1};
const toX = x => (x - view.x) * view.scale + view.width / 2;
const toY = y => view.height / 2 - (y - view.y) * view.scale;

const bounds = (() => {
  let [left, right, low, high] = [1, 0, 1, 0];
  for (let i = 0; i < nRows; i++) {
    left = Math.min(left, X[i]); right = Math.max(right, X[i]); low = Math.min(low, Y[i]); high = Math.max(high, Y[i]);
  }
  return {x: (left + right) / 2, y: (low + high) / 2, width: Math.max(right - left, .01), height: Math.max(high - low, .01)};
})();

// The radius of a mark: smaller with many rows, larger when zoomed in.
const markRadius = () => {
  const usual = Math.max(1.8, Math.min(5.5, 46 / Math.sqrt(Math.max(nRows, 1)) + 2.2));
  return Math.min(9, usual * Math.max(1, view.scale / view.fittedScale) ** .3);
};

function resize() {
  const ratio = devicePixelRatio || 1, {clientWidth: width, clientHeight: height} = figure;
  const isFitted = view.scale === view.fittedScale;
  for (const canvas of [pointsCanvas, overlay]) {
    [canvas.width, canvas.height] = [width, height].map(size => Math.max(1, Math.round(size * ratio)));
  }
  Object.assign(view, {width, height});
  clearStamps();
  if (isFitted || !view.fittedScale) fit(); else redraw();
}

// Show all rows.
function fit() {
  view.fittedScale = view.scale = Math.min((view.width - 40) / bounds.width, (view.height - 40) / bounds.height);
  [view.x, view.y] = [bounds.x, bounds.y];
  redraw();
}

// Zoom around a point of the figure, which does not move.
function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const scale = Math.max(view.fittedScale / 2, Math.min(view.fittedScale * 200, view.scale * factor));
  const shift = 1 / view.scale - 1 / scale;
  view.x += (x - view.width / 2) * shift;
  view.y -= (y - view.height / 2) * shift;
  view.scale = scale;
  redraw();
}

function pan(x, y) {
  view.x -= x / view.scale;
  view.y += y / view.scale;
  redraw();
}

function bringIntoView(i) {
  const x = toX(X[i]), y = toY(Y[i]), margin = 30;
  if (x > margin && y > margin && x < view.width - margin && y < view.height - margin) return;
  [view.x, view.y] = [X[i], Y[i]];
}

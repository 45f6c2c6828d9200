// The rows and the names of classes.
const stamps = new Map();
const clearStamps = () => stamps.clear();
let isDrawPending = false;

const shapeOf = i => (state.coloring === 'prediction' ? predictions[i] : classOf(i)) % data.shapes.length;
const outlineOf = (i, ink, page) => isNew(i) ? `${ink}90` : page;

function redraw() {
  if (isDrawPending) return;
  isDrawPending = true;
  requestAnimationFrame(() => { isDrawPending = false; drawRows(); drawOverlay(); });
}

const DIMMED = 0, PALE = 1, FULL = 2, OPACITIES = [.12, .4, 1];
function drawRows() {
  const context = pointsCanvas.getContext('2d'), ratio = devicePixelRatio || 1, radius = Math.round(4 * markRadius()) / 4;
  const page = themeColor('--card'), ink = themeColor('--ink'), nDimmed = drawOrder.length - nHighlighted;
  // Training rows are pale if there are new rows, unless shades have another meaning.
  const nPale = state.subset === 'all' && nTraining < nRows && coloring.low === undefined ? nTraining : 0;
  const pixelOf = i => [Math.round(toX(X[i]) * ratio), Math.round(toY(Y[i]) * ratio)];
  clearRaster(pointsCanvas.width, pointsCanvas.height, page);
  const backgroundStamp = makeStamp(0, themeColor('--correct'), page, radius, .2);
  for (const i of background) putStamp(backgroundStamp, ...pixelOf(i));
  for (let position = 0; position < drawOrder.length; position++) {
    const i = drawOrder[position], x = toX(X[i]), y = toY(Y[i]);
    if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20) continue;
    const shape = shapeOf(i), color = coloring.indexOf(i);
    const strength = position < nDimmed ? DIMMED : i < nPale ? PALE : FULL;
    const key = ((((radius * 4) * 64 + color) * outlines.length + shape) * 2 + (isNew(i) ? 1 : 0)) * 3 + strength;
    let stamp = stamps.get(key);
    if (!stamp) {
      const fill = strength === DIMMED ? themeColor('--correct') : coloring.palette[color];
      const outline = strength === DIMMED ? page : outlineOf(i, ink, page);
      stamps.set(key, stamp = makeStamp(shape, fill, outline, radius, OPACITIES[strength]));
    }
    putStamp(stamp, ...pixelOf(i));
  }
  context.putImageData(raster.image, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawClassHeadings(context, page);
}

// A name that would overlap one that is drawn already is left out.
function drawClassHeadings(context, page) {
  const taken = [], height = 15, above = markRadius() + 9;
  Object.assign(context, {font: '600 12.5px system-ui, sans-serif', textAlign: 'center', textBaseline: 'middle',
    lineJoin: 'round', lineWidth: 3.5, strokeStyle: page, fillStyle: themeColor('--ink')});
  for (const heading of classHeadings) {
    const {j} = heading, text = shortened(classes[j], 24), half = context.measureText(text).width / 2;
    const x = toX(heading.x), y = toY(heading.y) - above;
    const box = [x - half, y - height / 2, x + half, y + height / 2];
    if (taken.some(b => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) continue;
    taken.push(box);
    context.globalAlpha = state.highlight?.by === 'class' && state.highlight.value !== j ? .3 : 1;
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.globalAlpha = 1;
}

// The current row with lines to the rows that voted, and rings around the rows that a search has found.
const MOST_WIDE_RINGS = 30, MOST_RINGS = 1000;

function drawOverlay() {
  const context = overlay.getContext('2d'), ratio = devicePixelRatio || 1, i = currentRow(), radius = markRadius();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, overlay.width, overlay.height);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const ink = themeColor('--ink'), page = themeColor('--card');

  const drawRing = (row, lineWidth, color, size) => {
    context.beginPath();
    context.arc(toX(X[row]), toY(Y[row]), size, 0, 2 * Math.PI);
    Object.assign(context, {lineWidth, strokeStyle: color});
    context.stroke();
  };
  const drawAt = (row, canvas) => context.drawImage(canvas, toX(X[row]) - canvas.width / 2 / ratio,
    toY(Y[row]) - canvas.height / 2 / ratio, canvas.width / ratio, canvas.height / ratio);

  const isWide = state.found.length <= MOST_WIDE_RINGS;
  for (const row of state.found.slice(0, MOST_RINGS)) {
    drawRing(row, isWide ? 2 : 1, themeColor('--link'), radius + (isWide ? 5 : 2));
  }
  if (i < 0) return;
  const voters = neighborsOf(i);
  for (const [row, share] of [...voters].reverse()) {
    const width = 1 + 5 * share;
    for (const [lineWidth, strokeStyle] of [[width + 2.5, page], [width, themeColor(classColor(labels[row]))]]) {
      context.beginPath();
      context.moveTo(toX(X[i]), toY(Y[i]));
      context.lineTo(toX(X[row]), toY(Y[row]));
      Object.assign(context, {lineWidth, strokeStyle, lineCap: 'round'});
      context.stroke();
    }
  }
  for (const [row] of voters) {
    drawAt(row, drawMark(labels[row] % outlines.length, themeColor(classColor(labels[row])), page, radius + 1));
  }
  drawRing(i, 5, page, radius + 3.5);
  drawRing(i, 2.5, ink, radius + 3.5);
  // Over the lines, which start at its center.
  drawAt(i, drawMark(shapeOf(i), coloring.palette[coloring.indexOf(i)], outlineOf(i, ink, page), radius));
}

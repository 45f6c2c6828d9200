// Marks drawn pixel by pixel: for many thousands of rows this is several times as fast as the canvas's own methods.
const raster = {image: null, pixels: null};
const outlines = data.shapes.map(path => new Path2D(path));

// A canvas with one mark.
function drawMark(shape, fill, outline, radius) {
  const ratio = devicePixelRatio || 1, size = Math.ceil(2 * 1.5 * radius * ratio) + 2;
  const canvas = make('canvas', {width: size, height: size}), context = canvas.getContext('2d', {willReadFrequently: true});
  context.translate(size / 2, size / 2);
  context.scale(radius * ratio, radius * ratio);
  Object.assign(context, {lineJoin: 'round', fillStyle: fill, strokeStyle: outline, lineWidth: Math.min(.7, radius / 5) / radius});
  context.fill(outlines[shape]);
  context.stroke(outlines[shape]);
  return canvas;
}

// A mark as lists of its pixels: coordinates from its center, colors, and opacities from 0 to 256.
function makeStamp(shape, fill, outline, radius, opacity) {
  const canvas = drawMark(shape, fill, outline, radius), size = canvas.width, half = size >> 1;
  const pixels = canvas.getContext('2d').getImageData(0, 0, size, size).data;
  const kept = [];
  for (let k = 0; k < size * size; k++) {
    const alpha = Math.round(pixels[4 * k + 3] / 255 * 256 * opacity);
    if (alpha) kept.push([k % size - half, Math.floor(k / size) - half, pixels[4 * k] | pixels[4 * k + 2] << 16, pixels[4 * k + 1], alpha]);
  }
  const list = part => Int32Array.from(kept, pixel => pixel[part]);
  return {half, x: list(0), y: list(1), redBlue: list(2), green: list(3), alpha: list(4)};
}

function clearRaster(width, height, color) {
  if (raster.image?.width !== width || raster.image?.height !== height) {
    raster.image = new ImageData(width, height);
    raster.pixels = new Uint32Array(raster.image.data.buffer);
  }
  const [red, green, blue] = rgbOf(color);
  raster.pixels.fill((0xff000000 | blue << 16 | green << 8 | red) >>> 0);
}

function putStamp({half, x, y, redBlue, green, alpha}, left, top) {
  const {image: {width, height}, pixels} = raster;
  const isInside = left >= half && top >= half && left + half < width && top + half < height;
  for (let k = 0; k < alpha.length; k++) {
    const column = left + x[k], row = top + y[k];
    if (!isInside && (column < 0 || row < 0 || column >= width || row >= height)) continue;
    const at = row * width + column, behind = pixels[at], opacity = alpha[k], rest = 256 - opacity;
    const mixedRedBlue = ((behind & 0xff00ff) * rest + redBlue[k] * opacity) >>> 8 & 0xff00ff;
    const mixedGreen = ((behind >>> 8 & 0xff) * rest + green[k] * opacity) & 0xff00;
    pixels[at] = (0xff000000 | mixedRedBlue | mixedGreen) >>> 0;
  }
}

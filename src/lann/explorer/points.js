// Points on a plane that can be panned and zoomed: by WebGL, or drawn into an image where there is no GPU.

import { N_SHAPES } from "./dom.js";
import { extent } from "./format.js";

const MARGIN = 24;
// Largest magnification, and the factor of a turn of the wheel.
const MOST_ZOOM = 400;
const WHEEL = 1.0016;
// Pixels from a point within which it is under the pointer.
const NEAR = 12;
// How a point is drawn: behind all others, as usual, or larger before them.
export const LEVELS = { faint: 1, normal: 2, strong: 3 };

const VERTEX = `#version 300 es
in vec2 position; in vec4 color; in float look;
uniform vec2 scale, offset; uniform float size;
out vec3 tint; flat out int shape;
void main() {
  float level = floor(look / 16.0);
  shape = int(mod(look, 16.0));
  gl_Position = vec4(position * scale + offset, 0.0, 1.0);
  gl_PointSize = size * (level > 2.5 ? 1.35 : 1.0) + 2.0;
  tint = color.rgb;
}`;
// The distance of a point from the edge of a shape, negative inside; points are within ±1.2.
const SHAPES = `
float edge(vec2 p, int shape) {
  if (shape == 1) return max(abs(p.x), abs(p.y)) - 0.85;
  if (shape == 2 || shape == 4) {
    float y = shape == 2 ? p.y : -p.y;
    return max(abs(p.x) * 0.87 - y * 0.5, y) - 0.62;
  }
  if (shape == 3) return (abs(p.x) + abs(p.y) - 1.2) * 0.71;
  if (shape == 5) return max(min(abs(p.x), abs(p.y)) - 0.36, max(abs(p.x), abs(p.y)) - 1.1);
  if (shape == 6) {
    vec2 q = vec2(p.x + p.y, p.x - p.y) * 0.707;
    return max(min(abs(q.x), abs(q.y)) - 0.36, max(abs(q.x), abs(q.y)) - 1.1);
  }
  return length(p) - 1.0;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 tint; flat in int shape; uniform float size; out vec4 result;
${SHAPES}
void main() {
  vec2 p = (gl_PointCoord * 2.0 - 1.0) * (size + 2.0) / size * 1.05;
  float alpha = clamp(0.5 - edge(p, shape) * size * 0.45, 0.0, 1.0) ;
  if (alpha < 0.01) discard;
  result = vec4(tint * alpha, alpha);
}`;

// The same distance in JavaScript.
function edge(x, y, shape) {
  const [a, b] = [Math.abs(x), Math.abs(y)];
  if (shape === 1) return Math.max(a, b) - 0.85;
  if (shape === 2 || shape === 4) {
    const t = shape === 2 ? y : -y;
    return Math.max(a * 0.87 - t * 0.5, t) - 0.62;
  }
  if (shape === 3) return (a + b - 1.2) * 0.71;
  if (shape === 5) return Math.max(Math.min(a, b) - 0.36, Math.max(a, b) - 1.1);
  if (shape === 6) return edge((x + y) * 0.707, (x - y) * 0.707, 5);
  return Math.hypot(x, y) - 1;
}

// Whether there is a GPU: programs that imitate one are slower than drawing into an image.
function hasGpu() {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return Boolean(gl) && !/swiftshader|llvmpipe|software|basic render/i.test(name);
}

// Draws by WebGL.
function makeGlPainter(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const upload = (name, values, size, type, normalized) => {
    const location = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalized, 0, 0);
  };
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [scale, offset, size] = ["scale", "offset", "size"].map(uniform);
  let nPoints = 0;
  return {
    name: "webgl",
    setPositions: (positions) => upload("position", positions, 2, gl.FLOAT, false),
    setLooks(colors, looks, order) {
      upload("color", colors, 4, gl.UNSIGNED_BYTE, true);
      upload("look", looks, 1, gl.UNSIGNED_BYTE, false);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.STATIC_DRAW);
      nPoints = order.length;
    },
    draw(view, radius, ratio) {
      const [width, height] = [canvas.width, canvas.height];
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const unit = 2 * view.scale * ratio;
      gl.uniform2f(scale, unit / width, unit / height);
      gl.uniform2f(offset, (-view.x * unit) / width, (-view.y * unit) / height);
      gl.uniform1f(size, Math.max(2 * radius * ratio, 2));
      if (nPoints) gl.drawElements(gl.POINTS, nPoints, gl.UNSIGNED_INT, 0);
    },
  };
}

// The pixels of each shape: those inside it, and those at its edge with how much of them is covered.
function makeStamps(radius) {
  const reach = Math.ceil(radius * 1.25);
  return Array.from({ length: N_SHAPES }, (_, shape) => {
    const stamp = { inside: [], edge: [], shares: [] };
    for (let y = -reach; y <= reach; y++)
      for (let x = -reach; x <= reach; x++) {
        const share = Math.min(Math.max(0.5 - edge(x / radius, y / radius, shape) * radius * 0.9, 0), 1);
        if (share > 0.9) stamp.inside.push(x, y);
        else if (share > 0.05) stamp.edge.push(x, y) && stamp.shares.push(share);
      }
    return stamp;
  });
}

// Draws into an image: each point is a stamp of its shape.
function makeImagePainter(canvas) {
  const context = canvas.getContext("2d");
  let positions, colors, looks, order, image, words, stamps;
  // Draw a stamp at a pixel; the edges are smooth.
  const draw = (stamp, x, y, red, green, blue) => {
    const { data: pixels, width, height } = image;
    const isOutside = (px, py) => px < 0 || py < 0 || px >= width || py >= height;
    const word = (255 << 24) | (blue << 16) | (green << 8) | red;
    const { inside, edge: edges, shares } = stamp;
    for (let k = 0; k < inside.length; k += 2) {
      const [px, py] = [x + inside[k], y + inside[k + 1]];
      if (!isOutside(px, py)) words[py * width + px] = word;
    }
    for (let k = 0; k < shares.length; k++) {
      const [px, py] = [x + edges[2 * k], y + edges[2 * k + 1]];
      if (isOutside(px, py)) continue;
      const at = 4 * (py * width + px);
      const under = (pixels[at + 3] / 255) * (1 - shares[k]);
      const whole = shares[k] + under;
      pixels[at] = (red * shares[k] + pixels[at] * under) / whole;
      pixels[at + 1] = (green * shares[k] + pixels[at + 1] * under) / whole;
      pixels[at + 2] = (blue * shares[k] + pixels[at + 2] * under) / whole;
      pixels[at + 3] = 255 * whole;
    }
  };
  return {
    name: "image",
    setPositions: (values) => (positions = values),
    setLooks: (newColors, newLooks, newOrder) => ([colors, looks, order] = [newColors, newLooks, newOrder]),
    draw(view, radius, ratio) {
      const [width, height] = [canvas.width, canvas.height];
      if (!width || !height) return;
      if (image?.width !== width || image?.height !== height) image = context.createImageData(width, height);
      words = new Uint32Array(image.data.buffer).fill(0);
      const own = Math.max(radius * ratio, 0.8);
      if (stamps?.radius !== own) stamps = { radius: own, usual: makeStamps(own), strong: makeStamps(own * 1.35) };
      const unit = view.scale * ratio;
      for (let k = 0; k < order.length; k++) {
        const i = order[k];
        const x = Math.round(width / 2 + (positions[2 * i] - view.x) * unit);
        const y = Math.round(height / 2 - (positions[2 * i + 1] - view.y) * unit);
        if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
        const stamp = (looks[i] >> 4 === LEVELS.strong ? stamps.strong : stamps.usual)[looks[i] & 15];
        draw(stamp, x, y, colors[4 * i], colors[4 * i + 1], colors[4 * i + 2]);
      }
      context.putImageData(image, 0, 0);
    },
  };
}

// Points in a box: `on` are listeners: hover(i), choose(i), outline(polygon), moved().
export class Points {
  constructor(box, canvas, on, renderer = "auto") {
    Object.assign(this, { box, canvas, on });
    const byGl = renderer === "auto" ? hasGpu() : renderer === "webgl";
    this.painter = byGl ? makeGlPainter(canvas) : makeImagePainter(canvas);
    this.view = { x: 0, y: 0, scale: 1 };
    this.tool = "pan";
    this.outline = null;
    this.frames = [];
    this.listen();
    new ResizeObserver(() => this.resize()).observe(box);
  }

  setPositions(x, y) {
    this.x = x;
    this.y = y;
    const positions = new Float32Array(2 * x.length);
    for (let i = 0; i < x.length; i++) [positions[2 * i], positions[2 * i + 1]] = [x[i], y[i]];
    this.painter.setPositions(positions);
    this.fit();
  }

  // colors: (n, 4) bytes; shapes, levels: (n,) bytes
  setLooks(colors, shapes, levels) {
    this.levels = levels;
    const order = new Uint32Array(levels.length);
    let count = 0;
    for (const level of [LEVELS.faint, LEVELS.normal, LEVELS.strong])
      for (let i = 0; i < levels.length; i++) if (levels[i] === level) order[count++] = i;
    this.painter.setLooks(colors, levels.map((level, i) => level * 16 + shapes[i]), order.subarray(0, count));
    this.draw();
  }

  get radius() {
    const usual = Math.min(Math.max(8.4 - 1.55 * Math.log10(this.x.length), 1.3), 5.5);
    return usual * Math.min(Math.max((this.view.scale / this.least) ** 0.3, 1), 3);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.box;
    const isFirst = !this.width;
    [this.width, this.height] = [width, height];
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (!this.x) return;
    if (isFirst || this.isFitted) this.fit();
    else this.draw();
  }

  // Show all points.
  fit() {
    if (!this.width || !this.x) return;
    const [[left, right], [low, high]] = [this.x, this.y].map(extent);
    const room = (size) => Math.max(size - 2 * MARGIN, 20);
    this.least = Math.min(room(this.width) / (right - left || 1), room(this.height) / (high - low || 1));
    this.view = { x: (left + right) / 2, y: (low + high) / 2, scale: this.least };
    this.isFitted = true;
    this.draw();
  }

  // Draw with the next frame.
  draw() {
    if (this.isWaiting || !this.x || !this.levels) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      const start = performance.now();
      this.painter.draw(this.view, this.radius, window.devicePixelRatio || 1);
      this.on.moved();
      this.frames.push(performance.now() - start);
      if (this.frames.length > 500) this.frames.shift();
    });
  }

  toScreen = (x, y) => [this.width / 2 + (x - this.view.x) * this.view.scale, this.height / 2 - (y - this.view.y) * this.view.scale];
  toPlane = (px, py) => [this.view.x + (px - this.width / 2) / this.view.scale, this.view.y - (py - this.height / 2) / this.view.scale];

  // Zoom by a factor around a pixel.
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toPlane(px, py);
    const scale = Math.min(Math.max(this.view.scale * factor, this.least / 2), this.least * MOST_ZOOM);
    this.view = { x: x - (px - this.width / 2) / scale, y: y + (py - this.height / 2) / scale, scale };
    this.isFitted = false;
    this.draw();
  }

  pan(dx, dy) {
    this.view = { ...this.view, x: this.view.x - dx / this.view.scale, y: this.view.y + dy / this.view.scale };
    this.isFitted = false;
    this.draw();
  }

  // Center a point if it is not to be seen.
  reveal(i) {
    const [px, py] = this.toScreen(this.x[i], this.y[i]);
    if (px > 0 && py > 0 && px < this.width && py < this.height) return;
    this.view = { ...this.view, x: this.x[i], y: this.y[i] };
    this.draw();
  }

  // The point under a pixel; −1 if none is near it.
  pick(px, py) {
    const [x, y] = this.toPlane(px, py);
    let [best, least] = [-1, (NEAR / this.view.scale) ** 2];
    for (let i = 0; i < this.x.length; i++) {
      const squared = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (squared <= least && this.levels[i] > LEVELS.faint) [best, least] = [i, squared];
    }
    return best;
  }

  listen() {
    const { box } = this;
    const at = (event) => {
      const { left, top } = box.getBoundingClientRect();
      return [event.clientX - left - box.clientLeft, event.clientY - top - box.clientTop];
    };
    const pointers = new Map();
    let start = null;
    let apart = 0;
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest("button, select, a")) return;
      pointers.set(event.pointerId, at(event));
      box.setPointerCapture(event.pointerId);
      [start, apart] = [at(event), 0];
      if (this.tool === "lasso" || event.shiftKey) this.outline = [this.toPlane(...start)];
    });
    box.addEventListener("pointermove", (event) => {
      const now = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) return this.on.hover(this.pick(...now), now);
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [ox, oy] = others[0][1];
        const distance = (p) => Math.hypot(p[0] - ox, p[1] - oy) || 1;
        this.zoom(distance(now) / distance(before), ox, oy);
      } else if (this.outline) {
        this.outline.push(this.toPlane(...now));
        this.on.moved();
      } else this.pan(now[0] - before[0], now[1] - before[1]);
      apart = Math.max(apart, Math.hypot(now[0] - start[0], now[1] - start[1]));
      pointers.set(event.pointerId, now);
    });
    const end = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      const { outline } = this;
      this.outline = null;
      if (event.type === "pointercancel") return this.on.moved();
      if (apart < 5) this.on.choose(this.pick(...at(event)));
      else if (outline) this.on.outline(outline);
    };
    box.addEventListener("pointerup", end);
    box.addEventListener("pointercancel", end);
    box.addEventListener("pointerleave", () => this.on.hover(-1));
    box.addEventListener("dblclick", (event) => this.zoom(2, ...at(event)));
    box.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(WHEEL ** -event.deltaY, ...at(event));
    }, { passive: false });
  }
}

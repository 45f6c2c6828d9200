// The points, from what `pack.py` has written. Everything about them is by their place, 0 to n - 1.
const given = JSON.parse(document.getElementById('data').textContent);
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;
const shares = (text, full) => Float32Array.from(
  full > 255 ? new Uint16Array(bytes(text)) : new Uint8Array(bytes(text)), value => value / full);

const {n, training, voters, top, classes, columns, ids} = given;
const numbers = new Uint32Array(bytes(given.numbers));
const X = shares(given.x, 65535), Y = shares(given.y, 65535);
const labels = Int32Array.from(new Uint16Array(bytes(given.labels)), label => label - 1);
const predictions = new Uint16Array(bytes(given.predictions));
const pictured = new Uint16Array(bytes(given.pictured));
const confidences = shares(given.confidences, 65535);
const neighbors = new Int32Array(bytes(given.neighbors));
const votes = shares(given.shares, 255);
const topColumns = new Uint16Array(bytes(given.topColumns));
const topRelevances = shares(given.topRelevances, 65535).map(share => share * given.most);
const relevances = shares(given.relevances, 255).map(share => share * given.most);
const values = given.values && new (given.values.wide ? Float64Array : Float32Array)(bytes(given.values.numbers));

const isNew = i => i >= training;
const isWrong = i => labels[i] >= 0 && labels[i] !== predictions[i];
const classOf = i => labels[i] >= 0 ? labels[i] : predictions[i];
const names = Array.from({length: n}, (_, i) => ids && ids[i] !== '' ? ids[i] : `row ${numbers[i]}`);
const classSizes = new Uint32Array(classes.length);
for (let i = 0; i < n; i++) classSizes[classOf(i)]++;

// Who voted on a point, and the shares, the nearest first.
function votersOf(i) {
  const found = [];
  for (let k = i * voters; k < (i + 1) * voters; k++) if (neighbors[k] >= 0) found.push([neighbors[k], votes[k]]);
  return found;
}

// A share for people: what is more than nothing does not become "0%", nor what is not all "100%".
function percent(share, digits = 0) {
  const text = (100 * share).toFixed(digits), least = 10 ** -digits;
  if (share > 0 && Number(text) === 0) return `<${least}%`;
  if (share < 1 - 1e-4 && Number(text) === 100) return `>${100 - least}%`;
  return `${text}%`;
}

const isText = (i, k) => given.values.texts[topColumns[i * top + k]] !== null;

// The value of the k-th most relevant column of a point, as text.
function valueText(i, k) {
  const value = values[i * top + k], texts = given.values.texts[topColumns[i * top + k]];
  if (Number.isNaN(value)) return 'missing';
  if (texts) return texts[value];
  return numberText(value);
}

// As people write it: whole numbers whole, others in full unless they are long.
const LONG = 12, DIGITS = 6;
function numberText(value) {
  const text = String(Number(value.toPrecision(14)));
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return String(value);
  if (text.length <= LONG) return text;
  return Math.abs(value) >= 10 ** DIGITS && Math.abs(value) < 1e16 ? String(Math.round(value)) : String(Number(value.toPrecision(DIGITS)));
}

// An element; texts are texts, whatever stands in them.
function make(tag, properties = {}, ...children) {
  const part = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) part.addEventListener(name.slice(2), value);
    else if (name in part) part[name] = value;
    else part.setAttribute(name, value);
  }
  part.append(...children);
  return part;
}
const byId = id => document.getElementById(id);

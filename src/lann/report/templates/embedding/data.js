// The rows, from the JSON that data.py writes. A row is its position, 0 to nRows - 1; training rows come first.
const data = JSON.parse(document.getElementById('data').textContent);
const bytes = text => Uint8Array.from(atob(text), character => character.charCodeAt(0)).buffer;
const shares = (text, maximum) => Float32Array.from(
  maximum > 255 ? new Uint16Array(bytes(text)) : new Uint8Array(bytes(text)), value => value / maximum);

const {nRows, nTraining, nNeighbors, nTop, classes, columns, ids} = data;
const rowNumbers = new Uint32Array(bytes(data.rowNumbers));
const X = shares(data.x, 65535), Y = shares(data.y, 65535);
const labels = Int32Array.from(new Uint16Array(bytes(data.labels)), label => label - 1);
const predictions = new Uint16Array(bytes(data.predictions));
const embeddingPredictions = new Uint16Array(bytes(data.embeddingPredictions));
const confidences = shares(data.confidences, 65535);
const neighbors = new Int32Array(bytes(data.neighbors));
const voteShares = shares(data.voteShares, 255);
const nOthers = new Uint16Array(bytes(data.otherVoters)), otherShares = shares(data.otherShares, 255);
// The most relevant columns of each row: (nRows, nTop).
const topColumns = new Uint16Array(bytes(data.topColumns));
const topRelevances = shares(data.topRelevances, 65535).map(share => share * data.largestRelevance);
// Relevances of the columns by which rows can be colored: (number of colorings, nRows).
const relevances = shares(data.relevances, 255).map(share => share * data.largestRelevance);
const values = data.values && new (data.values.isDouble ? Float64Array : Float32Array)(bytes(data.values.numbers));

const isNew = i => i >= nTraining;
const hasLabel = i => labels[i] >= 0;
const isError = i => hasLabel(i) && labels[i] !== predictions[i];
const classOf = i => hasLabel(i) ? labels[i] : predictions[i];
const names = Array.from({length: nRows}, (_, i) => ids && ids[i] !== '' ? ids[i] : `row ${rowNumbers[i]}`);
const classSizes = new Uint32Array(classes.length);
for (let i = 0; i < nRows; i++) classSizes[classOf(i)]++;

// The training rows that voted on a row, nearest first, with their shares of the vote.
function neighborsOf(i) {
  const found = [];
  for (let k = i * nNeighbors; k < (i + 1) * nNeighbors; k++) if (neighbors[k] >= 0) found.push([neighbors[k], voteShares[k]]);
  return found;
}

// How many further training rows voted on a row, and their share of the vote.
const otherVoters = i => [nOthers[i], otherShares[i]];

// The number of top columns of a row that have at least some relevance.
const LEAST_RELEVANCE = .01;
function countRelevant(i, least = LEAST_RELEVANCE) {
  let count = 0;
  while (count < nTop && topRelevances[i * nTop + count] >= least) count++;
  return count;
}
const topColumn = (i, k) => columns[topColumns[i * nTop + k]];
const topRelevance = (i, k) => topRelevances[i * nTop + k];

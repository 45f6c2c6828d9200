// What is shown: filters, highlighting, and the selected row.
const state = {
  coloring: 'class', errorsOnly: false, subset: 'all', hiddenClasses: new Set(), highlight: null, hovered: -1,
  selected: -1, found: [], classNames: classes.length > 7,
};
// The current coloring; rows in the order in which they are drawn, of which the last `nHighlighted` are not dimmed;
// rows that are filtered out, which stay visible in the background; and the names of classes with their coordinates.
let coloring, drawOrder = [], nHighlighted = 0, background = [], classHeadings = [];

// A random order, always the same, so that no class covers the others.
const shuffled = (() => {
  const order = Uint32Array.from({length: nRows}, (_, i) => i);
  for (let i = nRows - 1, seed = 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
})();

const passesFilters = i => (!state.errorsOnly || isError(i))
  && (state.subset === 'all' || isNew(i) === (state.subset === 'new'));
const isShown = i => !state.hiddenClasses.has(classOf(i)) && passesFilters(i);
const isHighlighted = i => state.highlight === null || state.highlight.value === (
  state.highlight.by === 'class' ? classOf(i) : coloring.indexOf(i));
const currentRow = () => state.hovered >= 0 ? state.hovered : state.selected;

// After a change of the coloring or of the theme.
function updateColoring() {
  const rank = state.coloring.startsWith('column ') ? Number(state.coloring.slice(7)) : -1;
  coloring = rank >= 0 ? relevanceColoring(rank) : colorings[state.coloring]();
  clearStamps();
  updateShown();
}

// After a change of the filters or of the highlighting.
function updateShown() {
  const shown = shuffled.filter(isShown), {priority} = coloring;
  // The rows that matter most are drawn last; otherwise new rows.
  if (priority) shown.sort((a, b) => priority(a) - priority(b));
  else if (nTraining < nRows) shown.sort((a, b) => isNew(a) - isNew(b));
  background = shuffled.filter(i => !passesFilters(i) && !state.hiddenClasses.has(classOf(i)));
  const highlighted = shown.filter(isHighlighted);
  drawOrder = [...shown.filter(i => !isHighlighted(i)), ...highlighted];
  nHighlighted = highlighted.length;
  classHeadings = state.classNames ? findClassHeadings() : [];
  redraw();
}

// The name of a class is above the densest part of its rows; the names of large classes come first.
const CELLS = 30;
function findClassHeadings() {
  const members = classes.map(() => []);
  for (const i of drawOrder) members[classOf(i)].push(i);
  return members.map((rows, j) => ({j, rows})).filter(({rows}) => rows.length).map(({j, rows}) => {
    const counts = new Map(), cellOf = i => Math.round(X[i] * CELLS) * 1000 + Math.round(Y[i] * CELLS);
    for (const i of rows) counts.set(cellOf(i), (counts.get(cellOf(i)) ?? 0) + 1);
    const [densest] = [...counts].reduce((most, entry) => entry[1] > most[1] ? entry : most);
    const inCell = rows.filter(i => cellOf(i) === densest);
    const mean = coordinates => inCell.reduce((sum, i) => sum + coordinates[i], 0) / inCell.length;
    return {j, x: mean(X), y: mean(Y), size: rows.length};
  }).sort((a, b) => b.size - a.size);
}

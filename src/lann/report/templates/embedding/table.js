// The rows that are shown, as a table, the least confident first.
const ROWS_AT_ONCE = 100;
let tableOrder = [], nFilled = 0;

function fillTable() {
  if (!byId('row-table').open) return;
  tableOrder = [...drawOrder].sort((a, b) => confidences[a] - confidences[b] || a - b);
  nFilled = 0;
  byId('rows').replaceChildren();
  fillMore();
}

function fillMore() {
  const lines = tableOrder.slice(nFilled, nFilled + ROWS_AT_ONCE).map(tableLine);
  byId('rows').append(...lines);
  nFilled += lines.length;
  const nLeft = tableOrder.length - nFilled;
  byId('more').hidden = !nLeft;
  byId('more').textContent = `Show ${countText(Math.min(ROWS_AT_ONCE, nLeft))} more of ${countText(nLeft)}`;
}

function tableLine(i) {
  const selectAndScroll = () => {
    select(i);
    figure.scrollIntoView({block: 'nearest'});
  };
  const relevant = Array.from({length: Math.min(MOST_COLUMNS, countRelevant(i))},
    (_, k) => `${topColumn(i, k)} ${percent(topRelevance(i, k))}`);
  return make('tr', {className: isError(i) ? 'error' : ''},
    make('th', {scope: 'row'}, make('button', {className: 'link', textContent: names[i], onclick: selectAndScroll})),
    make('td', {textContent: kindOf(i)}),
    make('td', {}, hasLabel(i) ? classMark(labels[i]) : 'unknown'),
    make('td', {}, classMark(predictions[i])),
    make('td', {className: 'number', textContent: percent(confidences[i])}),
    make('td', {textContent: relevant.join(', ')}));
}

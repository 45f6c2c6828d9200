// The points that are shown, as a table: least sure first.
const PART = 100;
let listed = [], filled = 0;

function fillTable() {
  if (!byId('list').open) return;
  listed = [...order].sort((a, b) => confidences[a] - confidences[b] || a - b);
  filled = 0;
  byId('rows').replaceChildren();
  more();
}

function more() {
  const rows = listed.slice(filled, filled + PART).map(i => make('tr', {className: isWrong(i) ? 'wrong' : ''},
    make('th', {scope: 'row'}, make('button', {className: 'link', textContent: names[i], onclick: () => {
      pin(i);
      stage.scrollIntoView({block: 'nearest'});
    }})),
    make('td', {textContent: kind(i)}),
    make('td', {}, labels[i] < 0 ? 'not known' : classMark(labels[i])),
    make('td', {}, classMark(predictions[i])),
    make('td', {className: 'number', textContent: percent(confidences[i])}),
    make('td', {textContent: Array.from({length: Math.min(3, told(i, LITTLE))}, (_, k) =>
      `${columns[topColumns[i * top + k]]} ${percent(topRelevances[i * top + k])}`).join(', ')})));
  byId('rows').append(...rows);
  filled += rows.length;
  byId('more').hidden = filled >= listed.length;
  byId('more').textContent = `Show ${countText(Math.min(PART, listed.length - filled))} more of ${countText(listed.length - filled)}`;
}

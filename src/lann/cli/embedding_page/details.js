// What is told about a point: beside the picture, at the pointer, and aloud.
const panel = byId('point'), tip = byId('tip'), said = byId('said');

function show() {
  const i = current();
  tell(i);
  place(i);
  drawOver();
}

function pin(i, {aloud = true} = {}) {
  [state.pinned, state.hover] = [i, -1];
  if (i >= 0) {
    bringIntoView(i);
    if (aloud) said.textContent = aloudText(i);
  }
  redraw();
  show();
}

const kind = i => isNew(i) ? 'placed' : 'training';
function aloudText(i) {
  const label = labels[i] < 0 ? 'no label' : classes[labels[i]];
  const relevant = told(i, LITTLE) ? `; most relevant: ${columns[topColumns[i * top]]}` : '';
  return `${names[i]}, ${kind(i)}: ${label}, predicted ${classes[predictions[i]]} with ${percent(confidences[i])} `
    + `of the vote${relevant}`;
}

function tell(i) {
  byId('none').hidden = i >= 0;
  panel.hidden = i < 0;
  byId('name').textContent = i < 0 ? 'No row chosen' : names[i];
  if (i < 0) return;
  const facts = make('dl', {className: 'facts'});
  const fact = (name, ...parts) => facts.append(make('dt', {textContent: name}), make('dd', {}, ...parts));
  fact('Label', labels[i] < 0 ? 'not known' : classMark(labels[i]));
  fact('Predicted', classMark(predictions[i]), make('span', {
    className: isWrong(i) ? 'verdict wrong' : 'verdict',
    textContent: isWrong(i) ? `${percent(confidences[i])}, not as labeled` : `${percent(confidences[i])} of the vote`,
  }));
  if (pictured[i] !== predictions[i]) fact('In the picture', classMark(pictured[i]));
  const row = `row ${numbers[i]}`;
  fact('From', `${isNew(i) ? 'the placed' : 'the training'} rows${names[i] === row ? '' : `, ${row}`}`);
  panel.replaceChildren(facts, columnTable(i), voterTable(i));
}

// How many of a point's most relevant columns are worth telling.
const LITTLE = .01;
function told(i, least) {
  let count = 0;
  while (count < top && topRelevances[i * top + count] >= least) count++;
  return count;
}

function columnTable(i) {
  const most = topRelevances[i * top];
  const body = make('tbody');
  if (most < LITTLE) return make('p', {textContent: 'No column decides alone: another value in any one of them '
    + 'changes less than 1% of the vote.'});
  for (let k = 0; k < told(i, .001); k++) {
    const share = topRelevances[i * top + k], fill = make('span');
    fill.style.width = `${most > 0 ? 100 * share / most : 0}%`;
    body.append(make('tr', {}, make('th', {scope: 'row', textContent: columns[topColumns[i * top + k]]}),
      ...(values ? [make('td', {className: isText(i, k) ? 'value' : 'value short', textContent: valueText(i, k)})] : []),
      make('td', {className: 'bars'}, make('span', {className: 'bar', 'aria-hidden': 'true'}, fill),
        make('span', {className: 'amount', textContent: percent(share, 1)}))));
  }
  return tableOf('What the vote hangs on', ['column', ...(values ? ['value'] : []), 'relevance'], body);
}

function voterTable(i) {
  const body = make('tbody');
  for (const [by, share] of votersOf(i)) {
    body.append(make('tr', {},
      make('th', {scope: 'row'}, make('button', {className: 'link', textContent: names[by], onclick: () => pin(by)})),
      make('td', {}, classMark(labels[by])),
      make('td', {className: 'number', textContent: percent(share)})));
  }
  return tableOf('Who voted', ['training row', 'label', 'vote'], body);
}

function tableOf(caption, head, body) {
  const cells = head.map(name => make('th', {scope: 'col', textContent: name}));
  return make('table', {}, make('caption', {textContent: caption}),
    make('thead', {}, make('tr', {}, ...cells)), body);
}

// A few words at the point.
function place(i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const lines = [make('strong', {textContent: names[i]})];
  const label = labels[i] < 0 ? [] : [classMark(labels[i])];
  const to = isWrong(i) || labels[i] < 0 ? [make('span', {className: 'soft', textContent: ' predicted '}),
    classMark(predictions[i])] : [];
  lines.push(make('span', {}, ...label, ...to, make('span', {className: 'soft', textContent: ` ${percent(confidences[i])}`})));
  for (let k = 0; k < Math.min(3, told(i, LITTLE)); k++) {
    const value = values ? ` = ${shortened(valueText(i, k), 24)}` : '';
    const hangs = percent(topRelevances[i * top + k]);
    lines.push(make('span', {className: 'soft', textContent: `${shortened(columns[topColumns[i * top + k]], 30)}${value}: ${hangs}`}));
  }
  tip.replaceChildren(...lines);
  const x = toX(X[i]), y = toY(Y[i]), gap = radius() + 10;
  // On the side where the voters are not, if there is room.
  let lean = 0;
  for (const [by] of votersOf(i)) lean += X[by] - X[i];
  const right = x + gap + tip.offsetWidth <= view.width, room = x - gap - tip.offsetWidth >= 0;
  const left = !right || (lean > 0 && room) ? x - gap - tip.offsetWidth : x + gap;
  const up = Math.max(4, Math.min(view.height - tip.offsetHeight - 4, y - tip.offsetHeight / 2));
  tip.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(up)}px)`;
}

// The details of the current row, beside the figure and for screen readers.
const detailsPanel = byId('details'), announcement = byId('announcement');
const kindOf = i => isNew(i) ? 'new' : 'training';

function showCurrentRow() {
  const i = currentRow();
  showDetails(i);
  showTooltip(i);
  drawOverlay();
}

function select(i, {announce = true} = {}) {
  [state.selected, state.hovered] = [i, -1];
  if (i >= 0) {
    bringIntoView(i);
    if (announce) announcement.textContent = description(i);
  }
  redraw();
  showCurrentRow();
}

function description(i) {
  const label = hasLabel(i) ? classes[labels[i]] : 'no label';
  const relevant = countRelevant(i) ? `; most relevant: ${topColumn(i, 0)}` : '';
  return `${names[i]}, ${kindOf(i)}: ${label}, predicted ${classes[predictions[i]]} with probability `
    + `${percent(confidences[i])}${relevant}`;
}

function showDetails(i) {
  byId('hint').hidden = i >= 0;
  detailsPanel.hidden = i < 0;
  byId('row-name').textContent = i < 0 ? 'No row selected' : names[i];
  if (i < 0) return;
  const facts = make('dl', {className: 'facts'});
  const addFact = (term, ...content) => facts.append(make('dt', {textContent: term}), make('dd', {}, ...content));
  addFact('Label', hasLabel(i) ? classMark(labels[i]) : 'unknown');
  addFact('Predicted', classMark(predictions[i]), make('span', {
    className: isError(i) ? 'verdict error' : 'verdict',
    textContent: `probability ${percent(confidences[i])}${isError(i) ? ', wrong' : ''}`,
  }));
  if (embeddingPredictions[i] !== predictions[i]) addFact('In the embedding', classMark(embeddingPredictions[i]));
  const row = `row ${rowNumbers[i]}`;
  addFact('From', `the ${kindOf(i)} rows${names[i] === row ? '' : `, ${row}`}`);
  detailsPanel.replaceChildren(facts, columnTable(i), neighborTable(i));
}

function columnTable(i) {
  const largest = topRelevance(i, 0), body = make('tbody');
  if (!countRelevant(i)) return make('p', {textContent: 'No single column is decisive: replacing the value of any one of them '
    + 'changes less than 1% of the vote.'});
  for (let k = 0; k < countRelevant(i, .001); k++) {
    const share = topRelevance(i, k), fill = make('span');
    fill.style.width = `${100 * share / largest}%`;
    body.append(make('tr', {}, make('th', {scope: 'row', textContent: topColumn(i, k)}),
      ...(values ? [make('td', {className: isTextColumn(i, k) ? 'value' : 'value short', textContent: valueText(i, k)})] : []),
      make('td', {className: 'bars'}, make('span', {className: 'bar', 'aria-hidden': 'true'}, fill),
        make('span', {className: 'amount', textContent: percent(share, 1)}))));
  }
  return makeTable('What the vote depends on', ['column', ...(values ? ['value'] : []), 'relevance'], body);
}

function neighborTable(i) {
  const body = make('tbody');
  for (const [row, share] of neighborsOf(i)) {
    body.append(make('tr', {},
      make('th', {scope: 'row'}, make('button', {className: 'link', textContent: names[row], onclick: () => select(row)})),
      make('td', {}, classMark(labels[row])),
      make('td', {className: 'number', textContent: percent(share)})));
  }
  const [nOthers, share] = otherVoters(i);
  if (nOthers) {
    body.append(make('tr', {className: 'others'},
      make('th', {scope: 'row', textContent: nOthers === 1 ? '1 other' : `${nOthers} others`}), make('td'),
      make('td', {className: 'number', textContent: percent(share)})));
  }
  return makeTable('The training rows that voted', ['row', 'label', 'votes'], body);
}

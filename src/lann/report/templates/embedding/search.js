// Search for rows by name or row number: equal names first, then names that start with the text.
function search({next = false} = {}) {
  const text = byId('search').value.trim().toLowerCase(), result = byId('search-result');
  const nFoundBefore = state.found.length;
  state.found = text ? findRows(text) : [];
  const nFound = state.found.length;
  const position = next && nFound ? (state.found.indexOf(state.selected) + 1) % nFound : -1;
  if (!text) result.textContent = '';
  else if (!nFound) result.textContent = 'none found';
  else result.textContent = `${position >= 0 ? `${position + 1} of ` : ''}${countText(nFound)} found`;
  if (position >= 0) select(state.found[position]);
  else if (nFoundBefore || nFound) drawOverlay();
}

function findRows(text) {
  const rank = name => name === text ? 0 : name.startsWith(text) ? 1 : 2;
  const found = [];
  for (let i = 0; i < nRows; i++) {
    const name = names[i].toLowerCase();
    if (isShown(i) && (name.includes(text) || String(rowNumbers[i]) === text)) found.push([rank(name), i]);
  }
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);
}

// The row that the end of the address names: #row-12 is row 12 of the training table, or else of the new rows;
// #new-12 is row 12 of the new rows. Other pages link to rows so. -1 if there is none.
function rowOfAddress() {
  const [, kind, number] = /^#(row|new)-(\d{1,10})$/.exec(location.hash) ?? [];
  if (!kind) return -1;
  return rowNumbers.indexOf(Number(number), kind === 'new' ? nTraining : 0);
}

// Select the row that the address names, also if filters hide it.
function selectByAddress() {
  const i = rowOfAddress();
  if (i >= 0) {
    if (!isShown(i)) showEverything();
    select(i);
    figure.scrollIntoView({block: 'nearest'});
  } else if (/^#(row|new)-\d+$/.test(location.hash)) {
    byId('search-result').textContent = `${location.hash.slice(1).replace('-', ' ')} is not in this embedding`;
  }
}

function showEverything() {
  Object.assign(state, {errorsOnly: false, subset: 'all', highlight: null});
  state.hiddenClasses.clear();
  byId('errors-only').checked = false;
  if (byId('subset')) byId('subset').value = 'all';
  updateAll();
}

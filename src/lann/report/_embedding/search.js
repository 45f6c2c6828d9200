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

// The overview: sort, search and filter; rows that are named by the address are opened.
const byId = id => document.getElementById(id);
const overview = document.querySelector('table.overview'), body = overview.tBodies[0];
const lines = [...body.rows], sections = new Map(lines.map(line => [line, byId(line.dataset.row)]));
const texts = new Map(lines.map(line => [line, line.textContent.toLowerCase()]));
const inOrder = (a, b) => a.localeCompare(b, 'en', {numeric: true, sensitivity: 'base'});

// Numbers in a key are compared as numbers.
function sortBy(column, descending) {
  const key = line => line.cells[column].dataset.key ?? line.cells[column].textContent;
  const sign = descending ? -1 : 1, keys = new Map(lines.map(line => [line, key(line)]));
  const isNumber = lines.every(line => keys.get(line) !== '' && !Number.isNaN(Number(keys.get(line))));
  const compare = isNumber ? (a, b) => Number(a) - Number(b) : inOrder;
  const sorted = [...lines].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
  body.append(...sorted);
  const parent = sections.get(lines[0]).parentNode;
  parent.append(...sorted.map(line => sections.get(line)));
}

for (const [column, cell] of [...overview.tHead.rows[0].cells].entries()) {
  const button = document.createElement('button');
  button.type = 'button';
  button.append(...cell.childNodes);
  cell.append(button);
  button.addEventListener('click', () => {
    const before = cell.getAttribute('aria-sort');
    // What is largest matters most in numbers and flags.
    const first = cell.classList.contains('number') || cell.textContent === 'flags' ? 'descending' : 'ascending';
    const order = before === null ? first : before === 'ascending' ? 'descending' : 'ascending';
    for (const other of overview.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    cell.setAttribute('aria-sort', order);
    sortBy(column, order === 'descending');
  });
}

const search = byId('search'), boxes = [...document.querySelectorAll('#controls [data-flag]')];
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const flags = boxes.filter(box => box.checked).map(box => box.dataset.flag);
  let nShown = 0;
  for (const line of lines) {
    const own = line.dataset.flags.split(' ');
    const isShown = flags.every(flag => own.includes(flag)) && words.every(word => texts.get(line).includes(word));
    line.hidden = sections.get(line).hidden = !isShown;
    nShown += isShown;
  }
  byId('count').textContent = nShown === lines.length ? `${nShown} rows` : `${nShown} of ${lines.length} rows`;
}
search.addEventListener('input', filter);
for (const box of boxes) box.addEventListener('change', filter);

// A click on a line, not only on its link, leads to its row.
body.addEventListener('click', event => {
  if (event.target.closest('a') || String(getSelection())) return;
  const line = event.target.closest('tr');
  if (line) location.hash = line.dataset.row;
});

function openByAddress() {
  const target = location.hash.startsWith('#row-') ? byId(location.hash.slice(1)) : null;
  if (!target) return;
  if (target.hidden) {
    search.value = '';
    for (const box of boxes) box.checked = false;
    filter();
  }
  target.open = true;
  target.scrollIntoView();
  target.querySelector('summary').focus({preventScroll: true});
}
addEventListener('hashchange', openByAddress);
// A second click on the same link does not change the address.
document.addEventListener('click', event => {
  const link = event.target.closest('a');
  if (link && link.hash === location.hash && link.getAttribute('href').startsWith('#row-')) openByAddress();
});

for (const [id, isOpen] of [['open-all', true], ['close-all', false]]) {
  byId(id).addEventListener('click', () => { for (const section of sections.values()) section.open = isOpen; });
}

byId('controls').hidden = byId('row-controls').hidden = false;
filter();
openByAddress();

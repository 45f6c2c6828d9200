// The legend: the classes, which can be hidden, and the meaning of the colors.
const legendEntry = (properties, icon, name, count) => make('button',
  {className: 'entry', 'aria-pressed': 'false', ...properties}, icon,
  make('span', {className: 'name', textContent: name}), softText(countText(count)));

function buildClassLegend() {
  byId('classes').replaceChildren(...classes.map((name, j) => make('li', {},
    make('input', {type: 'checkbox', checked: !state.hiddenClasses.has(j), 'aria-label': `show ${name}`,
      onchange: event => { setClassShown(j, event.target.checked); }}),
    legendEntry({'data-class': j, onclick: () => toggleHighlight('class', j)}, classIcon(j), name, classSizes[j]))));
}

function buildColorLegend() {
  const isByClass = ['class', 'prediction'].includes(state.coloring);
  byId('colors').hidden = isByClass;
  // Where colors have another meaning, the shapes alone distinguish the classes.
  byId('classes').classList.toggle('plain', !isByClass);
  const groups = byId('groups'), scale = byId('scale');
  groups.hidden = !coloring.groups;
  scale.hidden = coloring.low === undefined;
  groups.replaceChildren(...(coloring.groups ?? []).map((name, g) => {
    const swatch = make('span', {className: 'swatch'});
    swatch.style.background = coloring.palette[g];
    let count = 0;
    for (let i = 0; i < nRows; i++) count += coloring.indexOf(i) === g;
    if (!count) return '';
    return make('li', {}, legendEntry({'data-group': g, onclick: () => toggleHighlight('group', g)}, swatch, name, count));
  }));
  if (!scale.hidden) {
    byId('color-ramp').style.background = `linear-gradient(90deg, ${coloring.palette.join(', ')})`;
    byId('scale-low').textContent = percent(coloring.low);
    byId('scale-high').textContent = percent(coloring.high);
    byId('scale-unit').textContent = coloring.unit;
  }
}

function toggleHighlight(by, value) {
  const isOn = state.highlight?.by === by && state.highlight.value === value;
  state.highlight = isOn ? null : {by, value};
  updateAll();
}

function setClassShown(j, shown) {
  state.hiddenClasses[shown ? 'delete' : 'add'](j);
  updateAll();
}

// After any change of what is shown: the figure, the legend, the count, the search and the table.
function updateAll() {
  if (state.hovered >= 0 && !isShown(state.hovered)) state.hovered = -1;
  if (state.selected >= 0 && !isShown(state.selected)) state.selected = -1;
  updateShown();
  for (const entry of document.querySelectorAll('.entry')) {
    const {by, value} = state.highlight ?? {};
    entry.setAttribute('aria-pressed', by !== undefined && Number(entry.dataset[by]) === value);
  }
  for (const [j, box] of [...byId('classes').querySelectorAll('input')].entries()) box.checked = !state.hiddenClasses.has(j);
  byId('show-all').disabled = !state.hiddenClasses.size;
  byId('show-none').disabled = state.hiddenClasses.size === classes.length;
  showCount();
  search();
  fillTable();
  showCurrentRow();
}

function showCount() {
  let nErrors = 0;
  for (const i of drawOrder) nErrors += isError(i);
  const nShown = drawOrder.length;
  const rows = nShown === nRows ? `${countText(nRows)} rows` : `${countText(nShown)} of ${countText(nRows)} rows`;
  byId('count').textContent = `${rows}, ${countText(nErrors)} predicted wrongly`;
}

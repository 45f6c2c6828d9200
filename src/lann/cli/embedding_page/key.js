// The key: what colors and shapes mean, and which classes are shown.
const countText = count => count.toLocaleString('en');

function buildClasses() {
  byId('classes').replaceChildren(...classes.map((name, j) => make('li', {},
    make('input', {type: 'checkbox', checked: !state.hidden.has(j), 'aria-label': `show ${name}`,
      onchange: event => { toggle(j, event.target.checked); }}),
    make('button', {className: 'entry', 'data-class': j, 'aria-pressed': 'false', onclick: () => light('class', j)},
      icon(j), make('span', {className: 'name', textContent: name}),
      make('span', {className: 'soft', textContent: countText(classSizes[j])})))));
}

function buildKey() {
  const box = byId('colors'), byClass = ['class', 'prediction'].includes(state.coloring);
  box.hidden = byClass;
  // Where colors say something else, the shapes alone tell the classes.
  byId('classes').classList.toggle('plain', !byClass);
  const groups = byId('groups'), rule = byId('scale');
  groups.hidden = !colors.groups;
  rule.hidden = colors.low === undefined;
  groups.replaceChildren(...(colors.groups ?? []).map((name, g) => {
    const swatch = make('span', {className: 'swatch'});
    swatch.style.background = colors.palette[g];
    let count = 0;
    for (let i = 0; i < n; i++) count += colors.of(i) === g;
    return count ? make('li', {}, make('button', {className: 'entry', 'data-group': g, 'aria-pressed': 'false',
      onclick: () => light('group', g)}, swatch, make('span', {className: 'name', textContent: name}),
      make('span', {className: 'soft', textContent: countText(count)}))) : '';
  }));
  if (!rule.hidden) {
    byId('ramp').style.background = `linear-gradient(90deg, ${colors.palette.join(', ')})`;
    byId('low').textContent = percent(colors.low);
    byId('high').textContent = percent(colors.high);
    byId('unit').textContent = colors.unit;
  }
}

function light(by, of) {
  state.lit = state.lit && state.lit.by === by && state.lit.of === of ? null : {by, of};
  changed();
}

function toggle(j, isOn) {
  state.hidden[isOn ? 'delete' : 'add'](j);
  changed();
}

// After any change of what is shown: the picture, the key, the count, the table.
function changed() {
  if (state.hover >= 0 && !isShown(state.hover)) state.hover = -1;
  if (state.pinned >= 0 && !isShown(state.pinned)) state.pinned = -1;
  refilter();
  for (const entry of document.querySelectorAll('.entry')) {
    const {by, of} = state.lit ?? {};
    entry.setAttribute('aria-pressed', by !== undefined && Number(entry.dataset[by]) === of);
  }
  for (const [j, box] of [...byId('classes').querySelectorAll('input')].entries()) box.checked = !state.hidden.has(j);
  byId('all').disabled = !state.hidden.size;
  byId('no').disabled = state.hidden.size === classes.length;
  count();
  search();
  fillTable();
  show();
}

function count() {
  let wrong = 0;
  for (const i of order) wrong += isWrong(i);
  const all = order.length === n ? `${countText(n)} points` : `${countText(order.length)} of ${countText(n)} points`;
  byId('count').textContent = `${all}, ${countText(wrong)} not as labeled`;
}

// Points whose name has what is searched for: the same name first, then those that begin so.
function search({next = false} = {}) {
  const wanted = byId('search').value.trim().toLowerCase(), box = byId('found');
  const before = state.found;
  state.found = [];
  if (wanted) {
    const rank = name => name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
    const found = [];
    for (let i = 0; i < n; i++) {
      const name = names[i].toLowerCase();
      if (isShown(i) && (name.includes(wanted) || String(numbers[i]) === wanted)) found.push([rank(name), i]);
    }
    state.found = found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);
  }
  const at = next && state.found.length ? (state.found.indexOf(state.pinned) + 1) % state.found.length : -1;
  box.textContent = !wanted ? '' : !state.found.length ? 'none shown'
    : `${at >= 0 ? `${at + 1} of ` : ''}${countText(state.found.length)} found`;
  if (at >= 0) pin(state.found[at]);
  else if (before.length || state.found.length) drawOver();
}

// The controls, and the beginning.
for (const [place, column] of given.colorings.entries())
  byId('by-column').append(make('option', {value: `column ${place}`, textContent: columns[column]}));
byId('color').addEventListener('change', event => {
  state.coloring = event.target.value;
  if (state.lit?.by === 'group') state.lit = null;
  recolor();
  buildKey();
  changed();
});
byId('mistakes').addEventListener('change', event => { state.mistakes = event.target.checked; changed(); });
byId('which')?.addEventListener('change', event => { state.which = event.target.value; changed(); });
byId('names').checked = state.names;
byId('names').addEventListener('change', event => { state.names = event.target.checked; refilter(); });
byId('search').addEventListener('input', () => search());
byId('search').addEventListener('keydown', event => { if (event.key === 'Enter') search({next: true}); });
byId('all').addEventListener('click', () => { state.hidden.clear(); changed(); });
byId('no').addEventListener('click', () => { classes.forEach((_, j) => state.hidden.add(j)); changed(); });
byId('in').addEventListener('click', () => { zoom(1.5); place(current()); });
byId('out').addEventListener('click', () => { zoom(1 / 1.5); place(current()); });
byId('fit').addEventListener('click', () => { fit(); place(current()); });
byId('previous').addEventListener('click', () => step(-1));
byId('next').addEventListener('click', () => step(1));
byId('list').addEventListener('toggle', fillTable);
byId('more').addEventListener('click', more);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { recolor(); buildKey(); changed(); });
new ResizeObserver(() => { resize(); place(current()); }).observe(stage);

colors = colorings.class();
order = [];
ghosts = [];
heads = [];
lit = 0;
resize();
recolor();
buildClasses();
buildKey();
changed();
document.documentElement.dataset.ready = 'yes';

// The controls, and the first drawing.
const onChange = (id, handle) => byId(id)?.addEventListener('change', event => handle(event.target));
const onClick = (id, handle) => byId(id).addEventListener('click', handle);

function recolor() {
  updateColoring();
  buildColorLegend();
  updateAll();
}

for (const [rank, column] of data.colorings.entries())
  byId('by-column').append(make('option', {value: `column ${rank}`, textContent: columns[column]}));
byId('class-names').checked = state.classNames;
onChange('coloring', control => {
  state.coloring = control.value;
  if (state.highlight?.by === 'group') state.highlight = null;
  recolor();
});
onChange('errors-only', control => { state.errorsOnly = control.checked; updateAll(); });
onChange('subset', control => { state.subset = control.value; updateAll(); });
onChange('class-names', control => { state.classNames = control.checked; updateShown(); });
byId('search').addEventListener('input', () => search());
byId('search').addEventListener('keydown', event => { if (event.key === 'Enter') search({next: true}); });
onClick('show-all', () => { state.hiddenClasses.clear(); updateAll(); });
onClick('show-none', () => { classes.forEach((_, j) => state.hiddenClasses.add(j)); updateAll(); });
onClick('zoom-in', () => { zoom(1.5); moveTooltip(); });
onClick('zoom-out', () => { zoom(1 / 1.5); moveTooltip(); });
onClick('zoom-all', () => { fit(); moveTooltip(); });
onClick('previous', () => selectNext(-1));
onClick('next', () => selectNext(1));
onClick('more', fillMore);
byId('row-table').addEventListener('toggle', fillTable);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolor);
new ResizeObserver(() => { resize(); moveTooltip(); }).observe(figure);

coloring = colorings.class();
resize();
buildClassLegend();
recolor();
selectByAddress();
addEventListener('hashchange', selectByAddress);
document.documentElement.dataset.ready = 'yes';

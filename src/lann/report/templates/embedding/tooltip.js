// A short description beside the current row.
const tooltip = byId('tooltip');
const MOST_COLUMNS = 3;

function showTooltip(i) {
  tooltip.hidden = i < 0;
  if (i < 0) return;
  const lines = [make('strong', {textContent: names[i]})];
  const label = hasLabel(i) ? [classMark(labels[i])] : [];
  const prediction = isError(i) || !hasLabel(i) ? [softText(' predicted '), classMark(predictions[i])] : [];
  lines.push(make('span', {}, ...label, ...prediction, softText(` ${percent(confidences[i])}`)));
  for (let k = 0; k < Math.min(MOST_COLUMNS, countRelevant(i)); k++) {
    const value = values ? ` = ${shortened(valueText(i, k), 24)}` : '';
    lines.push(softText(`${shortened(topColumn(i, k), 30)}${value}: ${percent(topRelevance(i, k))}`));
  }
  tooltip.replaceChildren(...lines);
  const x = toX(X[i]), y = toY(Y[i]), gap = markRadius() + 10, {offsetWidth: width, offsetHeight: height} = tooltip;
  // On the side without the rows that voted, if there is enough space.
  let side = 0;
  for (const [row] of neighborsOf(i)) side += X[row] - X[i];
  const fitsRight = x + gap + width <= view.width, fitsLeft = x - gap - width >= 0;
  const left = !fitsRight || (side > 0 && fitsLeft) ? x - gap - width : x + gap;
  const top = Math.max(4, Math.min(view.height - height - 4, y - height / 2));
  tooltip.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(top)}px)`;
}
const moveTooltip = () => showTooltip(currentRow());

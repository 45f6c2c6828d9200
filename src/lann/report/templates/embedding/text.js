// Numbers and values as text.

// A share above 0 is not rounded to "0%", and one below 1 not to "100%".
function percent(share, digits = 0) {
  const text = (100 * share).toFixed(digits), least = 10 ** -digits;
  if (share > 0 && Number(text) === 0) return `<${least}%`;
  if (share < 1 - 1e-4 && Number(text) === 100) return `>${100 - least}%`;
  return `${text}%`;
}

const countText = count => count.toLocaleString('en');
const shortened = (text, most) => text.length <= most ? text : `${text.slice(0, most - 1)}…`;
const isTextColumn = (i, k) => data.values.texts[topColumns[i * nTop + k]] !== null;

// The value of the k-th most relevant column of a row.
function valueText(i, k) {
  const value = values[i * nTop + k], texts = data.values.texts[topColumns[i * nTop + k]];
  if (Number.isNaN(value)) return 'missing';
  return texts ? texts[value] : numberText(value);
}

// Integers and short numbers have all their digits; long ones are rounded.
const LONG = 12, DIGITS = 6;
function numberText(value) {
  const text = String(Number(value.toPrecision(14)));
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return String(value);
  if (text.length <= LONG) return text;
  return Math.abs(value) >= 10 ** DIGITS && Math.abs(value) < 1e16 ? String(Math.round(value)) : String(Number(value.toPrecision(DIGITS)));
}

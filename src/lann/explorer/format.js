// Values, shares and counts as text: values are written as the user's table writes them.

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
export const MISSING = "missing";

// The smallest and the largest of some numbers; gaps are left out.
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// A share as a percentage; one above 0 is not rounded to 0%, one below 1 not to 100%.
export function percent(share, digits = 0) {
  const text = (100 * share).toFixed(digits);
  const least = 10 ** -digits;
  if (share > 0 && Number(text) === 0) return `<${least.toFixed(digits)}%`;
  if (share < 1 - 1e-9 && Number(text) === 100) return `>${(100 - least).toFixed(digits)}%`;
  return `${Number(text) === 0 ? (0).toFixed(digits) : text}%`;
}

export function signedPercent(share, digits = 1) {
  const text = (100 * Math.abs(share)).toFixed(digits);
  if (Number(text) === 0) return `${text}%`;
  return `${share > 0 ? "+" : "−"}${text}%`;
}

export const grouped = (number) => number.toLocaleString("en-US");
export const counted = (n, noun, plural = `${noun}s`) => (n === 1 ? `1 ${noun}` : `${grouped(n)} ${plural}`);

// A number with a given number of digits at most, as "%g" writes it.
export function general(number, digits = 6) {
  if (number === 0) return "0";
  const short = Number(number.toPrecision(digits));
  const exponent = Math.floor(Math.log10(Math.abs(short)));
  if (exponent >= -4 && exponent < digits) return String(short);
  const [mantissa, power] = short.toExponential().split("e");
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

const PLAIN = { decimal: ".", thousands: "", prefix: "", suffix: "", decimals: null };

// A number in the notation of its column: see lann.columns.notation.
export function numberText(value, notation) {
  const { decimal, thousands, prefix, suffix, decimals } = notation ?? PLAIN;
  const size = Math.abs(value);
  let body;
  if (decimals && size < 1e15 && Math.abs(Number(size.toFixed(decimals)) - size) <= 1e-9 * size) body = size.toFixed(decimals);
  else if (size < 1e15 && Number.isInteger(size)) body = String(size);
  else body = general(size, Number(size.toPrecision(10)) === size ? 10 : 6);
  if (!body.includes("e")) {
    const [whole, fraction] = body.split(".");
    body = whole.replace(/\B(?=(\d{3})+$)/g, thousands) + (fraction ? decimal + fraction : "");
  } else body = body.replace(".", decimal);
  return `${value < 0 ? "-" : ""}${prefix}${body}${suffix}`;
}

const two = (number) => String(number).padStart(2, "0");
const DATE_PARTS = {
  Y: (d) => String(d.getUTCFullYear()).padStart(4, "0"),
  m: (d) => two(d.getUTCMonth() + 1),
  d: (d) => two(d.getUTCDate()),
  B: (d) => MONTHS[d.getUTCMonth()],
  b: (d) => MONTHS[d.getUTCMonth()].slice(0, 3),
  H: (d) => two(d.getUTCHours()),
  I: (d) => two(d.getUTCHours() % 12 || 12),
  p: (d) => (d.getUTCHours() < 12 ? "AM" : "PM"),
  M: (d) => two(d.getUTCMinutes()),
  S: (d) => two(d.getUTCSeconds()),
};

// A date, given as the number of days or seconds since 1970.
export function dateText(value, unit, notation) {
  const date = new Date(Math.round(value) * (unit === "D" ? 86_400_000 : 1000));
  const shown = notation?.shown ?? (unit === "D" ? "%Y-%m-%d" : "%Y-%m-%d %H:%M:%S");
  const text = shown.replace(/%([A-Za-z])/g, (whole, letter) => DATE_PARTS[letter]?.(date) ?? whole);
  return notation && !notation.is_padded ? text.replace(/(?<![\d:])0(\d)(?=[/.\-, ]|$)/g, "$1") : text;
}

// A value of a column, given as a number, as text.
export function valueText(column, value) {
  if (Number.isNaN(value) || column.kind === "empty") return MISSING;
  if (column.kind === "number") return numberText(value, column.notation);
  if (column.kind === "date") return dateText(value, column.unit, column.notation);
  if (column.kind === "bool") return column.words[value ? 0 : 1];
  return value < 0 ? "(unseen)" : column.categories[value];
}

// A value that sums up others, with three digits where numbers have many.
export function shortText(column, value) {
  const isLong = column.kind === "number" && !column.notation?.decimals && !Number.isInteger(value) && Math.abs(value) < 1000;
  return valueText(column, isLong && Number.isFinite(value) ? Number(value.toPrecision(3)) : value);
}

// Rows of cells as CSV; texts that a spreadsheet would take as formulas get an apostrophe.
export function toCsv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

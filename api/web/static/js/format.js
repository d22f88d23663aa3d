// Numbers as the server writes them.
const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

export const number = (value) => new Intl.NumberFormat("en-US").format(value);

export function size(bytes) {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount >= 10 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

export function csrfToken() {
  return document.querySelector('meta[name="csrf-token"]')?.content ?? "";
}

// Numbers for people: formats, logarithmic sliders, and axis ticks. Pure functions.

/** Three significant digits without needless zeros; words for what is not a number. */
export function format(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text;
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(Math.max(0, digits - 2)).split("e");
    text = `${strip(mantissa)}e${Number(exponent)}`;
  } else if (size >= 10 ** (digits - 1)) text = String(Math.round(x));
  else text = strip(x.toPrecision(digits));
  return text.replaceAll("-", "−");
}

/** A whole number with commas between thousands, as the rest of the page writes them. */
export function grouped(n) {
  return Number(n).toLocaleString("en-US");
}

function strip(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Round to `digits` significant digits, so that a dragged value is one that can be typed. */
export function significant(x, digits = 3) {
  return x === 0 ? 0 : Number(x.toPrecision(digits));
}

/** Value of a logarithmic slider at position u in 0..1. */
export function logValue(u, low, high) {
  return low * (high / low) ** Math.min(1, Math.max(0, u));
}

/** Position in 0..1 of a value on a logarithmic slider; values outside stick to the ends. */
export function logPosition(value, low, high) {
  if (!(value > low)) return 0;
  return Math.min(1, Math.log(value / low) / Math.log(high / low));
}

/** Read what a person typed ("0,05", "1e-3", " 2 "); NaN when it is no number. */
export function parse(text) {
  const clean = String(text).trim().replace(",", ".").replace("−", "-");
  return clean === "" ? NaN : Number(clean);
}

/** The smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below x. */
export function niceCeil(x) {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  const lead = x / power;
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((n) => n >= lead - 1e-9) * power;
}

/** About `count` round ticks from low to high. */
export function ticks(low, high, count = 4) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((n) => n * power >= rough) * power;
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** Powers of ten between low and high, thinned to at most `count`. */
export function logTicks(low, high, count = 4) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const out = [];
  for (let e = first; e <= last; e += every) out.push(10 ** e);
  return out;
}

/** Smooth start and stop of a movement, 0..1 to 0..1. */
export function ease(u) {
  return u <= 0 ? 0 : u >= 1 ? 1 : u * u * (3 - 2 * u);
}

// Which codes are in use, from numbers alone. No DOM, so it can be tested by itself.

export const [IN_USE, HARDLY, NEVER] = [0, 1, 2];

/** Of each code by its share (K): chosen with at least a tenth of an even share, hardly ever, or never. */
export function fates(used) {
  const count = used.length;
  if (!used.some((x) => x > 0)) return Array(count).fill(IN_USE);
  return Array.from(used, (x) => (x <= 0 ? NEVER : x < 0.1 / count ? HARDLY : IN_USE));
}

/** Places at which a code stands in cells (E, h, w). */
export function usesOf(cells, code) {
  const found = [];
  for (let i = 0; i < cells.length; i++) if (cells[i] === code) found.push(i);
  return found;
}

/** The code that most of the cells have; `before` stays as long as it has more than half as many. */
export function mostUsed(cells, count, before = -1) {
  const counts = new Uint32Array(count);
  for (const k of cells) counts[k]++;
  const best = counts.indexOf(Math.max(...counts));
  return 2 * (counts[before] ?? 0) > counts[best] ? before : best;
}

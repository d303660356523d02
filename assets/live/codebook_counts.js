// Which codes are in use, from numbers alone. No DOM, so it can be tested by itself.

export const [IN_USE, HARDLY, NEVER] = [0, 1, 2];

/**
 * Of each code: chosen with at least a tenth of an even share, hardly ever, or never, over the epoch that the verdict
 * rests on: the present one once half of it was seen, else the last.
 */
export function fates(frame, count, stepsPerEpoch) {
  const { used_epoch: now, used_last: last } = frame.extra;
  const early = frame.step % stepsPerEpoch < stepsPerEpoch / 2;
  const used = early && last.some((x) => x > 0) ? last : now;
  if (!used.some((x) => x > 0)) return Array(count).fill(IN_USE);
  return Array.from(used, (x) => (x <= 0 ? NEVER : x < 0.1 / count ? HARDLY : IN_USE));
}

/** Places at which a code stands in cells (E, h, w). */
export function usesOf(cells, code) {
  const found = [];
  for (let i = 0; i < cells.length; i++) if (cells[i] === code) found.push(i);
  return found;
}

// Zoom and pan of the maps, shared by all panels. Map units: the whole map has radius 1.

export const HOME = { x: 0, y: 0, zoom: 1 };
const SHOWN_RADIUS = 1.15;

/** Pixels of one map unit on a panel of width w and height h. */
export function scaleOf(view, w, h) {
  return (Math.min(w, h) / 2 / SHOWN_RADIUS) * view.zoom;
}

/** Map to pixels: [scale, x offset, y offset], with y upwards on the map. */
export function transformOf(view, w, h) {
  const s = scaleOf(view, w, h);
  return [s, w / 2 - view.x * s, h / 2 + view.y * s];
}

/** Zoom by a factor while the map point under pixel (px, py) stays where it is. */
export function zoomAt(view, factor, px, py, w, h) {
  const zoom = Math.min(60, Math.max(0.4, view.zoom * factor));
  const before = scaleOf(view, w, h);
  const after = scaleOf({ zoom }, w, h);
  const dx = (px - w / 2) * (1 / before - 1 / after);
  const dy = (py - h / 2) * (1 / before - 1 / after);
  return clamp({ x: view.x + dx, y: view.y - dy, zoom });
}

/** Move by pixels. */
export function panBy(view, dx, dy, w, h) {
  const s = scaleOf(view, w, h);
  return clamp({ ...view, x: view.x - dx / s, y: view.y + dy / s });
}

function clamp(view) {
  const limit = (v) => Math.min(4, Math.max(-4, v));
  return { ...view, x: limit(view.x), y: limit(view.y) };
}

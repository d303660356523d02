// Token marks drawn once into an atlas; a frame then only copies pixels.
import { alpha, mix } from "./theme.js";

const CELL = 14; // css px of an atlas cell
const RADIUS = 3.1;
export const LEVELS = 5; // 0 faint (not selected), 1..4 by strength

/** Outline of a mark of radius r around (x, y). Also used by legends. */
export function tracePath(g, shape, x, y, r) {
  const polygon = (n, turn, inner) => {
    const points = inner ? 2 * n : n;
    for (let i = 0; i < points; i++) {
      const a = turn + (i * 2 * Math.PI) / points;
      const s = inner && i % 2 ? r * inner : r * (inner ? 1.35 : 1.2);
      g[i ? "lineTo" : "moveTo"](x + s * Math.cos(a), y + s * Math.sin(a));
    }
    g.closePath();
  };
  const bars = (turn) => {
    const [c, s, w, l] = [Math.cos(turn), Math.sin(turn), r * 0.42, r * 1.25];
    const corners = [[-w, -l], [w, -l], [w, -w], [l, -w], [l, w], [w, w], [w, l], [-w, l], [-w, w], [-l, w], [-l, -w], [-w, -w]];
    corners.forEach(([u, v], i) => g[i ? "lineTo" : "moveTo"](x + c * u - s * v, y + s * u + c * v));
    g.closePath();
  };
  g.beginPath();
  if (shape === "square") g.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (shape === "triangle") polygon(3, -Math.PI / 2);
  else if (shape === "wedge") polygon(3, Math.PI / 2);
  else if (shape === "diamond") polygon(4, -Math.PI / 2);
  else if (shape === "plus") bars(0);
  else if (shape === "cross") bars(Math.PI / 4);
  else if (shape === "star") polygon(5, -Math.PI / 2, 0.55);
  else g.arc(x, y, r, 0, 2 * Math.PI);
}

/** One mark in its colour, with a rim that lifts it off its neighbours. */
export function drawMark(g, theme, index, x, y, r, opacity = 1) {
  const color = theme.color(index);
  g.globalAlpha = opacity;
  tracePath(g, theme.shape(index), x, y, r);
  g.fillStyle = color;
  g.fill();
  g.lineWidth = 0.7;
  g.strokeStyle = theme.dark ? alpha(theme.ground, 0.75) : mix(color, "#000000", 0.38);
  g.stroke();
  g.globalAlpha = 1;
}

/** Atlas of `count` marks by LEVELS opacities: {image, cell (device px), size (css px), draw(...)}. */
export function makeAtlas(theme, count, ratio) {
  const cell = Math.ceil(CELL * ratio);
  const canvas = new OffscreenCanvas(cell * Math.max(1, count), cell * LEVELS);
  const g = canvas.getContext("2d");
  const opacities = [theme.dark ? 0.13 : 0.12, 0.3, 0.5, 0.72, 0.92];
  for (let i = 0; i < count; i++) {
    for (let level = 0; level < LEVELS; level++) {
      g.setTransform(ratio, 0, 0, ratio, i * cell + cell / 2, level * cell + cell / 2);
      drawMark(g, theme, i, 0, 0, RADIUS, opacities[level]);
    }
  }
  return { image: canvas.transferToImageBitmap(), cell };
}

/** Opacity level of a token from its strength 0..255. */
export function strengthLevel(strength) {
  return strength > 215 ? 4 : strength > 150 ? 3 : strength > 90 ? 2 : 1;
}

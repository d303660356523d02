// Token marks, drawn once and then blended pixel by pixel: without a GPU several times cheaper than drawImage.
import { alpha, mix } from "./theme.js";

const CELL = 14; // css px of an atlas cell
const RADIUS = 3.1;
const PHASES = 4; // half-pixel positions in x and y, so that slow motion does not tick from pixel to pixel
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
    const corners = [
      [-w, -l],
      [w, -l],
      [w, -w],
      [l, -w],
      [l, w],
      [w, w],
      [w, l],
      [-w, l],
      [-w, w],
      [-l, w],
      [-l, -w],
      [-w, -w],
    ];
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

/**
 * `count` marks by LEVELS opacities by PHASES half-pixel positions, as lists of pixels ready for blending.
 * A sprite is an Int32Array of [dx, dy, red and blue times a, green times a, 256 - a] a pixel, a in 0..256.
 */
export function makeAtlas(theme, count, ratio) {
  const cell = Math.ceil(CELL * ratio);
  const canvas = new OffscreenCanvas(cell * Math.max(1, count), cell * LEVELS * PHASES);
  const g = canvas.getContext("2d", { willReadFrequently: true });
  const opacities = [theme.dark ? 0.13 : 0.12, 0.3, 0.5, 0.72, 0.92];
  for (let i = 0; i < count; i++) {
    for (let row = 0; row < LEVELS * PHASES; row++) {
      const phase = row % PHASES;
      g.setTransform(
        ratio,
        0,
        0,
        ratio,
        i * cell + (cell >> 1) + (phase & 1) / 2,
        row * cell + (cell >> 1) + (phase >> 1) / 2,
      );
      drawMark(g, theme, i, 0, 0, RADIUS, opacities[Math.floor(row / PHASES)]);
    }
  }
  const { data } = g.getImageData(0, 0, canvas.width, canvas.height);
  const sprites = [];
  for (let i = 0; i < count; i++) {
    for (let row = 0; row < LEVELS * PHASES; row++)
      sprites.push(cutSprite(data, canvas.width, i * cell, row * cell, cell));
  }
  return { sprites, count, reach: cell };
}

function cutSprite(data, width, left, top, cell) {
  const pixels = [];
  for (let y = 0; y < cell; y++) {
    for (let x = 0; x < cell; x++) {
      const at = 4 * ((top + y) * width + left + x);
      const a = Math.round((data[at + 3] * 256) / 255);
      if (a < 8) continue;
      pixels.push(
        x - (cell >> 1),
        y - (cell >> 1),
        ((data[at + 2] << 16) | data[at]) * a,
        (data[at + 1] << 8) * a,
        256 - a,
      );
    }
  }
  return Int32Array.from(pixels, (v) => v | 0);
}

/** Blend a sprite into a buffer of little-endian RGBA pixels, its middle at whole pixel (x, y). */
export function blit(buffer, width, height, sprite, x, y, reach) {
  const inside = x >= reach && y >= reach && x < width - reach && y < height - reach;
  for (let i = 0; i < sprite.length; i += 5) {
    const [u, v] = [x + sprite[i], y + sprite[i + 1]];
    if (!inside && (u < 0 || v < 0 || u >= width || v >= height)) continue;
    const at = v * width + u;
    const under = buffer[at];
    const rest = sprite[i + 4];
    const redBlue = ((Math.imul(under & 0xff00ff, rest) + sprite[i + 2]) >>> 8) & 0xff00ff;
    const green = ((Math.imul(under & 0xff00, rest) + sprite[i + 3]) >>> 8) & 0xff00;
    buffer[at] = 0xff000000 | redBlue | green;
  }
}

/** Index of a sprite in the atlas: mark, opacity level, and half-pixel phase of the exact place. */
export function spriteIndex(mark, level, x, y) {
  const phase = (x - Math.floor(x) >= 0.5 ? 1 : 0) | (y - Math.floor(y) >= 0.5 ? 2 : 0);
  return (mark * LEVELS + level) * PHASES + phase;
}

/** Opacity level of a token from its strength 0..255. */
export function strengthLevel(strength) {
  return strength > 215 ? 4 : strength > 150 ? 3 : strength > 90 ? 2 : 1;
}

// The frame of a small chart: margins, grid, tick labels, and a line through many steps drawn once a pixel.
import { format, logTicks, ticks } from "./numbers.js";

export const MARGIN = { left: 40, right: 8, top: 6, bottom: 18 };

/** Scales of one chart: x(step), y(value) in px. log: values below `low` stick to the floor. */
export function makeScales(box, steps, low, high, log) {
  const x = (step) => box.x + (step / Math.max(1, steps)) * box.w;
  const span = log ? Math.log(high / low) : high - low;
  const y = (value) => {
    const share = log ? Math.log(Math.max(value, low) / low) / span : (value - low) / span;
    return box.y + box.h * (1 - Math.min(1.05, Math.max(0, share)));
  };
  return { x, y, box, low, high, log, steps };
}

/** Grid lines and labels; the x labels share the time of all charts. */
export function drawAxes(g, theme, s, withY = true, marked = null) {
  g.font = `11px ${theme.font}`;
  g.lineWidth = 1;
  g.textBaseline = "middle";
  const { box } = s;
  const marks = marked ?? (s.log ? logTicks(s.low, s.high, 4) : ticks(s.low, s.high, 3));
  for (const value of marks) {
    const y = Math.round(s.y(value)) + 0.5;
    g.strokeStyle = theme.grid;
    g.beginPath();
    g.moveTo(box.x, y);
    g.lineTo(box.x + box.w, y);
    g.stroke();
    if (!withY) continue;
    g.textAlign = "right";
    g.fillStyle = theme.faded;
    g.fillText(format(value, 2), box.x - 5, y);
  }
  g.textBaseline = "alphabetic";
  g.fillStyle = theme.faded;
  const steps = ticks(0, s.steps, box.w < 110 ? 2 : 4);
  for (const step of steps) {
    const x = s.x(step);
    g.textAlign = step === 0 ? "left" : x > box.x + box.w - 10 ? "right" : "center";
    g.fillText(String(step), x, box.y + box.h + 13);
  }
}

/**
 * Points of a column of a history, at most about two a pixel (its lowest and highest), NaN left out.
 * `visit(x, y, fresh)`; fresh is true after a gap.
 */
export function walk(history, column, s, upTo, visit) {
  let fresh = true;
  let [pixel, low, high] = [-1, 0, 0];
  const flush = (x) => {
    if (pixel < 0) return;
    visit(x, s.y(low), fresh);
    fresh = false;
    if (high !== low) visit(x, s.y(high), false);
    pixel = -1;
  };
  for (let i = 0; i < history.count && history.steps[i] <= upTo; i++) {
    const value = history.value(i, column);
    const x = s.x(history.steps[i]);
    if (!Number.isFinite(value)) {
      flush(x);
      fresh = true;
      continue;
    }
    if (history.count < 2 * s.box.w) {
      visit(x, s.y(value), fresh);
      fresh = false;
      continue;
    }
    if (Math.floor(x) !== pixel) {
      flush(pixel);
      [pixel, low, high] = [Math.floor(x), value, value];
    } else {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  flush(pixel);
}

/** One line through a column. */
export function drawLine(g, history, column, s, upTo, { color, width = 1.6, dash = [], opacity = 1 }) {
  if (column < 0) return;
  g.beginPath();
  walk(history, column, s, upTo, (x, y, fresh) => g[fresh ? "moveTo" : "lineTo"](x, y));
  g.strokeStyle = color;
  g.globalAlpha = opacity;
  g.lineWidth = width;
  g.lineJoin = "round";
  g.setLineDash(dash);
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 1;
}

/** The area between a column (or zero) and another. */
export function drawArea(g, history, s, upTo, lower, upper, color, opacity) {
  const top = [];
  const foot = [];
  for (let i = 0; i < history.count && history.steps[i] <= upTo; i++) {
    const [a, b] = [lower < 0 ? 0 : history.value(i, lower), history.value(i, upper)];
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    top.push([s.x(history.steps[i]), s.y(b)]);
    foot.push([s.x(history.steps[i]), s.y(a)]);
  }
  if (top.length < 2) return;
  g.beginPath();
  top.forEach(([x, y], i) => g[i ? "lineTo" : "moveTo"](x, y));
  foot.reverse().forEach(([x, y]) => g.lineTo(x, y));
  g.closePath();
  g.fillStyle = color;
  g.globalAlpha = opacity;
  g.fill();
  g.globalAlpha = 1;
}

/** Smallest and largest finite value of some columns over several histories, from a step on. */
export function range(histories, columns, from = -1) {
  let [low, high] = [Infinity, -Infinity];
  for (const history of histories) {
    for (const name of columns) {
      const column = history.column(name);
      if (column < 0) continue;
      for (let i = Math.max(0, history.rowAt(from)); i < history.count; i++) {
        const value = history.value(i, column);
        if (Number.isFinite(value)) {
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
  }
  return [low, high];
}

// A plane: a still map of two known coordinates with axes, ticks and named places. Only prototypes move on it.
import { alpha } from "./theme.js";
import { HOME, scaleOf } from "./viewport.js";

const LEFT = 46; // px kept free for the words of the axes at zoom 1
const RIGHT = 16;
const TOP = 34;
const FOOT = 62;

/**
 * How a plane fills a panel of w by h pixels: [x stretch, y stretch, x shift, y shift] in map units, so that -1..1 on
 * both axes spans the room inside the margins. Identity for maps that are no planes.
 */
export function spanOf(map, w, h) {
  if (!map?.positions) return [1, 1, 0, 0];
  const scale = scaleOf(HOME, w, h);
  const [roomX, roomY] = [Math.max(40, w - LEFT - RIGHT), Math.max(40, h - TOP - FOOT)];
  return [roomX / 2 / scale, roomY / 2 / scale, (LEFT - RIGHT) / 2 / scale, (FOOT - TOP) / 2 / scale];
}

/** The same span for where prototypes are drawn: positions (x, y pairs) on a plane -> map units. */
export function spread(positions, span) {
  if (!positions || (span[0] === 1 && span[1] === 1)) return positions;
  const out = new Float32Array(positions.length);
  for (let i = 0; i < out.length; i += 2) {
    out[i] = positions[i] * span[0] + span[2];
    out[i + 1] = positions[i + 1] * span[1] + span[3];
  }
  return out;
}

/** Grid lines of a plane, for the still ground; toX and toY turn map units into px. */
export function drawGrid(g, theme, map, span, toX, toY, weight) {
  if (!map?.positions) return;
  const [x0, x1, y0, y1] = [toX(span[2] - span[0]), toX(span[2] + span[0]), toY(span[3] - span[1]), toY(span[3] + span[1])];
  g.globalAlpha = weight;
  g.strokeStyle = theme.grid;
  g.lineWidth = 1;
  g.beginPath();
  for (const [at] of map.x.ticks) {
    const x = Math.round(toX(at * span[0] + span[2])) + 0.5;
    g.moveTo(x, y0);
    g.lineTo(x, y1);
  }
  for (const [at] of map.y.ticks) {
    const y = Math.round(toY(at * span[1] + span[3])) + 0.5;
    g.moveTo(x0, y);
    g.lineTo(x1, y);
  }
  g.stroke();
  g.strokeStyle = theme.faded;
  g.globalAlpha = 0.6 * weight;
  g.beginPath();
  g.moveTo(x0, y1);
  g.lineTo(x0, y0);
  g.lineTo(x1, y0);
  g.stroke();
  g.globalAlpha = 1;
}

function written(g, theme, text, x, y, color) {
  g.lineWidth = 3.5;
  g.lineJoin = "round";
  g.strokeStyle = alpha(theme.ground, 0.88);
  g.strokeText(text, x, y);
  g.fillStyle = color;
  g.fillText(text, x, y);
}

/** Places for texts on a line that do not overlap: keeps the first of any two that would. */
export function apart(places, gap) {
  const kept = [];
  for (const place of places) {
    if (kept.every((other) => Math.abs(other.at - place.at) >= (other.size + place.size) / 2 + gap)) kept.push(place);
  }
  return kept;
}

/** What is written on a plane, above its tokens: tick labels at the axes, their titles, rings at the named places. */
export function drawPlane(g, theme, map, span, toX, toY, width, height) {
  const x0 = Math.max(LEFT - 6, Math.min(toX(span[2] - span[0]), width - 60));
  const foot = Math.min(height - FOOT + 12, Math.max(toY(span[3] - span[1]), 30) + 12);
  g.font = `500 11.5px ${theme.font}`;
  g.textBaseline = "middle";
  g.textAlign = "center";
  const sized = (text, at, size) => ({ text, at, size });
  const columns = map.x.ticks.map(([at, text]) => sized(text, toX(at * span[0] + span[2]), g.measureText(text).width));
  for (const { text, at } of apart(columns.reverse(), 8)) {
    if (at > LEFT - 20 && at < width - 8) written(g, theme, text, at, foot, theme.faded);
  }
  g.textAlign = "right";
  const rows = map.y.ticks.map(([at, text]) => sized(text, toY(at * span[1] + span[3]), 12));
  for (const { text, at } of apart(rows, 4)) {
    if (at > 26 && at < height - FOOT + 4) written(g, theme, text, x0 - 5, at, theme.faded);
  }
  g.font = `600 11.5px ${theme.font}`;
  g.textAlign = "left";
  written(g, theme, `↑ ${map.y.label}`, x0 + 8, 40, theme.ink);
  g.textAlign = "right";
  written(g, theme, `${map.x.label} →`, width - 10, foot + 15, theme.ink);
  for (const [width, color] of [[3.5, alpha(theme.ground, 0.85)], [1.5, theme.ink]]) {
    [g.lineWidth, g.strokeStyle] = [width, color];
    for (const [, u, v] of map.landmarks ?? []) ring(g, toX(u * span[0] + span[2]), toY(v * span[1] + span[3]));
  }
}

/** The words of the named places, beside the discs of prototypes rather than under them. */
export function drawLandmarks(g, theme, landmarks, span, toX, toY, width, spots) {
  const taken = spots.map((s) => ({ x: s.x, y: s.y + (s.members.length > 1 ? 10 : 0), half: s.r + 2, tall: s.r + 10 }));
  g.font = `600 12px ${theme.font}`;
  for (const [text, u, v] of landmarks) {
    const [x, y] = [toX(u * span[0] + span[2]), toY(v * span[1] + span[3])];
    const half = g.measureText(text).width / 2;
    const across = Math.min(Math.max(x, half + 4), width - half - 4);
    const free = ([u, v]) => taken.every((t) => Math.abs(t.y - v) > (t.tall ?? 14) || Math.abs(t.x - u) > t.half + half + 4);
    const beside = x + 12 + half < width - 4 ? x + 12 + half : x - 12 - half;
    const place = [[across, y - 16], [across, y + 17], [beside, y], [across, y - 34], [across, y + 36], [x - 14 - half, y]].find(free);
    if (!place) continue;
    taken.push({ x: place[0], y: place[1], half });
    g.textAlign = "center";
    written(g, theme, text, ...place, theme.ink);
  }
}

function ring(g, x, y) {
  g.beginPath();
  g.arc(x, y, 7, 0, 2 * Math.PI);
  g.stroke();
}

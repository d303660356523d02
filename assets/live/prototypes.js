// Prototypes on the map: trails, force arrows, discs, and what reads well when many share one spot.
import { sharedSpot } from "./text.js";
import { alpha, inkOn, mix } from "./theme.js";

const JOIN_PX = 9;
const PART_PX = 14;
const TRAIL_POINTS = 400; // of all trails together
const TRAIL_STEPS = 90;
const LONGEST_ARROW = 54;

/** Disc radius in px by usage (share of the tokens, 0..1). */
export function discRadius(usage, count) {
  return 7.5 + 8 * Math.sqrt(Math.min(1, Math.max(0, usage) * Math.sqrt(count) * 0.5));
}

export const DENSE = 24; // more prototypes than this are drawn as dots, each by itself, without their numbers

/** Radius of a dot among many: its area grows with its share, an even one has 4 pixels. */
export function dotRadius(usage, count) {
  return 2 + 2 * Math.sqrt(Math.min(9, Math.max(0, usage) * count));
}

/**
 * Groups of prototypes that share a spot on the screen. `joined` (a Set of numbers) remembers who was together, so that
 * a group does not flicker at the threshold. Returns arrays of indices.
 */
export function groupByPlace(x, y, joined) {
  const parent = x.map((_, i) => i);
  const find = (i) => (parent[i] === i ? i : (parent[i] = find(parent[i])));
  for (let i = 0; i < x.length; i++) {
    for (let j = i + 1; j < x.length; j++) {
      const key = i * 1024 + j;
      const limit = joined.has(key) ? PART_PX : JOIN_PX;
      if (Math.hypot(x[i] - x[j], y[i] - y[j]) < limit) {
        joined.add(key);
        parent[find(j)] = find(i);
      } else joined.delete(key);
    }
  }
  const groups = new Map();
  x.forEach((_, i) => groups.set(find(i), [...(groups.get(find(i)) ?? []), i]));
  return [...groups.values()];
}

/** Fading paths of the last steps before time t. `on`: [x to px, y to px] for positions in frames, `now` for those of `head`. */
export function drawTrails(g, theme, frames, upTo, t, kind, head, on, now = on) {
  let first = upTo;
  const count = head.length / 2;
  const most = Math.min(48, Math.max(12, Math.floor(TRAIL_POINTS / count)));
  while (first > 0 && upTo - first < most && frames[first].prototypes[kind] && t - frames[first].step < TRAIL_STEPS)
    first--;
  g.lineCap = "round";
  g.lineJoin = "round";
  const bands = count > 12 ? 2 : 4;
  for (let k = 0; k < count; k++) {
    const points = [];
    for (let i = first; i <= upTo; i++) {
      const p = frames[i].prototypes[kind];
      if (p) points.push([on[0](p[2 * k]), on[1](p[2 * k + 1])]);
    }
    points.push([now[0](head[2 * k]), now[1](head[2 * k + 1])]);
    const color = theme.color(k);
    for (let band = 0; band < bands; band++) {
      const from = Math.floor((band * (points.length - 1)) / bands);
      const to = Math.floor(((band + 1) * (points.length - 1)) / bands);
      if (to <= from) continue;
      g.beginPath();
      g.moveTo(...points[from]);
      for (let i = from + 1; i <= to; i++) g.lineTo(...points[i]);
      g.strokeStyle = alpha(color, 0.14 + (0.6 * (band + 1)) / bands - 0.15);
      g.lineWidth = 1.2 + (2.2 * band) / bands;
      g.stroke();
    }
  }
}

/** Length in px of an arrow, on a compressed scale of the strongest force so far, so that weak ones still show. */
export function arrowLength(size, reference) {
  return reference > 0 ? LONGEST_ARROW * Math.min(1.2, size / reference) ** 0.4 : 0;
}

export function drawArrow(g, x, y, dx, dy, start, length, color, rim) {
  const size = Math.hypot(dx, dy);
  if (!(size > 0) || length < 3) return;
  const [ux, uy] = [dx / size, dy / size];
  const [x0, y0] = [x + ux * start, y + uy * start];
  const [x1, y1] = [x0 + ux * length, y0 + uy * length];
  const tip = Math.min(7, 3 + length * 0.25);
  const stem = () => {
    g.beginPath();
    g.moveTo(x0, y0);
    g.lineTo(x1 - ux * tip * 0.7, y1 - uy * tip * 0.7);
    g.stroke();
  };
  const head = (grow) => {
    g.beginPath();
    g.moveTo(x1 + ux * grow, y1 + uy * grow);
    g.lineTo(x1 - ux * (tip + grow) - uy * (tip * 0.6 + grow), y1 - uy * (tip + grow) + ux * (tip * 0.6 + grow));
    g.lineTo(x1 - ux * (tip + grow) + uy * (tip * 0.6 + grow), y1 - uy * (tip + grow) - ux * (tip * 0.6 + grow));
    g.closePath();
    g.fill();
  };
  g.lineCap = "butt";
  g.strokeStyle = g.fillStyle = rim;
  g.lineWidth = 4.4;
  stem();
  head(1.4);
  g.strokeStyle = g.fillStyle = color;
  g.lineWidth = 2.2;
  stem();
  head(0);
}

/** Discs with halo, number and size by usage; hollow and crossed when dead; one badge where several share a spot. */
export function drawDiscs(g, theme, spots, selected, heap, height, label = null) {
  for (const spot of spots) {
    const { members, x, y, r, dead } = spot;
    const lead = members.includes(selected) ? selected : spot.lead;
    const color = theme.color(lead);
    const chosen = members.includes(selected);
    const small = r < 9;
    g.lineWidth = small ? 2 : 3;
    g.strokeStyle = alpha(theme.ground, 0.9);
    g.fillStyle = dead ? alpha(theme.ground, 0.85) : color;
    if (members.length > 1) {
      // a pile: rims peep out behind the top disc
      for (const shift of [5, 2.5]) {
        circle(g, x + shift, y - shift, r);
        g.stroke();
        g.fillStyle = mix(color, theme.ground, 0.35);
        g.fill();
      }
      g.fillStyle = dead ? alpha(theme.ground, 0.85) : color;
    }
    circle(g, x, y, r);
    g.stroke();
    g.fill();
    g.lineWidth = dead ? (small ? 1.1 : 1.6) : 1.4;
    g.strokeStyle = dead ? theme.faded : mix(color, theme.dark ? "#ffffff" : "#000000", 0.4);
    if (dead && !small) g.setLineDash([3, 2.5]);
    g.stroke();
    g.setLineDash([]);
    if (dead) {
      g.beginPath();
      g.moveTo(x - r * 0.7, y + r * 0.7);
      g.lineTo(x + r * 0.7, y - r * 0.7);
      g.stroke();
    }
    if (chosen) {
      circle(g, x, y, r + 3.5);
      g.lineWidth = 2;
      g.strokeStyle = theme.ink;
      g.stroke();
    }
    if (small && !chosen && members.length === 1) continue;
    g.fillStyle = dead || small ? theme.ink : inkOn(color);
    g.font = `700 ${r < 10 ? 10 : r < 12 ? 11 : 13}px ${theme.font}`; // few sizes: a new one costs a millisecond
    g.textAlign = "center";
    g.textBaseline = "middle";
    const text = members.length > 1 ? `×${members.length}` : (label?.(members[0]) ?? String(members[0] + 1));
    if (dead || small) {
      // the number stays readable on its cross
      g.lineWidth = 3;
      g.strokeStyle = theme.ground;
      g.strokeText(text, x, y + (small ? -r - 10 : 0.5));
    }
    g.fillText(text, x, y + (small ? -r - 10 : 0.5));
  }
  drawBadges(g, theme, spots, heap, height);
}

/** Names of prototypes that share a spot, largest pile first; a badge that would cover another is moved or left out. */
function drawBadges(g, theme, spots, heap, height) {
  const taken = [];
  g.font = `600 11.5px ${theme.font}`;
  if (heap) {
    // all tokens lie under a disc: say so, they cannot be seen
    const w = g.measureText(heap.text).width + 14;
    taken.push({ x: heap.x, y: heap.y - 34, w });
    badge(g, theme, heap.text, heap.x, heap.y - 34, w);
  }
  for (const spot of spots.filter((s) => s.members.length > 1).sort((a, b) => b.members.length - a.members.length)) {
    const text = sharedSpot(spot.members);
    const w = g.measureText(text).width + 14;
    const y = [spot.y + spot.r + 13, spot.y - spot.r - 17].find(
      (v) => v < height - 10 && taken.every((t) => Math.abs(t.y - v) > 19 || Math.abs(t.x - spot.x) > (t.w + w) / 2),
    );
    if (y === undefined) continue;
    taken.push({ x: spot.x, y, w });
    badge(g, theme, text, spot.x, y, w);
  }
}

function circle(g, x, y, r) {
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
}

function badge(g, theme, text, x, y, w) {
  g.beginPath();
  g.roundRect(x - w / 2, y - 9, w, 18, 9);
  g.fillStyle = alpha(theme.ground, 0.92);
  g.fill();
  g.lineWidth = 1;
  g.strokeStyle = theme.faded;
  g.stroke();
  g.fillStyle = theme.ink;
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillText(text, x, y + 0.5);
}

// One map: tokens, prototypes, trails and forces of one run on a canvas, at any shown time.
import { pixelRatio } from "./canvas.js";
import { arrowLength, DENSE, discRadius, dotRadius, drawArrow, drawDiscs, drawTrails, groupByPlace } from "./prototypes.js";
import { drawGrid, drawLandmarks, drawPlane, spanOf, spread } from "./plane.js";
import { blit, spriteIndex, strengthLevel } from "./sprites.js";
import { MAP_UNIT } from "./store.js";
import { heapOfTokens } from "./text.js";
import { transformOf } from "./viewport.js";

const HEAP_PX = 9;
const lerp = (a, b, u) => a + (b - a) * u;

/** Entry-wise a + (b - a) u of two arrays; the first when they do not fit. */
function between(a, b, u) {
  if (!a || !b || u === 0 || a.length !== b.length) return a;
  const out = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i] + (b[i] - a[i]) * u;
  return out;
}

/** Prototypes on the shown map; `s.morph` 0 is the map `s.from`, 1 is `s.to`, between them while the map is changed. */
function headsOf(s, a, b, u, spans) {
  const on = (kind) => spread(between(a.prototypes[kind], b.prototypes[kind], u), spans[kind]);
  const [one, two] = [s.morph < 1 ? on(s.from) : null, on(s.to)];
  return one && two ? between(one, two, s.morph) : (two ?? one);
}

/** Token positions of a frame on a map; those of a plane stand still. */
function tokensOn(s, frame, kind) {
  return s.maps[kind]?.positions ?? frame.tokens[kind];
}

export class MapPanel {
  constructor(canvas) {
    this.canvas = canvas;
    this.g = canvas.getContext("2d", { alpha: false });
    this.width = this.height = 0;
    this.ratio = 1;
    this.ground = null; // pixels of the still part
    this.image = null; // pixels of the next picture
    this.groundKey = "";
    this.joined = new Set();
    this.screen = new Float32Array(0); // x, y of every token as drawn, for hits
    this.spots = [];
    this.shown = null;
  }

  /** Fit the canvas to its CSS size; true when it changed. */
  resize() {
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const ratio = pixelRatio();
    if (w === this.width && h === this.height && ratio === this.ratio) return false;
    Object.assign(this, { width: w, height: h, ratio });
    this.canvas.width = Math.max(1, Math.round(w * ratio));
    this.canvas.height = Math.max(1, Math.round(h * ratio));
    this.groundKey = "";
    return true;
  }

  /** The still part: field and reference cloud, kept as a picture until zoom, size, map or theme change. */
  paintGround(s, scale, x0, y0, spans) {
    const key = [
      s.view.x,
      s.view.y,
      s.view.zoom,
      s.from,
      s.to,
      s.morph,
      s.themeVersion,
      s.mapVersion,
      this.width,
      this.height,
    ].join();
    if (key === this.groundKey) return;
    const [w, h] = [this.canvas.width, this.canvas.height];
    const canvas = new OffscreenCanvas(w, h);
    const g = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = s.theme.field;
    g.fillRect(0, 0, this.width, this.height);
    g.fillStyle = s.theme.ink;
    for (const [kind, weight] of [
      [s.from, 1 - s.morph],
      [s.to, s.morph],
    ]) {
      if (weight <= 0) continue;
      drawGrid(g, s.theme, s.maps[kind], spans[kind], (x) => x0 + x * scale, (y) => y0 - y * scale, weight);
      const points = s.maps[kind]?.reference;
      if (!points) continue;
      g.fillStyle = s.theme.ink;
      g.globalAlpha = (s.theme.dark ? 0.16 : 0.13) * weight;
      for (let i = 0; i < points.length; i += 2) {
        g.fillRect(x0 + points[i] * MAP_UNIT * scale - 1, y0 - points[i + 1] * MAP_UNIT * scale - 1, 2, 2);
      }
    }
    this.ground = new Uint32Array(g.getImageData(0, 0, w, h).data.buffer);
    if (this.image?.width !== w || this.image.height !== h) {
      this.image = new ImageData(w, h);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.groundKey = key;
  }

  /**
   * Draw the moment `s.time` of `s.store`. s: {store, time, theme, themeVersion, view, from, to, morph, maps, mapVersion,
   * settings: {color, forces, trails}, looking (back), selected, atlas, labels, arrowReference, prototypes}.
   */
  draw(s) {
    const { g, width, height, ratio } = this;
    if (!width || !height) return;
    const [scale, x0, y0] = transformOf(s.view, width, height);
    const spans = Object.fromEntries([s.from, s.to].map((kind) => [kind, spanOf(s.maps[kind], width, height)]));
    this.paintGround(s, scale, x0, y0, spans);
    this.pixels.set(this.ground);
    this.shown = null;
    if (s.looking) this.joined.clear(); // a recorded step looks the same whatever was shown before it
    const found = s.store.bracket(s.time);
    if (found) this.drawTokens(s, ...found, scale, x0, y0, spans);
    g.putImageData(this.image, 0, 0);
    if (!found) return;
    const [a, b, u] = found;
    const kind = s.morph > 0.5 ? s.to : s.from;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const toX = (x) => x0 + x * scale;
    const toY = (y) => y0 - y * scale;
    const heads = headsOf(s, a, b, u, spans);
    if (!heads) return;
    const moving = s.morph < 1;
    const plane = !moving && s.maps[kind]?.positions ? s.maps[kind] : null;
    if (plane) drawPlane(g, s.theme, plane, spans[kind], toX, toY, width, height);
    if (s.settings.trails && !moving) {
      const [stretchX, stretchY, shiftX, shiftY] = spans[kind];
      const on = [(x) => toX(x * stretchX + shiftX), (y) => toY(y * stretchY + shiftY)];
      drawTrails(g, s.theme, s.store.frames, s.store.index(a.step), s.time, kind, heads, on, [toX, toY]);
    }
    this.placeSpots(s, a, b, u, heads, toX, toY);
    this.shown = { a, b, u, kind };
    if (s.settings.forces && !moving) this.drawForces(s, a, b, u, kind);
    drawDiscs(g, s.theme, this.spots, s.selected, this.heap(s.view.zoom), height, s.label);
    if (plane) drawLandmarks(g, s.theme, plane.landmarks ?? [], spans[kind], toX, toY, width, this.spots);
  }

  /** Where all tokens lie when they are closer together than a disc is wide; null otherwise. */
  heap(zoom) {
    const count = this.screen.length / 2;
    if (count < 10) return null;
    let [x, y, xx] = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      x += this.screen[2 * i] / count;
      y += this.screen[2 * i + 1] / count;
    }
    for (let i = 0; i < count; i++) xx += ((this.screen[2 * i] - x) ** 2 + (this.screen[2 * i + 1] - y) ** 2) / count;
    return xx < (HEAP_PX * Math.min(1, zoom)) ** 2 ? { x, y, text: heapOfTokens(count) } : null;
  }

  drawTokens(s, a, b, u, scale, x0, y0, spans) {
    const { pixels, ratio } = this;
    const { sprites, reach, count: columns } = s.atlas;
    const pair = (kind) => [tokensOn(s, a, kind), tokensOn(s, b, kind)];
    let [points, other] = [pair(s.from), s.morph > 0 ? pair(s.to) : null];
    let [span, otherSpan] = [spans[s.from], spans[s.to]];
    if (s.morph === 1 || !points[0]) [points, span, other] = [pair(s.to), spans[s.to], null];
    if (!points[0]) return;
    if (!other?.[0] || other[0].length !== points[0].length) other = null;
    const count = points[0].length / 2;
    if (this.screen.length !== count * 2) this.screen = new Float32Array(count * 2);
    const { screen } = this;
    const unit = MAP_UNIT * scale * ratio;
    const [shift, otherShift] = [span, otherSpan].map((way) => [way[2] / MAP_UNIT, way[3] / MAP_UNIT]);
    const [left, top] = [x0 * ratio, y0 * ratio];
    const [w, h] = [this.canvas.width, this.canvas.height];
    const byClass = s.settings.color === "class" || !a.lead;
    const frame = u > 0.5 ? b : a;
    for (let i = 0; i < count; i++) {
      let x = lerp(points[0][2 * i], points[1][2 * i], u) * span[0] + shift[0];
      let y = lerp(points[0][2 * i + 1], points[1][2 * i + 1], u) * span[1] + shift[1];
      if (other) {
        x = lerp(x, lerp(other[0][2 * i], other[1][2 * i], u) * otherSpan[0] + otherShift[0], s.morph);
        y = lerp(y, lerp(other[0][2 * i + 1], other[1][2 * i + 1], u) * otherSpan[1] + otherShift[1], s.morph);
      }
      x = left + x * unit;
      y = top - y * unit;
      screen[2 * i] = x / ratio;
      screen[2 * i + 1] = y / ratio;
      if (!(x > -reach && y > -reach && x < w + reach && y < h + reach)) continue;
      const lead = frame.lead ? frame.lead[i] : 0;
      const column = (byClass ? (s.labels[i] ?? 0) : lead) % columns;
      const faint = s.selected >= 0 && lead !== s.selected;
      const level = faint ? 0 : byClass ? (s.selected >= 0 ? 4 : 3) : strengthLevel(frame.strength[i]);
      blit(pixels, w, h, sprites[spriteIndex(column, level, x, y)], Math.floor(x), Math.floor(y), reach);
    }
  }

  placeSpots(s, a, b, u, heads, toX, toY) {
    const usage = between(a.usage, b.usage, u) ?? new Float32Array(heads.length / 2);
    const count = usage.length;
    const dense = count > DENSE;
    const [x, y] = [[], []];
    for (let k = 0; k < count; k++) {
      x.push(toX(heads[2 * k]));
      y.push(toY(heads[2 * k + 1]));
    }
    const groups = dense ? x.map((_, k) => [k]) : groupByPlace(x, y, this.joined);
    this.spots = groups.map((members) => {
      const lead = members.reduce((best, k) => (usage[k] > usage[best] ? k : best), members[0]);
      const sum = members.reduce((total, k) => total + usage[k], 0);
      const mean = (values) => members.reduce((total, k) => total + values[k], 0) / members.length;
      const r = dense ? dotRadius(sum, count) : members.length > 1 ? Math.min(20, 12 + 5 * Math.sqrt(sum)) : discRadius(sum, count);
      return {
        members,
        lead,
        x: mean(x),
        y: mean(y),
        r,
        usage: sum,
        dead: members.every((k) => usage[k] < 1 / (10 * count)),
      };
    });
    this.spots.sort((p, q) => p.r - q.r);
  }

  drawForces(s, a, b, u, kind) {
    const parts = [
      [between(a.ols[kind], b.ols[kind], u), s.theme.ols],
      [between(a.variance[kind], b.variance[kind], u), s.theme.variance],
    ];
    for (const spot of this.spots) {
      if (spot.dead) continue;
      for (const [vectors, color] of parts) {
        if (!vectors) continue;
        const mean = (axis) => spot.members.reduce((sum, k) => sum + vectors[2 * k + axis], 0) / spot.members.length;
        const [dx, dy] = [mean(0), -mean(1)];
        const length = arrowLength(Math.hypot(dx, dy) * lerp(a.force, b.force, u), s.arrowReference);
        drawArrow(this.g, spot.x, spot.y, dx, dy, spot.r + 1, length, color, s.theme.field);
      }
    }
  }

  /** What lies under a pixel: {spot}, {token} or null. */
  hit(x, y) {
    for (let i = this.spots.length - 1; i >= 0; i--) {
      const spot = this.spots[i];
      if (Math.hypot(spot.x - x, spot.y - y) <= spot.r + 3) return { spot };
    }
    let best = -1;
    let least = 81;
    for (let i = 0; i < this.screen.length; i += 2) {
      const distance = (this.screen[i] - x) ** 2 + (this.screen[i + 1] - y) ** 2;
      if (distance < least) [least, best] = [distance, i / 2];
    }
    return best < 0 ? null : { token: best };
  }
}

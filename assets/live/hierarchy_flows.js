// The levels as columns of nodes, heights by usage, with bands between them; nodes glide to their places.
import { fit } from "./canvas.js";
import { h } from "./dom.js";

const NODE = 13;
const GAP = 4;
const GLIDE = 0.18; // share of the way that a node moves towards its place in a picture
const FOOT = 6;

export class Flows {
  constructor(p, onNode) {
    this.canvas = h("canvas", { role: "img", tabindex: "-1", "data-testid": `flows-${p}` });
    this.node = h("div", { class: "hi-flows" }, this.canvas);
    Object.assign(this, { sizes: [], vocabulary: [], places: new Map(), boxes: [], key: "", now: null });
    this.canvas.addEventListener("click", (event) => {
      const hit = this.boxes.find((b) => event.offsetX >= b.x - 6 && event.offsetX <= b.x + b.w && event.offsetY >= b.y - 2 && event.offsetY <= b.y + b.h + 2);
      onNode(hit ? [hit.level, hit.k] : null);
    });
  }

  setup(sizes, vocabulary) {
    Object.assign(this, { sizes, vocabulary, places: new Map(), key: "" });
  }

  /** Usage of each level and the bands between neighbours at a moment between two frames. */
  read([a, b, u]) {
    const mix = (one, two) => (u && two?.length === one.length ? one.map((x, i) => x + (two[i] - x) * u) : one);
    const usage = mix(a.usage, b?.usage);
    const flat = mix(a.extra.links, b?.extra.links);
    const levels = [];
    const links = [];
    let [at, from] = [0, 0];
    this.sizes.forEach((size, level) => {
      levels.push(usage.slice(at, at + size));
      at += size;
      if (level + 1 < this.sizes.length) {
        links.push(flat.slice(from, from + size * this.sizes[level + 1]));
        from += size * this.sizes[level + 1];
      }
    });
    return { levels, links, top: a.extra.top_words };
  }

  /** Draw; true while something still glides. */
  draw(bracket, shapes, theme, chosen) {
    if (!bracket[0].extra.links || !this.sizes.length) return false;
    fit(this);
    const { canvas, w, h: height, ratio } = this;
    if (!w) return false;
    const now = (this.now = this.read(bracket));
    const order = this.order(now);
    let moving = false;
    const columns = this.sizes.length;
    const left = Math.min(250, w * 0.36);
    const right = Math.min(170, w * 0.26);
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, height);
    this.boxes = [];
    const boxes = this.sizes.map((size, level) => {
      const x = left + ((w - left - right - NODE) * level) / Math.max(1, columns - 1);
      const room = height - FOOT * 2 - GAP * (size - 1);
      let y = FOOT;
      const column = new Array(size);
      for (const k of order[level]) {
        const tall = Math.max(1.5, now.levels[level][k] * room);
        const id = `${level}:${k}`;
        const before = this.places.get(id);
        const glide = before === undefined ? y : before + (y - before) * GLIDE;
        const place = Math.abs(glide - y) < 0.4 ? y : glide;
        moving ||= place !== y;
        this.places.set(id, place);
        column[k] = { level, k, x, y: place, w: NODE, h: tall, out: 0, into: 0 };
        y += tall + GAP;
      }
      return column;
    });
    now.links.forEach((link, level) => this.bands(g, theme, boxes[level], boxes[level + 1], link, order, level, chosen, now));
    boxes.flat().forEach((box) => this.drawNode(g, theme, box, chosen, now, columns));
    this.boxes = boxes.flat().map((box) => ({ ...box, x: box.level === 0 ? 0 : box.x, w: box.level === 0 ? left + NODE : w - box.x }));
    return moving;
  }

  /** Coarsest by size; each level below by its leading parent's place, so that bands cross little. */
  order(now) {
    const last = this.sizes.length - 1;
    const result = new Array(last + 1);
    const by = (values) => [...values.keys()].sort((i, j) => values[j] - values[i] || i - j);
    result[last] = this.steady(last, by([...now.levels[last]]));
    for (let level = last - 1; level >= 0; level--) {
      const place = new Map(result[level + 1].map((k, i) => [k, i]));
      const width = this.sizes[level + 1];
      const parent = (k) => {
        let best = 0;
        for (let j = 1; j < width; j++) if (now.links[level][k * width + j] > now.links[level][k * width + best]) best = j;
        return place.get(best);
      };
      const keys = [...Array(this.sizes[level]).keys()].map((k) => [parent(k), k]);
      result[level] = keys.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, k]) => k);
    }
    return result;
  }

  /** The order stays as it was unless a node has clearly outgrown its neighbour. */
  steady(level, wanted) {
    const kept = this.kept?.[level];
    if (!kept || kept.length !== wanted.length) {
      this.kept = { ...this.kept, [level]: wanted };
      return wanted;
    }
    const usage = this.now.levels[level];
    const next = [...kept];
    for (let i = 0; i + 1 < next.length; i++) {
      if (usage[next[i + 1]] > usage[next[i]] * 1.25 + 0.01) [next[i], next[i + 1]] = [next[i + 1], next[i]];
    }
    this.kept[level] = next;
    return next;
  }

  bands(g, theme, from, to, link, order, level, chosen, now) {
    const width = to.length;
    const scale = (box, share) => (box.h * share) / Math.max(1e-9, now.levels[box.level][box.k]);
    for (const k of order[level]) {
      for (const j of order[level + 1]) {
        const flow = link[k * width + j];
        if (flow < 0.002) continue;
        const [a, b] = [from[k], to[j]];
        const [ha, hb] = [scale(a, flow), scale(b, flow)];
        const [ya, yb] = [a.y + a.out, b.y + b.into];
        a.out += ha;
        b.into += hb;
        const lit = !chosen || touches(chosen, level, k, j);
        const middle = (a.x + NODE + b.x) / 2;
        g.beginPath();
        g.moveTo(a.x + NODE, ya);
        g.bezierCurveTo(middle, ya, middle, yb, b.x, yb);
        g.lineTo(b.x, yb + hb);
        g.bezierCurveTo(middle, yb + hb, middle, ya + ha, a.x + NODE, ya + ha);
        g.closePath();
        g.fillStyle = theme.color(level === 0 ? k : j);
        g.globalAlpha = lit ? 0.45 : 0.09;
        g.fill();
      }
    }
    g.globalAlpha = 1;
  }

  drawNode(g, theme, box, chosen, now, columns) {
    const mine = chosen && chosen[0] === box.level && chosen[1] === box.k;
    g.fillStyle = theme.color(box.k);
    g.fillRect(box.x, box.y, box.w, box.h);
    if (mine) {
      g.lineWidth = 2.5;
      g.strokeStyle = theme.ink;
      g.strokeRect(box.x - 2, box.y - 2, box.w + 4, box.h + 4);
    }
    if (box.h < 8 && !mine) return;
    g.font = `${mine ? 700 : box.level ? 600 : 400} 12px ${theme.font}`;
    g.fillStyle = theme.ink;
    g.textBaseline = "middle";
    const middle = box.y + box.h / 2;
    if (box.level === 0) {
      g.textAlign = "right";
      g.fillText(clip(g, `${this.name(box.level, box.k, now)}  ${box.k + 1}`, box.x - 8), box.x - 6, middle);
      return;
    }
    const last = box.level === columns - 1;
    g.textAlign = "left";
    const text = `${letter(box)}  ${this.name(box.level, box.k, now, last ? 3 : 1)}`;
    const room = last ? this.w - box.x - NODE - 6 : 90;
    g.lineWidth = 3;
    g.strokeStyle = theme.ground;
    g.strokeText(clip(g, text, room), box.x + NODE + 5, middle);
    g.fillText(clip(g, text, room), box.x + NODE + 5, middle);
  }

  name(level, k, now, count = 3) {
    const start = this.sizes.slice(0, level).reduce((sum, size) => sum + size, 0) + k;
    const found = [...now.top.slice(3 * start, 3 * start + 3)].filter((i) => i >= 0).slice(0, count);
    return found.map((i) => this.vocabulary[i]).join(", ") || "no words";
  }

  /** Words, share, parents and children of a node. */
  describe(node) {
    if (!node || !this.now || node[0] >= this.sizes.length || node[1] >= this.sizes[node[0]]) return "";
    const { now } = this;
    const [level, k] = node;
    const title = level ? `Level ${level + 1}, ${letter({ level, k })}` : `Fine prototype ${k + 1}`;
    const share = (x) => `${(100 * x).toFixed(1)} %`;
    const parts = [`${title}: ${this.name(level, k, now)}; ${share(now.levels[level][k])} of all words.`];
    if (level + 1 < this.sizes.length) {
      const width = this.sizes[level + 1];
      const own = Math.max(1e-9, now.levels[level][k]);
      const up = [...now.links[level].slice(k * width, (k + 1) * width)].map((flow, j) => [flow / own, j]).sort((a, b) => b[0] - a[0]).slice(0, 3);
      parts.push(`Goes to ${up.filter(([s]) => s > 0.02).map(([s, j]) => `${letter({ level: level + 1, k: j })} (${this.name(level + 1, j, now, 2)}) ${share(s)}`).join(", ")}.`);
    }
    if (level > 0) {
      const width = this.sizes[level];
      const own = Math.max(1e-9, now.levels[level][k]);
      const down = Array.from({ length: this.sizes[level - 1] }, (_, i) => [now.links[level - 1][i * width + k] / own, i]).sort((a, b) => b[0] - a[0]).slice(0, 5);
      const called = (i) => (level === 1 ? String(i + 1) : letter({ level: level - 1, k: i }));
      parts.push(`Made of ${down.filter(([s]) => s > 0.02).map(([s, i]) => `${called(i)} (${this.name(level - 1, i, now, 2)}) ${share(s)}`).join(", ")}.`);
    }
    return parts.join(" ");
  }
}

function touches([level, k], band, from, to) {
  return (level === band && k === from) || (level === band + 1 && k === to) || level > band + 1 || level < band;
}

function letter({ level, k }) {
  return level === 1 ? String.fromCharCode(65 + (k % 26)) : ["I", "II", "III", "IV", "V", "VI", "VII", "VIII"][k] ?? String(k + 1);
}

function clip(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 2 && g.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}

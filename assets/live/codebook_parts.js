// One codebook's pictures: five canvases with their captions, redrawn only when what they show has changed.
import { fates, HARDLY, IN_USE, mostUsed, NEVER, usesOf } from "./codebook_counts.js";
import { fit } from "./canvas.js";
import { bitmap, drawBitmap, drawFate, frameOf, hatch, stamp } from "./codebook_pictures.js";
import { h, setText } from "./dom.js";
import { format } from "./numbers.js";

const CROP = 12; // pixels a side of a patch shown with what surrounds its cell

function part(name, title, p, onclick, ...below) {
  const canvas = h("canvas", { role: "img", "data-testid": `${name}-${p}` });
  const value = h("span", { class: "cb-value", "data-testid": `${name}-words-${p}` }, "");
  const head = h("div", { class: "cb-head" }, h("h4", {}, title), value);
  const node = h("section", { class: `cb-part cb-${name}` }, head, canvas, ...below);
  if (onclick) canvas.addEventListener("click", (event) => onclick(event.offsetX, event.offsetY));
  return { canvas, value, node, key: "" };
}

export class CodeParts {
  /** on: {code(k), picture(i): one was clicked, image(): the image whose index map is shown}. */
  constructor(p, on) {
    this.on = on;
    this.legend = h("p", { class: "cb-legend" }, "");
    const bar = (x) => this.pick(Math.floor((x / this.usage.w) * this.K));
    this.usage = part("usage", "Usage", p, bar, this.legend);
    this.strip = part("strip", "Pictures", p, (x) => this.pickPicture(x));
    this.tiles = part("tiles", "The codebook, decoded", p, (x, y) => this.pickTile(x, y));
    this.index = part("index", "Index map", p, (x, y) => this.pickCell(x, y));
    this.patches = part("patches", "Patches of one code", p);
    const names = [this.usage, this.tiles, this.strip, this.index, this.patches];
    this.node = h("div", { class: `cb-grid panel-${p}` }, ...names.map((each) => each.node));
    this.K = 1;
  }

  forget() {
    for (const each of [this.usage, this.strip, this.tiles, this.index, this.patches]) each.key = "";
  }

  pick(k) {
    if (k >= 0 && k < this.K) this.on.code(k);
  }

  pickTile(x, y) {
    const side = this.tiles.w / this.columns;
    if (x < side * this.columns) this.pick(Math.floor(y / side) * this.columns + Math.floor(x / side));
  }

  pickPicture(x) {
    const i = Math.floor((x / this.strip.w) * (this.pictures ?? 0));
    if (i >= 0 && i < this.pictures) this.on.picture(i);
  }

  pickCell(x, y) {
    if (!this.cells) return;
    const [rows, columns] = this.grid;
    const [i, j] = [Math.floor((y / this.index.h) * rows), Math.floor((x / this.index.w) * columns)];
    const k = this.cells[this.on.image() * rows * columns + i * columns + j];
    if (k !== undefined) this.pick(k);
  }

  /** s: {store, still, shapes, time, theme, selected, image}. */
  draw(s) {
    this.K = s.still.num_codes;
    this.columns = Math.ceil(Math.sqrt(this.K));
    this.grid = s.still.grid;
    const frame = s.store.bracket(s.time)?.[0];
    const rich = s.store.nearestWith("tiles", s.time);
    if (!frame?.extra.used || !rich) return;
    this.fates = fates(frame.extra.used);
    this.cells = rich.extra.cells;
    this.behind = rich === frame ? null : rich.step;
    [this.pictures] = s.shapes.pictures;
    this.followed = s.selected >= 0 ? s.selected : (this.favourite = mostUsed(this.cells, this.K, this.favourite));
    const state = [s.selected, s.theme.ink, stamp(rich)].join();
    this.once(this.usage, `${stamp(frame)},${state}`, (g) => this.drawUsage(g, frame, s));
    this.once(this.strip, `${state},${s.image}`, (g) => this.drawStrip(g, rich, s));
    this.once(this.tiles, `${state},${this.fates.join("")}`, (g) => this.drawTiles(g, rich, s));
    this.once(this.index, `${state},${s.image}`, (g) => this.drawIndex(g, s));
    this.once(this.patches, state, (g) => this.drawPatches(g, s));
  }

  once(each, key, paint) {
    const changed = fit(each);
    if (!each.w || (!changed && each.key === String(key))) return;
    each.key = String(key);
    const g = each.canvas.getContext("2d");
    g.setTransform(each.ratio, 0, 0, each.ratio, 0, 0);
    g.clearRect(0, 0, each.w, each.h);
    g.imageSmoothingEnabled = false;
    paint(g);
  }

  drawUsage(g, frame, { still, theme, selected }) {
    const { w, h: height } = this.usage;
    const { used: bars, weight } = frame.extra;
    const ticks = still.codebook === "soft" ? weight : []; // a hard codebook's weights are its choices
    const even = 1 / this.K;
    const top = Math.max(3 * even, ...bars, ...ticks) * 1.05;
    const [foot, step] = [height - 12, w / this.K];
    const wide = Math.max(1, step - (step > 4 ? 1.5 : 0));
    for (let k = 0; k < this.K; k++) {
      const tall = (bars[k] / top) * (foot - 2);
      const dead = this.fates[k] !== IN_USE;
      g.fillStyle = k === selected ? theme.ink : dead ? theme.alarm : theme.calm;
      g.globalAlpha = selected >= 0 && k !== selected ? 0.45 : 0.85;
      if (dead) hatch(g, k * step, foot - tall, wide, tall, g.fillStyle);
      else g.fillRect(k * step, foot - tall, wide, tall);
      g.globalAlpha = 1;
      if (ticks[k] > 0) {
        g.fillStyle = theme.ink;
        g.fillRect(k * step, foot - (ticks[k] / top) * (foot - 2) - 1, wide, 1.5);
      }
      drawFate(g, this.fates[k], k * step + wide / 2, foot + 6, Math.min(3.5, step / 2), theme.alarm);
    }
    g.strokeStyle = theme.faded ?? theme.ink;
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(0, foot - (even / top) * (foot - 2));
    g.lineTo(w, foot - (even / top) * (foot - 2));
    g.stroke();
    g.setLineDash([]);
  }

  drawStrip(g, rich, { still, shapes, theme, image }) {
    const [count] = shapes.pictures;
    const rows = [
      [still.arrays.originals, still.shapes.originals.slice(1)],
      [rich.extra.pictures, shapes.pictures.slice(1)],
      [rich.extra.hardened, shapes.hardened.slice(1)],
    ];
    const side = Math.min(this.strip.w / count, this.strip.h / 3);
    rows.forEach(([pixels, shape], row) => {
      for (let i = 0; i < count; i++) drawBitmap(g, bitmap(pixels, i, shape), i * side, row * side, side - 2, side - 2);
    });
    if (image < count) frameOf(g, image * side + 1, 1, side - 4, theme);
  }

  drawTiles(g, rich, { theme, shapes, selected }) {
    const side = this.tiles.w / this.columns;
    for (let k = 0; k < this.K; k++) {
      const [x, y] = [(k % this.columns) * side, Math.floor(k / this.columns) * side];
      drawBitmap(g, bitmap(rich.extra.tiles, k, shapes.tiles.slice(1)), x + 1, y + 1, side - 2, side - 2);
      drawFate(g, this.fates[k], x + side / 2, y + side / 2, side * 0.3, theme.alarm, 2.5);
      if (k === selected) frameOf(g, x + 1.5, y + 1.5, side - 3, theme);
    }
  }

  drawIndex(g, { theme, still, selected, image }) {
    const [rows, columns] = this.grid;
    const { w, h: height } = this.index;
    drawBitmap(g, bitmap(still.arrays.originals, image, still.shapes.originals.slice(1)), 0, 0, w, height);
    const [across, down] = [w / columns, height / rows];
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.font = `600 ${Math.max(8, Math.min(13, across * 0.42))}px ${theme.font}`;
    for (let i = 0; i < rows * columns; i++) {
      const k = this.cells[image * rows * columns + i];
      const [x, y] = [(i % columns) * across, Math.floor(i / columns) * down];
      g.strokeStyle = "rgb(255 255 255 / 0.35)";
      g.lineWidth = 1;
      g.strokeRect(x + 0.5, y + 0.5, across - 1, down - 1);
      g.lineWidth = 3;
      g.strokeStyle = "rgb(0 0 0 / 0.75)";
      g.strokeText(String(k + 1), x + across / 2, y + down / 2);
      g.fillStyle = "#fff";
      g.fillText(String(k + 1), x + across / 2, y + down / 2);
    }
    for (let i = 0; i < rows * columns; i++) {
      if (this.cells[image * rows * columns + i] !== selected) continue;
      frameOf(g, (i % columns) * across + 1.5, Math.floor(i / columns) * down + 1.5, across - 3, theme, down - 3);
    }
  }

  drawPatches(g, { theme, still }) {
    const { w, h: height } = this.patches;
    this.found = usesOf(this.cells, this.followed);
    const side = 50;
    const [across, down] = [Math.max(1, Math.floor(w / side)), Math.max(1, Math.floor(height / side))];
    const room = across * down;
    const { length } = this.found;
    const spread = (i) => this.found[Math.floor((i * length) / room)];
    const some = length <= room ? this.found : Array.from({ length: room }, (_, i) => spread(i));
    const [, tall, wide, channels] = still.shapes.originals;
    const cells = this.grid[0] * this.grid[1];
    some.forEach((place, n) => {
      const [image, cell] = [Math.floor(place / cells), place % cells];
      const [top, left] = [Math.floor(cell / this.grid[1]) * still.cell, (cell % this.grid[1]) * still.cell];
      const margin = (CROP - still.cell) / 2;
      const y0 = Math.min(Math.max(0, top - margin), tall - CROP);
      const x0 = Math.min(Math.max(0, left - margin), wide - CROP);
      const [x, y, scale] = [(n % across) * side, Math.floor(n / across) * side, (side - 4) / CROP];
      const whole = bitmap(still.arrays.originals, image, [tall, wide, channels]);
      g.drawImage(whole, x0, y0, CROP, CROP, x, y, side - 4, side - 4);
      frameOf(g, x + (left - x0) * scale, y + (top - y0) * scale, still.cell * scale, theme);
    }); // prettier-ignore
    this.shownPatches = some.length;
  }

  /** Bring captions and labels up to date. image: number of the image whose index map is shown. */
  words(model, p, time, selected, image) {
    const frame = model.panels[p].bracket(time ?? -1)?.[0];
    if (!frame?.extra.used || !this.fates) return;
    const say = (each, words, label) => {
      setText(each.value, words);
      if (each.canvas.getAttribute("aria-label") !== label) each.canvas.setAttribute("aria-label", label);
    };
    const at = (name) => model.metric(frame, name);
    const count = (fate) => this.fates.reduce((sum, each) => sum + (each === fate), 0);
    const [never, hardly] = [count(NEVER), count(HARDLY)];
    const perEpoch = model.still[p].steps_per_epoch;
    const early = frame.step >= perEpoch && frame.step % perEpoch < perEpoch / 2; // the last epoch still counts
    const epoch = at("epoch") + (early ? 0 : 1);
    const chosen = `${this.K - never} of ${this.K} chosen`;
    const usage = `epoch ${epoch} · ${chosen} · ✕ ${never} never · ╱ ${hardly} hardly ever`;
    say(this.usage, usage, `Usage of the codes: ${usage}`);
    const soft = model.still[p].codebook === "soft";
    const old = this.behind === null ? "" : `of step ${this.behind}: `;
    const error = format(at("error_relative"), 2);
    setText(this.legend, `Bars: share of the cells in an epoch.${soft ? " Ticks: weight." : ""} Dashes: an even share.`);
    const rows = soft ? "original, as used, made hard" : "original, reconstruction (already hard: twice)";
    say(this.strip, `${old}${rows}`, `Originals above, reconstructions below; error ${error} of a blank picture’s`);
    const tiles = `${this.K} codes as decoded tiles; ${never} were never chosen, ${hardly} hardly ever`;
    say(this.tiles, old.slice(0, -2), tiles);
    say(this.index, `image ${image + 1}, the code of each cell`, `Code of every cell of image ${image + 1}`);
    const total = this.cells?.length ?? 0;
    const uses = this.found?.length ?? 0;
    const part = uses > this.shownPatches ? `, ${this.shownPatches} shown` : "";
    const which = `code ${this.followed + 1}${selected < 0 ? ", used most" : ""}`;
    const words = `${which}: ${uses} of ${total} cells${part}`;
    say(this.patches, words, `Patches: ${words}`);
  }
}

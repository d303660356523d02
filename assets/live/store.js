// What has been received: key-frames for the maps, dense histories for the curves. Both bounded, thinned evenly.

export const MAP_UNIT = 4 / 32767; // int16 map coordinate -> map units (radius of the map = 1)
export const MAX_FRAMES = 600;
const MAX_ROWS = 8192;
const KEEP_LAST = 24;
const HEAVY = 6000; // bytes: larger arrays are let go of in older frames
const HEAVY_FRAMES = 40; // the newest frames keep theirs, and of the older ones
const HEAVY_EVERY = 8; // one in so many

/** Cut a "frames" bundle into frames that own their memory (a view would keep the whole bundle alive). */
export function splitFrames(arrays) {
  const count = arrays.step?.data.length ?? 0;
  const cut = (name, i) => {
    const array = arrays[name];
    if (!array) return null;
    const size = array.data.length / Math.max(1, array.shape[0]);
    return array.data.slice(i * size, (i + 1) * size);
  };
  const heads = Object.keys(arrays).filter((name) => name.startsWith("proto_"));
  const extras = Object.keys(arrays).filter((name) => name.startsWith("x_"));
  const frames = [];
  for (let i = 0; i < count; i++) {
    frames.push({
      step: arrays.step.data[i],
      status: arrays.status?.data[i] ?? 0,
      statusStep: arrays.status_step?.data[i] ?? -1,
      metrics: cut("metrics", i),
      tokens: { pca: cut("pca", i), umap: cut("umap", i) },
      prototypes: { pca: null, umap: null, ...Object.fromEntries(heads.map((name) => [name.slice(6), cut(name, i)])) },
      ols: { pca: cut("ols_pca", i), umap: cut("ols_umap", i) },
      variance: { pca: cut("var_pca", i), umap: cut("var_umap", i) },
      olsNorm: cut("ols_norm", i),
      varianceNorm: cut("var_norm", i),
      lead: cut("lead", i),
      strength: cut("strength", i),
      usage: cut("usage", i),
      offMap: arrays.off_map?.data[i] ?? 0,
      extra: Object.fromEntries(extras.map((name) => [name.slice(2), cut(name, i)])),
    });
  }
  return frames;
}

/** Metrics of every step: rows of `names.length` numbers, sorted by step. */
export class History {
  constructor(names = []) {
    this.names = names;
    this.count = 0;
    this.steps = new Int32Array(256);
    this.values = new Float32Array(256 * Math.max(1, names.length));
    this.version = 0;
  }

  column(name) {
    return this.names.indexOf(name);
  }

  get last() {
    return this.count ? this.steps[this.count - 1] : -1;
  }

  value(row, column) {
    return column < 0 ? NaN : this.values[row * this.names.length + column];
  }

  /** Last row at or before `step`, -1 when there is none. */
  rowAt(step) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle] <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  add(steps, values) {
    const width = this.names.length;
    for (let i = 0; i < steps.length; i++) {
      if (this.count === this.steps.length) this.grow();
      const row = this.rowAt(steps[i]);
      if (row >= 0 && this.steps[row] === steps[i]) {
        this.values.set(values.subarray(i * width, (i + 1) * width), row * width);
        continue;
      }
      const at = row + 1;
      if (at < this.count) {
        this.steps.copyWithin(at + 1, at, this.count);
        this.values.copyWithin((at + 1) * width, at * width, this.count * width);
      }
      this.steps[at] = steps[i];
      this.values.set(values.subarray(i * width, (i + 1) * width), at * width);
      this.count++;
    }
    this.version++;
  }

  grow() {
    if (this.steps.length >= MAX_ROWS) {
      const width = this.names.length;
      const kept = (this.count + 1) >> 1;
      for (let i = 1; i < kept; i++) {
        this.steps[i] = this.steps[2 * i];
        this.values.copyWithin(i * width, 2 * i * width, (2 * i + 1) * width);
      }
      this.count = kept;
      return;
    }
    const [steps, values] = [this.steps, this.values];
    this.steps = new Int32Array(steps.length * 2);
    this.values = new Float32Array(values.length * 2);
    this.steps.set(steps);
    this.values.set(values);
  }
}

/** Everything received for one panel. */
export class PanelStore {
  constructor(names = []) {
    this.frames = [];
    this.history = new History(names);
    this.dense = false; // true once the server sends every step; until then the frames fill the curves
    this.arrowReference = 0; // longest map displacement of a force so far, the common scale of the arrows
  }

  get newest() {
    return this.frames.length ? this.frames.at(-1).step : -1;
  }

  get gap() {
    const n = this.frames.length;
    return n > 1 ? Math.max(1, this.frames[n - 1].step - this.frames[n - 2].step) : 1;
  }

  index(step) {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].step <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  insert(frame) {
    const at = this.index(frame.step);
    if (at >= 0 && this.frames[at].step === frame.step) this.frames[at] = frame;
    else {
      this.frames.splice(at + 1, 0, frame);
      this.lighten(at + 1 - HEAVY_FRAMES);
    }
    if (!this.dense && frame.metrics) this.history.add([frame.step], frame.metrics);
    if (this.frames.length > MAX_FRAMES) thin(this.frames, Math.floor(MAX_FRAMES * 0.9));
  }

  /** Let go of what is large in a frame that is no longer new. */
  lighten(at) {
    this.seen = (this.seen ?? 0) + 1;
    if (at < 0 || this.seen % HEAVY_EVERY === 0) return;
    const extra = this.frames[at].extra ?? {};
    for (const name of Object.keys(extra)) if (extra[name].byteLength > HEAVY) delete extra[name];
  }

  /** The frame nearest to a step that still has an extra, or null. */
  nearestWith(name, step) {
    const at = this.index(step);
    for (let away = 0; away < this.frames.length; away++) {
      for (const i of [at - away, at + away]) if (this.frames[i]?.extra?.[name]) return this.frames[i];
    }
    return null;
  }

  addHistory(steps, values) {
    this.dense = true;
    this.history.add(steps, values);
  }

  /** Positions on a map that became ready later, for frames that are still kept. */
  place(arrays) {
    const late = splitFrames(arrays);
    for (const frame of late) {
      const at = this.index(frame.step);
      if (at < 0 || this.frames[at].step !== frame.step) continue;
      for (const part of ["tokens", "prototypes", "ols", "variance"]) {
        for (const kind of ["pca", "umap"]) {
          if (frame[part][kind]) this.frames[at][part][kind] = frame[part][kind];
        }
      }
    }
  }

  /** Frames around time t and the share of the second: [a, b, u]. Null without frames. */
  bracket(t) {
    if (!this.frames.length) return null;
    const at = Math.max(0, this.index(t));
    const a = this.frames[at];
    const b = this.frames[at + 1];
    if (!b || t <= a.step) return [a, a, 0];
    return [a, b, (t - a.step) / (b.step - a.step)];
  }

  /** The recorded frame nearest to a step. */
  nearest(step) {
    const at = this.index(step);
    const [a, b] = [this.frames[at], this.frames[at + 1]];
    if (!a || !b) return a ?? b ?? null;
    return step - a.step <= b.step - step ? a : b;
  }
}

/** Drop frames until `wanted` are left, always the one whose neighbours lie closest; ends and verdicts stay. */
export function thin(frames, wanted) {
  while (frames.length > wanted) {
    let best = -1;
    let least = Infinity;
    for (let i = 1; i < frames.length - KEEP_LAST; i++) {
      if (frames[i].status !== frames[i - 1].status) continue;
      const room = frames[i + 1].step - frames[i - 1].step;
      if (room < least) [least, best] = [room, i];
    }
    if (best < 0) return;
    frames.splice(best, 1);
  }
}

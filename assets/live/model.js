// What is known about the runs, built from the server's messages alone. No DOM, so it can be tested by itself.
import { PanelStore, splitFrames } from "./store.js";
import { STATUS } from "./text.js";

const SAME = 1e-5;
const PLACING_MS = 6000; // so long the change of map waits for the placing of earlier frames
export const same = (a, b) => Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b)) + 1e-12;

export class Model {
  constructor() {
    this.hello = null;
    this.panels = [];
    this.ghosts = [];
    this.maps = {};
    this.still = [];
    this.why = [];
    this.status = { state: "starting", text: "Connecting …", progress: null };
    this.playing = true;
    this.finished = false;
    this.version = 0; // rises with every change of the data
    this.mapVersion = 0;
    this.awaitingReset = false;
    this.controls = [];
    this.arrowReference = 0;
  }

  get newest() {
    const known = this.panels.filter((p) => p.frames.length);
    if (known.length < this.panels.length || !known.length) return -1;
    const going = known.filter((p) => p.frames.at(-1).status !== 2);
    return going.length ? Math.min(...going.map((p) => p.newest)) : Math.max(...known.map((p) => p.newest));
  }

  get gap() {
    return Math.max(1, ...this.panels.map((p) => p.gap));
  }

  get labels() {
    return this.hello?.panels.map((p, i) => p.label || ["left", "right"][i] || `panel ${i + 1}`) ?? [];
  }

  /** Take one message in. Returns the kind of change, for the view: "hello", "frames", "reset", ... */
  handle(header, arrays) {
    this.version++;
    switch (header.type) {
      case "hello":
        return this.greet(header, arrays);
      case "map":
        return this.takeMap(header, arrays);
      case "frames":
        return this.takeFrames(header, arrays);
      case "history":
        this.panels[header.panel]?.addHistory(arrays.step.data, arrays.metrics.data);
        return "history";
      case "still":
        this.still[header.panel] = {
          ...header,
          arrays: Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.data.slice()])),
          shapes: Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.shape])),
        };
        return "still";
      case "placed":
        this.panels[header.panel]?.place(arrays);
        return "placed";
      case "why":
        this.why = [...(header.items ?? [])].sort((a, b) => a.step - b.step);
        return "why";
      case "control":
        this.controls[header.panel] = { ...this.controls[header.panel], ...pick(header, ["epsilon", "temperature"]) };
        return "control";
      case "status":
        this.status = { state: header.state, text: header.text ?? "", progress: header.progress ?? null };
        if (header.state === "running") [this.playing, this.finished] = [true, false];
        if (header.state === "paused") this.playing = false;
        if (header.state === "finished") [this.playing, this.finished] = [false, true];
        return "status";
      case "error":
        this.status = { state: "error", text: header.text ?? "Something went wrong.", progress: null };
        return "status";
      default:
        return "unknown";
    }
  }

  greet(header, arrays) {
    const goesOn =
      header.resumed &&
      this.hello?.session === header.session &&
      this.panels.length === header.panels.length &&
      this.hello.metric_names.join() === header.metric_names.join();
    this.hello = {
      ...header,
      extra_shapes: this.hello?.session === header.session ? this.hello.extra_shapes : {},
      labels: arrays.token_labels?.data ?? [],
      documents: arrays.token_documents?.data ?? null,
    };
    this.playing = header.playing !== false;
    this.finished = false;
    this.controls = header.panels.map((p) => pick(p, ["epsilon", "temperature"]));
    if (!goesOn) this.clear(header.panels.length, header.metric_names);
    return "hello";
  }

  /** Forget the run, keeping its curves as ghosts when there is something to compare with. */
  clear(count, names) {
    const before = this.panels.map((p) => p.history);
    if (before.length === count && before.some((history) => history.count > 3)) this.ghosts = before;
    else if (this.ghosts.length !== count) this.ghosts = [];
    if (this.ghosts.some((g) => g.names.join() !== names.join())) this.ghosts = [];
    this.panels = Array.from({ length: count }, () => new PanelStore(names));
    this.why = [];
    this.arrowReference = 0;
    this.awaitingReset = false;
  }

  takeMap(header, arrays) {
    this.maps[header.kind] = {
      ...pick(header, ["available", "explained_variance", "placement_error", "note", "fitting", "progress"]),
      since: performance.now(),
      reference: arrays.reference?.data ?? null,
      labels: arrays.reference_labels?.data ?? null,
      positions: arrays.positions?.data ?? null, // of a plane: where the tokens lie for good
      ...(arrays.positions ? pick(header, ["title", "x", "y", "landmarks"]) : {}),
    };
    if (arrays.reference || arrays.positions) this.mapVersion++;
    return "map";
  }

  takeFrames(header, arrays) {
    const panel = this.panels[header.panel];
    if (!panel) return "unknown";
    for (const [name, array] of Object.entries(arrays)) {
      if (name.startsWith("x_")) this.hello.extra_shapes[name.slice(2)] = array.shape.slice(1);
    }
    const frames = splitFrames(arrays);
    let kind = "frames";
    if (this.awaitingReset && frames[0]?.step === 0 && this.panels.some((p) => p.newest > 0)) {
      this.clear(this.panels.length, this.hello.metric_names);
      kind = "reset";
    }
    for (const frame of frames) {
      this.panels[header.panel].insert(frame);
      this.measureArrows(frame);
    }
    return kind;
  }

  /**
   * The strongest force seen so far, as it shows on a map, over both panels: one scale for all arrows. The server
   * scales displacements so that the largest force of each frame makes the same step; the norms give the true size
   * back.
   */
  measureArrows(frame) {
    const norms = [...(frame.olsNorm ?? []), ...(frame.varianceNorm ?? [])].filter(Number.isFinite);
    frame.force = norms.length ? Math.max(...norms) : 1;
    for (const part of [frame.ols, frame.variance]) {
      for (const kind of ["pca", "umap"]) {
        const v = part[kind];
        for (let k = 0; v && k < v.length; k += 2) {
          const size = Math.hypot(v[k], v[k + 1]) * frame.force;
          if (Number.isFinite(size) && size > this.arrowReference) this.arrowReference = size;
        }
      }
    }
  }

  metric(frame, name) {
    const column = this.hello?.metric_names.indexOf(name) ?? -1;
    return column < 0 || !frame?.metrics ? NaN : frame.metrics[column];
  }

  /** Moments at which a verdict changed, for the scrub bar. */
  events() {
    const out = [];
    this.panels.forEach((panel, p) => {
      let before = null;
      for (const frame of panel.frames) {
        const status = STATUS[frame.status] ?? "unresolved";
        const matters =
          status === "collapsed" || status === "diverged" || (status === "stable" && before === "collapsed");
        if (before !== null && status !== before && matters) {
          out.push({
            panel: p,
            status,
            step: frame.statusStep >= 0 ? frame.statusStep : frame.step,
            ...(this.statusWords ? { words: this.statusWords(frame, p) } : {}),
            label: this.labels[p],
          });
        }
        before = status;
      }
    });
    return out;
  }

  /** The last explanation that was true at a step. */
  whyAt(step) {
    return this.why.filter((item) => item.step <= step).at(-1)?.text ?? "";
  }

  /** The maps that can be chosen: UMAP and PCA, then the planes of the scene, as [kind, title, hint]. */
  get planes() {
    return Object.entries(this.maps)
      .filter(([, map]) => map.positions)
      .map(([kind, map]) => [kind, map.title ?? kind, map.note ?? ""]);
  }

  /** The map that is shown when `wanted` is chosen: itself once it is there, until then PCA. */
  shownMap(wanted) {
    if (wanted === "umap") return this.umapReady ? "umap" : "pca";
    return this.maps[wanted]?.positions ? wanted : "pca";
  }

  get umapReady() {
    const map = this.maps.umap;
    if (!map?.available || !this.panels.every((p) => p.frames.at(-1)?.tokens.umap)) return false;
    return performance.now() - map.since > PLACING_MS || this.panels.every((p) => p.frames.every((f) => f.tokens.umap));
  }
}

function pick(from, names) {
  return Object.fromEntries(names.filter((n) => from[n] !== undefined && from[n] !== null).map((n) => [n, from[n]]));
}

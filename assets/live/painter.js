// The drawing loop: about thirty pictures a second while something moves, none when nothing does or nobody looks.
import { pixelRatio } from "./canvas.js";
import { ease } from "./numbers.js";
import { makeAtlas } from "./sprites.js";
import { readTheme } from "./theme.js";
import { Words } from "./words.js";

const FRAME_MS = 31;
const WORDS_MS = 120;
const MORPH_MS = 550;

export class Painter {
  constructor(lab) {
    Object.assign(this, {
      lab,
      pending: 0,
      dirty: true,
      fresh: false,
      last: 0,
      due: 0,
      wordsDue: 0,
      morph: 1, // share of the way from the map before to the chosen one
      morphFrom: "pca",
      morphStart: -Infinity,
      morphTo: "pca",
      drawnTime: null,
      offScreen: false,
    });
    this.words = new Words(this);
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.remake();
  }

  /** Watch size, visibility and theme. Returns a function that stops everything. */
  watch() {
    const size = new ResizeObserver(() => this.touch());
    this.lab.panelParts.forEach((part) => size.observe(part.canvas));
    size.observe(this.lab.root);
    const seen = new IntersectionObserver((entries) => {
      this.offScreen = !entries.at(-1).isIntersecting;
      if (!this.offScreen) this.touch();
    });
    seen.observe(this.lab.root);
    const shown = () => document.hidden || this.touch();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const retheme = () => this.retheme();
    document.addEventListener("visibilitychange", shown);
    scheme.addEventListener("change", retheme);
    return () => {
      cancelAnimationFrame(this.pending);
      size.disconnect();
      seen.disconnect();
      document.removeEventListener("visibilitychange", shown);
      scheme.removeEventListener("change", retheme);
    };
  }

  retheme() {
    const { lab } = this;
    const theme = readTheme(lab.root);
    lab.root.classList.toggle("dark", theme.dark);
    if (this.themed === `${theme.ground}${theme.ink}${theme.font}`) return;
    this.themed = `${theme.ground}${theme.ink}${theme.font}`;
    lab.theme = theme;
    lab.themeVersion++;
    lab.extension?.theme?.(theme);
    this.remake();
    requestAnimationFrame(() => this.retheme());
  }

  /** Make the atlas anew (theme, colouring or scene changed) and draw. */
  remake() {
    const { lab } = this;
    const hello = lab.model.hello;
    const classes = Math.max(1, hello?.class_names?.length ?? 1);
    const count = lab.settings.color === "class" ? classes : (hello?.num_prototypes ?? 1);
    const ratio = pixelRatio();
    const key = [lab.themeVersion, lab.settings.color, count, ratio].join();
    if (key !== this.atlasKey) {
      this.atlas = makeAtlas(lab.theme, Math.min(count, 64), ratio);
      this.atlasKey = key;
    }
    this.touch();
  }

  /** Something other than time changed. */
  touch() {
    this.dirty = true;
    this.wordsDue = 0;
    this.wake();
  }

  /** Positions came, perhaps of the very moment that is shown: after a reset, a look at the present step, a late map. */
  renew() {
    this.fresh = true;
    this.wake();
  }

  wake() {
    this.stale = true;
    this.frame();
  }

  frame() {
    if (this.pending || this.lab.destroyed) return;
    this.pending = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.pending = 0;
    if (document.hidden || this.offScreen || this.lab.destroyed) return;
    if (now < this.due - 2) {
      this.frame();
      return;
    }
    this.due = Math.max(this.due + FRAME_MS, now);
    const dt = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    const moving = this.advance(now, dt);
    const { lab } = this;
    const time = this.time();
    if (time !== null && (this.dirty || this.fresh || moving || time !== this.drawnTime)) this.paint(time);
    const upTo = time === null ? -1 : lab.scrubStep === null ? Math.floor(time) : lab.model.newest;
    const drewCurve = this.paintCurves(upTo, this.dirty && lab.scrubStep === null);
    this.stale ||= moving || drewCurve || time !== this.wordsTime;
    if (this.stale && now >= this.wordsDue) {
      this.words.say(time);
      this.wordsTime = time;
      this.wordsDue = now + WORDS_MS;
      this.stale = false;
    }
    this.dirty = false;
    const behind = lab.scrubStep === null && lab.clock.time !== null && lab.clock.time < lab.model.newest;
    if (moving || behind || drewCurve) this.frame();
    else if (this.stale && !this.later) {
      this.later = setTimeout(() => {
        this.later = 0;
        this.frame();
      }, WORDS_MS);
    }
  }

  time() {
    return this.lab.scrubStep ?? this.lab.clock.time;
  }

  advance(now, dt) {
    const { lab } = this;
    lab.clock.advance(now / 1000, dt, lab.model.newest, lab.model.gap, lab.settings.speed);
    const to = lab.model.shownMap(lab.settings.map);
    if (to !== this.morphTo) {
      // Back to where it came from: the same way, from where it has got to. Anywhere else: from the map it was on.
      const left = to === this.morphFrom ? Math.max(0, 1 - (now - this.morphStart) / MORPH_MS) : 0;
      this.morphStart = now - MORPH_MS * left;
      [this.morphFrom, this.morphTo] = [this.morphTo, to];
      if (this.still || !lab.counters.framesDrawn) this.morphStart = -Infinity;
    }
    const before = this.morph;
    this.morph = ease((now - this.morphStart) / MORPH_MS);
    return this.morph !== before || this.morph !== 1;
  }

  paint(time) {
    const { lab } = this;
    const { model, counters } = lab;
    const started = performance.now();
    // A frame that has no place on the UMAP is shown by PCA in both panels.
    const has = (kind) =>
      kind !== "umap" ||
      model.panels.every((p) => (p.bracket(time) ?? []).slice(0, 2).every((frame) => frame.tokens.umap));
    const [from, to] = [this.morphFrom, this.morphTo].map((kind) => (has(kind) ? kind : "pca"));
    lab.panelParts.forEach((part, p) => {
      part.map.resize();
      if (!model.panels[p]) return;
      part.map.draw({
        store: model.panels[p],
        time,
        theme: lab.theme,
        themeVersion: lab.themeVersion,
        view: lab.memory.view,
        from,
        to,
        morph: from === to ? 1 : this.morph,
        maps: model.maps,
        mapVersion: model.mapVersion,
        settings: lab.settings,
        selected: lab.memory.selected,
        looking: lab.scrubStep !== null,
        atlas: this.atlas,
        labels: model.hello?.labels ?? [],
        arrowReference: model.arrowReference,
        label: lab.extension?.label ? (k) => lab.extension.label(k, p) : null,
      });
      if (part.hover) lab.tooltip(part, part.map.hit(...part.hover), ...part.hover);
    });
    lab.extension?.draw?.(time, this.brackets(time));
    this.drawnTime = time;
    this.fresh = false;
    counters.framesDrawn++;
    counters.drawMs += performance.now() - started;
    counters.shownStep = Math.floor(time);
    lab.latency.check("Shown", (p, name) => model.metric(model.panels[p]?.bracket(time)?.[1], name));
  }

  /** The frames around a time, of each panel: [before, after, share of the second] or null. */
  brackets(time) {
    return this.lab.model.panels.map((panel) => panel.bracket(time));
  }

  curveState(upTo) {
    const { lab } = this;
    const { model } = lab;
    return {
      histories: model.panels.map((p) => p.history),
      ghosts: model.ghosts,
      theme: lab.theme,
      themeVersion: lab.themeVersion,
      version: `${model.version}`,
      upTo,
      steps: Math.max(30, model.newest),
      prototypes: model.hello?.num_prototypes ?? 1,
      labels: model.labels,
    };
  }

  paintCurves(upTo, every) {
    if (!this.lab.model.panels.length) return false;
    return this.lab.curves.draw(this.curveState(upTo), every);
  }
}

// The drawing loop: about thirty pictures a second while something moves, none when nothing does or nobody looks.
import { setText } from "./dom.js";
import { setRich } from "./layout.js";
import { ease, format } from "./numbers.js";
import { makeAtlas } from "./sprites.js";
import { mapNote, STATUS, verdict } from "./text.js";
import { readTheme } from "./theme.js";

const FRAME_MS = 31;
const WORDS_MS = 120;
const MORPH_MS = 550;

export class Painter {
  constructor(lab) {
    Object.assign(this, { lab, pending: 0, dirty: true, last: 0, due: 0, wordsDue: 0, morph: 0, morphFrom: 0, morphStart: 0, morphTo: 0,
      drawnTime: null, offScreen: false, spoken: [] });
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
    this.remake();
    requestAnimationFrame(() => this.retheme());
  }

  /** Make the atlas anew (theme, colouring or scene changed) and draw. */
  remake() {
    const { lab } = this;
    const hello = lab.model.hello;
    const classes = Math.max(1, hello?.class_names?.length ?? 1);
    const count = lab.settings.color === "class" ? classes : hello?.num_prototypes ?? 1;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
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
    if (time !== null && (this.dirty || moving || time !== this.drawnTime)) this.paint(time);
    const upTo = time === null ? -1 : lab.scrubStep === null ? Math.floor(time) : lab.model.newest;
    const drewCurve = this.paintCurves(upTo, this.dirty && lab.scrubStep === null);
    this.stale ||= moving || drewCurve || time !== this.wordsTime;
    if (this.stale && now >= this.wordsDue) {
      this.words(time);
      this.wordsTime = time;
      this.wordsDue = now + WORDS_MS;
      this.stale = false;
    }
    this.dirty = false;
    const behind = lab.scrubStep === null && lab.clock.time !== null && lab.clock.time < lab.model.newest;
    if (moving || behind || drewCurve) this.frame();
    else if (this.stale && !this.later) {
      this.later = setTimeout(() => { this.later = 0; this.frame(); }, WORDS_MS);
    }
  }

  time() {
    return this.lab.scrubStep ?? this.lab.clock.time;
  }

  advance(now, dt) {
    const { lab } = this;
    lab.clock.advance(now / 1000, dt, lab.model.newest, lab.model.gap, lab.settings.speed);
    const to = lab.settings.map === "umap" && lab.model.umapReady ? 1 : 0;
    if (to !== this.morphTo) {
      [this.morphFrom, this.morphTo, this.morphStart] = [this.morph, to, now];
      if (this.still || !lab.counters.framesDrawn) this.morphStart = -Infinity;
    }
    const before = this.morph;
    this.morph = this.morphFrom + (this.morphTo - this.morphFrom) * ease((now - this.morphStart) / MORPH_MS);
    return this.morph !== before || this.morph !== this.morphTo;
  }

  paint(time) {
    const { lab } = this;
    const { model, counters } = lab;
    const started = performance.now();
    const onMap = model.panels.every((p) => p.bracket(time)?.slice(0, 2).every((f) => f.tokens.umap) ?? true);
    const morph = onMap ? this.morph : 0; // a frame that has no place on the UMAP is shown by PCA in both panels
    lab.panelParts.forEach((part, p) => {
      part.map.resize();
      if (!model.panels[p]) return;
      part.map.draw({ store: model.panels[p], time, theme: lab.theme, themeVersion: lab.themeVersion, view: lab.memory.view, morph,
        maps: model.maps, mapVersion: model.mapVersion, settings: lab.settings, selected: lab.memory.selected, atlas: this.atlas,
        labels: model.hello?.labels ?? [], arrowReference: model.arrowReference });
      if (part.hover) lab.tooltip(part, part.map.hit(...part.hover), ...part.hover);
    });
    this.drawnTime = time;
    counters.framesDrawn++;
    counters.drawMs += performance.now() - started;
    counters.shownStep = Math.floor(time);
    lab.latency.check("Shown", (p, name) => model.metric(model.panels[p]?.bracket(time)?.[1], name));
  }

  curveState(upTo) {
    const { lab } = this;
    const { model } = lab;
    return { histories: model.panels.map((p) => p.history), ghosts: model.ghosts, theme: lab.theme, themeVersion: lab.themeVersion,
      version: `${model.version}`, upTo, steps: Math.max(30, model.newest), prototypes: model.hello?.num_prototypes ?? 1, labels: model.labels };
  }

  paintCurves(upTo, every) {
    if (!this.lab.model.panels.length) return false;
    return this.lab.curves.draw(this.curveState(upTo), every);
  }

  /** Everything that is text or a form value, some eight times a second. */
  words(time) {
    const { lab } = this;
    const { model } = lab;
    const step = time === null ? -1 : Math.floor(time + 1e-6);
    const scrubbing = lab.scrubStep !== null;
    if (model.panels.length) lab.curves.readout(this.curveState(step), step, scrubbing);
    lab.scrub.show(model.newest, Math.max(0, step), scrubbing, model.events());
    lab.controls.showPlaying(model.finished ? "finished" : model.playing ? "playing" : "paused");
    lab.legend.show(lab.theme, lab.themeVersion, lab.settings.color, model.hello?.class_names ?? [], model.hello?.num_prototypes ?? 0,
      lab.memory.selected, lab.settings.forces);
    const statuses = lab.panelParts.map((part, p) => this.panelWords(part, p, time, scrubbing));
    lab.counters.statuses = statuses;
    lab.counters.map = this.morphTo ? "umap" : "pca";
    setRich(lab.why, step < 0 ? "the explanation appears here as the run goes on." : model.whyAt(step) || "nothing to explain yet; watch the prototypes.");
    this.statusLine();
    lab.root.dataset.step = String(step);
    lab.root.dataset.newest = String(model.newest);
    lab.root.dataset.status = statuses.join(" ");
    lab.root.dataset.state = lab.trouble ? "lost" : model.status.state;
  }

  panelWords(part, p, time, scrubbing) {
    const { lab } = this;
    const { model } = lab;
    const found = model.panels[p]?.bracket(time ?? -1);
    const ready = Boolean(found) && time !== null;
    part.cover.hidden = ready;
    for (const name of ["epsilon", "temperature"]) part.sliders[name].follow(ready ? lab.latest(p, name) : NaN);
    if (!ready) {
      setText(part.cover.firstChild, lab.trouble ?? model.status.text);
      const progress = model.status.progress;
      if (Number.isFinite(progress)) part.cover.lastChild.value = progress;
      else part.cover.lastChild.removeAttribute("value");
      part.cover.lastChild.hidden = model.status.state === "error" || Boolean(lab.trouble);
      return "";
    }
    const frame = found[2] >= 1 ? found[1] : found[0];
    const status = STATUS[frame.status] ?? "unresolved";
    const said = verdict(status, frame.statusStep, (name) => model.metric(frame, name), model.hello.num_prototypes);
    setText(part.mark, said.mark);
    setText(part.word, said.word);
    setText(part.detail, said.detail);
    const kind = this.morphTo && frame.tokens.umap ? "umap" : "pca";
    setText(part.tag, `step ${Math.floor(time + 1e-6)}${scrubbing ? ", recorded" : ""}  ·  ε ${format(model.metric(frame, "epsilon"))}  ·  T ${format(model.metric(frame, "temperature"))}`);
    setText(part.note, mapNote(kind, lab.settings.map, model.maps[kind], frame.offMap, model.maps.umap));
    part.node.dataset.step = String(frame.step);
    part.node.dataset.status = status;
    const label = `Map of ${model.labels[p]} at step ${frame.step}: ${said.word}, ${said.detail}`;
    if (part.canvas.getAttribute("aria-label") !== label) part.canvas.setAttribute("aria-label", label);
    if (!scrubbing && this.spoken[p] !== said.word) {
      if (this.spoken[p] !== undefined || status !== "unresolved") setText(lab.live, `${model.labels[p]}: ${said.word}. ${said.detail}`);
      this.spoken[p] = said.word;
    }
    return status;
  }

  statusLine() {
    const { lab } = this;
    const { model } = lab;
    const { state, text } = model.status;
    const alarming = lab.trouble || ["reconnecting", "worker_lost", "error"].includes(state);
    lab.banner.hidden = !alarming || model.newest < 0;
    setText(lab.banner, lab.trouble ?? text);
    setText(lab.foot.firstChild, lab.trouble ?? text);
    const hello = model.hello;
    const parts = hello ? [hello.source, `${hello.num_tokens} tokens of ${hello.num_documents} documents shown`, hello.device_note || hello.device, ...(hello.notes ?? [])] : [];
    setText(lab.foot.lastChild, parts.filter(Boolean).join(" · "));
  }
}

// What a person can do: sliders, play and step, seed, scrubbing, selection, keys. The base of Lab, which has the parts.

const SETTLE_MS = 300;

export class Commands {
  control(panel, name, value) {
    this.memory.wanted[panel] = { ...this.memory.wanted[panel], [name]: value };
    this.latency.sent(panel, name, value);
    this.clock.hurry(performance.now() / 1000);
    this.outbox ??= new Map();
    this.outbox.set(panel, { ...this.outbox.get(panel), [name]: value });
    if (this.flushing) return;
    const flush = () => {
      // at most some forty messages a second while dragged; the first goes at once
      for (const [index, values] of this.outbox) this.send({ type: "control", panel: index, ...values });
      this.outbox.clear();
    };
    flush();
    this.flushing = setTimeout(() => {
      this.flushing = 0;
      flush();
    }, 25);
  }

  /** Tell Python what was settled on, for the link; a moment later, so that a rerun is not caused by every notch. */
  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const panels = this.panelParts.map((part) => ({
        epsilon: part.sliders.epsilon.value,
        temperature: part.sliders.temperature.value,
      }));
      const { color, map, forces, trails, speed, seed } = this.settings;
      if (!this.destroyed)
        this.report("view", { scene: this.data.scene, panels, seed, map, color, forces, trails, speed });
    }, SETTLE_MS);
  }

  set(name, value) {
    this.adopt(name, value);
    if (name !== "who") this.settle();
    this.painter.remake();
  }

  setSpeed(value) {
    this.settings.speed = value;
    this.send({ type: "speed", steps_per_second: value });
    this.settle();
  }

  togglePlay() {
    const { model, memory } = this;
    if (model.finished) {
      this.send({ type: "extend", steps: 400 });
      this.send({ type: "play", playing: true });
      model.finished = false;
      model.playing = true;
    } else {
      model.playing = !model.playing;
      this.send({ type: "play", playing: model.playing });
    }
    memory.paused = !model.playing;
    this.scrubTo(null);
  }

  step() {
    this.send({ type: "step", who: this.settings.who, count: 1 });
    this.model.playing = false;
    this.memory.paused = true;
    this.scrubTo(null);
  }

  reset(seed) {
    if (seed !== null) this.settings.seed = seed;
    this.model.awaitingReset = true;
    this.send(seed === null ? { type: "reset" } : { type: "reset", seed });
    this.scrubTo(null);
    this.settle();
  }

  select(k) {
    this.memory.selected = k === this.memory.selected ? -1 : k;
    this.painter.touch();
  }

  /** Look at a recorded step (the nearest one), or null: back to now. Training goes on meanwhile. */
  scrubTo(step) {
    const store = this.model.panels[0];
    if (step === null || !store?.frames.length) this.scrubStep = null;
    else this.scrubStep = store.nearest(step).step;
    this.painter.touch();
  }

  scrubBy(count) {
    const store = this.model.panels[0];
    if (!store?.frames.length) return;
    const at = store.index(this.scrubStep ?? this.clock.time ?? store.newest);
    const to = Math.min(store.frames.length - 1, Math.max(0, at + count));
    if (this.scrubStep === null && count > 0) return;
    this.scrubTo(store.frames[to].step);
  }

  openHelp() {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  actions() {
    const flip = (name, one, two) => () => this.set(name, this.settings[name] === one ? two : one);
    return {
      " ": () => this.togglePlay(),
      s: () => this.step(),
      r: () => this.controls.startOver(),
      m: () => {
        const { maps } = this.controls;
        this.set("map", maps[(maps.indexOf(this.settings.map) + 1) % maps.length]);
      },
      c: flip("color", "class", "prototype"),
      f: flip("forces", true, false),
      t: flip("trails", true, false),
      "?": () => this.openHelp(),
      ArrowLeft: (e) => this.scrubBy(e.shiftKey ? -10 : -1),
      ArrowRight: (e) => this.scrubBy(e.shiftKey ? 10 : 1),
      End: () => this.scrubTo(null),
      Escape: () => {
        this.help.close();
        this.memory.selected = -1;
        this.scrubTo(null);
      },
      digit: (n) => n <= (this.model.hello?.num_prototypes ?? 0) && this.select(n - 1),
    };
  }
}

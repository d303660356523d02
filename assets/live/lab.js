// The live view of one scene: wires socket, model, maps, curves and controls together and runs the drawing loop.
import { Clock } from "./clock.js";
import { Commands } from "./commands.js";
import { Controls } from "./controls.js";
import { LatencyWatch, makeCounters, watchLongTasks } from "./counters.js";
import { Curves } from "./curves.js";
import { listenKeys, makeHelp } from "./keys.js";
import { makePanel, makeRoot, offerRecording } from "./layout.js";
import { Legend } from "./legend.js";
import { forgetScene, lastSession, noteSession, recall } from "./memory.js";
import { same } from "./model.js";
import { MapPanel } from "./panel.js";
import { Painter } from "./painter.js";
import { listenPointer } from "./pointer.js";
import { LiveSocket } from "./protocol.js";
import { Scrub } from "./scrub.js";
import { SOCKET } from "./text.js";
import { readTheme } from "./theme.js";
import { showTooltip } from "./tooltip.js";

export class Lab extends Commands {
  /** Extra: class of an extension (see `assets/live/codebook.js`), or null. */
  constructor(parent, data, root, report, Extra = null) {
    super();
    Object.assign(this, {
      parent,
      data,
      url: root,
      key: data.key,
      report,
      generation: 0,
      destroyed: false,
      scrubStep: null,
      offScreen: false,
    });
    this.memory = recall(data.key, data.view);
    this.extension = Extra && new Extra(this);
    this.counters = makeCounters(data.key);
    this.latency = new LatencyWatch(this.counters);
    this.clock = new Clock();
    this.build();
    this.openScene();
    this.painter = new Painter(this);
    this.stops = [this.painter.watch(), watchLongTasks(this.counters), listenKeys(this.root, this.actions())];
    const visible = () => this.send({ type: "visible", visible: !document.hidden });
    document.addEventListener("visibilitychange", visible);
    this.stops.push(() => document.removeEventListener("visibilitychange", visible));
    this.counters.mounts++;
  }

  get model() {
    return this.memory.model;
  }

  get settings() {
    return this.memory.settings;
  }

  build() {
    const { settings } = this;
    this.controls = new Controls(settings, {
      play: () => this.togglePlay(),
      step: () => this.step(),
      speed: (v) => this.setSpeed(v),
      reset: (seed) => this.reset(seed),
      setting: (name, value) => this.set(name, value),
      help: () => this.openHelp(),
    });
    this.legend = new Legend((k) => this.select(k));
    this.scrub = new Scrub({ scrub: (step) => this.scrubTo(step) });
    const onFree = (name) => {
      settings.free = name;
      this.painter.wake();
    };
    this.curves = new Curves(onFree, this.extension?.charts);
    this.curves.setFree(settings.free);
    this.help = makeHelp();
    const made = makeRoot({
      controls: this.controls.node,
      legend: this.legend.node,
      scrub: this.scrub.node,
      extra: this.extension?.node,
      charts: this.curves.node,
      help: this.help,
    });
    Object.assign(this, made);
    this.buildPanels(this.data.panels);
    this.root.classList.toggle("forceless", Boolean(this.extension?.forceless));
    this.parent.querySelectorAll?.(".ddcl-wait").forEach((node) => node.remove());
    this.parent.append(this.root);
    this.theme = readTheme(this.root);
    this.extension?.theme?.(this.theme);
    this.root.classList.toggle("dark", this.theme.dark);
    this.themeVersion = 0;
  }

  buildPanels(specs) {
    this.panelParts = specs.map((spec, p) => {
      const part = makePanel(p, spec.label, {
        live: (index, name, value) => this.control(index, name, value),
        settled: () => this.settle(),
        cancel: () => this.send({ type: "cancel" }),
      });
      part.map = new MapPanel(part.canvas);
      part.sliders.epsilon.show(spec.epsilon);
      if (spec.temperature !== null) part.sliders.temperature.show(spec.temperature);
      part.sliders.temperature.node.hidden = spec.temperature === null;
      listenPointer(part.canvas, part.map, {
        view: () => this.memory.view,
        setView: (view) => {
          this.memory.view = view;
          this.painter.touch();
        },
        click: (hit) => (hit?.spot ? this.select(hit.spot.lead) : this.select(-1)),
        hover: (hit, x, y) => {
          part.hover = hit && [x, y];
          this.tooltip(part, hit, x, y);
        },
      });
      return part;
    });
    this.panels.replaceChildren(...this.panelParts.map((p) => p.node));
    this.extension?.panelNodes?.forEach((node, p) => this.panelParts[p]?.extra.replaceChildren(node));
    this.root.classList.toggle("single", specs.length === 1);
  }

  tooltip(part, hit, x, y) {
    part.canvas.style.cursor = hit?.spot ? "pointer" : "";
    const hello = this.model.hello;
    showTooltip(
      part.tip,
      {
        theme: this.theme,
        words: hello?.words ?? [],
        labels: hello?.labels ?? [],
        documents: this.model.planes.length ? null : hello?.documents, // an object is its own document
        classNames: hello?.class_names ?? [],
        selected: this.memory.selected,
      },
      part.map,
      hit,
      x,
      y,
    );
  }

  openScene() {
    const { data, memory } = this;
    const again = memory.scene === data.scene;
    this.reloaded = memory.scene === null ? lastSession(data.key) : null;
    if (!again) forgetScene(memory, data.scene);
    else this.clock.time = memory.time;
    this.scrubStep = null;
    const url = `${this.url.replace(/^http/, "ws")}live`;
    this.socket = new LiveSocket(url, data.scene, again ? this.model.hello?.session : this.reloaded, {
      message: (header, arrays) => this.receive(header, arrays),
      state: (state, attempt, wait) => this.socketState(state, wait),
    });
    this.controls.showPlaying("playing");
  }

  /** New data from Python: another scene reconnects, anything else leaves the run alone. */
  update(data, report) {
    const before = this.data;
    Object.assign(this, { data, report });
    if (data.scene !== before.scene) {
      this.socket.close();
      this.clock.reset();
      this.curves.clear(); // nothing of the run before stays under the next one's name
      this.foot.querySelector(".foot-save").hidden = true;
      this.buildPanels(data.panels);
      this.openScene();
      if (this.painter.offScreen) this.root.scrollIntoView({ block: "start" }); // asked for from below, by the form
      for (const [name, value] of Object.entries(data.view ?? {})) this.adopt(name, value);
    }
    this.painter.retheme();
  }

  adopt(name, value) {
    this.settings[name] = value;
    this.controls.showSetting(name, value);
  }

  send(message) {
    return this.socket?.send(message) ?? false;
  }

  socketState(state, wait) {
    this.counters.socket = state;
    this.trouble =
      state === "lost" ? SOCKET.lost(wait) : state === "connecting" && this.model.hello ? this.trouble : null;
    this.painter?.wake();
  }

  receive(header, arrays) {
    const now = performance.now() / 1000;
    const { model, counters } = this;
    counters.messages++;
    const kind = model.handle(header, arrays);
    this.extension?.receive?.(header, kind);
    if (header.type === "frames") {
      this.send({ type: "ack", n: header.n });
      this.clock.arrived(now, model.newest);
      counters.lastStep = model.newest;
    }
    if (kind === "hello") this.greeted();
    if (kind === "reset") this.clock.reset();
    if (kind === "control") this.latency.check("Applied", (p, name) => model.controls[p]?.[name]);
    if (header.type === "frames" || header.type === "history") {
      this.latency.check("Received", (p, name) => this.latest(p, name));
    }
    if (["frames", "placed", "map", "still"].includes(header.type)) this.painter.renew();
    else this.painter.wake();
  }

  /** Newest known value of a metric. */
  latest(panel, name) {
    const history = this.model.panels[panel]?.history;
    return history?.count ? history.value(history.count - 1, history.column(name)) : NaN;
  }

  greeted() {
    const { hello } = this.model;
    const { memory, settings } = this;
    this.counters.session = hello.session;
    noteSession(this.key, hello.session);
    offerRecording(this.foot, this.url, hello.session);
    if (hello.resumed && this.reloaded === hello.session) this.adopt("speed", hello.speed);
    this.reloaded = null;
    if (hello.panels.length !== this.panelParts.length) this.buildPanels(hello.panels);
    if (!this.model.panels.some((p) => p.frames.length)) this.clock.reset();
    const seed = hello.seed ?? hello.panels[0]?.config?.seed;
    if (seed !== undefined) this.adopt("seed", seed);
    if (document.hidden) this.send({ type: "visible", visible: false });
    if (hello.speed !== settings.speed) this.send({ type: "speed", steps_per_second: settings.speed });
    if (memory.paused !== null && memory.paused === hello.playing) this.send({ type: "play", playing: !memory.paused });
    if (memory.paused !== null) this.model.playing = !memory.paused;
    memory.wanted.forEach((wanted, panel) => {
      // values the person had set, which a new run would not know
      const differs = Object.entries(wanted).filter(([name, value]) => !same(hello.panels[panel]?.[name], value));
      if (differs.length) this.send({ type: "control", panel, ...Object.fromEntries(differs) });
    });
    this.painter.remake();
  }

  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.memory.time = this.clock.time;
    clearTimeout(this.settling);
    clearTimeout(this.flushing);
    this.socket.close();
    this.stops.forEach((stop) => stop());
    this.extension?.destroy?.();
    this.root.remove();
  }
}

// What the Hierarchy page shows besides the maps: the levels as a tree of flows, each level's own sliders and curves.
import { h, setText } from "./dom.js";
import { Flows } from "./hierarchy_flows.js";
import { format } from "./numbers.js";
import { LogSlider } from "./sliders.js";

const LEVELS = ["fine", "coarse", "coarser", "coarsest"];
const word = (level, count) => (count === 2 ? LEVELS[level] : `level ${level + 1}`);

export class Extension {
  constructor(lab) {
    this.lab = lab;
    this.forceless = true;
    this.memory = lab.memory.extension;
    this.memory.node ??= null; // [level, prototype] of the chosen node
    this.flows = [0, 1].map((p) => new Flows(p, (node) => this.choose(node)));
    this.about = [0, 1].map((p) => h("p", { class: "hi-about", "data-testid": `node-${p}`, "aria-live": "polite" }, ""));
    const button = (text, label, run) => h("button", { type: "button", class: "mini-step", "aria-label": label, onclick: run }, text);
    this.bar = h(
      "div",
      { class: "bar cb-bar" },
      h("span", { class: "group" }, h("span", { class: "lead" }, "node"), button("‹", "Previous node", () => this.turn(-1)),
        button("›", "Next node", () => this.turn(1)), button("none", "No node", () => this.choose(null))),
      h("span", { class: "lead cb-note" }, "Bands carry the words’ share from fine prototypes to coarse ones. Click a node to follow it."),
    ); // prettier-ignore
    this.node = h(
      "div",
      { class: "ext", "data-testid": "hierarchy" },
      this.bar,
      h("div", { class: "panels" }, ...this.flows.map((flow, p) => h("div", { class: `hi panel-${p}` }, flow.node, this.about[p]))),
    );
    this.panelNodes = [0, 1].map(() => h("div", { class: "hi-sliders" }));
    this.sliders = [[], []];
    const per = (name) => [{ name, width: 2 }, { name: `${name}@1`, width: 1.2 }, { name: `${name}@2`, width: 0.8 }];
    const each = (name, form = format) => (at) =>
      [name, `${name}@1`, `${name}@2`].map(at).filter(Number.isFinite).map((x) => form(x)).join(" · ");
    this.charts = [
      "loss",
      { kind: "loss2", title: "Level 2: L_q = L_OLS + V", hint: "Of the next level, which reads prototypes. Line: L_q; V is never negative.",
        lines: [{ name: "L_q@1", width: 2 }, { name: "V@1", width: 1.2, color: "variance" }, { name: "L_OLS@1", width: 1.2, color: "ols" }],
        low: 0, read: (at) => `${format(at("L_q@1"))} = ${format(at("L_OLS@1"))} + ${format(at("V@1"))}` },
      { kind: "apart", title: "Separation by level", hint: "Thick: the finest level. Thinner: those above. To zero: collapse.",
        lines: per("weighted_separation"), low: 0, read: each("weighted_separation") },
      { kind: "used", title: "Prototypes in use", hint: "Of each level, the finest thickest.",
        lines: per("effective_prototypes"), low: 0, read: each("effective_prototypes") },
      { kind: "criticals", title: "T_c by level", hint: "Each level has its own; its prototypes merge when its T is above it.",
        lines: per("critical_temperature"), log: true, read: each("critical_temperature") },
    ]; // prettier-ignore
  }

  receive(header) {
    if (header.type !== "still") return;
    const p = header.panel;
    const still = this.lab.model.still[p];
    this.flows[p].setup(still.sizes, still.vocabulary);
    const label = this.lab.model.labels[p] ?? "";
    this.sliders[p] = still.levels.map((level, i) => {
      const made = ["epsilon", "temperature"].map((kind) => {
        const send = (value) => this.lab.send({ type: "control", panel: p, level: i + 1, [kind]: value });
        const slider = new LogSlider(kind, `${p}-level${i + 2}`, `${label}, level ${i + 2}`, send, () => {});
        slider.show(level[kind]);
        return slider;
      });
      return Object.fromEntries(made.map((slider) => [slider.kind, slider]));
    });
    this.panelNodes[p].replaceChildren(
      ...this.sliders[p].map((sliders, i) =>
        h("div", { class: "hi-level" }, h("span", { class: "lead" }, `level ${i + 2}`), sliders.epsilon.node, sliders.temperature.node),
      ),
    );
    const most = Math.max(...this.sliders.map((levels) => levels.length));
    for (const node of this.panelNodes) node.style.minHeight = `${34 * most}px`; // verdicts stand side by side
    this.lab.painter?.touch();
  }

  /** Upper levels have letters on the map, the first has numbers. */
  label(k, p = 0) {
    const sizes = this.lab.model.still[p]?.sizes;
    if (!sizes || k < sizes[0]) return null;
    let rest = k - sizes[0];
    for (let level = 1; level < sizes.length; level++) {
      if (rest < sizes[level]) return level === 1 ? String.fromCharCode(65 + (rest % 26)) : ["I", "II", "III", "IV", "V", "VI"][rest] ?? `${rest}`;
      rest -= sizes[level];
    }
    return null;
  }

  choose(node) {
    this.memory.node = node && this.memory.node?.join() === node.join() ? null : node;
    this.lab.memory.selected = this.memory.node?.[0] === 0 ? this.memory.node[1] : -1;
    this.lab.painter.touch();
  }

  turn(by) {
    const sizes = this.lab.model.still[0]?.sizes;
    if (!sizes) return;
    const all = sizes.flatMap((size, level) => Array.from({ length: size }, (_, k) => [level, k]));
    const at = this.memory.node ? all.findIndex((node) => node.join() === this.memory.node.join()) : by > 0 ? -1 : 0;
    this.choose(all[(at + by + all.length) % all.length]);
  }

  theme() {
    this.flows.forEach((flow) => (flow.key = ""));
  }

  draw(time, frames) {
    const { model, theme } = this.lab;
    let moving = false;
    this.flows.forEach((flow, p) => {
      if (frames[p] && model.still[p]) moving = flow.draw(frames[p], model.hello.extra_shapes, theme, this.memory.node) || moving;
    });
    if (moving) requestAnimationFrame(() => this.lab.painter.touch());
  }

  words(time, frames) {
    const { model } = this.lab;
    frames.forEach((found, p) => {
      if (!found || !model.still[p]) return;
      for (const [i, sliders] of this.sliders[p].entries()) {
        for (const kind of ["epsilon", "temperature"]) sliders[kind].follow(this.lab.latest(p, `${kind}@${i + 1}`));
      }
      setText(this.about[p], this.flows[p].describe(this.memory.node));
      const label = `Levels of ${model.labels[p]}: ${model.still[p].sizes.join(", ")} prototypes`;
      if (this.flows[p].canvas.getAttribute("aria-label") !== label) this.flows[p].canvas.setAttribute("aria-label", label);
    });
  }

  verdict(frame, metric, p) {
    const sizes = this.lab.model.still[p]?.sizes ?? [];
    const first = ["stable", "collapsed", "diverged", "unresolved"][frame.status];
    if (first === "diverged") return null;
    const parts = sizes.map((size, level) => {
      const name = level ? `@${level}` : "";
      const gone = level ? metric(`collapsed@${level}`) === 1 : first === "collapsed";
      return [gone, `${word(level, sizes.length)} ${format(metric(`effective_prototypes${name}`), 2)} of ${size}${gone ? ", collapsed" : ""}`];
    });
    const gone = parts.filter(([is]) => is).length;
    const all = gone === parts.length;
    return {
      mark: gone ? "▼" : first === "unresolved" ? "◌" : "●",
      word: all ? "ALL LEVELS COLLAPSED" : gone ? `${gone} OF ${parts.length} LEVELS COLLAPSED` : first === "unresolved" ? "NOT YET CLEAR" : "STABLE so far",
      detail: parts.map(([, text]) => text).join(" · "),
    };
  }

  destroy() {}
}

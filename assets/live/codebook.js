// What the Codebook page shows besides the maps: usage of the codes, pictures, tiles, index map, one code's patches.
import { CodeParts } from "./codebook_parts.js";
import { h, setText } from "./dom.js";
import { format } from "./numbers.js";

const MARKS = { alive: "●", dead: "◐", close: "◑", soft_only: "◌", poor: "◌", unclear: "◌", diverged: "✕" };
const share = (x) => (Number.isFinite(x) ? `${Math.round(100 * x)} %` : "–");

export class Extension {
  constructor(lab) {
    this.lab = lab;
    this.memory = lab.memory.extension;
    this.memory.image ??= 0;
    this.parts = [0, 1].map(
      (p) =>
        new CodeParts(p, {
          code: (k) => lab.select(k),
          picture: (i) => this.show(i - this.memory.image),
          image: () => this.memory.image,
        }),
    );
    this.code = h("input", {
      class: "number", type: "number", min: 1, "aria-label": "Code", "data-testid": "code",
      onchange: () => this.choose(Math.round(Number(this.code.value)) - 1),
    });
    this.image = h("span", { class: "cb-image", "data-testid": "image" }, "image 1");
    const button = (text, label, run) =>
      h("button", { type: "button", class: "mini-step", "aria-label": label, onclick: run }, text);
    this.bar = h(
      "div",
      { class: "bar cb-bar" },
      h("span", { class: "group" }, h("span", { class: "lead" }, "code"), button("‹", "Previous code", () => this.turn(-1)),
        this.code, button("›", "Next code", () => this.turn(1)), button("none", "No code", () => this.choose(-1))),
      h("span", { class: "group" }, button("‹", "Previous image", () => this.show(-1)), this.image,
        button("›", "Next image", () => this.show(1))),
      h("span", { class: "lead cb-note" }, "Click a bar, a tile, a cell or a disc to follow one code through all."),
    ); // prettier-ignore
    this.node = h(
      "div",
      { class: "cb", "data-testid": "codebook" },
      this.bar,
      h("div", { class: "panels" }, ...this.parts.map((part) => part.node)),
    );
    this.charts = [
      "loss",
      {
        kind: "error", title: "Reconstruction error",
        hint: "Of the mean image’s. Thin: every cell given its one best code.",
        lines: [{ name: "error_relative", width: 2 }, { name: "error_hardened_relative", width: 1, opacity: 0.8 }],
        low: 0, read: (at) => `${format(at("error_relative"))}, hard ${format(at("error_hardened_relative"))}`,
      },
      {
        kind: "usage", title: "Codes in use",
        hint: "Thick: share over the last whole epoch. Thin: this epoch so far.",
        lines: [{ name: "used_last", width: 2 }, { name: "used_epoch", width: 0.9, opacity: 0.6 }],
        low: 0, high: 1.03, read: (at) => `${share(at("used_last"))}, this epoch ${share(at("used_epoch"))}`,
      },
      {
        kind: "perplexity", title: "Perplexity",
        hint: "How many codes, evenly used, would spread as much. Thin: this epoch so far.",
        lines: [{ name: "perplexity_last", width: 2 }, { name: "perplexity_epoch", width: 0.9, opacity: 0.6 }],
        low: 0, read: (at) => `${format(at("perplexity_last"))}, this epoch ${format(at("perplexity_epoch"))}`,
      },
      {
        kind: "apart", title: "Separation",
        hint: "Weighted by use, 1 = as far apart as two outputs. Near 0: all the same.",
        lines: [{ name: "separation_relative", width: 2 }], low: 0,
      },
      "critical",
    ]; // prettier-ignore
    this.forceless = true; // Adam moves the codes: there is no force to draw as an arrow
    this.nouns = { tokens: "encoder outputs", documents: "images" };
  }

  /** Which codebook is alive, from three numbers side by side. */
  verdict(frame, metric, p) {
    const still = this.lab.model.still[p];
    const [key, words] = still?.verdicts[frame.extra.health?.[0] ?? -1] ?? ["unclear", "not yet clear"];
    const [error, hard] = [metric("error_relative"), metric("error_hardened_relative")];
    const pair = still?.codebook === "soft" && Math.abs(hard - error) > 0.005 ? `, made hard ${hard.toFixed(2)}` : "";
    const weight = key === "thermal" ? ` (by weight ${share(metric("used_weight"))})` : "";
    const detail =
      `usage ${share(metric("used"))}${weight} · separation ${metric("separation_relative").toFixed(2)} · ` +
      `error ${error.toFixed(2)}${pair}`;
    return { mark: MARKS[key] ?? "▼", word: words.toUpperCase(), detail };
  }

  receive(header) {
    if (header.type !== "still") return;
    this.code.max = header.num_codes;
    this.parts.forEach((p) => p.forget());
    this.lab.model.statusWords = (frame, p) => this.wordsOf(frame, p);
  }

  wordsOf(frame, p) {
    return this.lab.model.still[p]?.verdicts[frame.extra.health?.[0] ?? 0]?.[1];
  }

  choose(k) {
    const count = this.lab.model.hello?.num_prototypes ?? 0;
    const code = Number.isInteger(k) && k >= 0 && k < count ? k : -1;
    if (code !== this.lab.memory.selected) this.lab.select(code < 0 ? this.lab.memory.selected : code);
  }

  turn(by) {
    const count = this.lab.model.hello?.num_prototypes ?? 0;
    if (count) this.choose((Math.max(this.lab.memory.selected, by > 0 ? -1 : 0) + by + count) % count);
  }

  show(by) {
    const count = this.lab.model.still[0]?.shapes.originals?.[0] ?? 1;
    this.memory.image = (this.memory.image + by + count) % count;
    this.lab.painter.touch();
  }

  theme() {
    this.parts.forEach((part) => part.forget());
  }

  draw(time) {
    const { model, memory, theme } = this.lab;
    this.parts.forEach((part, p) => {
      const [store, still] = [model.panels[p], model.still[p]];
      if (!store || !still) return;
      const { selected } = memory;
      part.draw({ store, still, shapes: model.hello.extra_shapes, time, theme, selected, image: this.memory.image });
    });
  }

  words(time) {
    const { model, memory } = this.lab;
    const count = model.still[0]?.shapes.originals?.[0] ?? 1;
    setText(this.image, `image ${this.memory.image + 1} of ${count}`);
    const shown = memory.selected >= 0 ? String(memory.selected + 1) : "";
    if (this.code.value !== shown && this.code.getRootNode().activeElement !== this.code) this.code.value = shown;
    this.parts.forEach((part, p) => {
      if (model.panels[p] && model.still[p]) part.words(model, p, time, memory.selected, this.memory.image);
    });
  }

  destroy() {}
}

// The elements of one small chart: title, numbers, canvas, veil over the future while scrubbing, and a hint.
import { fit } from "./canvas.js";
import { h, rich } from "./dom.js";
import { CHARTS } from "./text.js";

export class Chart {
  /** spec: {kind, title, hint, ...} of an extension's chart, or the kind of one of the lab's own. */
  constructor(spec) {
    const own = typeof spec === "string";
    const kind = own ? spec : spec.kind;
    Object.assign(this, { kind, spec: own ? { kind, ...CHARTS[kind] } : spec, custom: !own });
    this.title = h("h4", {}, ...rich(this.spec.title));
    this.values = h("div", { class: "chart-values" });
    this.canvas = h("canvas", { role: "img" });
    this.veils = [0, 1].map(() => h("div", { class: "veil", hidden: true }));
    this.hint = h("p", { class: "hint" }, ...rich(this.spec.hint));
    this.head = h("div", { class: "chart-head" }, this.title);
    this.node = h(
      "section",
      { class: `chart chart-${kind}`, "data-testid": `chart-${kind}` },
      this.head,
      this.values,
      h("div", { class: "plot" }, this.canvas, ...this.veils),
      this.hint,
    );
    this.g = this.canvas.getContext("2d");
    this.key = "";
  }

  fit() {
    if (fit(this)) this.key = "";
  }
}

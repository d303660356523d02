// The bar of what happened: drag to see a recorded step again; marks where a verdict changed.
import { h, icon, setText } from "./dom.js";
import { MARKS } from "./text.js";

export class Scrub {
  /** on.scrub(step or null): null is back to now. */
  constructor(on) {
    this.on = on;
    this.newest = 0;
    this.range = h("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 1,
      value: 1,
      "aria-label": "Scrub through what happened",
      "data-testid": "scrub",
      oninput: () => on.scrub(Number(this.range.value)),
    });
    this.marks = h("div", { class: "marks", "aria-hidden": "true" });
    this.label = h("output", { class: "at", "data-testid": "shown-step" }, "step –");
    this.back = h(
      "button",
      { type: "button", class: "back", "data-testid": "back-to-now", onclick: () => on.scrub(null) },
      icon("now"),
      h("span", {}, "Back to now"),
    );
    this.node = h(
      "div",
      { class: "scrub" },
      this.label,
      h("div", { class: "rail" }, this.marks, this.range),
      this.back,
    );
    this.key = "";
  }

  /** newest: last recorded step; shown: step on the maps; events: [{panel, step, status, label}]. */
  show(newest, shown, scrubbing, events) {
    this.newest = newest;
    const max = Math.max(1, newest);
    if (this.range.max !== String(max)) this.range.max = String(max);
    const value = String(Math.round(scrubbing ? shown : max));
    if (this.range.value !== value) this.range.value = value;
    this.range.style.setProperty("--filled", `${(100 * value) / max}%`);
    setText(this.label, newest < 0 ? "step –" : `step ${Math.round(shown)}`);
    this.range.setAttribute(
      "aria-valuetext",
      `step ${Math.round(shown)} of ${max}${scrubbing ? ", looking back" : ", now"}`,
    );
    this.node.classList.toggle("looking-back", scrubbing);
    this.back.disabled = !scrubbing;
    setText(this.back.lastChild, scrubbing ? "Back to now" : "now");
    const key = `${max}|${events.map((e) => `${e.panel}:${e.step}:${e.status}`).join()}`;
    if (key === this.key) return;
    this.key = key;
    this.marks.replaceChildren(
      ...events.map((e) =>
        h(
          "span",
          {
            class: `event panel-${e.panel} ${e.status}`,
            title: `${e.label}: ${e.words ?? e.status} at step ${e.step}`,
            style: `left:${((100 * e.step) / max).toFixed(2)}%`,
          },
          MARKS[e.status],
        ),
      ),
    );
  }
}

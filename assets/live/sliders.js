// Logarithmic slider with a number beside it: acts while dragged, can be typed, moves by arrow keys.
import { h, rich } from "./dom.js";
import { format, logPosition, logValue, parse, significant } from "./numbers.js";

const NOTCHES = 200; // an arrow key moves by one: 2 to 5 % of the value
const HOLD_MS = 3000;

export const SLIDERS = {
  epsilon: {
    symbol: "ε",
    name: "epsilon",
    low: 1e-3,
    high: 10,
    least: 0,
    most: 1e3,
    help: "ε: how fast the encoder learns compared with the prototypes",
  },
  temperature: {
    symbol: "T",
    name: "temperature",
    low: 1e-2,
    high: 100,
    least: 1e-4,
    most: 1e6,
    help: "T: how softly a token is shared among the prototypes",
  },
};

export class LogSlider {
  /** kind of SLIDERS; panel index; label of the panel; onLive(value) while dragged; onSettled(value) on release. */
  constructor(kind, panel, label, onLive, onSettled) {
    const spec = SLIDERS[kind];
    Object.assign(this, { spec, kind, value: NaN, heldUntil: 0, wanted: null, dragging: false, onLive, onSettled });
    const name = `${spec.name}, ${label}`;
    this.range = h("input", {
      type: "range",
      min: 0,
      max: NOTCHES,
      step: 1,
      value: 100,
      "aria-label": name,
      "data-testid": `${kind}-${panel}`,
      oninput: () => this.moved(),
      onchange: () => this.settled(),
      onpointerdown: () => {
        this.dragging = true;
      },
      onpointerup: () => {
        this.dragging = false;
      },
      onpointercancel: () => {
        this.dragging = false;
      },
    });
    this.box = h("input", {
      type: "text",
      inputmode: "decimal",
      class: "number",
      "aria-label": `${name}, as a number`,
      "data-testid": `${kind}-number-${panel}`,
      autocomplete: "off",
      onchange: () => this.typed(),
      onkeydown: (event) => this.nudge(event),
    });
    this.node = h(
      "label",
      { class: "slider", title: spec.help },
      h("span", { class: "symbol" }, ...rich(spec.symbol)),
      this.range,
      this.box,
    );
  }

  moved() {
    const { low, high } = this.spec;
    this.choose(significant(logValue(Number(this.range.value) / NOTCHES, low, high)));
  }

  typed() {
    const value = parse(this.box.value);
    if (Number.isFinite(value)) {
      this.choose(Math.min(this.spec.most, Math.max(this.spec.least, value)));
      this.settled();
    }
    this.write(); // what is not possible does not stay in the box, even when the value is the same as before
  }

  write() {
    this.box.value = format(this.value).replaceAll("−", "-");
  }

  nudge(event) {
    const turns = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!turns) return;
    event.preventDefault();
    const factor = (this.spec.high / this.spec.low) ** ((turns * (event.shiftKey ? 10 : 1)) / NOTCHES);
    this.choose(Math.max(this.spec.least, significant((this.value || this.spec.low) * factor)));
    this.settled();
  }

  choose(value) {
    this.wanted = value;
    this.heldUntil = performance.now() + HOLD_MS;
    this.show(value);
    this.onLive(value);
  }

  settled() {
    this.dragging = false;
    this.onSettled(this.value);
  }

  show(value) {
    if (value === this.value) return;
    this.value = value;
    this.range.value = String(Math.round(NOTCHES * logPosition(value, this.spec.low, this.spec.high)));
    this.range.style.setProperty("--filled", `${(100 * this.range.value) / NOTCHES}%`);
    this.range.setAttribute("aria-valuetext", format(value));
    if (!this.editing()) this.write();
  }

  editing() {
    const root = this.box.getRootNode();
    return root.activeElement === this.box && this.wanted === null;
  }

  /** Follow the run (a schedule moves T), but never against the hand on the slider. */
  follow(value) {
    if (!Number.isFinite(value) || this.dragging) return;
    if (this.wanted !== null) {
      const reached = Math.abs(value - this.wanted) <= 1e-5 * Math.abs(this.wanted) + 1e-12;
      if (!reached && performance.now() < this.heldUntil) return;
      this.wanted = null;
      if (reached) return;
    }
    if (Math.abs(value - this.value) > 1e-5 * Math.abs(this.value)) this.show(significant(value, 4));
    else if (!(this.value === this.value)) this.show(value);
  }
}

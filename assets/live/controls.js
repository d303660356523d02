// The toolbar: everything that is not a panel's own slider.
import { h, icon, setIcon, setText } from "./dom.js";

const SPEEDS = [
  [1, "1"],
  [2, "2"],
  [4, "4"],
  [8, "8"],
  [16, "16"],
  [32, "32"],
  [64, "64"],
  [0, "full speed"],
];
const PLAYERS = [
  ["both", "both"],
  ["encoder", "encoder only"],
  ["prototypes", "prototypes only"],
];

const FITTED = [
  ["umap", "UMAP", "a map that keeps neighbours together"],
  ["pca", "PCA", "the two directions with most variance"],
];

function select(label, testid, options, value, onchange) {
  const node = h(
    "select",
    { "aria-label": label, "data-testid": testid, onchange: () => onchange(node.value) },
    ...options.map(([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text)),
  );
  return node;
}

/** A choice of two or three, one tab stop, arrow keys between them. */
export class Segments {
  constructor(label, testid, options, value, onchange) {
    const group = `${testid}-${Math.random().toString(36).slice(2)}`;
    Object.assign(this, { group, testid, onchange });
    this.node = h(
      "fieldset",
      { class: "segments", "data-testid": testid },
      h("legend", { class: "sr" }, label),
    );
    this.offer(options, value);
  }

  /** Offer these choices instead of those before. */
  offer(options, value) {
    const { group, testid, onchange } = this;
    this.inputs?.forEach((i) => i[2].remove());
    this.inputs = options.map(([key, text, title]) => {
      const input = h("input", {
        type: "radio",
        name: group,
        value: key,
        checked: key === value,
        "data-testid": `${testid}-${key}`,
        onchange: () => onchange(key),
      });
      return [key, releaseFocus(input), h("label", { title }, input, h("span", {}, text))];
    });
    this.node.append(...this.inputs.map((i) => i[2]));
  }

  show(value) {
    for (const [key, input] of this.inputs) input.checked = key === value;
  }
}

/** After a click with the pointer the keys belong to the view again, not to the switch that was clicked. */
export function releaseFocus(input) {
  input.addEventListener("click", (event) => event.detail > 0 && setTimeout(() => input.blur()));
  return input;
}

function toggle(text, testid, title, value, onchange) {
  const input = h("input", {
    type: "checkbox",
    "data-testid": testid,
    checked: value,
    onchange: () => onchange(input.checked),
  });
  releaseFocus(input);
  return {
    input,
    node: h("label", { class: "toggle", title }, input, h("span", { class: "tick" }), h("span", {}, text)),
  };
}

export class Controls {
  /** settings: {color, map, forces, trails, speed, who, seed}; on: play, step, speed, reset, setting, help. */
  constructor(settings, on) {
    this.on = on;
    this.settings = settings;
    this.playIcon = icon("pause");
    this.playText = h("span", {}, "Pause");
    this.play = h(
      "button",
      { class: "primary", type: "button", "data-testid": "play", title: "Space", onclick: () => on.play() },
      this.playIcon,
      this.playText,
    );
    this.step = h(
      "button",
      { type: "button", "data-testid": "step", title: "One step of the chosen player (S)", onclick: () => on.step() },
      icon("step"),
      "Step",
    );
    this.who = select("Who moves in a step", "step-who", PLAYERS, settings.who, (value) => on.setting("who", value));
    this.speed = select("Steps a second", "speed", SPEEDS, settings.speed, (value) => on.speed(Number(value)));
    this.reset = h(
      "button",
      {
        type: "button",
        "data-testid": "reset",
        title: "Back to step 0 with this seed (R)",
        onclick: () => this.startOver(),
      },
      icon("reset"),
      "Reset",
    );
    this.seed = h("input", {
      type: "text",
      inputmode: "numeric",
      class: "number seed",
      "aria-label": "Seed; a new one starts over",
      "data-testid": "seed",
      value: settings.seed ?? "",
      autocomplete: "off",
      onchange: () => this.startOver(),
    });
    this.showSetting("speed", settings.speed);
    this.color = new Segments(
      "Colour tokens by",
      "color",
      [
        ["class", "class"],
        ["prototype", "prototype"],
      ],
      settings.color,
      (v) => on.setting("color", v),
    );
    this.map = new Segments(
      "Map",
      "map",
      FITTED,
      settings.map,
      (v) => on.setting("map", v),
    );
    this.forces = toggle("forces", "forces", "Show both forces on each prototype (F)", settings.forces, (v) =>
      on.setting("forces", v),
    );
    this.trails = toggle("trails", "trails", "Show where each prototype came from (T)", settings.trails, (v) =>
      on.setting("trails", v),
    );
    this.help = h(
      "button",
      {
        class: "round",
        type: "button",
        "aria-label": "Keyboard and help",
        title: "Keyboard and help (?)",
        "data-testid": "help",
        onclick: () => on.help(),
      },
      "?",
    );
    this.node = h(
      "div",
      { class: "bar", role: "group", "aria-label": "Training and view" },
      h("div", { class: "group" }, this.play, h("span", { class: "joined" }, this.step, this.who)),
      h(
        "label",
        { class: "group" },
        h("span", { class: "lead" }, "speed"),
        this.speed,
        h("span", { class: "lead unit" }, "steps/s"),
      ),
      h(
        "div",
        { class: "group" },
        this.reset,
        h("label", { class: "group" }, h("span", { class: "lead" }, "seed"), this.seed),
      ),
      h("div", { class: "group push" }, h("span", { class: "lead" }, "colour"), this.color.node),
      h("div", { class: "group" }, h("span", { class: "lead" }, "map"), this.map.node),
      h("div", { class: "group marks-group" }, this.forces.node, this.trails.node),
      this.help,
    );
  }

  startOver() {
    const text = this.seed.value.trim();
    const valid = /^\d{1,10}$/.test(text) && Number(text) <= 4294967295;
    this.seed.setAttribute("aria-invalid", String(!valid && text !== ""));
    if (valid || text === "") this.on.reset(valid ? Number(text) : null);
  }

  /** planes: [kind, title, hint] of the scene's own maps, which are offered before the fitted ones. */
  offerMaps(planes, chosen) {
    const key = planes.map(([kind]) => kind).join();
    if (key === (this.offered ?? "")) return;
    this.offered = key;
    this.map.offer([...planes, ...FITTED], chosen);
  }

  /** Every map there is to choose from. */
  get maps() {
    return this.map.inputs.map(([kind]) => kind);
  }

  showSetting(name, value) {
    if (name === "color" || name === "map") this[name].show(value);
    else if (name === "forces" || name === "trails") this[name].input.checked = value;
    else if (name === "speed" || name === "who") {
      if (![...this[name].options].some((o) => o.value === String(value)))
        this[name].append(h("option", { value }, String(value)));
      this[name].value = String(value);
    } else if (name === "seed" && value !== null && value !== undefined) this.seed.value = String(value);
  }

  /** state: "playing", "paused" or "finished" (then the button asks for more steps). */
  showPlaying(state) {
    setIcon(this.playIcon, { playing: "pause", paused: "play", finished: "more" }[state]);
    setText(this.playText, { playing: "Pause", paused: "Play", finished: "400 more" }[state]);
    this.play.setAttribute("data-state", state);
  }
}

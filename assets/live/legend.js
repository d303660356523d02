// What the marks mean: classes or prototypes on the left, forces on the right.
import { pixelRatio } from "./canvas.js";
import { h, svg } from "./dom.js";
import { drawMark } from "./sprites.js";

function mark(theme, index) {
  const ratio = pixelRatio();
  const canvas = h("canvas", { width: 14 * ratio, height: 14 * ratio, class: "mark", "aria-hidden": "true" });
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawMark(g, theme, index, 7, 7, 4);
  return canvas;
}

function arrow(color) {
  return svg(
    "svg",
    { viewBox: "0 0 26 10", class: "arrow", "aria-hidden": "true" },
    svg("path", { d: "M1 5h16", stroke: color, "stroke-width": 2.4 }),
    svg("path", { d: "M16 1l9 4-9 4z", fill: color }),
  );
}

export class Legend {
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.marks = h("div", { class: "legend-marks", "data-testid": "legend" });
    this.forces = h("div", { class: "legend-forces" });
    this.node = h("div", { class: "legend" }, this.marks, this.forces);
    this.key = "";
  }

  show(theme, themeVersion, color, classNames, prototypes, selected, forces) {
    const key = [themeVersion, color, classNames.join(), prototypes, selected, forces].join("|");
    if (key === this.key) return;
    this.key = key;
    const chips =
      color === "prototype" || !classNames.length
        ? Array.from({ length: prototypes }, (_, k) =>
            h(
              "button",
              {
                type: "button",
                class: "chip",
                "aria-pressed": String(k === selected),
                "aria-label": `Prototype ${k + 1}: highlight its tokens`,
                "data-testid": `chip-${k}`,
                onclick: () => this.onSelect(k),
              },
              mark(theme, k),
              String(k + 1),
            ),
          )
        : classNames.map((name, c) => h("span", { class: "chip" }, mark(theme, c), name));
    this.marks.replaceChildren(...chips);
    this.forces.replaceChildren(
      h("span", { class: "chip" }, arrow(theme.ols), h("span", {}, "L", h("sub", {}, "OLS"), " separates")),
      h("span", { class: "chip" }, arrow(theme.variance), "V pulls together"),
    );
    this.forces.classList.toggle("off", !forces);
  }
}

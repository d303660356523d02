// What the Documents page shows otherwise: how well the classes are told apart stands among the curves.
import { h } from "./dom.js";
import { format } from "./numbers.js";

export class Extension {
  constructor() {
    this.node = h("div", { hidden: true });
    this.charts = [
      "loss",
      {
        kind: "accuracy",
        title: "Classes told apart",
        hint: "Share of the documents trained on that the readout names right.",
        lines: [{ name: "accuracy", width: 2 }],
        low: 0,
        high: 1.02,
        read: (at) => (Number.isFinite(at("accuracy")) ? `${format(100 * at("accuracy"), 3)} %` : "no labels are used"),
      },
      "separation",
      "effective",
      "critical",
    ];
  }
}

// Rose's picture: where the prototypes stand along the tokens' leading direction, against the falling temperature.
import { fit } from "./canvas.js";
import { h, setText } from "./dom.js";
import { format } from "./numbers.js";

const MARGIN = { left: 44, right: 18, top: 14, bottom: 34 };

export class Extension {
  constructor(lab) {
    this.lab = lab;
    this.forceless = true;
    this.canvas = h("canvas", { role: "img", "data-testid": "bifurcation" });
    this.value = h("span", { class: "cb-value", "data-testid": "bifurcation-now" }, "");
    this.key = "";
    this.node = h(
      "div",
      { class: "ext", "data-testid": "cooling" },
      h("div", { class: "cb-head" }, h("h4", {}, "The tree against temperature"), this.value),
      h("div", { class: "co-tree" }, this.canvas),
      h("p", { class: "hint" }, "Time runs to the right, to colder. Dashed: where theory puts the first split, 2 λmax of all tokens. Short bars: where each branch is due."),
    ); // prettier-ignore
    this.charts = [
      "loss",
      "free",
      "separation",
      "effective",
      { kind: "groups", title: "T_c against T", hint: "T_c of all tokens together stands still; T falls through it, and the first split follows.",
        lines: [{ name: "critical_temperature", width: 2 }, { name: "temperature", width: 1.2, color: "ink" }], log: true,
        read: (at) => `${format(at("critical_temperature"))}, T ${format(at("temperature"))}` },
    ]; // prettier-ignore
  }

  theme() {
    this.key = "";
  }

  draw(time) {
    const store = this.lab.model.panels[0];
    if (!store?.frames.length) return;
    const changed = fit(this);
    const upTo = store.index(time);
    const key = [this.lab.themeVersion, upTo, store.frames.length, this.lab.memory.selected].join();
    if (!this.w || (!changed && key === this.key)) return;
    this.key = key;
    this.paint(store, Math.max(0, upTo));
  }

  paint(store, upTo) {
    const { theme, model, memory } = this.lab;
    const { canvas, w, h: height, ratio } = this;
    const frames = store.frames.filter((frame) => frame.extra.along);
    if (!frames.length) return;
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, height);
    const at = (frame, name) => model.metric(frame, name);
    const first = at(frames[0], "temperature");
    const schedule = model.hello.panels[0].config.schedule ?? {};
    const high = Math.max(first, at(frames[0], "critical_temperature")) * 1.04;
    const low = Math.min(schedule.end ?? first / 8, at(frames.at(-1), "temperature")) * 0.96;
    const [left, right] = [MARGIN.left, w - MARGIN.right];
    const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
    const x = (t) => left + ((Math.log(high) - Math.log(t)) / (Math.log(high) - Math.log(low))) * (right - left);
    let reach = 1.5;
    for (const frame of frames) for (const v of frame.extra.along) reach = Math.max(reach, Math.abs(v));
    const y = (v) => (top + bottom) / 2 - (v / (reach * 1.06)) * ((bottom - top) / 2);
    this.axes(g, theme, x, low, high, left, right, bottom);
    const critical = at(frames[0], "critical_temperature");
    g.setLineDash([5, 4]);
    g.strokeStyle = theme.alarm;
    g.lineWidth = 1.6;
    line(g, x(critical), top, x(critical), bottom);
    g.setLineDash([]);
    g.font = `600 12px ${theme.font}`;
    g.fillStyle = theme.alarm;
    g.textAlign = "left";
    g.textBaseline = "top";
    g.fillText(`first split due at ${format(critical)}`, x(critical) + 5, top);
    const last = store.frames[upTo];
    const count = last.extra.along?.length ?? 0;
    const shown = frames.filter((frame) => frame.step <= last.step);
    for (let k = 0; k < count; k++) {
      g.strokeStyle = theme.color(k);
      g.lineWidth = k === memory.selected ? 3 : 1.6;
      g.globalAlpha = memory.selected >= 0 && k !== memory.selected ? 0.35 : 0.95;
      g.beginPath();
      shown.forEach((frame, i) => g[i ? "lineTo" : "moveTo"](x(at(frame, "temperature")), y(frame.extra.along[k])));
      g.stroke();
    }
    g.globalAlpha = 1;
    this.forks(g, theme, shown, x, y, at);
    this.due(g, theme, last, x, y, at);
  }

  axes(g, theme, x, low, high, left, right, bottom) {
    g.strokeStyle = theme.rule ?? theme.faded;
    g.fillStyle = theme.faded;
    g.lineWidth = 1;
    line(g, left, bottom, right, bottom);
    g.font = `12px ${theme.font}`;
    g.textAlign = "center";
    g.textBaseline = "top";
    const ticks = [0.1, 0.2, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100].filter((t) => t >= low && t <= high);
    for (const t of ticks) {
      line(g, x(t), bottom, x(t), bottom + 4);
      g.fillText(format(t), x(t), bottom + 6);
    }
    g.textAlign = "right";
    g.fillText("temperature T, falling →", right, bottom + 19);
    g.save();
    g.translate(12, bottom / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = "center";
    g.fillText("place along the leading direction", 0, 0);
    g.restore();
  }

  /** A ring where a group came apart: between the frame in which it was one and the next. */
  forks(g, theme, frames, x, y, at) {
    for (let i = 1; i < frames.length; i++) {
      const [before, now] = [frames[i - 1].extra.groups, frames[i].extra.groups];
      const seen = new Set();
      for (let k = 0; k < now.length; k++) {
        if (seen.has(before[k])) continue;
        seen.add(before[k]);
        const members = [...now.keys()].filter((j) => before[j] === before[k]);
        if (new Set(members.map((j) => now[j])).size < 2) continue;
        const middle = members.reduce((sum, j) => sum + frames[i].extra.along[j], 0) / members.length;
        g.beginPath();
        g.arc(x(at(frames[i], "temperature")), y(middle), 4.5, 0, 2 * Math.PI);
        g.lineWidth = 2;
        g.strokeStyle = theme.ink;
        g.fillStyle = theme.ground;
        g.fill();
        g.stroke();
      }
    }
  }

  /** A short bar at the temperature at which each present branch is due to part, and the present temperature. */
  due(g, theme, frame, x, y, at) {
    if (!frame.extra.groups) return;
    const now = x(at(frame, "temperature"));
    g.strokeStyle = theme.ink;
    g.lineWidth = 1;
    g.globalAlpha = 0.5;
    line(g, now, MARGIN.top, now, this.h - MARGIN.bottom);
    g.globalAlpha = 1;
    const seen = new Set();
    frame.extra.groups.forEach((group, k) => {
      if (seen.has(group)) return;
      seen.add(group);
      const members = [...frame.extra.groups.keys()].filter((j) => frame.extra.groups[j] === group);
      const t = frame.extra.due[k];
      if (members.length < 2 || !(t > 0)) return;
      const place = Math.min(this.w - MARGIN.right, Math.max(MARGIN.left, x(t)));
      g.strokeStyle = theme.alarm;
      g.lineWidth = 3;
      line(g, place, y(frame.extra.along[k]) - 7, place, y(frame.extra.along[k]) + 7);
    });
  }

  words(time) {
    const { model } = this.lab;
    const frame = model.panels[0]?.bracket(time ?? -1)?.[0];
    if (!frame?.extra.groups) return;
    const groups = new Set(frame.extra.groups).size;
    const sizes = new Map();
    frame.extra.groups.forEach((group, k) => sizes.set(group, [(sizes.get(group)?.[0] ?? 0) + 1, frame.extra.due[k]]));
    const next = Math.max(0, ...[...sizes.values()].filter(([n]) => n > 1).map(([, t]) => t));
    const t = model.metric(frame, "temperature");
    const text = `T = ${format(t)} · ${groups} ${groups === 1 ? "branch" : "branches"}${next ? ` · next due at ${format(next)}` : ""}`;
    setText(this.value, text);
    if (this.canvas.getAttribute("aria-label") !== text) this.canvas.setAttribute("aria-label", `Bifurcation tree: ${text}`);
  }

  destroy() {}
}

function line(g, x1, y1, x2, y2) {
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
}

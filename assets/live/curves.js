// Five small charts that share their time with the maps: solid for the left panel, dashed for the right.
import { Chart } from "./chart.js";
import { drawArea, drawAxes, drawLine, makeScales, MARGIN, range } from "./axes.js";
import { h, rich, setText } from "./dom.js";
import { format, niceCeil } from "./numbers.js";
import { CHARTS, criticalNote, increases } from "./text.js";

const SETTLED = 0.06; // the first steps fall so far that, drawn in full, they would press all else flat
const DASH = [[], [5, 3.5], [1.5, 2.5]];
const KINDS = ["loss", "free", "separation", "effective", "critical"];

export class Curves {
  /** specs: of an extension's charts instead of the lab's own: names of those, or {kind, title, hint, lines, ...}. */
  constructor(onFree, specs = KINDS) {
    this.charts = specs.map((spec) => new Chart(spec));
    this.node = h("div", { class: "charts", "data-testid": "charts" }, ...this.charts.map((c) => c.node));
    this.free = "F_tilde";
    this.turn = 0;
    this.toggle = h(
      "button",
      { class: "mini", type: "button", "data-testid": "toggle-free", onclick: () => this.swap(onFree) },
      "show F",
    );
    this.at("free")?.head.append(this.toggle);
    this.ghostNote = h("span", { class: "ghost-note" }, "");
    this.charts[0].head.append(this.ghostNote);
  }

  /** The lab's own chart of this kind, where there is one. */
  at(kind) {
    return this.charts.find((chart) => chart.kind === kind && !chart.custom);
  }

  swap(onFree) {
    this.setFree(this.free === "F" ? "F_tilde" : "F");
    onFree?.(this.free);
  }

  setFree(name) {
    this.free = name;
    const chart = this.at("free");
    if (!chart) return;
    chart.title.replaceChildren(...rich(name === "F" ? CHARTS.free.other : CHARTS.free.title));
    chart.hint.replaceChildren(...rich(name === "F" ? CHARTS.free.otherHint : CHARTS.free.hint));
    setText(this.toggle, name === "F" ? "show F̃" : "show F");
    chart.key = "";
  }

  /** Blank charts without numbers. */
  clear() {
    for (const chart of this.charts) {
      chart.g.setTransform(1, 0, 0, 1, 0, 0);
      chart.g.clearRect(0, 0, chart.canvas.width, chart.canvas.height);
      chart.values.replaceChildren();
      chart.key = "";
    }
  }

  /** Redraw one chart whose data changed (in turn, so no frame carries all five); all with `every`. */
  draw(s, every = false) {
    for (let n = 0; n < this.charts.length; n++) {
      const chart = this.charts[(this.turn + n) % this.charts.length];
      chart.fit();
      const key = [s.version, s.themeVersion, s.upTo, chart.w, this.free].join();
      if (key === chart.key || !chart.w) continue;
      chart.key = key;
      this.paint(chart, s);
      if (!every) {
        this.turn = (this.turn + n + 1) % this.charts.length;
        return true;
      }
    }
    return false;
  }

  paint(chart, s) {
    const { g } = chart;
    chart.steps = s.steps; // its own time axis: charts are painted in turn, so one may be a picture behind
    g.setTransform(chart.ratio, 0, 0, chart.ratio, 0, 0);
    g.clearRect(0, 0, chart.w, chart.h);
    const box = {
      x: MARGIN.left,
      y: MARGIN.top,
      w: chart.w - MARGIN.left - MARGIN.right,
      h: chart.h - MARGIN.top - MARGIN.bottom,
    };
    if (chart.custom) this.paintCustom(chart, s, box);
    else this[chart.kind === "free" ? "paintFree" : chart.kind](chart, s, box);
  }

  loss(chart, s, box) {
    const [, high] = range(s.histories, ["L_q"], s.steps * SETTLED);
    const gap = 10;
    const width = (box.w - gap * (s.histories.length - 1)) / s.histories.length;
    chart.boxes = s.histories.map((_, p) => ({ ...box, x: box.x + p * (width + gap), w: width }));
    s.histories.forEach((history, p) => {
      const scales = makeScales(chart.boxes[p], s.steps, 0, niceCeil(high), false);
      drawAxes(chart.g, s.theme, scales, p === 0);
      const [ols, total] = [history.column("L_OLS"), history.column("L_q")];
      drawArea(chart.g, history, scales, s.upTo, -1, ols, s.theme.ols, 0.5);
      drawArea(chart.g, history, scales, s.upTo, ols, total, s.theme.variance, 0.6);
      drawLine(chart.g, history, total, scales, s.upTo, { color: s.theme.ink, width: 1.3, dash: DASH[p] });
      if (s.ghosts[p])
        drawLine(chart.g, s.ghosts[p], total, scales, s.steps, { color: s.theme.faded, width: 1.2, opacity: 0.6 });
    });
  }

  lines(chart, s, box, columns, low, high, log = false, marks = null) {
    const scales = makeScales(box, s.steps, low, high, log);
    drawAxes(chart.g, s.theme, scales, true, marks);
    chart.boxes = [box];
    s.ghosts.forEach(
      (history, p) =>
        history &&
        drawLine(chart.g, history, history.column(columns[0].name), scales, s.steps, {
          color: s.theme.panels[p % 2],
          width: 1.2,
          dash: DASH[p],
          opacity: 0.32,
        }),
    );
    s.histories.forEach((history, p) => {
      for (const { name, width, opacity, color } of columns) {
        drawLine(chart.g, history, history.column(name), scales, s.upTo, {
          color: color ?? s.theme.panels[p % 2],
          width,
          opacity,
          dash: DASH[p],
        });
      }
    });
    return scales;
  }

  paintFree(chart, s, box) {
    let [low, high] = range(s.histories, [this.free], s.steps * SETTLED);
    if (!(high >= low)) [low, high] = [0, 1];
    const pad = Math.max((high - low) * 0.08, Math.abs(high) * 1e-3, 1e-9);
    this.lines(chart, s, box, [{ name: this.free, width: 1.9 }], low - pad, high + pad);
  }

  /** A chart of an extension: its lines over all panels, between given or found limits. */
  paintCustom(chart, s, box) {
    const { lines, low, high, log } = chart.spec;
    const names = lines.map((line) => line.name);
    const [least, most] = range([...s.histories, ...s.ghosts], names, log ? -1 : s.steps * SETTLED);
    const top = high ?? (log ? 10 ** Math.ceil(Math.log10(Math.max(most, 1e-12) * 1.05)) : niceCeil(most));
    const floor = log ? 10 ** Math.floor(Math.log10(Math.max(least, top * 1e-6) * 0.95)) : Math.min(0, least);
    const named = lines.map((line) => ({
      ...line,
      width: line.width ?? 1.8,
      color: { ols: s.theme.ols, variance: s.theme.variance, ink: s.theme.ink }[line.color],
    }));
    const bottom = low ?? (Number.isFinite(floor) ? floor : log ? 1e-3 : 0);
    this.lines(chart, s, box, named, bottom, Number.isFinite(top) && top > bottom ? top : bottom + 1, log ?? false);
  }

  separation(chart, s, box) {
    const [, high] = range([...s.histories, ...s.ghosts], ["weighted_separation", "separation_mean"]);
    this.lines(
      chart,
      s,
      box,
      [
        { name: "weighted_separation", width: 2.1 },
        { name: "separation_mean", width: 1.1, opacity: 0.75 },
      ],
      0,
      niceCeil(high),
    );
  }

  effective(chart, s, box) {
    this.lines(chart, s, box, [{ name: "effective_prototypes", width: 2 }], 0, s.prototypes * 1.04, false, [
      0,
      s.prototypes / 2,
      s.prototypes,
    ]);
  }

  critical(chart, s, box) {
    const clean = (x, other) => (Number.isFinite(x) && x > 0 ? x : other);
    const [cold, hot] = range(s.histories, ["temperature"]);
    let [low, high] = range(s.histories, ["critical_temperature"]);
    low = Math.max(Math.min(clean(low, cold), clean(cold, 1)), clean(hot, 1) * 1e-3);
    high = Math.max(clean(high, hot), clean(hot, 1));
    [low, high] = [
      10 ** Math.floor(Math.log10(clean(low, 0.1) * 0.9)),
      10 ** Math.ceil(Math.log10(clean(high, 10) * 1.1)),
    ];
    const scales = this.lines(chart, s, box, [{ name: "critical_temperature", width: 2 }], low, high, true);
    s.histories.forEach((history, p) => {
      drawLine(chart.g, history, history.column("temperature"), scales, s.upTo, {
        color: s.theme.ink,
        width: 1.2,
        dash: p ? [5, 3.5] : [],
        opacity: 0.85,
      });
      this.hotBar(chart.g, s, history, scales, p);
    });
    this.nameTemperature(chart.g, s, scales);
  }

  /** The letter T at the end of its lines. */
  nameTemperature(g, s, scales) {
    const history = s.histories[0];
    const row = history.rowAt(s.upTo);
    if (row < 0) return;
    g.font = `italic 700 12px ${s.theme.font}`;
    g.fillStyle = s.theme.ink;
    g.textAlign = "right";
    g.textBaseline = "bottom";
    const right = scales.box.x + scales.box.w;
    g.fillText(
      "T",
      Math.min(right, scales.x(history.steps[row])),
      scales.y(history.value(row, history.column("temperature"))) - 1,
    );
  }

  /** A bar at the foot over the steps at which T was above T_c. */
  hotBar(g, s, history, scales, p) {
    const [critical, temperature] = [history.column("critical_temperature"), history.column("temperature")];
    const y = scales.box.y + scales.box.h - 4 - 5 * p;
    g.fillStyle = s.theme.panels[p % 2];
    for (let i = 0; i < history.count && history.steps[i] <= s.upTo; i++) {
      if (!(history.value(i, temperature) > history.value(i, critical))) continue;
      let end = i;
      while (
        end + 1 < history.count &&
        history.steps[end + 1] <= s.upTo &&
        history.value(end + 1, temperature) > history.value(end + 1, critical)
      )
        end++;
      const next = scales.x(history.steps[Math.min(end + 1, history.count - 1)]);
      g.fillRect(scales.x(history.steps[i]), y, Math.max(2, next - scales.x(history.steps[i])), 3);
      i = end;
    }
  }

  /** Numbers at the shown step; and the veil over what lies after it while scrubbing. */
  readout(s, step, scrubbing) {
    const at = (p, name) => s.histories[p].value(Math.max(0, s.histories[p].rowAt(step)), s.histories[p].column(name));
    const each = (write) => s.histories.map((history, p) => (history.count ? write(p) : "–"));
    const readers = {
      loss: (p) => `${format(at(p, "L_q"))} = ${format(at(p, "L_OLS"))} + ${format(at(p, "V"))}`,
      free: (p) =>
        `${format(at(p, this.free))}${this.free === "F" ? "" : `, ${increases(at(p, "F_tilde_increases"))}`}`,
      separation: (p) => format(at(p, "weighted_separation")),
      effective: (p) => `${format(at(p, "effective_prototypes"))} of ${s.prototypes}`,
      critical: (p) => {
        const [critical, temperature] = [at(p, "critical_temperature"), at(p, "temperature")];
        if (!Number.isFinite(temperature)) return "no temperature";
        const note = criticalNote("", critical);
        return note
          ? note.slice(2)
          : `${format(critical)} ${critical < temperature ? "< T" : "> T"} ${format(temperature)}`;
      },
    };
    for (const chart of this.charts) {
      const { spec } = chart;
      const custom = spec.read
        ? (p) => spec.read((name) => at(p, name), format)
        : (p) => spec.lines.map((line) => format(at(p, line.name))).join(", ");
      this.write(chart, s, each(chart.custom ? custom : readers[chart.kind]));
    }
    setText(this.ghostNote, s.ghosts.length ? "faint: the run before" : "");
    for (const chart of this.charts) {
      chart.veils.forEach((veil, i) => {
        const box = chart.boxes?.[i];
        veil.hidden = !scrubbing || !box;
        if (veil.hidden) return;
        const x = (Math.min(step, chart.steps) / Math.max(1, chart.steps)) * box.w;
        veil.style.transform = `translateX(${(box.x + x).toFixed(1)}px)`;
        veil.style.width = `${Math.max(2, box.w - x).toFixed(1)}px`;
      });
    }
  }

  write({ values, canvas, spec }, s, texts) {
    while (values.children.length < texts.length) {
      const p = values.children.length;
      values.append(h("span", { class: `key panel-${p}` }, h("i", { class: "line" }), h("span", {})));
    }
    while (values.children.length > texts.length) values.lastChild.remove();
    texts.forEach((text, p) => setText(values.children[p].lastChild, text));
    const label = `${spec.title}: ${texts.map((t, p) => `${s.labels[p]} ${t}`).join("; ")}`;
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
  }
}

// The skeleton of the view. Every part has its height before data arrives, so nothing jumps.
import { h, rich } from "./dom.js";
import { LogSlider } from "./sliders.js";

/** One panel: head with sliders, map with overlays, verdict. on: {live, settled, pointer handlers}. */
export function makePanel(index, label, on) {
  const sliders = Object.fromEntries(
    ["epsilon", "temperature"].map((kind) => [
      kind,
      new LogSlider(
        kind,
        index,
        label,
        (value) => on.live(index, kind, value),
        () => on.settled(),
      ),
    ]),
  );
  const canvas = h("canvas", {
    class: "map-canvas",
    role: "img",
    tabindex: "-1",
    "data-testid": `map-${index}`,
    "aria-label": `Map of ${label}`,
  });
  const parts = {
    title: h("h3", {}, h("i", { class: "line" }), h("span", {}, label)),
    extra: h("div", { class: "panel-extra" }),
    tag: h("div", { class: "step-tag", "aria-hidden": "true" }, ""),
    note: h("div", { class: "map-note" }, ""),
    tip: h("div", { class: "tip", role: "tooltip", hidden: true }),
    cover: h(
      "div",
      { class: "cover" },
      h("div", { class: "cover-text" }, ""),
      h("progress", { max: 1, "aria-label": "Progress" }),
      h("button", { type: "button", class: "cancel", hidden: true, "data-testid": `cancel-${index}`, onclick: () => on.cancel?.() }, "Cancel"),
    ),
    mark: h("span", { class: "verdict-mark", "aria-hidden": "true" }, ""),
    word: h("strong", {}, ""),
    detail: h("span", { class: "verdict-detail" }, ""),
  };
  const node = h(
    "section",
    {
      class: `panel panel-${index}`,
      "aria-label": label,
      "data-testid": `panel-${index}`,
      "data-step": "",
      "data-status": "",
    },
    h("div", { class: "panel-head" }, parts.title, sliders.epsilon.node, sliders.temperature.node),
    h("div", { class: "map" }, canvas, parts.tag, parts.note, parts.tip, parts.cover),
    parts.extra,
    h("p", { class: "verdict", "data-testid": `verdict-${index}` }, parts.mark, parts.word, parts.detail),
  );
  return { node, canvas, sliders, ...parts };
}

function save(kind, words) {
  return h("a", { "data-testid": `save-${kind}`, download: "" }, words);
}

/** Let the links of the foot save the session's recording; `root` is the address below which it lies. */
export function offerRecording(foot, root, session) {
  for (const kind of ["npz", "csv"]) {
    foot.querySelector(`[data-testid=save-${kind}]`).href = `${root}recordings/${encodeURIComponent(session)}.${kind}`;
  }
  foot.querySelector(".foot-save").hidden = false;
}

/** The whole view around given parts. */
export function makeRoot(parts) {
  const panels = h("div", { class: "panels" });
  const banner = h("div", { class: "banner", role: "status", "data-testid": "banner", hidden: true });
  const why = h("p", { class: "why", "data-testid": "why" }, h("b", {}, "Why: "), h("span", {}, ""));
  const foot = h(
    "p",
    { class: "foot", "data-testid": "status-line" },
    h("span", { class: "foot-state" }, ""),
    h(
      "span",
      { class: "foot-save", hidden: true },
      "Keep this run: ",
      save("npz", "recording"),
      " · ",
      save("csv", "metrics as CSV"),
    ),
    h("span", { class: "foot-source" }, ""),
  );
  const live = h("div", { class: "sr", "aria-live": "polite", "data-testid": "announcer" });
  const root = h(
    "div",
    {
      class: "ddcl",
      "data-testid": "ddcl-live",
      "data-step": "",
      "data-status": "",
      "data-state": "starting",
      tabindex: "-1",
    },
    parts.controls,
    parts.legend,
    h("div", { class: "stage" }, panels, banner),
    parts.scrub,
    ...(parts.extra ? [parts.extra] : []),
    parts.charts,
    why,
    foot,
    live,
    parts.help,
  );
  return { root, panels, banner, why: why.lastChild, foot, live };
}

/** Sentence with subscripts into a node, only when it changed. */
export function setRich(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...rich(text));
}

// What the pointer rests on, in words: a token or a prototype.
import { h, rich } from "./dom.js";
import { format } from "./numbers.js";

function row(name, value, color) {
  const swatch = color ? h("i", { class: "swatch", style: `background:${color}` }) : null;
  return h("div", { class: "tip-row" }, h("span", {}, swatch, ...rich(name)), h("b", {}, value));
}

function tokenRows(s, shown, i) {
  const frame = shown.u > 0.5 ? shown.b : shown.a;
  const lead = frame.lead?.[i] ?? 0;
  const strength = (frame.strength?.[i] ?? 0) / 255;
  const rows = [h("div", { class: "tip-title" }, s.words[i] || `token ${i + 1}`)];
  const label = s.labels[i];
  if (s.classNames[label] !== undefined) rows.push(row("class", s.classNames[label], s.theme.color(label)));
  if (s.documents) rows.push(row("document", String(s.documents[i] + 1)));
  rows.push(row("follows prototype", String(lead + 1), s.theme.color(lead)));
  rows.push(row("by a share of", `${Math.round(strength * 100)} %`));
  return rows;
}

function spotRows(s, shown, spot) {
  const frame = shown.u > 0.5 ? shown.b : shown.a;
  const rows = [];
  if (spot.members.length > 1) {
    rows.push(h("div", { class: "tip-title" }, `${spot.members.length} prototypes`));
    rows.push(h("div", { class: "tip-note" }, spot.members.map((k) => k + 1).join(", ")));
  } else {
    rows.push(h("div", { class: "tip-title" }, `Prototype ${spot.lead + 1}${spot.dead ? " (dead)" : ""}`));
  }
  rows.push(row("share of tokens", `${format(spot.usage * 100, 3)} %`));
  if (frame.olsNorm && frame.varianceNorm) {
    const mean = (values) => spot.members.reduce((sum, k) => sum + values[k], 0) / spot.members.length;
    rows.push(row("force of −L_OLS", format(mean(frame.olsNorm)), s.theme.ols));
    rows.push(row("force of −V", format(mean(frame.varianceNorm)), s.theme.variance));
  }
  rows.push(
    h("div", { class: "tip-note" }, spot.members.includes(s.selected) ? "click to let go" : "click to see its tokens"),
  );
  return rows;
}

/** Fill and place the tooltip for what was hit; hide it without a hit. */
export function showTooltip(node, s, panel, found, x, y) {
  if (!found || !panel.shown) {
    node.hidden = true;
    return;
  }
  node.replaceChildren(...(found.spot ? spotRows(s, panel.shown, found.spot) : tokenRows(s, panel.shown, found.token)));
  node.hidden = false;
  const [w, height] = [node.offsetWidth, node.offsetHeight];
  const left = x + 16 + w > panel.width ? x - w - 12 : x + 16;
  const top = Math.min(Math.max(6, y - height / 2), panel.height - height - 6);
  node.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(top)}px)`;
}

// Keyboard. Keys act when nothing else on the page has the focus, or something inside the view has.
import { h } from "./dom.js";
import { HELP } from "./text.js";

const TEXT_TYPES = new Set(["text", "number", "search", "email", "password", "url", ""]);

/** Whether a key belongs to the element that has the focus. */
export function isTaken(event, focus) {
  if (!focus) return false;
  const tag = focus.tagName?.toLowerCase();
  const type = (focus.getAttribute?.("type") ?? "").toLowerCase();
  if (focus.isContentEditable || tag === "textarea" || tag === "select") return true;
  if (tag === "input" && TEXT_TYPES.has(type)) return true;
  if (tag === "input" && event.key.startsWith("Arrow")) return true;
  if (tag === "input" && type === "range" && ["Home", "End", "PageUp", "PageDown"].includes(event.key)) return true;
  return event.key === " " && ["button", "input", "summary", "a"].includes(tag);
}

/** Listen on the window (before Streamlit's own keys); `actions` by key. Returns a function that stops it. */
export function listenKeys(root, actions) {
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const inside = event.composedPath().includes(root);
    const focus = inside ? event.composedPath()[0] : document.activeElement;
    if (!inside && focus && focus !== document.body && focus !== document.documentElement) return;
    if (isTaken(event, focus)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (root.querySelector("dialog[open]") && key !== "Escape" && key !== "?") return;
    const action = actions[key] ?? (/^[1-9]$/.test(key) ? () => actions.digit(Number(key)) : null);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    action(event);
  };
  addEventListener("keydown", onKey, true);
  return () => removeEventListener("keydown", onKey, true);
}

/** The help overlay. */
export function makeHelp() {
  const rows = HELP.map(([keys, text]) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        ...keys.split(" ").map((k) => (k === "…" || k.length > 5 || k.endsWith(",") ? `${k} ` : h("kbd", {}, k))),
      ),
      h("td", {}, text),
    ),
  );
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Keyboard and help", "data-testid": "help-overlay" },
    h("h3", {}, "Keyboard"),
    h("table", {}, h("tbody", {}, ...rows)),
    h(
      "p",
      {},
      "Tokens are small marks, prototypes numbered discs that grow with the share of tokens they win. " +
        "A hollow, crossed disc is dead: it wins next to nothing. Arrows show how each part of the loss pushes a " +
        "prototype; longer is stronger, on a compressed scale; rest on a disc for the numbers. Faint dots show where " +
        "the map was learned.",
    ),
    h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "Close"),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

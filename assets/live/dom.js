// Small helpers to build elements. Text always becomes a text node, so nothing from outside is read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, `on...` listeners and children (elements or strings). */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return node;
}

const ICONS = {
  play: "M4.5 2.6v10.8L13.4 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  step: "M3 3v10l6.5-5zM10.5 3h2.2v10h-2.2z",
  reset:
    "M8 2.4a5.6 5.6 0 1 0 5.4 7.1l-1.7-.5A3.8 3.8 0 1 1 8 4.2c1 0 1.9.4 2.6 1L8.7 7H14V1.8" +
    "l-2.1 2.1A5.6 5.6 0 0 0 8 2.4z",
  now: "M2.5 3v10l5-5zM8 3v10l5-5z",
  more: "M2.5 3v10l4-5zM6.5 3v10l4-5zM11 3h2.2v10H11z",
};

/** A filled 16 by 16 icon that takes the colour of the text. */
export function icon(name) {
  const path = svg("path", { d: ICONS[name] });
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, path);
}

/** Change the picture of an icon made by `icon`. */
export function setIcon(node, name) {
  node.firstChild.setAttribute("d", ICONS[name]);
}

/** Set text only when it differs: an unchanged node is neither laid out nor read aloud again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Words with subscripts written as in TeX: rich("L_OLS + V") gives L, a lowered OLS, and the rest. */
export function rich(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(/_([A-Za-z0-9]+)/g)) {
    parts.push(text.slice(last, match.index), h("sub", {}, match[1]));
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

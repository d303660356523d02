// Colours. Okabe and Ito's palette, whose eight hues people with any colour vision tell apart, fitted to both grounds.

const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b3a100", "#4d4d4d"];
const DARK = ["#3f9fe0", "#e69f00", "#1fbd8f", "#f0803c", "#e08fbb", "#8fd0f5", "#f0e442", "#c9ced6"];

// One meaning a colour: the two parts of the loss and their forces, and the two panels' curves.
const ROLES = {
  light: { ols: "#007a59", variance: "#b0487f", panels: ["#005f96", "#b85200"], alarm: "#b84a00", calm: "#005f96" },
  dark: { ols: "#2cc79a", variance: "#ea9cc6", panels: ["#6cb8f0", "#f5a04c"], alarm: "#ff9d5c", calm: "#7cc2f5" },
};

export const SHAPES = ["circle", "square", "triangle", "diamond", "plus", "wedge", "cross", "star"];

/** Remember answers: the same few colours are asked for many times a picture. */
function remembered(make) {
  const known = new Map();
  return (...given) => {
    const key = given.join("|");
    if (!known.has(key)) {
      if (known.size > 2000) known.clear();
      known.set(key, make(...given));
    }
    return known.get(key);
  };
}

/** [r, g, b] of "#rgb", "#rrggbb" or "rgb(...)"; null when it is none of them. */
export function parseColor(text) {
  const value = String(text ?? "").trim();
  const hex = value.match(/^#([0-9a-f]{3,8})$/i)?.[1];
  if (hex) {
    const full =
      hex.length < 6
        ? [...hex]
            .slice(0, 3)
            .map((c) => c + c)
            .join("")
        : hex.slice(0, 6);
    return [0, 2, 4].map((i) => parseInt(full.slice(i, i + 2), 16));
  }
  const numbers = value
    .match(/^rgba?\(([^)]+)\)/)?.[1]
    .split(/[\s,/]+/)
    .map(Number);
  return numbers?.length >= 3 ? numbers.slice(0, 3) : null;
}

/** WCAG relative luminance of [r, g, b]. */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG contrast ratio of two colours. */
export function contrast(one, other) {
  const [a, b] = [luminance(parseColor(one)), luminance(parseColor(other))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

/** Colour between two, as rgb(); share of the second in 0..1. */
export const mix = remembered((one, other, share) => {
  const [a, b] = [parseColor(one), parseColor(other)];
  return `rgb(${a.map((c, i) => Math.round(c + (b[i] - c) * share)).join(",")})`;
});

/** The same colour, see-through. */
export const alpha = remembered((color, opacity) => `rgba(${parseColor(color).join(",")},${opacity})`);

/** Black or white, whichever reads better on the colour. */
export const inkOn = remembered((color) => (luminance(parseColor(color)) > 0.18 ? "#10141a" : "#ffffff"));

/** The theme for given CSS variables; `read(name)` returns a value or "". */
export function makeTheme(read, prefersDark = false) {
  const ground = parseColor(read("--st-background-color"))
    ? read("--st-background-color")
    : prefersDark
      ? "#11151c"
      : "#ffffff";
  const dark = luminance(parseColor(ground)) < 0.25;
  const ink = parseColor(read("--st-text-color")) ? read("--st-text-color") : dark ? "#e8ebf0" : "#1b1f27";
  const faded = mix(ink, ground, dark ? 0.32 : 0.34);
  const palette = dark ? DARK : LIGHT;
  const roles = dark ? ROLES.dark : ROLES.light;
  return {
    dark,
    ground,
    ink,
    faded,
    field: mix(ground, ink, dark ? 0.035 : 0.018),
    grid: mix(ground, ink, dark ? 0.13 : 0.1),
    font: read("--st-font") || "system-ui, sans-serif",
    ...roles,
    /** Colour of class or prototype i; after eight hues come darker and paler ones, so none repeats up to 32. */
    color(i) {
      const tier = Math.floor(i / palette.length) % 4;
      const base = palette[i % palette.length];
      return tier === 0
        ? base
        : tier === 1
          ? mix(base, ink, 0.38)
          : tier === 2
            ? mix(base, ground, 0.4)
            : mix(base, ink, 0.65);
    },
    shape(i) {
      return SHAPES[(i + Math.floor(i / SHAPES.length)) % SHAPES.length];
    },
  };
}

/** The theme as the element sees it. */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  return makeTheme((name) => style.getPropertyValue(name).trim(), prefersDark);
}

// Every sentence the live view says. Plain words; numbers only where they are needed.
import { format } from "./numbers.js";

export const STATUS = ["stable", "collapsed", "diverged", "unresolved"];
export const MARKS = { stable: "●", collapsed: "▼", diverged: "✕", unresolved: "◌" };

/** Verdict on a panel at one moment. metric(name) returns a number or NaN. */
export function verdict(status, statusStep, metric, prototypes) {
  const effective = metric("effective_prototypes");
  const alive = Number.isFinite(effective)
    ? `${format(effective, 2)} of ${prototypes} ${prototypes === 1 ? "prototype" : "prototypes"} in use`
    : "";
  const at = statusStep >= 0 ? ` at step ${statusStep}` : "";
  if (status === "diverged") {
    return {
      mark: MARKS.diverged,
      word: `DIVERGED${at}`,
      detail: "the numbers left what can be computed; lower ε, then reset",
    };
  }
  const separation = metric("weighted_separation");
  const apart = Number.isFinite(separation) && prototypes > 1 ? `separation ${format(separation, 2)}` : "";
  const both = [alive, apart].filter(Boolean).join(", ");
  if (status === "collapsed") {
    // full usage is no health when all share one spot: never one without the other
    const detail = effective >= 1.5 && apart ? `${apart}: they share one spot, though ${alive}` : both;
    return { mark: MARKS.collapsed, word: `COLLAPSED${at}`, detail };
  }
  if (status === "unresolved") return { mark: MARKS.unresolved, word: "NOT YET CLEAR", detail: both };
  const recovered = statusStep > 0 ? `STABLE again since step ${statusStep}` : "STABLE so far";
  return { mark: MARKS.stable, word: recovered, detail: both };
}

/** What the T_c chart says when the objective has no finite critical temperature. */
export function criticalNote(label, critical) {
  if (critical === Infinity) return `${label}: always separates, at any T`;
  if (critical === 0) return `${label}: never separates, at any T`;
  return "";
}

/** The number of times F~ rose, in words. */
export function increases(count) {
  if (!Number.isFinite(count)) return "no count yet";
  return count === 0 ? "never rose" : count === 1 ? "rose once" : `rose ${Math.round(count)} times`;
}

/** Line under a map. kind: what is shown; wanted: what was chosen; info: about the shown map; umap: about the UMAP. */
export function mapNote(kind, wanted, info, offMap, umap) {
  const parts = [];
  if (info?.positions) {
    parts.push(info.note);
  } else if (kind === "umap") {
    parts.push("UMAP, frozen");
    if (Number.isFinite(info?.placement_error))
      parts.push(`typical placing error ${format(info.placement_error, 2)} of the map’s radius`);
    if (offMap > 3) parts.push("tokens have left the mapped region: positions are rough");
  } else {
    parts.push("PCA");
    const share = info?.explained_variance?.reduce?.((a, b) => a + b, 0);
    if (Number.isFinite(share)) parts.push(`shows ${Math.round(share * 100)} % of the variance`);
    if (wanted === "umap" && umap && !umap.available && umap.fitting === false)
      parts.push(umap.note || "there is no UMAP for these tokens");
    else if (wanted === "umap")
      parts.push(
        `UMAP is being fitted${umap?.progress > 0 ? ` (${Math.round(100 * umap.progress)} %)` : ""} and follows here`,
      );
  }
  return parts.join(" · ");
}

/** Label of prototypes that share one spot. */
export function sharedSpot(members) {
  if (members.length <= 3) return members.map((k) => k + 1).join(", ");
  return `${members.length} prototypes here`;
}

/** Label of tokens that all lie under one disc. */
export function heapOfTokens(count) {
  return count === 1 ? "the only token is on this spot" : `all ${count} tokens are on this spot`;
}

export const CHARTS = {
  loss: {
    title: "L_q = L_OLS + V",
    hint: "Two parts that always add up. V gone: the prototypes share one spot.",
  },
  free: {
    title: "Free energy F̃",
    other: "Free energy F",
    hint: "Descending F or cooling lowers it. Descending L_q may raise it.",
    otherHint: "Rises while T is lowered, even if all is well. F̃ does not.",
  },
  separation: {
    title: "Separation",
    hint: "Strong line: weighted by use. Thin: mean of all pairs. To zero: collapse.",
  },
  effective: {
    title: "Prototypes in use",
    hint: "How many share the tokens. Near one: a single prototype takes all.",
  },
  critical: {
    title: "T_c against T",
    hint: "Bars at the foot: T is above T_c, and prototypes that are close merge. T_c leaves a task out.",
  },
};

export const SOCKET = {
  connecting: "Connecting …",
  lost: (wait) => {
    const when = wait < 1000 ? "now" : `in ${Math.round(wait / 1000)} s`;
    return `The connection was lost. Trying again ${when}; what you see is kept.`;
  },
};

export const HELP = [
  ["Space", "play or pause"],
  ["S", "one step of the chosen player"],
  ["R", "reset to step 0"],
  ["← →", "scrub back and forth, one recorded step each"],
  ["End", "back to now"],
  ["M", "the next map"],
  ["C", "colour by class or by prototype"],
  ["F", "forces on or off"],
  ["T", "trails on or off"],
  ["1 … 9", "highlight a prototype’s tokens; again to let go"],
  ["wheel, drag", "zoom and move both maps; double click shows all"],
  ["Esc", "let go of the prototype, close this"],
];

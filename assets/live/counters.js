// Numbers for tests and for `make bench`: window.__ddcl[key].
import { same } from "./model.js";

const KEPT = 200;

export function makeCounters(key) {
  const all = (globalThis.__ddcl ??= {});
  return (all[key] ??= {
    framesDrawn: 0,
    drawMs: 0,
    lastStep: -1,
    shownStep: -1,
    statuses: [],
    map: "",
    session: null,
    socket: "",
    messages: 0,
    bytes: 0,
    longTasks: 0,
    longTaskMs: 0,
    mounts: 0,
    controlsApplied: 0,
    latencyApplied: [],
    latencyReceived: [],
    latencyShown: [], // ms from a slider's input to: server's word, data, picture
  });
}

/** Count tasks of more than 50 ms on the page's main thread. Returns a function that stops it. */
export function watchLongTasks(counters) {
  if (!globalThis.PerformanceObserver?.supportedEntryTypes?.includes("longtask")) return () => {};
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      counters.longTasks++;
      counters.longTaskMs += entry.duration;
    }
  });
  observer.observe({ entryTypes: ["longtask"] });
  return () => observer.disconnect();
}

/** Follows slider inputs until their value is applied, received and shown. */
export class LatencyWatch {
  constructor(counters) {
    this.counters = counters;
    this.pending = [];
  }

  sent(panel, name, value) {
    this.pending = this.pending.filter((p) => !(p.panel === panel && p.name === name));
    this.pending.push({ panel, name, value, at: performance.now(), seen: new Set() });
  }

  /** stage "Applied", "Received" or "Shown"; read(panel, name) gives the value at that stage. */
  check(stage, read) {
    for (const p of this.pending) {
      if (p.seen.has(stage) || !same(read(p.panel, p.name), p.value)) continue;
      p.seen.add(stage);
      const list = this.counters[`latency${stage}`];
      list.push(performance.now() - p.at);
      if (list.length > KEPT) list.shift();
      if (stage === "Applied") this.counters.controlsApplied++;
    }
    this.pending = this.pending.filter((p) => !p.seen.has("Shown"));
  }
}

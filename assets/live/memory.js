// What outlives an instance: a remount by Streamlit loses neither zoom nor selection nor what was received.
import { Model } from "./model.js";
import { HOME } from "./viewport.js";

const KEPT = 4;
const memories = new Map();

/** The memory of a view's key; the oldest of more than a few is forgotten. settings: defaults for a new one. */
export function recall(key, settings) {
  let memory = memories.get(key);
  if (!memory) {
    memory = {
      settings: {
        color: "class",
        map: "umap",
        forces: true,
        trails: true,
        speed: 8,
        who: "both",
        seed: null,
        free: "F_tilde",
        ...settings,
      },
      view: { ...HOME },
      selected: -1,
      scene: null,
      model: new Model(),
      time: null,
      wanted: [],
      paused: null,
      extension: {}, // what an extension wants to remember
    };
  }
  memories.delete(key);
  memories.set(key, memory);
  if (memories.size > KEPT) memories.delete(memories.keys().next().value);
  return memory;
}

/** Another scene: nothing received before belongs to it, nor do values the person had set for the other one. */
export function forgetScene(memory, scene) {
  Object.assign(memory, {
    scene,
    model: new Model(),
    time: null,
    wanted: [],
    selected: -1,
    view: { ...HOME },
    paused: null,
  });
}

const place = (key) => `ddcl-session-${key}`;

/** The session that this tab had before it was reloaded, or null. Storage may be forbidden; then there is none. */
export function lastSession(key) {
  try {
    return globalThis.sessionStorage?.getItem(place(key)) ?? null;
  } catch {
    return null;
  }
}

/** Let a reload of this tab find its session again. */
export function noteSession(key, session) {
  try {
    globalThis.sessionStorage?.setItem(place(key), session);
  } catch {
    // then a reload starts over
  }
}

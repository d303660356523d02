import assert from "node:assert/strict";
import test from "node:test";
import { decodeBundle, encodeBundle } from "../../assets/live/protocol.js";
import { History, MAX_FRAMES, PanelStore, splitFrames, thin } from "../../assets/live/store.js";

const frame = (step, status = 0) => ({
  step,
  status,
  statusStep: -1,
  metrics: Float32Array.of(step, 2 * step),
  tokens: { pca: Int16Array.of(step, 0), umap: null },
  prototypes: { pca: null, umap: null },
  ols: {},
  variance: {},
});

test("frames are cut out of their bundle and own their memory", () => {
  const { arrays } = decodeBundle(
    encodeBundle(
      { type: "frames" },
      {
        step: { data: Int32Array.of(4, 5), shape: [2] },
        status: { data: Uint8Array.of(0, 1), shape: [2] },
        metrics: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] },
        pca: { data: Int16Array.of(1, 2, 3, 4, 5, 6, 7, 8), shape: [2, 2, 2] },
      },
    ),
  );
  const [one, two] = splitFrames(arrays);
  assert.deepEqual([...one.tokens.pca], [1, 2, 3, 4]);
  assert.deepEqual([...two.tokens.pca], [5, 6, 7, 8]);
  assert.deepEqual([...two.metrics], [3, 4]);
  assert.equal(two.status, 1);
  assert.equal(one.tokens.umap, null);
  assert.equal(one.tokens.pca.buffer.byteLength, 8);
});

test("bracket gives neighbours and share, also before the first and after the last frame", () => {
  const store = new PanelStore(["a", "b"]);
  [0, 2, 12].forEach((s) => store.insert(frame(s)));
  const steps = (t) => store.bracket(t).map((x) => x.step ?? x);
  assert.deepEqual(steps(7), [2, 12, 0.5]);
  assert.deepEqual(steps(-1), [0, 0, 0]);
  assert.deepEqual(steps(99), [12, 12, 0]);
  assert.equal(new PanelStore([]).bracket(3), null);
  assert.equal(store.nearest(8).step, 12);
  assert.equal(store.nearest(6).step, 2);
});

test("memory is bounded; ends, the latest frames and verdicts stay", () => {
  const store = new PanelStore(["a", "b"]);
  for (let s = 0; s < 3000; s++) store.insert(frame(s, s >= 700 ? 1 : 0));
  assert.ok(store.frames.length <= MAX_FRAMES);
  const steps = store.frames.map((f) => f.step);
  assert.equal(steps[0], 0);
  assert.equal(steps.at(-1), 2999);
  assert.ok(steps.includes(700));
  const gaps = steps.slice(1, -40).map((s, i) => s - steps[i]);
  assert.ok(Math.max(...gaps) <= 24, `largest gap ${Math.max(...gaps)}`);
});

test("thinning leaves frames in order", () => {
  const frames = Array.from({ length: 100 }, (_, i) => frame(i));
  thin(frames, 60);
  assert.equal(frames.length, 60);
  assert.ok(frames.every((f, i) => i === 0 || f.step > frames[i - 1].step));
});

test("history takes rows in any order, replaces repeated steps, and stays bounded", () => {
  const history = new History(["x", "y"]);
  history.add([0, 2], Float32Array.of(0, 0, 2, 20));
  history.add([1], Float32Array.of(1, 10));
  history.add([2], Float32Array.of(2, 99));
  assert.deepEqual([...history.steps.subarray(0, history.count)], [0, 1, 2]);
  assert.equal(history.value(2, history.column("y")), 99);
  assert.equal(history.rowAt(1.5), 1);
  assert.equal(history.rowAt(-1), -1);
  for (let s = 3; s < 30000; s++) history.add([s], Float32Array.of(s, s));
  assert.ok(history.count <= 8192);
  assert.equal(history.last, 29999);
  for (let i = 1; i < history.count; i++) assert.ok(history.steps[i] > history.steps[i - 1]);
  assert.equal(history.value(history.count - 1, 0), 29999);
});

test("a map that became ready later is put into frames that are still kept", () => {
  const store = new PanelStore(["a", "b"]);
  [0, 1].forEach((s) => store.insert(frame(s)));
  store.place({
    step: { data: Int32Array.of(1, 77), shape: [2] },
    umap: { data: Int16Array.of(5, 6, 7, 8), shape: [2, 1, 2] },
  });
  assert.deepEqual([...store.frames[1].tokens.umap], [5, 6]);
  assert.equal(store.frames[0].tokens.umap, null);
});

test("extras travel with their frame, and large ones are let go of in older frames", () => {
  const store = new PanelStore(["a"]);
  for (let step = 0; step < 100; step++) {
    const arrays = {
      step: { data: Int32Array.of(step), shape: [1] },
      x_small: { data: Float32Array.of(step, step), shape: [1, 2] },
      x_large: { data: new Uint8Array(8000).fill(step), shape: [1, 8000] },
    };
    splitFrames(arrays).forEach((frame) => store.insert(frame));
  }
  assert.deepEqual([...store.frames[3].extra.small], [3, 3]);
  const kept = store.frames.filter((frame) => frame.extra.large).length;
  assert.ok(kept >= 40 && kept <= 40 + 8 + 1, `${kept} frames keep theirs`);
  assert.equal(store.nearestWith("large", 99).step, 99);
  assert.ok(Math.abs(store.nearestWith("large", 20).step - 20) <= 8);
  assert.equal(store.nearestWith("nothing", 20), null);
});

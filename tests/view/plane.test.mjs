// Planes: static token positions, moving prototypes, axes and named places.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../assets/live/model.js";
import { apart, spanOf, spread } from "../../assets/live/plane.js";
import { splitFrames } from "../../assets/live/store.js";
import { mapNote } from "../../assets/live/text.js";
import { HOME, transformOf } from "../../assets/live/viewport.js";

const array = (data, ...shape) => ({ data, shape });
const PLANE = {
  type: "map",
  kind: "shape",
  available: true,
  title: "size × shape",
  note: "Round ones at the foot.",
  x: { label: "size", ticks: [[-1, "low"], [1, "high"]] },
  y: { label: "shape", ticks: [[0, "0.1"]] },
  landmarks: [["GPS", 0.5, 0.1]],
};

test("a plane's message brings its axes, places and token positions, and offers itself", () => {
  const model = new Model();
  assert.equal(model.shownMap("shape"), "pca");
  model.handle(PLANE, { positions: array(Int16Array.of(0, 8191, -8191, 0), 2, 2) });
  assert.deepEqual(model.planes, [["shape", "size × shape", "Round ones at the foot."]]);
  assert.equal(model.shownMap("shape"), "shape");
  assert.equal(model.shownMap("umap"), "pca"); // no UMAP yet
  assert.deepEqual(model.maps.shape.landmarks, [["GPS", 0.5, 0.1]]);
  assert.equal(mapNote("shape", "shape", model.maps.shape, 0, null), "Round ones at the foot.");
});

test("a fitted map offers no plane and keeps its reference", () => {
  const model = new Model();
  model.handle({ type: "map", kind: "pca", available: true }, { reference: array(Int16Array.of(1, 2), 1, 2) });
  assert.deepEqual(model.planes, []);
  assert.equal(model.maps.pca.positions, null);
});

test("frames carry prototypes of any plane, and no tokens for it", () => {
  const frames = splitFrames({
    step: array(Int32Array.of(0, 1), 2),
    pca: array(Int16Array.of(1, 2, 3, 4), 2, 1, 2),
    proto_pca: array(Float32Array.of(1, 2, 3, 4), 2, 1, 2),
    proto_shape: array(Float32Array.of(5, 6, 7, 8), 2, 1, 2),
  });
  assert.deepEqual([...frames[1].prototypes.shape], [7, 8]);
  assert.deepEqual([...frames[1].prototypes.pca], [3, 4]);
  assert.equal(frames[0].prototypes.umap, null);
  assert.equal(frames[0].tokens.shape, undefined);
});

test("a plane fills the panel inside its margins at any size, a fitted map keeps its shape", () => {
  assert.deepEqual(spanOf({ reference: [] }, 650, 400), [1, 1, 0, 0]);
  for (const [w, h] of [[650, 400], [360, 300], [900, 520]]) {
    const span = spanOf({ positions: [] }, w, h);
    const [scale, x0, y0] = transformOf(HOME, w, h);
    const corners = spread(Float32Array.of(-1, -1, 1, 1), span);
    const [left, foot] = [x0 + corners[0] * scale, y0 - corners[1] * scale];
    const [right, top] = [x0 + corners[2] * scale, y0 - corners[3] * scale];
    assert.ok(left >= 40 && left < 60 && w - right > 8 && w - right < 30, `${left} ${right}`);
    assert.ok(top >= 28 && top < 48 && h - foot > 50 && h - foot < 76, `${top} ${foot}`);
  }
  const same = Float32Array.of(1, 2);
  assert.equal(spread(same, [1, 1, 0, 0]), same);
});

test("tick labels that would overlap give way to the first ones", () => {
  const kept = apart(
    [
      { text: "a", at: 10, size: 20 },
      { text: "b", at: 25, size: 20 },
      { text: "c", at: 60, size: 20 },
    ],
    4,
  );
  assert.deepEqual(kept.map((k) => k.text), ["a", "c"]);
});

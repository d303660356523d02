import assert from "node:assert/strict";
import test from "node:test";
import { Model, same } from "../../assets/live/model.js";

const NAMES = ["epsilon", "temperature", "L_q"];
const hello = (more = {}) => ({
  type: "hello",
  session: "s",
  panels: [
    { label: "left", epsilon: 1, temperature: 2 },
    { epsilon: 0.05, temperature: 2 },
  ],
  metric_names: NAMES,
  class_names: ["a"],
  num_prototypes: 2,
  playing: true,
  resumed: false,
  ...more,
});
const frames = (panel, ...steps) => [
  { type: "frames", panel, n: 1 },
  {
    step: { data: Int32Array.from(steps), shape: [steps.length] },
    status: { data: Uint8Array.from(steps, (s) => (s >= 9 && panel === 0 ? 1 : 0)), shape: [steps.length] },
    status_step: { data: Int32Array.from(steps, (s) => (s >= 9 && panel === 0 ? 9 : -1)), shape: [steps.length] },
    metrics: { data: Float32Array.from(steps.flatMap((s) => [1, 2, s])), shape: [steps.length, 3] },
    pca: { data: new Int16Array(steps.length * 4), shape: [steps.length, 2, 2] },
  },
];

function started(...steps) {
  const model = new Model();
  model.handle(hello(), {});
  for (const panel of [0, 1]) model.handle(...frames(panel, ...steps));
  return model;
}

test("newest is what both panels have reached; a diverged panel holds nobody up", () => {
  const model = started(0, 1, 2);
  model.handle(...frames(0, 3));
  assert.equal(model.newest, 2);
  model.panels[1].frames.at(-1).status = 2;
  assert.equal(model.newest, 3);
});

test("events name the step at which the verdict came", () => {
  assert.deepEqual(started(0, 5, 10, 15).events(), [{ panel: 0, status: "collapsed", step: 9, label: "left" }]);
});

test("a reset keeps the curves as ghosts, a resumed session keeps everything", () => {
  const model = started(0, 1, 2, 3, 4);
  model.handle(hello({ resumed: true }), {});
  assert.equal(model.newest, 4);
  model.handle(hello({ session: "other" }), {});
  assert.equal(model.newest, -1);
  assert.equal(model.ghosts.length, 2);
  assert.equal(model.ghosts[0].count, 5);
});

test("a reset without a new hello is seen by its step 0", () => {
  const model = started(0, 1, 2, 3, 4);
  model.awaitingReset = true;
  assert.equal(model.handle(...frames(0, 5)), "frames");
  assert.equal(model.handle(...frames(0, 0)), "reset");
  assert.equal(model.panels[0].newest, 0);
  assert.equal(model.ghosts.length, 2);
});

test("the explanation is the last one that was true at the shown step", () => {
  const model = started(0);
  model.handle(
    {
      type: "why",
      items: [
        { step: 9, text: "late" },
        { step: 0, text: "early" },
      ],
    },
    {},
  );
  assert.equal(model.whyAt(5), "early");
  assert.equal(model.whyAt(9), "late");
  assert.equal(model.whyAt(-1), "");
});

test("status words steer play and finish; unknown messages change nothing", () => {
  const model = started(0);
  model.handle({ type: "status", state: "finished", text: "done" }, {});
  assert.deepEqual([model.playing, model.finished], [false, true]);
  model.handle({ type: "status", state: "running", text: "on" }, {});
  assert.deepEqual([model.playing, model.finished], [true, false]);
  assert.equal(model.handle({ type: "from the future" }, {}), "unknown");
  assert.equal(model.handle({ type: "frames", panel: 7 }, {}), "unknown");
});

test("a value that went through float32 is still the same value", () => {
  assert.ok(same(Math.fround(0.05), 0.05));
  assert.ok(!same(0.051, 0.05));
  assert.ok(!same(NaN, 1));
});

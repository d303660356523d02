// Which codes count as dead, on the same epoch as the verdict.
import assert from "node:assert/strict";
import test from "node:test";
import { fates, HARDLY, IN_USE, NEVER, usesOf } from "../../assets/live/codebook_counts.js";

const frame = (step, now, last) => ({ step, extra: { used_epoch: now, used_last: last } });

test("codes are in use, hardly ever chosen, or never", () => {
  const used = [0.7, 0.29, 0.01, 0];
  assert.deepEqual(fates(frame(8, used, [0, 0, 0, 0]), 4, 10), [IN_USE, IN_USE, HARDLY, NEVER]);
});

test("early in an epoch the last one counts, later this one", () => {
  const [now, last] = [[1, 0], [0, 1]];
  assert.deepEqual(fates(frame(12, now, last), 2, 10), [NEVER, IN_USE]);
  assert.deepEqual(fates(frame(17, now, last), 2, 10), [IN_USE, NEVER]);
});

test("before anything was counted no code is dead", () => {
  assert.deepEqual(fates(frame(0, [0, 0], [0, 0]), 2, 10), [IN_USE, IN_USE]);
});

test("a code's cells are found", () => {
  assert.deepEqual(usesOf(new Uint16Array([1, 0, 1]), 1), [0, 2]);
  assert.deepEqual(usesOf(new Uint16Array([1]), 5), []);
});

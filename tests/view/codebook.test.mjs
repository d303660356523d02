// Which codes count as dead, and which one is used most.
import assert from "node:assert/strict";
import test from "node:test";
import { fates, HARDLY, IN_USE, mostUsed, NEVER, usesOf } from "../../assets/live/codebook_counts.js";

test("codes are in use, hardly ever chosen, or never", () => {
  assert.deepEqual(fates([0.7, 0.29, 0.01, 0]), [IN_USE, IN_USE, HARDLY, NEVER]);
});

test("before anything was counted no code is dead", () => {
  assert.deepEqual(fates([0, 0]), [IN_USE, IN_USE]);
});

test("a code's cells are found", () => {
  assert.deepEqual(usesOf(new Uint16Array([1, 0, 1]), 1), [0, 2]);
  assert.deepEqual(usesOf(new Uint16Array([1]), 5), []);
});

test("the code used most stays until another has twice as many cells", () => {
  assert.equal(mostUsed(new Uint16Array([2, 2, 1]), 3), 2);
  assert.equal(mostUsed(new Uint16Array([2, 2, 2, 1, 1]), 3, 1), 1);
  assert.equal(mostUsed(new Uint16Array([2, 2, 1]), 3, 1), 2);
});

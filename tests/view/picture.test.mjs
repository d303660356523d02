import assert from "node:assert/strict";
import test from "node:test";
import { makeScales, walk } from "../../assets/live/axes.js";
import { Clock } from "../../assets/live/clock.js";
import { isTaken } from "../../assets/live/keys.js";
import { format, logPosition, logTicks, logValue, niceCeil, parse, ticks } from "../../assets/live/numbers.js";
import { arrowLength, discRadius, groupByPlace } from "../../assets/live/prototypes.js";
import { blit } from "../../assets/live/sprites.js";
import { History } from "../../assets/live/store.js";
import { criticalNote, increases, sharedSpot, verdict } from "../../assets/live/text.js";
import { contrast, makeTheme } from "../../assets/live/theme.js";
import { HOME, panBy, transformOf, zoomAt } from "../../assets/live/viewport.js";

test("numbers for people", () => {
  const cases = [
    [0, "0"],
    [1, "1"],
    [0.05, "0.05"],
    [6.3096, "6.31"],
    [1234, "1234"],
    [1e-7, "1e−7"],
    [-2.5, "−2.5"],
    [NaN, "–"],
    [Infinity, "∞"],
    [undefined, "–"],
  ];
  for (const [x, text] of cases) assert.equal(format(x), text);
  assert.equal(parse(" 0,05 "), 0.05);
  assert.equal(parse("1e-3"), 1e-3);
  assert.ok(Number.isNaN(parse("")) && Number.isNaN(parse("two")));
});

test("a logarithmic slider goes there and back, and sticks to its ends", () => {
  for (const v of [0.001, 0.02, 1, 10])
    assert.ok(Math.abs(logValue(logPosition(v, 1e-3, 10), 1e-3, 10) / v - 1) < 1e-12);
  assert.equal(logPosition(0, 1e-3, 10), 0);
  assert.equal(logPosition(1e9, 1e-3, 10), 1);
});

test("ticks are round and inside", () => {
  assert.deepEqual(ticks(0, 100, 4), [0, 50, 100]);
  assert.deepEqual(logTicks(0.01, 100, 5), [0.01, 0.1, 1, 10, 100]);
  assert.equal(niceCeil(3.2), 4);
  assert.equal(niceCeil(NaN), 1);
});

test("the clock runs evenly behind the steps, never past them, and never back", () => {
  const clock = new Clock();
  let before = clock.advance(0, 0, 0, 1, 8);
  const moves = [];
  for (let frame = 1; frame < 300; frame++) {
    const now = frame / 30;
    const newest = Math.floor(now * 8);
    if (frame % 5 === 0) clock.arrived(now, newest);
    const t = clock.advance(now, 1 / 30, newest, 1, 8);
    assert.ok(t >= before && t <= newest);
    if (frame > 60) moves.push(t - before);
    before = t;
  }
  const mean = moves.reduce((a, b) => a + b) / moves.length;
  assert.ok(Math.abs(mean * 30 - 8) < 0.3, `pace ${mean * 30}`);
  assert.ok(Math.max(...moves) < 2 * mean && Math.min(...moves) > 0.4 * mean);
});

test("the clock reaches the last step when training stops, and jumps after a long absence", () => {
  const clock = new Clock();
  clock.advance(0, 0, 3, 1, 8);
  for (let i = 1; i < 60; i++) clock.advance(i / 30, 1 / 30, 5, 1, 8);
  assert.equal(clock.time, 5);
  assert.ok(clock.advance(100, 0.03, 400, 5, 8) >= 395);
  assert.equal(clock.advance(101, 0.03, 0, 1, 8), 0);
});

test("zooming keeps the point under the pointer, panning follows it", () => {
  const at = (view, px, py) => {
    const [s, x0, y0] = transformOf(view, 600, 400);
    return [(px - x0) / s, (y0 - py) / s];
  };
  const before = at(HOME, 150, 90);
  const zoomed = zoomAt(HOME, 2.5, 150, 90, 600, 400);
  at(zoomed, 150, 90).forEach((v, i) => assert.ok(Math.abs(v - before[i]) < 1e-9));
  const moved = panBy(zoomed, 30, -20, 600, 400);
  at(moved, 180, 70).forEach((v, i) => assert.ok(Math.abs(v - before[i]) < 1e-9));
});

test("prototypes on one spot form one group, and do not flicker at the edge", () => {
  const joined = new Set();
  assert.deepEqual(
    groupByPlace([0, 3, 100], [0, 0, 0], joined).map((g) => g.length),
    [2, 1],
  );
  assert.deepEqual(
    groupByPlace([0, 12, 100], [0, 0, 0], joined).map((g) => g.length),
    [2, 1],
  );
  assert.deepEqual(
    groupByPlace([0, 20, 100], [0, 0, 0], joined).map((g) => g.length),
    [1, 1, 1],
  );
  assert.deepEqual(
    groupByPlace([0, 12, 100], [0, 0, 0], joined).map((g) => g.length),
    [1, 1, 1],
  );
  assert.deepEqual(groupByPlace([], [], joined), []);
  assert.equal(sharedSpot([0, 1, 2, 3, 4, 5, 6, 7]), "8 prototypes here");
  assert.ok(discRadius(0.5, 8) > discRadius(0.01, 8));
  assert.equal(arrowLength(1, 0), 0);
});

test("blending puts a covering pixel over what is there and respects the edges", () => {
  const buffer = new Uint32Array(9).fill(0xff101010);
  const full = Int32Array.of(0, 0, (0xcc00aa * 256) | 0, (0xbb00 * 256) | 0, 0);
  blit(buffer, 3, 3, full, 1, 1, 1);
  assert.equal(buffer[4].toString(16), "ffccbbaa");
  blit(buffer, 3, 3, full, -1, 1, 1);
  assert.equal(buffer[3].toString(16), "ff101010");
  const none = Int32Array.of(0, 0, 0, 0, 256);
  blit(buffer, 3, 3, none, 1, 1, 1);
  assert.equal(buffer[4].toString(16), "ffccbbaa");
});

test("verdicts in words; usage never stands without separation", () => {
  const metric = (name) => ({ effective_prototypes: 7.6, weighted_separation: 0.06 })[name] ?? NaN;
  const said = verdict("collapsed", 12, metric, 8);
  assert.equal(said.word, "COLLAPSED at step 12");
  assert.match(said.detail, /separation 0.06.*one spot.*7.6 of 8/);
  assert.equal(verdict("stable", -1, () => NaN, 1).word, "STABLE so far");
  assert.match(verdict("diverged", 3, () => NaN, 8).word, /DIVERGED at step 3/);
  assert.match(criticalNote("left", Infinity), /always separates/);
  assert.match(criticalNote("left", 0), /never separates/);
  assert.deepEqual([0, 1, 3].map(increases), ["never rose", "rose once", "rose 3 times"]);
});

test("text and roles reach a contrast of 4.5 on both grounds, and no mark repeats up to 32", () => {
  for (const [ground, ink] of [
    ["#ffffff", "#1b1f27"],
    ["#11151c", "#e8ebf0"],
  ]) {
    const theme = makeTheme((name) => ({ "--st-background-color": ground, "--st-text-color": ink })[name] ?? "");
    for (const color of [theme.ink, theme.faded, theme.ols, theme.variance, ...theme.panels, theme.alarm, theme.calm]) {
      assert.ok(contrast(color, theme.ground) >= 4.5, `${color} on ${ground}`);
    }
    const marks = Array.from({ length: 32 }, (_, i) => `${theme.color(i)} ${theme.shape(i)}`);
    assert.equal(new Set(marks).size, 32);
    assert.equal(new Set(marks.map((m) => m.split(" ")[0])).size, 32);
  }
});

test("a curve leaves gaps where there is no number, and draws about two points a pixel", () => {
  const history = new History(["x"]);
  history.add([0, 1, 2, 3], Float32Array.of(1, NaN, 2, 3));
  const scales = makeScales({ x: 0, y: 0, w: 100, h: 50 }, 3, 0, 4, false);
  const starts = [];
  walk(history, 0, scales, 3, (x, y, fresh) => starts.push(fresh));
  assert.deepEqual(starts, [true, true, false]);
  const long = new History(["x"]);
  long.add(
    Int32Array.from({ length: 4000 }, (_, i) => i),
    Float32Array.from({ length: 4000 }, (_, i) => i % 7),
  );
  let points = 0;
  walk(long, 0, makeScales({ x: 0, y: 0, w: 100, h: 50 }, 4000, 0, 7, false), 4000, () => points++);
  assert.ok(points <= 210 && points >= 100, String(points));
});

test("keys belong to a text field that has the focus, arrows also to a slider", () => {
  const field = (tag, type) => ({ tagName: tag, getAttribute: () => type });
  assert.ok(isTaken({ key: "r" }, field("INPUT", "text")));
  assert.ok(!isTaken({ key: "r" }, field("INPUT", "range")));
  assert.ok(isTaken({ key: "ArrowLeft" }, field("INPUT", "range")));
  assert.ok(isTaken({ key: " " }, field("BUTTON", null)));
  assert.ok(!isTaken({ key: "s" }, field("BUTTON", null)));
  assert.ok(!isTaken({ key: "s" }, null));
});

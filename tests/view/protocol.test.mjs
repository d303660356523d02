import assert from "node:assert/strict";
import test from "node:test";
import { backOff, decodeBundle, encodeBundle, LiveSocket } from "../../assets/live/protocol.js";

test("a bundle comes back as it was packed, with arrays on multiples of eight", () => {
  const arrays = {
    step: { data: Int32Array.of(1, 2, 3), shape: [3] },
    lead: { data: Uint8Array.of(7), shape: [1, 1] },
    metrics: { data: Float32Array.of(0.5, NaN, Infinity), shape: [1, 3] },
    pca: { data: Int16Array.of(-32767, 32767), shape: [1, 1, 2] },
  };
  const { header, arrays: back } = decodeBundle(encodeBundle({ type: "frames", panel: 1, text: "größer" }, arrays));
  assert.equal(header.text, "größer");
  for (const [name, { data, shape }] of Object.entries(arrays)) {
    assert.deepEqual(back[name].data, data);
    assert.deepEqual(back[name].shape, shape);
    assert.equal(back[name].data.byteOffset % 8, 0);
  }
});

test("a broken bundle says what is wrong", () => {
  assert.throws(() => decodeBundle(new ArrayBuffer(2)), /shorter than its length/);
  assert.throws(() => decodeBundle(Uint32Array.of(1000, 0).buffer), /shorter than its header/);
});

class FakeSocket {
  static all = [];
  constructor(url) {
    Object.assign(this, { url, readyState: 1, sent: [] });
    FakeSocket.all.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
}

test("a lost socket says so, comes back, and asks for its session", async () => {
  const states = [];
  const messages = [];
  const on = { state: (s) => states.push(s), message: (h) => messages.push(h) };
  const live = new LiveSocket("ws://x/ddcl/live", "scene", null, on, FakeSocket);
  const first = FakeSocket.all.at(-1);
  first.onopen();
  assert.deepEqual(first.sent, [{ type: "open", scene: "scene", resume: null }]);
  first.onmessage({ data: encodeBundle({ type: "hello", session: "s1" }) });
  first.onclose({});
  assert.equal(live.send({ type: "play" }), false);
  await new Promise((done) => setTimeout(done, backOff(0) + 50));
  const second = FakeSocket.all.at(-1);
  assert.notEqual(second, first);
  second.onopen();
  assert.equal(second.sent[0].resume, "s1");
  assert.deepEqual(states, ["connecting", "open", "lost", "connecting"]);
  second.onmessage({ data: new ArrayBuffer(1) });
  assert.equal(messages.at(-1).type, "error");
  live.close();
  second.onclose({});
  assert.equal(states.at(-1), "closed");
});

test("the pauses between attempts grow and stay bounded", () => {
  const waits = Array.from({ length: 20 }, (_, n) => backOff(n));
  assert.ok(waits.every((w, i) => i === 0 || w >= waits[i - 1]));
  assert.ok(waits.at(-1) <= 5000);
});

// The live protocol: binary bundles from the server, JSON to it, and a socket that comes back when it is lost.

const TYPES = { f4: Float32Array, i4: Int32Array, i2: Int16Array, u2: Uint16Array, u1: Uint8Array };
const BACK_OFF_MS = [400, 800, 1600, 3000, 5000];

/**
 * Read one bundle: uint32 header length H, header JSON of H bytes, payload (little endian, arrays 8-aligned).
 * Returns {header, arrays}; an array is {data, shape}, a view into the buffer. Throws on a broken bundle.
 */
export function decodeBundle(buffer) {
  if (buffer.byteLength < 4) throw new Error("A bundle is shorter than its length field.");
  const length = new DataView(buffer).getUint32(0, true);
  const start = 4 + length;
  if (start > buffer.byteLength) throw new Error("A bundle is shorter than its header says.");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, spec] of Object.entries(header.arrays ?? {})) {
    const Type = TYPES[spec.dtype];
    if (!Type) throw new Error(`A bundle holds an array of unknown type ${spec.dtype}.`);
    const count = spec.shape.reduce((a, b) => a * b, 1);
    arrays[name] = { data: new Type(buffer, start + spec.offset, count), shape: spec.shape };
  }
  return { header, arrays };
}

/** Write a bundle as the server does; used by tests. `arrays`: name -> {data: typed array, shape}. */
export function encodeBundle(header, arrays = {}) {
  const specs = {};
  let offset = 0;
  for (const [name, { data, shape }] of Object.entries(arrays)) {
    const dtype = Object.keys(TYPES).find((key) => data instanceof TYPES[key]);
    specs[name] = { dtype, shape, offset };
    offset += Math.ceil(data.byteLength / 8) * 8;
  }
  let text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: specs }));
  const length = Math.ceil((4 + text.length) / 8) * 8 - 4;
  const bytes = new Uint8Array(4 + length + offset).fill(32, 4, 4 + length);
  new DataView(bytes.buffer).setUint32(0, length, true);
  bytes.set(text, 4);
  for (const [name, { data }] of Object.entries(arrays)) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 4 + length + specs[name].offset);
  }
  return bytes.buffer;
}

/** How long to wait before the n-th attempt (0-based) to come back, in ms. */
export function backOff(attempt) {
  return BACK_OFF_MS[Math.min(attempt, BACK_OFF_MS.length - 1)];
}

/**
 * A socket that opens a scene, asks to resume its session after a loss, and keeps trying with growing pauses.
 * `on.message(header, arrays)` and `on.state("connecting" | "open" | "lost" | "closed", attempt)` are its only outputs.
 */
export class LiveSocket {
  constructor(url, scene, session, on, Socket = globalThis.WebSocket) {
    Object.assign(this, { url, scene, session, on, Socket, attempt: 0, closed: false, timer: 0, socket: null });
    this.connect();
  }

  connect() {
    if (this.closed) return;
    this.on.state("connecting", this.attempt);
    const socket = new this.Socket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.send({ type: "open", scene: this.scene, resume: this.session ?? null });
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = (event) => this.lost(socket, event);
  }

  receive(data) {
    let bundle;
    try {
      bundle = typeof data === "string" ? { header: JSON.parse(data), arrays: {} } : decodeBundle(data);
    } catch (error) {
      this.on.message({ type: "error", text: `A message from the server could not be read: ${error.message}` }, {});
      return;
    }
    if (bundle.header.type === "hello") {
      this.session = bundle.header.session ?? null;
      this.attempt = 0;
      this.on.state("open", 0);
    }
    this.on.message(bundle.header, bundle.arrays);
  }

  lost(socket) {
    if (socket !== this.socket || this.closed) return;
    this.socket = null;
    const wait = backOff(this.attempt++);
    this.on.state("lost", this.attempt, wait);
    this.timer = setTimeout(() => this.connect(), wait);
  }

  /** Send a JSON message; false when there is no open socket (the caller's state is sent again after `hello`). */
  send(message) {
    if (!this.socket || this.socket.readyState !== 1) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
    this.on.state("closed", 0);
  }
}

// Pixels of images as bitmaps, and the few marks that are drawn over them.
import { IN_USE, NEVER } from "./codebook_counts.js";

const made = new WeakMap(); // pixels -> [bitmap of image 0, 1, ...]
const stamps = new WeakMap();
let stamped = 0;

/** A number of a frame's own: one that is measured again at the same step has another. */
export function stamp(frame) {
  if (!stamps.has(frame)) stamps.set(frame, ++stamped);
  return stamps.get(frame);
}

/** Image i of pixels (n, H, W, C) in bytes as a canvas; kept as long as the pixels are. shape: [H, W, C]. */
export function bitmap(pixels, i, [height, width, channels]) {
  let known = made.get(pixels);
  if (!known) made.set(pixels, (known = []));
  if (known[i]) return known[i];
  const canvas = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  let from = i * height * width * channels;
  for (let to = 0; to < image.data.length; to += 4, from += channels) {
    for (let c = 0; c < 3; c++) image.data[to + c] = pixels[from + (channels === 3 ? c : 0)];
    image.data[to + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return (known[i] = canvas);
}

/** A bitmap in a rectangle, its pixels as squares. */
export function drawBitmap(g, image, x, y, width, height) {
  g.drawImage(image, x, y, Math.max(1, width), Math.max(1, height));
}

/** A cross over a code that was never chosen, one stroke over one that hardly ever was. */
export function drawFate(g, fate, x, y, r, color, width = 1.5) {
  if (fate === IN_USE) return;
  g.strokeStyle = color;
  g.lineWidth = width;
  g.beginPath();
  g.moveTo(x + r, y - r);
  g.lineTo(x - r, y + r);
  if (fate === NEVER) {
    g.moveTo(x - r, y - r);
    g.lineTo(x + r, y + r);
  }
  g.stroke();
}

/** A frame that stands out on any picture. */
export function frameOf(g, x, y, wide, theme, tall = wide) {
  g.lineWidth = 3.5;
  g.strokeStyle = theme.ground;
  g.strokeRect(x, y, wide, tall);
  g.lineWidth = 2;
  g.strokeStyle = theme.alarm;
  g.strokeRect(x, y, wide, tall);
}

/** A bar in stripes, told from a full one without its colour. */
export function hatch(g, x, y, width, height, color) {
  g.strokeStyle = color;
  g.lineWidth = 1;
  g.beginPath();
  for (let d = 0; d <= height; d += 3) {
    g.moveTo(x, y + d);
    g.lineTo(x + width, y + d);
  }
  g.stroke();
}

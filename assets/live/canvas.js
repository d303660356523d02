// A canvas as large as its place on the page, in the pixels of the screen.

/** Screen pixels a CSS pixel; more than two cost time and show nothing more. */
export function pixelRatio() {
  return Math.min(2, globalThis.devicePixelRatio || 1);
}

/** Fit a part's canvas to its CSS size, kept in part.w, part.h and part.ratio; true when it changed. */
export function fit(part) {
  const [w, height] = [part.canvas.clientWidth, part.canvas.clientHeight];
  const ratio = pixelRatio();
  if (part.w === w && part.h === height && part.ratio === ratio) return false;
  Object.assign(part, { w, h: height, ratio });
  part.canvas.width = Math.max(1, Math.round(w * ratio));
  part.canvas.height = Math.max(1, Math.round(height * ratio));
  return true;
}

// Pointer on a map: wheel and drag move both maps, a click chooses a prototype, resting shows what is there.
import { HOME, panBy, zoomAt } from "./viewport.js";

const CLICK_PX = 4;

/** on: {view() -> viewport, setView(viewport), click(hit), hover(hit, x, y)}; panel: MapPanel. */
export function listenPointer(canvas, panel, on) {
  const pointers = new Map();
  let moved = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [x, y] = place(event);
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      on.setView(
        zoomAt(
          on.view(),
          Math.exp(-event.deltaY * (event.deltaMode ? 30 : 1) * speed),
          x,
          y,
          panel.width,
          panel.height,
        ),
      );
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, place(event));
    moved = pointers.size > 1 ? CLICK_PX + 1 : 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const last = pointers.get(event.pointerId);
    if (!last) {
      on.hover(panel.hit(x, y), x, y);
      return;
    }
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    moved += Math.hypot(x - last[0], y - last[1]);
    if (others.length) {
      // two fingers: their distance zooms, around their middle
      const [ox, oy] = others[0][1];
      const factor = Math.hypot(x - ox, y - oy) / Math.max(1, Math.hypot(last[0] - ox, last[1] - oy));
      on.setView(zoomAt(on.view(), factor, (x + ox) / 2, (y + oy) / 2, panel.width, panel.height));
    } else if (moved > CLICK_PX) {
      on.setView(panBy(on.view(), x - last[0], y - last[1], panel.width, panel.height));
      canvas.classList.add("dragging");
      on.hover(null, x, y);
    }
    pointers.set(event.pointerId, [x, y]);
  });
  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    canvas.classList.remove("dragging");
    if (event.type === "pointerup" && moved <= CLICK_PX) on.click(panel.hit(...place(event)));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (event) => on.hover(null, ...place(event)));
  canvas.addEventListener("dblclick", () => on.setView({ ...HOME }));
}

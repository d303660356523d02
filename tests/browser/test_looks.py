"""Light and dark, wide and narrow: readable, and nothing beside the page or cut off."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.lab_page import LONG, LabPage

# Words that are wider than their box: cut off, unless the box may be scrolled or says the rest in another way.
_CLIPPED = """root => [...root.querySelectorAll("h3, h4, p, span, label, button, strong, output, .hint, .chart-values *")]
  .filter((n) => n.textContent.trim() && n.checkVisibility() && !n.closest(".sr, dialog, .tip, .legend-marks"))
  .filter((n) => !n.querySelector("input, select, canvas"))
  .filter((n) => { const s = getComputedStyle(n); return s.overflowX === "hidden" || s.overflowY === "hidden"; })
  .filter((n) => n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 2)
  .map((n) => `${n.className || n.tagName}: ${n.textContent.slice(0, 60)}`)"""

_OUTSIDE = """root => [...root.querySelectorAll("button, input, select, h3, h4, p, canvas, output")]
  .filter((n) => n.checkVisibility() && !n.closest(".sr, dialog, .segments, .toggle, .legend-marks"))
  .map((n) => [n, n.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.left < -1 || box.right > innerWidth + 1))
  .map(([n]) => `${n.dataset.testid ?? n.className}`)"""

_GROUND = """root => {
  const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = light(rgb(getComputedStyle(document.querySelector(".stApp")).backgroundColor));
  const ink = light(rgb(getComputedStyle(root).color));
  const canvas = root.querySelector("[data-testid=map-0]");
  const field = light([...canvas.getContext("2d").getImageData(canvas.width - 3, 3, 1, 1).data].slice(0, 3));
  return { ground, field, contrast: (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ground_and_words_follow_the_theme(new_lab: Callable[..., LabPage], scheme: str) -> None:
    lab = new_lab(color_scheme=scheme)
    lab.open(LONG)
    seen = lab.at("ddcl-live").evaluate(_GROUND)
    assert seen["contrast"] > 7
    for part in ("ground", "field"):
        assert seen[part] > 0.7 if scheme == "light" else seen[part] < 0.1, seen


@pytest.mark.parametrize("width", [1400, 800])
@pytest.mark.parametrize("example", ["collapse", "cooling"])
def test_nothing_is_beside_the_page_or_cut_off(new_lab: Callable[..., LabPage], width: int, example: str) -> None:
    lab = new_lab(width=width)
    lab.open({"example": example, "map": "pca"}, step=3)
    assert lab.page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
    view = lab.at("ddcl-live")
    assert view.evaluate(_OUTSIDE) == []
    assert view.evaluate(_CLIPPED) == []
    panels = [lab.at(f"panel-{p}").bounding_box() for p in (0, 1)]
    assert all(panel and panel["width"] > 300 for panel in panels)

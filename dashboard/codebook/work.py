"""What the Codebook page has computed on a worker. PyTorch is imported inside."""

from __future__ import annotations

from typing import Any

from dashboard.engine.tasks import few_threads, reporter
from ddcl_core.codebook.config import CodebookConfig

RATE_SIZES = (4, 16, 64, 256)


def rate_points(sides: list[tuple[str, dict[str, Any]]], images: Any, topic: str) -> list[dict[str, Any]]:
    """Train each side once for each K; rows of label, codes, bits, errors and the verdict.

    sides: (label, configuration as a dictionary). images: own ones, or None.
    """
    few_threads()
    from ddcl_core.codebook.rate import rate_distortion

    report, rows = reporter(topic), []
    for done, (label, values) in enumerate(sides):
        def said(fraction: float, text: str, done: int = done, label: str = label) -> None:
            report((done + fraction) / len(sides), f"{label}: {text[0].lower()}{text[1:]}")

        for point in rate_distortion(CodebookConfig.from_dict(values), RATE_SIZES, images, said):
            rows.append({"label": label, **vars(point)})
    return rows

"""Tables as HTML: heat behind every number, readable without it, with headers that a screen reader names."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_HEAT = "0, 114, 178"  # the palette's blue, see-through: the ground's ink stays readable on it in both themes
TABLE_CSS = """
.orb-scroll { overflow-x: auto; }
.orb { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; width: 100%; }
.orb th, .orb td { padding: 0.32rem 0.55rem; text-align: right; white-space: nowrap; }
.orb th, .orb td { border-bottom: 1px solid rgba(128, 128, 128, 0.22); }
.orb th:first-child { text-align: left; position: sticky; left: 0; }
@media (max-width: 900px) {
  .orb { font-size: 0.82rem; }
  .orb th, .orb td { padding: 0.3rem 0.32rem; }
  .orb th { white-space: normal; }
}
.orb thead th { font-weight: 600; vertical-align: bottom; }
.orb td small { opacity: 0.8; margin-left: 0.35em; }
.orb td.none { opacity: 0.45; }
.orb tr.own th, .orb tr.own td { font-weight: 600; }
"""


def count_table(
    counts: np.ndarray, rows: Sequence[str], columns: Sequence[str], caption: str, corner: str, note: Sequence[str] = ()
) -> str:
    """Counts (R, K) with the share of each row behind and beside them; `note`: a last column of words."""
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in (*columns, *(["held by"] if note else [])))
    body = []
    for r, name in enumerate(rows):
        total = int(counts[r].sum())
        cells = "".join(_count_cell(int(n), total) for n in counts[r])
        if note:
            cells += f"<td>{html.escape(note[r])}</td>"
        body.append(f'<tr><th scope="row">{html.escape(name)} <small>({total:,})</small></th>{cells}</tr>')
    return _table(caption, f'<th scope="col">{html.escape(corner)}</th>{head}', body)


def _count_cell(count: int, total: int) -> str:
    if not count:
        return '<td class="none">0</td>'
    share = count / total
    percent = f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}"
    return f'<td style="background: rgba({_HEAT}, {0.06 + 0.4 * share:.2f})">{count:,} <small>{percent} %</small></td>'


_SCORES = (("ACC", "accuracy"), ("balanced", "balanced"), ("NMI", "nmi"), ("ARI", "ari"))


def method_table(rows: Sequence[Mapping[str, Any]], own: int, classes: Sequence[str], caption: str) -> str:
    """One method a row: clusters, four scores, recall of each regime. The first `own` rows are the page's runs."""
    names = ["clusters", *(title for title, _ in _SCORES), *(f"recall {c}" for c in classes)]
    head = '<th scope="col">method</th>' + "".join(f'<th scope="col">{html.escape(n)}</th>' for n in names)
    body = []
    for n, row in enumerate(rows):
        seen = f" <small>({row['objects']:,} objects)</small>" if row.get("partial") else ""
        noise = f" <small>({100 * row['noise']:.0f} % in none)</small>" if row["noise"] > 0 else ""
        cells = f"<td>{row['clusters']}{noise}</td>" + "".join(_score_cell(row[key]) for _, key in _SCORES)
        cells += "".join(_score_cell(value) for value in row["recall"])
        kind = ' class="own"' if n < own else ""
        body.append(f'<tr{kind}><th scope="row">{html.escape(row["name"])}{seen}</th>{cells}</tr>')
    return _table(caption, head, body)


def _score_cell(value: float) -> str:
    if not np.isfinite(value):
        return '<td class="none">none there</td>'
    return f'<td style="background: rgba({_HEAT}, {0.4 * max(0.0, min(1.0, value)):.2f})">{value:.2f}</td>'


def _table(caption: str, head: str, body: Sequence[str]) -> str:
    return (
        f'<p class="ddcl-note">{html.escape(caption)}</p>'
        f'<div class="orb-scroll" tabindex="0" role="region" aria-label="Table"><table class="orb" '
        f'aria-label="{html.escape(caption)}"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )

"""Documents and mixtures as HTML: every text escaped, every colour with a number beside it."""

from __future__ import annotations

import html

import numpy as np

from dashboard.documents.look import DocumentLook
from dashboard.theme import palette

DOCUMENT_CSS = """
.doc-text { line-height: 2.05; font-size: 1rem; max-width: 105ch; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.2rem 0 0.8rem; }
.doc-text span[title] { border-radius: 3px; padding: 0.1em 0.12em; border-bottom: 2px solid transparent; }
.doc-text sub { font-size: 0.62em; font-weight: 700; opacity: 0.85; padding-left: 0.1em; }
.doc-text mark { background: none; color: inherit; outline: 2px solid currentColor; border-radius: 3px; }
.doc-unread { opacity: 0.55; } .doc-rest summary { font-size: 0.9rem; cursor: pointer; opacity: 0.85; }
.mix { display: flex; width: 100%; height: 1.9rem; border-radius: 6px; overflow: hidden; font-size: 0.78rem; font-weight: 700; }
.mix span { display: flex; align-items: center; justify-content: center; min-width: 0; overflow: hidden; white-space: nowrap; }
.doc-legend { display: flex; flex-wrap: wrap; gap: 0.25rem 0.9rem; font-size: 0.88rem; margin: 0.4rem 0 0.7rem; }
.doc-legend b { display: inline-block; min-width: 1.5em; text-align: center; border-radius: 4px; padding: 0 0.25em; margin-right: 0.35em; }
.bars { border-collapse: collapse; font-size: 0.9rem; width: 100%; max-width: 900px; font-variant-numeric: tabular-nums; }
.bars td, .bars th { padding: 0.2rem 0.5rem; text-align: left; border-bottom: 1px solid rgba(128,128,128,0.22); }
.bars td.num { text-align: right; width: 5.5em; }
.bars .track { position: relative; height: 1.05em; width: 100%; min-width: 140px; }
.bars .track i { position: absolute; top: 0; bottom: 0; border-radius: 2px; }
.bars .track u { position: absolute; top: -0.2em; bottom: -0.2em; width: 1px; background: currentColor; opacity: 0.5; }
.ctx { font-size: 0.93rem; line-height: 1.65; } .ctx b { border-radius: 3px; padding: 0 0.15em; }
"""
LONG_REST = 600  # characters; a longer end that was not read is folded away
_DARK_INK, _LIGHT_INK = "#111418", "#ffffff"


def colour(k: int, theme: str) -> str:
    """Colour of a prototype, as on the map."""
    colours = palette(theme)
    return colours[k % len(colours)]


def ink_on(color: str) -> str:
    """Black or white, whichever reads better on a colour."""
    r, g, b = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return _DARK_INK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else _LIGHT_INK


def tinted(
    look: DocumentLook,
    document: int,
    theme: str,
    only: int | None = None,
    off: np.ndarray | None = None,
    whole: dict | None = None,
    folded: int | None = None,
) -> str:
    """A document with every word tinted by its leading prototype, the stronger the surer; hover shows all of it.

    whole: of `look.ask_whole`: the document to its end. only: tint this prototype's words alone, by its own share.
    off (K,): prototypes that are switched off. folded: characters after which the text breaks off with an ellipsis.
    """
    text, out, cursor, before = look.material.texts[document], [], 0, -1
    for start, end, share in look.words_of(document, whole):
        if folded is not None and start >= folded:
            break
        if off is not None and off.any():
            share = np.where(off, 0.0, share)
            share = share / max(float(share.sum()), 1e-12)
        lead = int(share.argmax()) if only is None else only
        strength = float(share[lead])
        out.append(html.escape(text[cursor:start]))
        word = html.escape(text[start:end])
        if only is not None and strength < 0.05:
            out.append(word)
        else:
            shade = colour(lead, theme)
            alpha = int(255 * 0.62 * strength)
            said = ", ".join(f"{k + 1}: {share[k]:.0%}" for k in np.argsort(-share)[:5] if share[k] >= 0.01)
            number = f"<sub>{lead + 1}</sub>" if lead != before and only is None else ""
            style = f"background:{shade}{alpha:02x};border-bottom-color:{shade}{min(255, 90 + alpha):02x}"
            out.append(f'<span title="prototypes {said}" style="{style}">{word}</span>{number}')
        before, cursor = lead, end
    rest = text[cursor:] if folded is None or len(text) <= folded else text[cursor : max(cursor, folded)] + " …"
    unread = f'<span class="doc-unread">{html.escape(rest)}</span>' if rest.strip() else html.escape(rest)
    if folded is None and len(rest) > LONG_REST:
        said = f"The rest, {len(rest):,} characters, is not read"
        unread = f'<details class="doc-rest"><summary>{said}</summary>{unread}</details>'
    return f'<div class="doc-text" dir="auto">{"".join(out)}{unread}</div>'


def mixture_bar(mixture: np.ndarray, theme: str, label: str) -> str:
    """A document's mixture as one bar, largest share first."""
    parts = []
    for k in np.argsort(-mixture):
        if mixture[k] < 0.01:
            continue
        shade = colour(int(k), theme)
        text = f"{k + 1}" if mixture[k] >= 0.03 else ""
        parts.append(
            f'<span style="width:{100 * mixture[k]:.2f}%;background:{shade};color:{ink_on(shade)}" '
            f'title="prototype {k + 1}: {mixture[k]:.0%}">{text}</span>'
        )
    left = float(mixture[mixture < 0.01].sum())
    parts.append(f'<span style="width:{100 * left:.2f}%;background:#888888" title="all others: {left:.1%}"></span>')
    return f'<div class="mix" role="img" aria-label="{html.escape(label)}">{"".join(parts)}</div>'


def legend(look: DocumentLook, shown: list[int], theme: str, names: dict[int, str], values: np.ndarray | None = None) -> str:
    """Prototypes by number and name, with a value beside each."""
    items = []
    for k in shown:
        shade = colour(k, theme)
        value = "" if values is None else f" {values[k]:.0%}"
        items.append(
            f'<span><b style="background:{shade};color:{ink_on(shade)}">{k + 1}</b>'
            f"{html.escape(look.name(k, names))}{value}</span>"
        )
    return f'<div class="doc-legend">{"".join(items)}</div>'


def contribution_table(look: DocumentLook, parts: np.ndarray, bias: float, order: list[int], theme: str, names: dict[int, str]) -> str:
    """What each prototype adds to one logit, from strongest to weakest, as bars around zero; bias and sum below."""
    reach = max(float(np.abs(parts).max()), abs(bias), 1e-9)
    rows = []
    for k in order:
        rows.append(_bar_row(str(k + 1), look.name(k, names), float(parts[k]), reach, colour(k, theme)))
    rest = [k for k in range(len(parts)) if k not in order]
    if rest:
        rows.append(_bar_row("", f"{len(rest)} others together", float(parts[rest].sum()), reach, "#888888"))
    rows.append(_bar_row("", "bias of the class", bias, reach, "#888888"))
    total = float(parts.sum()) + bias
    foot = f'<tr><th></th><th scope="row">sum = the logit</th><td></td><td class="num"><b>{signed(total)}</b></td></tr>'
    return f'<table class="bars"><tbody>{"".join(rows)}{foot}</tbody></table>'


def signed(value: float) -> str:
    """Three digits with a sign, and none for what is nothing to three digits."""
    text = f"{value:+.3f}"
    return text[1:] if float(text) == 0.0 else text


def _bar_row(number: str, name: str, value: float, reach: float, shade: str) -> str:
    left, wide = (50.0, 50.0 * value / reach) if value >= 0 else (50.0 + 50.0 * value / reach, -50.0 * value / reach)
    bar = f'<div class="track"><i style="left:{left:.1f}%;width:{wide:.1f}%;background:{shade}"></i><u style="left:50%"></u></div>'
    badge = f'<b style="background:{shade};color:{ink_on(shade)};border-radius:4px;padding:0 0.35em">{number}</b>' if number else ""
    return (
        f'<tr><td>{badge}</td><th scope="row">{html.escape(name)}</th><td style="width:45%">{bar}</td>'
        f'<td class="num">{signed(value)}</td></tr>'
    )


def contexts_html(look: DocumentLook, k: int, theme: str) -> str:
    """The strongest tokens of a prototype in their sentences."""
    shade, rows = colour(k, theme), []
    for document, share, before, word, after in look.contexts(k):
        title = f"document {document + 1}, share {share:.0%}"
        rows.append(
            f'<div class="ctx" dir="auto">…{html.escape(before)}<b style="background:{shade}66" title="{title}">'
            f"{html.escape(word)}</b>{html.escape(after)}… <small>({document + 1})</small></div>"
        )
    return "".join(rows) or '<p class="ddcl-note">No token follows this prototype.</p>'

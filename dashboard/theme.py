"""Colours, shapes and words that pages and still figures share with the live view (`assets/live/theme.js`).

Okabe and Ito, Color Universal Design (2008): eight hues that people with any colour vision tell apart. The values
below are theirs fitted to a light and a dark ground; a shape always goes with a colour, so no meaning hangs on hue.
"""

from __future__ import annotations

import html
import re

OKABE_ITO = {
    "light": ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b3a100", "#4d4d4d"),
    "dark": ("#3f9fe0", "#e69f00", "#1fbd8f", "#f0803c", "#e08fbb", "#8fd0f5", "#f0e442", "#c9ced6"),
}
SHAPES = ("circle", "square", "triangle", "diamond", "plus", "wedge", "cross", "star")
PLOTLY_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "x", "star")

# One meaning a colour: the two parts of the loss with their forces, and the curves of the left and the right panel.
ROLES = {
    "light": {"ols": "#007a59", "variance": "#b0487f", "left": "#005f96", "right": "#b85200", "alarm": "#b84a00"},
    "dark": {"ols": "#2cc79a", "variance": "#ea9cc6", "left": "#6cb8f0", "right": "#f5a04c", "alarm": "#ff9d5c"},
}

STATUS_MARKS = {"stable": "●", "collapsed": "▼", "diverged": "✕", "unresolved": "◌"}
STATUS_WORDS = {
    "stable": "stable so far",
    "collapsed": "collapsed",
    "diverged": "diverged",
    "unresolved": "not yet clear",
}

_PAGE_CSS = """
.block-container, [data-testid="stMainBlockContainer"] { padding-top: 4.3rem; padding-bottom: 2rem; max-width: 1560px; }
[data-testid="stMainBlockContainer"] { padding-left: clamp(1rem, 3vw, 3rem); padding-right: clamp(1rem, 3vw, 3rem); }
.ddcl-watch { font-size: 1.05rem; line-height: 1.5; max-width: 105ch; min-height: 3em; margin: 0; }
.ddcl-heading { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; margin: 0; }
.ddcl-heading h1 { font-size: 1.6rem; font-weight: 700; padding: 0; margin: 0; }
.ddcl-heading p { margin: 0; opacity: 0.8; }
.ddcl-watch { margin: 0 0 0.5rem; max-width: 95ch; }
.ddcl-note { font-size: 0.9rem; opacity: 0.85; max-width: 125ch; margin: 0.2rem 0 0.6rem; }
.ddcl-caption { font-size: 0.9rem; opacity: 0.8; max-width: 75ch; }
"""


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~$:])")


def plain(text: str) -> str:
    """A text as `st.warning` and its kin show it word for word: nothing in it is read as Markdown, HTML or a formula."""
    return _MARKDOWN.sub(r"\\\1", text)


def theme_name(base: str | None) -> str:
    """'dark' for Streamlit's theme type 'dark', otherwise 'light'."""
    return "dark" if base == "dark" else "light"


def palette(theme: str = "light") -> tuple[str, ...]:
    """The eight colours for a theme, in the order in which classes and prototypes use them."""
    return OKABE_ITO[theme_name(theme)]


def color(index: int, theme: str = "light") -> str:
    """Colour of class or prototype `index`; colours repeat after eight, together with another shape."""
    colors = palette(theme)
    return colors[index % len(colors)]


def shape(index: int) -> str:
    """Name of the mark of class or prototype `index`; shifted by one after every eight, so that pairs do not repeat."""
    return SHAPES[(index + index // len(SHAPES)) % len(SHAPES)]


def plotly_symbol(index: int) -> str:
    """The same mark in plotly's words."""
    return PLOTLY_SYMBOLS[SHAPES.index(shape(index))]


def verdict(status: str, step: int | None = None) -> str:
    """A verdict in words with its mark, for example '▼ collapsed at step 12'."""
    words = f"{STATUS_MARKS.get(status, STATUS_MARKS['unresolved'])} {STATUS_WORDS.get(status, status)}"
    return f"{words} at step {step}" if step is not None and status in ("collapsed", "diverged") else words


def page_css() -> str:
    """Style element for a page: wider content, less air above, calm captions."""
    return f"<style>{_PAGE_CSS}</style>"


def heading(title: str, question: str) -> str:
    """The top of a page as HTML: its name and the question that it answers; both are escaped."""
    return f'<div class="ddcl-heading"><h1>{html.escape(title)}</h1><p>{html.escape(question)}</p></div>'


def subscripts(text: str) -> str:
    """Escaped HTML of a text in which T_c, L_q and L_OLS stand for symbols with subscripts."""
    return re.sub(r"\b([A-Z])_(OLS|[a-z])\b", r"\1<sub>\2</sub>", html.escape(text))


def caption(text: str) -> str:
    """A caption as HTML; the text is escaped."""
    return f'<p class="ddcl-caption">{html.escape(text)}</p>'

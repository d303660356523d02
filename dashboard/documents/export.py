"""Results to keep: documents and prototypes as CSV or Parquet, and one self-contained report in HTML."""

from __future__ import annotations

import html
import io

import numpy as np

from dashboard.documents import html as pieces
from dashboard.documents.look import DocumentLook

REPORT_DOCUMENTS = 60
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def documents_frame(look: DocumentLook, names: dict[int, str]):
    """A row a document: number, label, what it was read as, leading prototype and its name, the whole mixture, text."""
    import pandas

    material, lead = look.material, look.mixture.argmax(axis=1)
    columns = {
        "document": np.arange(1, material.count + 1),
        "label": [material.class_names[c] for c in material.labels],
        "leading_prototype": lead + 1,
        "leading_name": [look.name(int(k), names) for k in lead],
    }
    if look.predicted is not None:
        columns["read_as"] = [material.class_names[c] for c in look.predicted]
    columns |= {f"prototype_{k + 1}": look.mixture[:, k].round(6) for k in range(look.K)}
    return pandas.DataFrame(columns | {"text": material.texts})


def prototypes_frame(look: DocumentLook, names: dict[int, str]):
    """A row a prototype: name, words, usage, dead, twins, coherence, and its profile over classes."""
    import pandas

    twin = {k: [j + 1 for j in group if j != k] for group in look.twins for k in group}
    rows = []
    for k in range(look.K):
        row = {
            "prototype": k + 1, "name": look.name(k, names), "words": " ".join(w for w, _ in look.names[k]),
            "usage": round(float(look.usage[k]), 6), "dead": bool(look.dead[k]),
            "twins": " ".join(map(str, twin.get(k, []))), "npmi": round(float(look.npmi[k]), 4),
        }  # fmt: skip
        row |= {f"class: {name}": round(float(look.profile[k, c]), 6) for c, name in enumerate(look.material.class_names)}
        rows.append(row)
    return pandas.DataFrame(rows)


def safe_csv(frame) -> bytes:
    """CSV in UTF-8 with a mark, in which no cell can be taken for a formula by a spreadsheet."""
    frame = frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object or str(frame[name].dtype).startswith("str"):
            frame[name] = [f"'{v}" if isinstance(v, str) and v.startswith(_FORMULA) else v for v in frame[name]]
    return ("\ufeff" + frame.to_csv(index=False)).encode("utf-8")


def parquet(frame) -> bytes:
    """Parquet bytes."""
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return out.getvalue()


def report(look: DocumentLook, names: dict[int, str], about: str, config: str) -> str:
    """One HTML file without any outside resource: prototypes, then documents with their mixtures and tinted texts.

    about: what was read, in words. config: the configuration as JSON. Every text is escaped.
    """
    material, theme = look.material, "light"
    order = [int(k) for k in np.argsort(-look.usage)]
    head = "".join(f"<th>{html.escape(c)}</th>" for c in material.class_names)
    body = []
    for k in order:
        flag = " (dead)" if look.dead[k] else ""
        cells = "".join(f"<td>{look.profile[k, c]:.0%}</td>" for c in range(len(material.class_names)))
        words = html.escape(", ".join(w for w, _ in look.names[k]))
        body.append(
            f"<tr><td>{k + 1}</td><th>{html.escape(look.name(k, names))}{flag}</th><td>{look.usage[k]:.1%}</td>"
            f"<td>{words}</td>{cells}</tr>"
        )
    documents = []
    for d in range(min(material.count, REPORT_DOCUMENTS)):
        read = "" if look.predicted is None else f", read as {html.escape(material.class_names[look.predicted[d]])}"
        shown = [int(k) for k in np.argsort(-look.mixture[d]) if look.mixture[d][k] >= 0.05]
        documents.append(
            f"<h3>Document {d + 1}: {html.escape(material.class_names[material.labels[d]])}{read}</h3>"
            f"{pieces.mixture_bar(look.mixture[d], theme, f'Mixture of document {d + 1}')}"
            f"{pieces.legend(look, shown, theme, names, look.mixture[d])}{pieces.tinted(look, d, theme)}"
        )
    part = f"The first {REPORT_DOCUMENTS} of {material.count:,} documents." if material.count > REPORT_DOCUMENTS else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>DDCL Lab: documents by their prototypes</title>"
        "<meta name='viewport' content='width=device-width'><style>body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;"
        "margin:2rem auto;padding:0 1rem;color:#1b1f27;background:#fff}table{border-collapse:collapse;font-size:0.9rem}"
        "td,th{padding:0.25rem 0.5rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
        f"pre{{white-space:pre-wrap;font-size:0.8rem}}{pieces.DOCUMENT_CSS}</style></head><body><h1>Documents by their prototypes</h1>"
        f"<p>{html.escape(about)}</p><h2>Prototypes</h2><table><thead><tr><th>#</th><th>name</th><th>usage</th><th>words</th>{head}"
        f"</tr></thead><tbody>{''.join(body)}</tbody></table><h2>Documents</h2><p>{part} A word's tint is its leading prototype; "
        f"hover for all.</p>{''.join(documents)}<h2>Configuration</h2><pre>{html.escape(config)}</pre></body></html>"
    )

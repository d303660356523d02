"""What a client is told first, and what one that comes back has missed. Pure functions of a session's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.engine.kinds import kind_name
from dashboard.live import wire
from dashboard.live.panel import Panel
from dashboard.live.recording import Recording, panel_recording, versions
from ddcl_core.errors import InputError

Arrays = dict[str, np.ndarray]
_ABOUT = ("words", "class_names", "source", "notes", "num_documents", "explained_variance", "name")
NO_UMAP = {
    "type": "map", "kind": "umap", "available": False, "explained_variance": None, "placement_error": None,
    "note": "The UMAP is being fitted.", "fitting": True, "progress": 0.0,
}  # fmt: skip


def introduce(about: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The part of "hello" that depends on the tokens alone, from `LiveRun.describe`."""
    documents = np.asarray(about["documents"])
    arrays = {
        "token_labels": np.maximum(about["labels"], 0).astype(np.uint16),
        "token_documents": documents.astype(np.uint16 if documents.max(initial=0) < 65536 else np.int32),
    }
    return {name: about[name] for name in _ABOUT} | {"num_tokens": len(documents)}, arrays


def planes(about: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The still maps of a scene from `LiveRun.describe`, beside the fitted ones; no run needs them."""
    made = about.get("planes") or {}
    return {name: {"blob": b"", "message": message, "available": False} for name, message in made.items()}


def hello(introduction: Mapping[str, Any], panels: Sequence[Panel], **state: Any) -> dict[str, Any]:
    """The "hello" header; state: session, device, playing, speed, step, max_steps, map_kind, resumed."""
    entries = []
    for panel in panels:
        config = panel.config.to_dict()
        for part in (config, config.get("base", {})):
            if "texts" in part.get("data", {}):
                part["data"] |= {"texts": [], "text_labels": []}  # loaded documents need not travel back
        values = {"epsilon": panel.epsilon, "temperature": panel.temperature}
        entries.append({"config": config, **values, "label": panel.label})
    names = list(panels[0].track.names)
    shared = {"seed": panels[0].config.seed, "num_prototypes": panels[0].config.num_prototypes, "metric_names": names, "device_note": ""}
    return {"type": "hello", "panels": entries, **shared, **state, **introduction}


def replay(
    panels: Sequence[Panel], maps: Mapping[str, Mapping[str, Any]], stills: Sequence[bytes], number: Any
) -> Iterator[bytes]:
    """Maps, metrics and frames so far, as the messages that brought them; `number()` numbers the frames messages."""
    yield from stills
    for made in maps.values():
        yield made["message"]
    for panel in panels:
        track = panel.track
        if len(track.steps):
            yield wire.pack({"type": "history", "panel": panel.index}, {"step": track.steps, "metrics": track.metrics})
        for arrays in track.batches():
            header = {"type": "frames", "panel": panel.index, "n": number(), "count": len(arrays["step"])}
            yield wire.pack(header, arrays)


def recording(
    introduction: Mapping[str, Any] | None,
    tokens: Arrays,
    panels: Sequence[Panel],
    maps: Mapping[str, Any],
    device: str,
) -> Recording:
    """The session so far as a file to keep; raises InputError before there is anything."""
    if introduction is None:
        raise InputError("There is nothing to save yet; wait for the first picture.")
    parts = {kind: wire.unpack(made["message"]) for kind, made in maps.items()}
    facts = {kind: {k: v for k, v in header.items() if k != "type"} for kind, (header, _) in parts.items()}
    about = {**introduction, "versions": versions(), "device": device, "maps": facts}
    kept = [panel_recording(p.label, p.config, p.controls, p.track) for p in panels]
    layouts = {kind: dict(arrays) for kind, (_, arrays) in parts.items()}
    return Recording(
        kept, tokens["token_labels"], tokens["token_documents"], layouts, about, panels[0].track.names,
        kind_name(panels[0].config),
    )  # fmt: skip

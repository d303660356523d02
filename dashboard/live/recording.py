"""Recordings: a session as one file, for replaying, comparing and sharing. NumPy's .npz without pickle, JSON inside."""

from __future__ import annotations

import csv
import io
import json
import platform
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, BinaryIO

import numpy as np

from dashboard.engine.kinds import kind_named, known_kind
from dashboard.live.frames import stack
from dashboard.live.track import Track
from dashboard.live.wire import plain
from ddcl_core.errors import InputError
from ddcl_core.frame import METRIC_NAMES

FORMAT = 1
_PACKAGES = ("torch", "numpy", "umap-learn", "transformers", "streamlit", "distributed")
_MAX_BYTES = 512 * 2**20


@dataclass(frozen=True)
class PanelRecording:
    """One panel: its configuration, what a person changed meanwhile, its frames and the metrics of every step.

    controls: dictionaries {step, epsilon?, temperature?} in order. frames: name -> (F, ...), as on the wire.
    steps (n,), metrics (n, M) in the order of `metric_names`.
    """

    label: str
    config: Any
    controls: list[dict[str, Any]]
    frames: dict[str, np.ndarray]
    steps: np.ndarray
    metrics: np.ndarray


@dataclass(frozen=True)
class Recording:
    """A session: its panels, the frozen maps they are drawn on, who the tokens are, what made it, its kind of run.

    maps: kind -> {"reference": (R, 2) int16, "reference_labels": (R,)}. about: versions, device, source, notes, words,
    class_names and the facts of each map.
    """

    panels: list[PanelRecording]
    token_labels: np.ndarray
    token_documents: np.ndarray
    maps: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    metric_names: tuple[str, ...] = METRIC_NAMES
    kind: str = "prototypes"

    def save(self, target: str | BinaryIO) -> None:
        """Write one .npz; `load` reads it back."""
        arrays: dict[str, np.ndarray] = {"token_labels": self.token_labels, "token_documents": self.token_documents}
        for i, panel in enumerate(self.panels):
            arrays |= {f"panel{i}/steps": panel.steps, f"panel{i}/metrics": panel.metrics}
            arrays |= {f"panel{i}/frames/{name}": array for name, array in panel.frames.items()}
        for kind, parts in self.maps.items():
            arrays |= {f"map/{kind}/{name}": array for name, array in parts.items()}
        meta = {
            "format": FORMAT,
            "kind": self.kind,
            "metric_names": self.metric_names,
            "about": self.about,
            "panels": [
                {"label": p.label, "config": p.config.to_dict(), "controls": p.controls} for p in self.panels
            ],
        }
        text = json.dumps(plain(meta), allow_nan=False).encode()
        np.savez_compressed(target, meta=np.frombuffer(text, dtype=np.uint8), **arrays)

    def to_bytes(self) -> bytes:
        """The file as bytes."""
        buffer = io.BytesIO()
        self.save(buffer)
        return buffer.getvalue()

    @classmethod
    def load(cls, source: str | bytes | BinaryIO) -> "Recording":
        """Read what `save` wrote; raises InputError for anything else. Never runs code from the file."""
        try:
            with np.load(io.BytesIO(source) if isinstance(source, bytes) else source, allow_pickle=False) as archive:
                if sum(info.file_size for info in archive.zip.infolist()) > _MAX_BYTES:
                    raise InputError("This recording is larger than 512 MB unpacked; choose a smaller one.")
                arrays = {name: archive[name] for name in archive.files}
            meta = json.loads(arrays.pop("meta").tobytes())
            if meta["format"] != FORMAT:
                raise InputError(f"This recording has format {meta['format']!r}; this version reads {FORMAT}.")
            kind = meta.get("kind", "prototypes")
            if not known_kind(kind):
                raise InputError(f"This recording is of a kind {kind!r:.40} that this version does not know.")
            panels = [_panel(i, entry, arrays, kind) for i, entry in enumerate(meta["panels"])]
            maps: dict[str, dict[str, np.ndarray]] = {}
            for name, array in arrays.items():
                if name.startswith("map/"):
                    _, kind, part = name.split("/")
                    maps.setdefault(kind, {})[part] = array
            labels, documents = arrays["token_labels"], arrays["token_documents"]
            return cls(panels, labels, documents, maps, meta["about"], tuple(meta["metric_names"]), kind)
        except InputError:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError("This file is not a DDCL Lab recording; choose an .npz that the lab has saved.") from error

    def metrics_csv(self) -> str:
        """Every metric of every step of every panel as text: panel, step, then the metrics."""
        return metrics_csv([(p.label, p.steps, p.metrics) for p in self.panels], self.metric_names)


def metrics_csv(
    panels: Sequence[tuple[str, np.ndarray, np.ndarray]], names: Sequence[str] = METRIC_NAMES
) -> str:
    """CSV of (label, steps (n,), metrics (n, M)) of each panel; a value that is not finite stays empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["panel", "step", *names])
    for label, steps, metrics in panels:
        # A label is free text: a spreadsheet must not take it for a formula.
        safe = f"'{label}" if label[:1] in "=+-@\t\r" else label
        for step, row in zip(steps.tolist(), metrics.tolist()):
            writer.writerow([safe, step, *(repr(round(v, 9)) if np.isfinite(v) else "" for v in row)])
    return out.getvalue()


def panel_recording(
    label: str, config: Any, controls: Sequence[Mapping[str, Any]], track: Track
) -> PanelRecording:
    """The recording of a panel as its track stands now."""
    placed = [frame for frame in track.frames if "umap" in frame]
    # A frame that the second map never reached would cost all others their positions on it.
    kept = placed if 2 * len(placed) >= len(track.frames) else track.frames
    frames = stack(kept) if kept else {}
    return PanelRecording(label, config, [dict(c) for c in controls], frames, track.steps.copy(), track.metrics.copy())


def versions() -> dict[str, str]:
    """What made a recording: Python and the packages that decide its numbers."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _panel(index: int, entry: Mapping[str, Any], arrays: Mapping[str, np.ndarray], kind: str) -> PanelRecording:
    prefix = f"panel{index}/frames/"
    frames = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    config = kind_named(kind).config_of(entry["config"])
    steps, metrics = arrays[f"panel{index}/steps"], arrays[f"panel{index}/metrics"]
    return PanelRecording(entry["label"], config, list(entry["controls"]), frames, steps, metrics)

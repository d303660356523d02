"""Tracks and recordings."""

from __future__ import annotations

import csv
import io
import pickle

import numpy as np
import pytest

from dashboard.live.recording import PanelRecording, Recording, metrics_csv
from dashboard.live.track import Track
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError
from ddcl_core.frame import METRIC_NAMES

M = len(METRIC_NAMES)


def frames(*steps: int, **more: np.ndarray) -> dict[str, np.ndarray]:
    return {"step": np.array(steps, dtype=np.int32), "pca": np.zeros((len(steps), 3, 2), dtype=np.int16), **more}


def history(*steps: int, value: float = 1.0) -> dict[str, np.ndarray]:
    return {"step": np.array(steps, dtype=np.int32), "metrics": np.full((len(steps), M), value, dtype=np.float32)}


def steps_of(track: Track) -> list[int]:
    return [int(frame["step"]) for frame in track.frames]


def test_frames_of_a_known_step_replace_what_followed() -> None:
    track = Track()
    track.add_frames(frames(0, 1, 2, 3))
    track.add_frames(frames(2, 5))
    assert steps_of(track) == [0, 1, 2, 5]
    track.rewind(1)
    assert steps_of(track) == [0, 1] and track.last_frame_step == 1


def test_history_grows_replaces_and_rewinds() -> None:
    track = Track()
    track.add_history(history(*range(100)))
    track.add_history(history(99, 100, 101, value=2.0))
    assert track.steps.tolist() == list(range(102)) and track.metrics[99, 0] == 2.0 and track.metrics[98, 0] == 1.0
    track.rewind(50)
    assert track.last_step == 50 and track.history()["L_q"].shape == (51,)


def test_many_frames_are_thinned_evenly() -> None:
    track = Track(limit=50)
    for step in range(0, 1000, 2):
        track.add_frames(frames(step, step + 1))
    kept = steps_of(track)
    assert 25 <= len(kept) <= 50 and kept[0] == 0 and kept[-1] == 999
    gaps = np.diff(kept[:-1])
    assert gaps.min() == gaps.max()


def test_later_placements_are_merged() -> None:
    track = Track()
    track.add_frames(frames(0, 1, 2))
    placed = {"step": np.array([1, 2, 77], np.int32), "umap": np.ones((3, 3, 2), np.int16)}
    track.add_placed(placed)
    assert ["umap" in frame for frame in track.frames] == [False, True, True]
    assert [len(batch["step"]) for batch in track.batches()] == [1, 2]


def test_large_extras_stay_with_the_newest_frames_and_every_eighth_of_the_older() -> None:
    track = Track(light=("tiles",))
    for step in range(100):
        extras = {"x_tiles": np.full((1, 4), step, np.uint8), "x_small": np.zeros((1, 2), np.float32)}
        track.add_frames(frames(step, **extras))
    kept = [int(frame["step"]) for frame in track.frames if "x_tiles" in frame]
    assert kept == [*range(0, 60, 8), *range(60, 100)]
    assert all("x_small" in frame for frame in track.frames) and len(track.frames) == 100
    assert sum(len(batch["step"]) for batch in track.batches()) == 100


def test_a_track_has_the_metrics_of_its_kind() -> None:
    track = Track(names=("epsilon", "temperature", "error"))
    track.add_history({"step": np.array([0, 1], np.int32), "metrics": np.array([[1, 2, 3], [1, 2, 4]], np.float32)})
    assert track.history()["error"].tolist() == [3.0, 4.0] and track.metrics.shape == (2, 3)


def recording() -> Recording:
    panels = [
        PanelRecording(
            "=left", RunConfig(epsilon=1.0), [{"step": 3, "epsilon": 0.5}], frames(0, 1), *history(0, 1, 2).values()
        ),
        PanelRecording("right", RunConfig(), [], frames(0), *history(0).values()),
    ]
    about = {"versions": {"python": "3.11"}, "words": ["ε", "b", "c"], "explained_variance": float("nan")}
    maps = {"pca": {"reference": np.zeros((5, 2), np.int16)}}
    return Recording(panels, np.array([0, 1, 1], np.uint16), np.array([0, 0, 1], np.uint16), maps, about)


def test_a_recording_comes_back() -> None:
    back = Recording.load(recording().to_bytes())
    assert [panel.config for panel in back.panels] == [RunConfig(epsilon=1.0), RunConfig()]
    assert back.panels[0].controls == [{"step": 3, "epsilon": 0.5}]
    assert back.panels[0].frames["pca"].shape == (2, 3, 2) and back.panels[0].metrics.shape == (3, M)
    assert back.about["words"][0] == "ε" and back.about["explained_variance"] is None
    assert back.maps["pca"]["reference"].shape == (5, 2) and back.metric_names == METRIC_NAMES


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"x" * 100, pickle.dumps({"a": 1})])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="not a DDCL Lab recording"):
        Recording.load(data)


def test_an_npz_with_pickles_or_without_our_contents_is_refused() -> None:
    for arrays in ({"meta": np.array([{"a": 1}], dtype=object)}, {"x": np.zeros(3)}):
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        with pytest.raises(InputError):
            Recording.load(buffer.getvalue())


def test_csv_has_every_step_and_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(recording().metrics_csv())))
    assert rows[0] == ["panel", "step", *METRIC_NAMES] and len(rows) == 1 + 3 + 1
    assert rows[1][0] == "'=left" and rows[1][2] == "1.0"
    broken = history(0, value=float("nan"))
    assert metrics_csv([("a", broken["step"], broken["metrics"])]).splitlines()[1] == "a,0" + "," * M

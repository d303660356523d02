"""The Codebook page without a browser: links, own pictures, rates, and what stands below the view."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from dashboard.codebook import kind, work
from dashboard.codebook.own import OwnImages, own_images
from dashboard.codebook.presets import CODEBOOK_PRESETS
from dashboard.codebook.state import CodebookState, from_query, panels_of, to_query
from dashboard.links import settle_view
from dashboard.live_view import payload
from ddcl_core.codebook import ImageConfig
from ddcl_core.codebook.config import CodebookConfig
from ddcl_core.errors import InputError


def png(seed: int = 0) -> bytes:
    rng = np.random.default_rng(seed)
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(out, "PNG")
    return out.getvalue()


def test_a_link_reproduces_the_state() -> None:
    state = CodebookState(
        example="hot", seed=3, epsilon=(0.1, None), temperature=(None, 0.5), codes=32, images="digits", map="pca",
        colour="prototype",
    )  # fmt: skip
    assert from_query(to_query(state)) == (state, [])
    assert to_query(CodebookState()) == {"example": CODEBOOK_PRESETS[0].key}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"example": "nope"}, "does not exist"),
        ({"k": "0"}, "k '0'"),
        ({"k": "4096"}, "k '4096'"),
        ({"images": "cats"}, "images 'cats'"),
        ({"eps": "1"}, "two numbers"),
        ({"T": "0,1"}, "left out"),
        ({"seed": "x" * 99}, "seed 'xxx"),
        ({"data": "own"}, "pictures of somebody's own"),
    ],
)
def test_a_broken_link_costs_one_sentence(query: dict[str, str], words: str) -> None:
    state, problems = from_query(query)
    assert len(problems) == 1 and words in problems[0]
    panels_of(state)


def test_choices_reach_both_sides() -> None:
    state = CodebookState(seed=11, codes=16, images="digits", epsilon=(0.5, None), temperature=(None, 3.0))
    left, right = panels_of(state)
    assert left.config.seed == right.config.seed == 11 and left.config.num_codes == right.config.num_codes == 16
    assert left.config.images == right.config.images and left.config.images.kind == "digits"
    assert left.config.epsilon == 0.5 and right.config.temperature == 3.0


def test_what_the_view_reports_goes_into_the_link_but_a_cooling_temperature_does_not() -> None:
    state = CodebookState()
    sides = [{"epsilon": 0.3, "temperature": 0.7}, {"epsilon": 1.0, "temperature": None}]
    view = {"panels": sides, "seed": 5, "map": "pca"}
    new = settle_view(state, panels_of(state), view, ("umap", "pca"))
    assert new == replace(state, epsilon=(0.3, None), seed=5, map="pca")


def test_a_hard_codebook_shows_no_temperature() -> None:
    panels = [{"label": "Hard", "epsilon": 1.0, "temperature": None}]
    assert payload("token", panels, "codebook", extension="codebook")["panels"][0]["temperature"] is None
    with pytest.raises(InputError, match="no extension"):
        payload("token", panels, "codebook", extension="nothing")


def test_own_pictures_are_kept_by_their_content_and_make_room() -> None:
    config = ImageConfig("own", 64, 8)
    store = OwnImages(limit=1)
    one = store.read([("a.png", png(0))], config, 7)
    assert store.read([("a.png", png(0))], config, 7) == one
    assert store.held(SimpleNamespace(images=replace(config, reference=one))).train.shape == (1, 32, 32, 3)
    two = store.read([("b.png", png(1))], config, 7)
    assert two != one and store.held(SimpleNamespace(images=ImageConfig("digits"))) is None
    with pytest.raises(InputError, match="load them again"):
        store.held(SimpleNamespace(images=replace(config, reference=one)))


def test_own_pictures_travel_beside_the_configuration() -> None:
    reference = own_images().read([("mine.png", png(3))], ImageConfig("own", 1024, 32), 7)
    config = panels_of(CodebookState(own=reference))[0].config
    assert "mine" not in str(config.to_dict()) and CodebookConfig.from_dict(config.to_dict()) == config
    assert kind.load(config, lambda share, text: None, kind.given(config)) is own_images().held(config)


def test_rates_of_both_sides_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[float, str]] = []
    monkeypatch.setattr(work, "RATE_SIZES", (2, 4))
    monkeypatch.setattr(work, "reporter", lambda topic: lambda share, text: said.append((share, text)))
    tiny = CodebookConfig(
        images=ImageConfig("digits", 64, 8), dim=2, hidden=8, batch_images=16, sample_outputs=20, max_steps=3,
    )  # fmt: skip
    sides = [("Soft", tiny.to_dict()), ("Hard", tiny.with_(codebook="hard").to_dict())]
    rows = work.rate_points(sides, None, "topic")
    assert [(row["label"], row["num_codes"]) for row in rows] == [("Soft", 2), ("Soft", 4), ("Hard", 2), ("Hard", 4)]
    assert rows[1]["bits_per_pixel"] == 2 / 16 and all(np.isfinite(row["error_hardened"]) for row in rows)
    assert [round(share, 2) for share, _ in said] == [0.0, 0.25, 0.5, 0.75]
    assert said[2][1] == "Hard: training with 2 codes"

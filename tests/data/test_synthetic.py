"""Synthetic topic tokens: the dials do what they say, and a seed fixes everything."""

import subprocess
import sys

import numpy as np
import pytest

from ddcl_core.config import DataConfig
from ddcl_core.data import TokenScene, load_scene
from ddcl_core.data.progress import LoadingCancelled
from ddcl_core.data.synthetic import MAIN_TOPIC_SHARE, topic_centres
from ddcl_core.errors import InputError

SEEDS = (0, 1, 7, 123)


@pytest.mark.parametrize("seed", SEEDS)
def test_centres_stand_on_a_scaled_orthogonal_frame(seed):
    centres = topic_centres(6, 32, np.random.default_rng(seed))
    np.testing.assert_allclose(centres @ centres.T, 32 * np.eye(6), atol=1e-10)


@pytest.mark.parametrize(("clusters", "dim"), [(6, 1), (9, 4), (64, 2)])
def test_more_topics_than_dimensions_keep_the_mean_squared_norm_and_stay_distinct(clusters, dim):
    centres = topic_centres(clusters, dim, np.random.default_rng(3))
    assert np.mean(np.sum(centres**2, axis=1)) == pytest.approx(dim)
    assert len(np.unique(centres.round(9), axis=0)) == clusters


@pytest.mark.parametrize("seed", SEEDS)
def test_without_noise_every_token_is_the_centre_of_its_topic(seed):
    scene = load_scene(DataConfig(noise=0.0, num_documents=12), seed)
    for topic in range(6):
        members = scene.tokens[scene.token_labels == topic]
        assert len(members) and (members == members[0]).all()
        assert np.sum(members[0].astype(float) ** 2) == pytest.approx(32, rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noise", [0.1, 0.35, 2.0])
def test_noise_is_the_standard_deviation_of_a_coordinate(seed, noise):
    scene = load_scene(DataConfig(noise=noise), seed)
    exact = load_scene(DataConfig(noise=0.0), seed)  # the same draws, without the noise
    rest = scene.tokens - exact.tokens  # 64 * 24 * 32 = 49152 values, so the estimate's own error is 0.3 %
    assert rest.std() == pytest.approx(noise, rel=0.02)
    assert abs(rest.mean()) < 0.02 * noise


@pytest.mark.parametrize("seed", SEEDS)
def test_main_topics_are_balanced_and_hold_their_share_of_the_tokens(seed):
    scene = load_scene(DataConfig(num_documents=300), seed)
    assert np.bincount(scene.labels).tolist() == [50] * 6
    own = (scene.token_labels == scene.labels[:, None]).mean()
    assert own == pytest.approx(MAIN_TOPIC_SHARE, abs=0.03)
    others = np.array([np.bincount(row, minlength=6) for row in scene.token_labels])
    assert (others.sum(axis=0) / others.sum()).min() > 0.1  # every topic occurs about equally often


def test_a_seed_fixes_every_byte_and_another_seed_changes_them():
    first, again, other = (load_scene(DataConfig(), seed) for seed in (5, 5, 6))
    assert first.tokens.tobytes() == again.tokens.tobytes() and first.words == again.words
    assert first.tokens.tobytes() != other.tokens.tobytes()


def test_words_and_names_say_the_topic():
    scene = load_scene(DataConfig(num_documents=3, tokens_per_document=5, clusters=2), 1)
    assert scene.class_names == ("topic 1", "topic 2")
    assert scene.words == [[f"topic {c + 1}" for c in row] for row in scene.token_labels]
    assert (scene.tokens.shape, scene.mask.all(), scene.explained_variance) == ((3, 5, 32), True, None)
    assert (scene.num_documents, scene.num_tokens, scene.dim) == (3, 15, 32)


@pytest.mark.parametrize(
    "small", [dict(num_documents=1, tokens_per_document=1), dict(clusters=1), dict(dim=1), dict(dim=1, clusters=1)]
)
def test_smallest_scenes(small):
    scene = load_scene(DataConfig(**small), 0)
    assert np.isfinite(scene.tokens).all() and scene.tokens.dtype == np.float32


def test_progress_runs_from_nothing_to_all_and_cancelling_stops():
    seen = []
    load_scene(DataConfig(), 0, progress=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions[0] == 0 and fractions[-1] == 1 and fractions == sorted(fractions)
    assert all(text for _, text in seen)
    with pytest.raises(LoadingCancelled):
        load_scene(DataConfig(), 0, cancelled=lambda: True)


def _scene(**changes):
    values = dict(
        tokens=np.ones((2, 3, 4)), mask=np.array([[1, 1, 0], [1, 0, 0]], bool), labels=[0, 1],
        token_labels=[[0, 0, 9], [1, 9, 9]], class_names=("a", "b"), words=[["x", "y"], ["z"]], texts=["x y", "z"],
        name="n", source="s",
    )  # fmt: skip
    return TokenScene(**{**values, **changes})


def test_padding_is_blanked_whatever_stands_in_it():
    tokens = np.ones((2, 3, 4))
    tokens[0, 2], tokens[1, 1] = np.nan, np.inf
    scene = _scene(tokens=tokens)
    assert scene.tokens[0, 2].tolist() == [0] * 4 and scene.token_labels.tolist() == [[0, 0, -1], [1, -1, -1]]
    assert np.isnan(tokens[0, 2]).all()  # the caller's array is left alone


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (dict(mask=np.zeros((2, 3), bool), words=[[], []]), "no token"),
        (dict(tokens=np.full((2, 3, 4), np.nan)), "not finite"),
        (dict(tokens=np.ones((2, 3))), "do not fit"),
        (dict(mask=np.array([[1, 0, 1], [1, 0, 0]], bool)), "padding"),
        (dict(labels=[0, 2]), "labels"),
        (dict(labels=[0]), "labels"),
        (dict(token_labels=[[0, -1, 0], [1, 0, 0]]), "label"),
        (dict(token_labels=[[0, 0]]), "token_labels"),
        (dict(words=[["x"], ["z"]]), "one word"),
        (dict(texts=["x"]), "texts"),
    ],
)
def test_a_scene_that_does_not_fit_together_is_refused(changes, says):
    with pytest.raises(InputError, match=says):
        _scene(**changes)


def test_scenes_need_no_torch():
    code = (
        "import sys; from ddcl_core.data import load_scene; from ddcl_core.config import DataConfig;"
        "import ddcl_core.data.documents, ddcl_core.data.document_scene; load_scene(DataConfig(), 0);"
        "print([m for m in ('torch', 'transformers', 'pandas', 'sklearn', 'umap') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

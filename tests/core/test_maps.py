"""The frozen maps: what they must not do is lie about a collapse."""

import io
import subprocess
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

from ddcl_core import maps
from ddcl_core.errors import InputError
from ddcl_core.maps import fitting

DIM = 16


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DDCL_CACHE_DIR", str(tmp_path))


def clusters(seed=0, n=600, noise=0.35, dim=DIM):
    """Tokens (n, dim) around four centres on the sphere of radius sqrt(dim), and their cluster (n,)."""
    rng = np.random.default_rng(seed)
    owner = rng.integers(4, size=n)
    centres = np.linalg.qr(np.random.default_rng(99).standard_normal((dim, dim)))[0][:4] * np.sqrt(dim)
    return (centres[owner] + noise * rng.standard_normal((n, dim))).astype(np.float32), owner


def shrink(tokens, factor):
    centre = tokens.mean(0)
    return (centre + factor * (tokens - centre)).astype(np.float32)


def radius(places):
    """Root mean square distance from the mean, in map radii."""
    return float(np.sqrt(((places - places.mean(0)) ** 2).sum(1).mean()))


@pytest.fixture(scope="module")
def pool():
    tokens, _ = clusters()
    return maps.build_pool([shrink(tokens, f) for f in (1.0, 0.6, 0.3, 0.1, 0.001)], seed=1, max_size=400)


@pytest.fixture(scope="module")
def fitted(pool):
    """The one UMAP that the tests share (the first fit of a process compiles for tens of seconds)."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        reference = maps.fit_reference(pool, "umap", seed=3, cache=False)
    return types.SimpleNamespace(map=reference, warnings=[str(w.message) for w in said])


@pytest.fixture(params=["umap", "pca"])
def reference(request, fitted, pool):
    return fitted.map if request.param == "umap" else maps.fit_reference(pool, "pca", seed=3)


# ---- the pool ----


def test_collapsed_snapshots_do_not_fill_the_pool():
    tokens, _ = clusters()
    pool = maps.build_pool([tokens] + [shrink(tokens, 1e-3)] * 20, max_size=2000)
    centre = tokens.mean(0)
    assert (np.linalg.norm(pool - centre, axis=1) < 0.1).sum() == 1
    assert len(pool) > 500


def test_pool_is_bounded_deterministic_and_made_of_tokens():
    tokens, _ = clusters()
    pool = maps.build_pool([tokens, tokens], seed=4, max_size=100)
    assert pool.shape == (100, DIM) and pool.dtype == np.float32
    assert np.array_equal(pool, maps.build_pool([tokens, tokens], seed=4, max_size=100))
    assert {row.tobytes() for row in pool} <= {row.tobytes() for row in tokens}
    assert len(np.unique(pool, axis=0)) == 100


def test_pool_far_from_the_origin_is_thinned_alike():
    tokens, _ = clusters()
    assert abs(len(maps.build_pool([tokens + 1e4])) - len(maps.build_pool([tokens]))) < 10


@pytest.mark.parametrize(
    ("snapshots", "says"),
    [([], "no tokens"), ([np.zeros((0, 3))], "no tokens"), ([np.zeros(3)], "shape"), ([np.full((2, 3), np.nan)], "NaN"),
     ([np.zeros((2, 3)), np.zeros((2, 4))], "dimensions")],
)
def test_pool_refuses_in_words(snapshots, says):
    with pytest.raises(InputError, match=says):
        maps.build_pool(snapshots)


def test_identical_points_make_a_pool_of_one():
    assert len(maps.build_pool([np.ones((50, 3))])) == 1


# ---- a map must not lie ----


def test_layout_is_in_map_radii(reference):
    radii = np.linalg.norm(reference.layout, axis=1)
    assert 0.9 < np.quantile(radii, 0.98) < 1.15
    assert np.abs(reference.layout.mean(0)).max() < 0.15
    assert radius(reference.layout) > 0.4


def test_collapsed_tokens_look_collapsed(reference):
    tokens, _ = clusters(seed=5)
    assert radius(reference.place(tokens)) > 0.5
    for point in (tokens.mean(0), tokens[0], tokens[0] * 3):
        collapsed = point + 1e-3 * np.random.default_rng(0).standard_normal(tokens.shape)
        assert radius(reference.place(collapsed)) < 0.01
    assert radius(reference.place(shrink(tokens, 0.01))) < 0.1


def test_shrinking_tokens_shrink_on_a_pca_in_proportion(pool):
    reference, tokens = maps.fit_reference(pool, "pca"), clusters(seed=5)[0]
    whole = radius(reference.place(tokens))
    assert radius(reference.place(shrink(tokens, 0.1))) == pytest.approx(0.1 * whole, rel=1e-3)


def test_clusters_stay_apart_and_together(reference):
    tokens, owner = clusters(seed=5)
    places = reference.place(tokens)
    middles = np.stack([places[owner == k].mean(0) for k in range(4)])
    inside = np.linalg.norm(places - middles[owner], axis=1).mean()
    between = np.linalg.norm(middles[:, None] - middles[None], axis=-1)[np.triu_indices(4, 1)]
    assert between.mean() > 3 * inside
    if reference.kind == "umap":
        assert between.min() > 2 * inside


def test_same_points_same_place(reference):
    tokens, _ = clusters(seed=6)
    places = reference.place(tokens)
    assert np.array_equal(places, reference.place(tokens.copy()))
    order = np.random.default_rng(0).permutation(len(tokens))
    assert np.allclose(reference.place(tokens[order]), places[order], atol=1e-5)
    assert np.allclose(reference.place(tokens[:7]), places[:7], atol=1e-5)
    assert np.allclose(maps.place(reference, tokens.astype(np.float64)), places, atol=1e-4)


def test_motion_is_smooth(reference):
    """Tokens that go straight from their places into a collapse never jump: with small steps all motion is small."""
    tokens = clusters(seed=6)[0][:60]
    path = np.stack([reference.place(shrink(tokens, f)) for f in np.linspace(1, 0, 2001)])
    assert np.linalg.norm(np.diff(path, axis=0), axis=2).max() < 0.03


def test_a_prototype_in_empty_space_lies_between_its_neighbours(fitted):
    """Half way between two clusters, off the sphere: nearer to both of their places than these are to each other."""
    tokens, owner = clusters(seed=6)
    reference, middles = fitted.map, np.stack([tokens[owner == k].mean(0) for k in range(4)])
    places = reference.place(np.concatenate([middles, tokens.mean(0, keepdims=True)]))
    span = np.linalg.norm(places[:4] - places[:4].mean(0), axis=1).max()
    assert np.linalg.norm(places[4] - places[:4].mean(0)) < span


def test_placement_is_close_to_umap_transform_and_says_how_close(fitted):
    reference = fitted.map
    assert 0 < reference.placement_error < 0.1
    assert 0 < reference.placement_error_p90 < 0.3
    assert reference.shares is None and reference.note == ""
    assert np.abs(reference.positions).max() < 1.5


def test_umap_is_quiet(fitted):
    assert fitted.warnings == []


def test_far_points_are_finite_and_bounded(reference):
    tokens, _ = clusters(seed=6)
    for factor in (10.0, 1e6, 1e30):
        places = reference.place((tokens[:5] * np.float64(factor)))
        assert np.isfinite(places).all()
        if reference.kind == "umap":
            assert np.abs(places).max() < 1.5


def test_rows_that_are_not_finite_get_nan_and_leave_the_others_alone(reference):
    tokens = clusters(seed=6)[0][:5].copy()
    places = reference.place(tokens)
    tokens[2, 3], tokens[4, 0] = np.nan, np.inf
    spoilt = reference.place(tokens)
    assert np.isnan(spoilt[[2, 4]]).all() and np.allclose(spoilt[[0, 1, 3]], places[[0, 1, 3]], atol=1e-5)


def test_off_map_says_when_the_map_is_left(reference):
    tokens, _ = clusters(seed=7)
    assert 0.3 < reference.off_map(tokens) < 1.5
    assert reference.off_map(shrink(tokens, 0.01)) < 1.5
    assert maps.off_map(reference, tokens * 5) > 5
    assert reference.off_map(tokens * 50) > reference.off_map(tokens * 5)
    assert reference.off_map(np.full((3, DIM), np.nan)) == 0.0


def test_wrong_dimension_gets_a_sentence(reference):
    with pytest.raises(InputError, match="16"):
        reference.place(np.zeros((3, 5)))
    with pytest.raises(InputError, match="shape"):
        reference.place(np.zeros(16))
    assert reference.place(np.zeros((0, DIM))).shape == (0, 2)


def test_tensors_are_placed_too(reference):
    import torch

    tokens, _ = clusters(seed=7)
    tensor = torch.tensor(tokens, requires_grad=True)
    assert np.array_equal(reference.place(tensor), reference.place(tokens))


# ---- PCA ----


def test_pca_agrees_with_sklearn(pool):
    from sklearn.decomposition import PCA

    reference, theirs = maps.fit_reference(pool, "pca"), PCA(2).fit(pool.astype(np.float64))
    assert reference.shares == pytest.approx(theirs.explained_variance_ratio_, rel=1e-5)
    ours, expected = reference.place(pool), theirs.transform(pool.astype(np.float64))
    scale = np.quantile(np.linalg.norm(expected, axis=1), 0.98)
    for i in (0, 1):
        sign = np.sign((ours[:, i] * expected[:, i]).sum())
        assert np.allclose(ours[:, i], sign * expected[:, i] / scale, atol=1e-4)
    assert np.allclose(ours, reference.layout, atol=1e-4) and reference.placement_error == 0.0


def test_shown_variance_is_of_the_present_tokens(pool, fitted):
    reference = maps.fit_reference(pool, "pca")
    assert reference.shown_variance(pool) == pytest.approx(sum(reference.shares), rel=1e-3)
    axes = (reference.axes / np.linalg.norm(reference.axes, axis=0)).T
    assert reference.shown_variance(np.array([[-1.0], [1.0]]) * axes[:1]) == pytest.approx(1.0, abs=1e-4)
    assert maps.shown_variance(reference, np.ones((5, DIM))) == 1.0
    with pytest.raises(InputError):
        fitted.map.shown_variance(pool)


@pytest.mark.parametrize("points", [np.ones((1, 4)), np.ones((50, 4)), np.eye(3, 4), np.arange(5.0)[:, None]])
@pytest.mark.parametrize("kind", ["umap", "pca"])
def test_odd_pools_fall_back_to_pca_with_a_note(points, kind):
    reference = maps.fit_reference(points, kind)
    assert reference.kind == "pca" and bool(reference.note) == (kind == "umap")
    assert np.isfinite(reference.place(points)).all() and np.isfinite(reference.layout).all()
    assert np.isfinite(reference.shares).all() and np.isfinite(reference.off_map(points + 1))
    assert np.isfinite(maps.ReferenceMap.load(saved(reference)).place(points)).all()


@pytest.mark.parametrize(
    ("points", "kind", "says"),
    [(np.full((30, 4), np.inf), "umap", "infinity"), (np.zeros((0, 4)), "pca", "empty"), (np.eye(4), "tsne", "choose")],
)
def test_unusable_pools_get_a_sentence(points, kind, says):
    with pytest.raises(InputError, match=says):
        maps.fit_reference(points, kind)


# ---- keeping maps ----


def saved(reference):
    buffer = io.BytesIO()
    reference.save(buffer)
    buffer.seek(0)
    return buffer


def test_save_and_load_without_pickle(reference, tmp_path):
    tokens, _ = clusters(seed=8)
    reference.save(tmp_path / "a.map")
    for back in (maps.ReferenceMap.load(saved(reference)), maps.ReferenceMap.load(tmp_path / "a.map")):
        assert np.array_equal(back.place(tokens), reference.place(tokens))
        assert (back.kind, back.note, back.shares) == (reference.kind, reference.note, reference.shares)
        assert back.placement_error == reference.placement_error and back.off_map(tokens) == reference.off_map(tokens)
    with pytest.raises(InputError, match="map"):
        maps.ReferenceMap.load(io.BytesIO(b"no map"))
    with pytest.raises(InputError, match="map"):
        maps.ReferenceMap.load(io.BytesIO(saved(reference).getvalue()[:300]))


def fake_umap(monkeypatch, log):
    """In place of UMAP: slow enough for two threads to meet, and counts who is inside."""

    def layout(points, others, seed):
        log.append(+1)
        time.sleep(0.1)
        log.append(-1)
        return points[:, :2].astype(np.float64), others[:, :2].astype(np.float64)

    monkeypatch.setattr(fitting, "_umap", layout)


def test_one_umap_at_a_time_and_none_twice(pool, monkeypatch):
    log = []
    fake_umap(monkeypatch, log)
    threads = [threading.Thread(target=maps.fit_reference, args=(pool, "umap", seed)) for seed in (1, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(np.cumsum(log)) == 1
    assert log.count(1) == 2  # the second request for seed 1 is served from the disk


def test_cache_is_by_content_and_survives_damage(pool, monkeypatch, tmp_path):
    log = []
    fake_umap(monkeypatch, log)
    first = maps.fit_reference(pool, "umap", 1)
    again = maps.fit_reference(pool, "umap", 1)
    assert len(log) == 2 and np.array_equal(first.place(pool), again.place(pool))
    maps.fit_reference(pool[::-1].copy(), "umap", 1)
    assert len(log) == 4
    for file in tmp_path.rglob("*.npz"):
        file.write_bytes(b"damaged")
    assert np.array_equal(maps.fit_reference(pool, "umap", 1).place(pool), first.place(pool)) and len(log) == 6


def test_a_umap_that_fails_becomes_a_pca_with_a_note(pool, monkeypatch):
    def broken(points, others, seed):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(fitting, "_umap", broken)
    reference = maps.fit_reference(pool, "umap", 1)
    assert reference.kind == "pca" and "out of luck" in reference.note
    monkeypatch.setattr(fitting, "_umap", lambda p, o, s: (np.full((len(p), 2), np.nan), np.zeros((len(o), 2))))
    assert maps.fit_reference(pool, "umap", 1).kind == "pca"


def test_fit_is_deterministic(fitted, pool):
    again = maps.fit_reference(pool, "umap", seed=3, cache=False)
    assert np.array_equal(again.layout, fitted.map.layout) and np.array_equal(again.positions, fitted.map.positions)


def test_import_is_cheap():
    heavy = "umap numba torch sklearn scipy streamlit".split()
    code = f"import sys, ddcl_core.maps; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""The frozen encoder and the scenes made with it, against the packaged model called directly."""

import json
import shutil

import numpy as np
import pytest
import torch

from ddcl_core.config import DataConfig
from ddcl_core.data import LoadingCancelled, load_scene, text_encoder
from ddcl_core.data.cache import ArrayCache
from ddcl_core.data.projection import project_tokens
from ddcl_core.data.text_encoder import MINILM, MINILM_SHA256, encode_documents, resolve_model
from ddcl_core.errors import InputError

TEXTS = (
    "The cabinet met in London.",
    "",
    "Unhappily misgivings",
    "A goal! [SEP] A penalty, then another one at the end.",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DDCL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def minilm():
    return resolve_model(MINILM)


def test_embeddings_are_the_models_last_hidden_states(minilm):
    from transformers import BertModel, BertTokenizer  # named classes, where the code under test asks Auto

    read = encode_documents(TEXTS, 8, minilm)
    assert read.words == [
        ["The", "cabinet", "met", "in", "London", "."],
        [],
        ["Un", "##ha", "##pp", "##ily", "mis", "##giving", "##s"],
        ["A", "goal", "!", "[", "SEP", "]", "A", "penalty"],
    ]
    assert read.mask.sum(axis=1).tolist() == [6, 0, 7, 8] and read.unread.tolist() == [0, 0, 0, 8]
    assert read.tokens.shape == (4, 8, 384) and (read.tokens[~read.mask] == 0).all()

    tokenizer = BertTokenizer.from_pretrained(minilm.folder)
    network = BertModel.from_pretrained(minilm.folder).eval()
    for row, text in ((0, TEXTS[0]), (2, TEXTS[2]), (3, "a goal! [ sep ] a penalty")):
        with torch.no_grad():
            hidden = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1]
        np.testing.assert_allclose(read.tokens[row, read.mask[row]], hidden.numpy(), atol=2e-5)


def test_a_second_reading_comes_from_the_cache_and_is_the_same(minilm, monkeypatch):
    first = encode_documents(TEXTS, 6, minilm)
    encode_documents(TEXTS, 5, minilm)
    monkeypatch.setattr(text_encoder, "_encode", lambda *_: pytest.fail("encoded again"))
    again = encode_documents(TEXTS, 6, minilm)
    assert again.tokens.tobytes() == first.tokens.tobytes() and again.words == first.words
    assert (again.mask == first.mask).all() and (again.unread == first.unread).all()
    for other in ((TEXTS[:3], 6), (TEXTS, 7), (TEXTS[::-1], 6)):  # texts, limit and order are part of the content
        with pytest.raises(pytest.fail.Exception):
            encode_documents(*other, minilm)


def test_an_entry_of_another_form_is_computed_again(minilm):
    encode_documents(TEXTS, 6, minilm)
    cache = ArrayCache("tokens")
    (path,) = cache.folder.iterdir()
    good = cache.get(path.stem)
    for bad in ({"a": np.zeros(2)}, {**good, "lengths": good["lengths"] + 1}, {**good, "words": good["words"][:-1]}):
        cache.put(path.stem, bad)
        assert encode_documents(TEXTS, 6, minilm).words[0][1] == "cabinet"


def test_a_document_reads_the_same_whatever_stands_beside_it(minilm):
    many = [f"Sentence number {i} of a longer or shorter kind" + " and more" * (i % 7) for i in range(40)]
    together = encode_documents(many, 12, minilm)
    for i in (0, 6, 39):
        alone = encode_documents([many[i]], 12, minilm)
        np.testing.assert_allclose(together.tokens[i, together.mask[i]], alone.tokens[0, alone.mask[0]], atol=2e-5)
        assert together.words[i] == alone.words[0]


def test_what_is_longer_than_the_model_can_read_is_read_in_windows(minilm):
    text = " ".join(f"word{i % 10}" for i in range(800))
    short, cut = "Two words.", encode_documents([text], 600, minilm)
    read = encode_documents([text, short], 4000, minilm)  # 512 positions, two of which are special tokens
    counts = read.mask.sum(axis=1)
    assert counts[0] > 1200 and counts[1] == 3 and read.unread.tolist() == [0, 0]
    assert "".join(w.removeprefix("##") for w in read.words[0]) == text.replace(" ", "")
    assert cut.mask.sum() == 600 and cut.unread.tolist() == [counts[0] - 600]
    size = -(-counts[0] // -(-counts[0] // 510))  # windows of about equal length
    assert read.words[0][size].removeprefix("##") in text
    alone = encode_documents([short], 4000, minilm)
    np.testing.assert_allclose(read.tokens[1, :3], alone.tokens[0], atol=2e-5)
    np.testing.assert_allclose(read.cls[1], alone.cls[0], atol=2e-5)


def test_the_first_state_is_that_of_the_cls_token(minilm):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = (kind.from_pretrained(minilm.folder) for kind in (AutoTokenizer, AutoModel))
    with torch.inference_mode():
        hidden = network(**tokenizer("A short text", return_tensors="pt")).last_hidden_state
    read = encode_documents(["A short text"], 64, minilm)
    np.testing.assert_allclose(read.cls[0], hidden[0, 0].numpy(), atol=2e-5)
    np.testing.assert_allclose(read.tokens[0], hidden[0, 1:-1].numpy(), atol=2e-5)


def test_cancelling_stores_nothing(minilm):
    calls = []
    with pytest.raises(LoadingCancelled):
        encode_documents(["a text"] * 40, 8, minilm, cancelled=lambda: calls.append(0) or len(calls) > 2)
    assert not list(ArrayCache("tokens").folder.glob("*"))


def test_packaged_weights_are_checked(minilm, monkeypatch):
    assert text_encoder._file_digest(minilm.folder / "model.safetensors") == MINILM_SHA256
    monkeypatch.setattr(text_encoder, "MINILM_SHA256", "0" * 64)
    with pytest.raises(InputError, match="not the pinned ones.*force-reinstall"):
        resolve_model(MINILM)


def test_a_local_folder_is_a_model_and_its_content_is_its_name(minilm, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(minilm.folder, folder)
    assert resolve_model(str(folder)).digest == minilm.digest
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    other = resolve_model(str(folder))
    assert other.digest != minilm.digest
    shallow, deep = encode_documents(TEXTS, 6, other), encode_documents(TEXTS, 6, minilm)
    assert shallow.words == deep.words and np.abs(shallow.tokens - deep.tokens).max() > 0.1


@pytest.mark.parametrize("files", [{}, {"config.json": "{}"}, {"config.json": "{}", "pytorch_model.bin": ""}])
def test_a_folder_without_safe_weights_is_refused(tmp_path, files):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match="safetensors"):
        resolve_model(str(tmp_path))


def test_a_folder_that_is_no_text_encoder_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "no-such-model"}')
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be loaded as a text encoder"):
        encode_documents(TEXTS, 6, resolve_model(str(tmp_path)))


@pytest.mark.parametrize("name", ["nobody-at-all/no-such-model", "not a name!", "../up", ""])
def test_a_model_out_of_reach_says_so(name, monkeypatch):
    import huggingface_hub

    def no_network(name, local_files_only=False, **_):
        raise ConnectionError("no network") if not local_files_only else FileNotFoundError("not cached")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", no_network)
    with pytest.raises(InputError, match="neither a folder here nor reachable|safetensors"):
        resolve_model(name)


@pytest.mark.parametrize("seed", [0, 1])
def test_projection_equals_a_singular_value_decomposition(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((60, 10)) * np.arange(1, 11) + 1e3
    projected, kept, projection = project_tokens(x, 4)
    np.testing.assert_allclose(projection.apply(x), projected, atol=1e-5)
    u, s, vt = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    expected = u[:, :4] * s[:4] * np.sqrt(4 * 60 / np.sum(s[:4] ** 2))
    np.testing.assert_allclose(np.abs(projected), np.abs(expected), rtol=1e-4, atol=1e-5)
    for axis in range(4):  # the sign: the largest loading is positive
        sign = np.sign(vt[axis][np.argmax(np.abs(vt[axis]))])
        np.testing.assert_allclose(projected[:, axis], sign * expected[:, axis], rtol=1e-4, atol=1e-5)
    assert kept == pytest.approx(np.sum(s[:4] ** 2) / np.sum(s**2))
    assert np.mean(np.sum(projected.astype(float) ** 2, axis=1)) == pytest.approx(4, rel=1e-5)
    full, everything, _ = project_tokens(x, 10)
    assert everything == pytest.approx(1)  # all components: distances are those of the tokens, times one factor
    ratio = np.linalg.norm(full[1:] - full[:-1], axis=1) / np.linalg.norm(x[1:] - x[:-1], axis=1)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


@pytest.mark.parametrize(
    ("tokens", "dim", "says"),
    [
        (np.zeros((1, 5)), 1, "only one token"),
        (np.eye(5)[:4], 4, "at most 3 .* set it to 3 or less, or add more text"),
        (np.random.default_rng(0).standard_normal((50, 5)), 6, "at most 5 .* set it to 5 or less"),
        (np.ones((9, 5)), 2, "All tokens are the same"),
        (np.full((9, 5), np.nan), 2, "not finite"),
    ],
)
def test_projection_refuses_what_it_cannot_do(tokens, dim, says):
    with pytest.raises(InputError, match=says):
        project_tokens(tokens, dim)


def test_a_bbc_scene():
    config = DataConfig(kind="bbc", num_documents=20, tokens_per_document=10, dim=16)
    seen = []
    scene = load_scene(config, 3, progress=lambda fraction, text: seen.append(fraction))
    assert scene.tokens.shape == (20, 10, 16) and scene.mask.all() and np.bincount(scene.labels).tolist() == [4] * 5
    assert np.mean(np.sum(scene.tokens.astype(float) ** 2, axis=-1)) == pytest.approx(16, rel=1e-4)
    assert 0.2 < scene.explained_variance < 1 and (scene.token_labels == scene.labels[:, None]).all()
    assert "BBC" in scene.source and "MiniLM" in scene.source and "20 documents are longer" in scene.notes[0]
    assert seen == sorted(seen) and seen[-1] == 1
    for words, text in zip(scene.words, scene.texts):  # the pieces stand in the text, in this order
        position = 0
        for word in words:
            position = text.index(word.removeprefix("##"), position) + len(word.removeprefix("##"))
    again, other = load_scene(config, 3), load_scene(config, 4)
    assert again.tokens.tobytes() == scene.tokens.tobytes() and other.texts != scene.texts


def test_own_documents_with_empty_ones_among_them():
    texts = ("Rain in the north.<br /><br />Sun later.", " \n", "Shares fell again today, and banks with them.", "Rain")
    config = DataConfig(kind="custom", texts=texts, text_labels=("w", "w", "m", "w"), dim=3, num_documents=3)
    scene = load_scene(config, 0)
    assert scene.class_names == ("w", "m") and scene.labels.tolist() == [0, 1]
    assert scene.texts == ["Rain in the north.\n\nSun later.", "Shares fell again today, and banks with them."]
    assert scene.words[0] == ["Rain", "in", "the", "north", ".", "Sun", "later", "."] and scene.mask.sum() == 18
    assert any("first 3 of 4" in n for n in scene.notes) and any("left out: 1" in n for n in scene.notes)
    unlabelled = load_scene(DataConfig(kind="custom", texts=texts, dim=3), 0)
    assert unlabelled.class_names == ("unlabelled",) and unlabelled.num_documents == 3


@pytest.mark.parametrize(
    ("texts", "says"),
    [(("Rain",), "only one token"), (("<br />\u200b",), "None of the documents")],
)
def test_too_little_text_gets_a_sentence(texts, says):
    with pytest.raises(InputError, match=says):
        load_scene(DataConfig(kind="custom", texts=texts), 0)


def test_a_handful_of_words_trains_in_the_few_dimensions_that_it_has():
    scene = load_scene(DataConfig(kind="custom", texts=("Rain falls.", "Snow falls too"), dim=32), 0)
    assert scene.dim == 32 and scene.num_tokens == 6 and "only 6 tokens, which lie in 5 dimensions" in scene.notes[-1]
    tokens = scene.tokens[scene.mask]
    assert not tokens[:, 5:].any() and np.linalg.matrix_rank(tokens - tokens.mean(0), tol=1e-4) == 5
    assert (tokens**2).sum(1).mean() == pytest.approx(5, rel=1e-4)
    read = text_encoder.encode_documents(scene.texts, 24, text_encoder.resolve_model("minilm"))
    assert np.allclose(scene.projection.apply(read.tokens)[scene.mask], tokens, atol=1e-4)

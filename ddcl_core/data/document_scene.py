"""Scenes of real documents: choose, encode, project."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ddcl_core.config import DataConfig
from ddcl_core.data.documents import Corpus, clean_text, load_bbc, load_reviews, sample_balanced
from ddcl_core.data.folder_corpora import load_imdb, load_newsgroups, load_sst2
from ddcl_core.data.progress import Cancelled, Progress, checkpoint
from ddcl_core.data.projection import project_tokens
from ddcl_core.data.scene import TokenScene
from ddcl_core.data.tables import OwnDocuments
from ddcl_core.data.text_encoder import encode_documents, resolve_model
from ddcl_core.errors import InputError

CORPORA = {
    "bbc": load_bbc,
    "reviews": load_reviews,
    "newsgroups": load_newsgroups,
    "sst2": load_sst2,
    "imdb": load_imdb,
}


def custom_corpus(texts: tuple[str, ...], labels: tuple[str, ...]) -> Corpus:
    """A person's own documents, cleaned; a label each, or one class named 'unlabelled' for all."""
    names = tuple(dict.fromkeys(labels)) or ("unlabelled",)
    numbers = tuple(names.index(label) for label in labels) or (0,) * len(texts)
    return Corpus("Your documents", tuple(map(clean_text, texts)), numbers, names, "Documents given by the user.")


def chosen_documents(
    config: DataConfig, seed: int, given: OwnDocuments | None = None
) -> tuple[list[str], list[int], tuple[str, ...]]:
    """The texts, labels and class names that `document_scene` reads for the same arguments."""
    corpus, chosen, _ = _choose(config, seed, given)
    return [corpus.texts[i] for i in chosen], [corpus.labels[i] for i in chosen], corpus.class_names


def _choose(config: DataConfig, seed: int, given: OwnDocuments | None) -> tuple[Corpus, np.ndarray, list[str]]:
    if config.kind == "custom" and given is None:
        corpus = custom_corpus(config.texts, config.text_labels)
        chosen = np.arange(min(len(corpus.texts), config.num_documents))
        cut = f"Only the first {len(chosen):,} of {len(corpus.texts):,} documents are used."
        return corpus, chosen, [cut] if len(chosen) < len(corpus.texts) else []
    corpus = CORPORA[config.kind]() if given is None else custom_corpus(given.texts, given.labels)
    chosen = sample_balanced(corpus.labels, config.num_documents, np.random.default_rng(seed))
    if given is not None:
        cut = f"{len(chosen):,} of {len(corpus.texts):,} documents are used, drawn evenly over the labels."
        return corpus, chosen, [*given.notes, *([cut] if len(chosen) < len(corpus.texts) else [])]
    few = f"{corpus.name} has only {len(chosen):,} distinct documents; all of them are used."
    return corpus, chosen, [few] if len(chosen) < config.num_documents else []


def document_scene(
    config: DataConfig,
    seed: int,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    given: OwnDocuments | None = None,
) -> TokenScene:
    """The scene of documents that `config.kind` names; see `load_scene` for the arguments.

    `seed` draws `config.num_documents` documents, balanced over the classes ('custom': all of them, in their order, up
    to that number). `given`: documents of one's own that `config.texts` only refers to, drawn like a corpus. Their tokens go through the frozen model, PCA to `config.dim` and one global scale.
    """
    corpus, chosen, notes = _choose(config, seed, given)
    checkpoint(progress, cancelled, 0.02, "Looking for the language model")
    model = resolve_model(config.model)
    texts = [corpus.texts[i] for i in chosen]
    read = encode_documents(texts, config.tokens_per_document, model, progress, cancelled)
    checkpoint(progress, cancelled, 0.96, f"Projecting the tokens to {config.dim} dimensions")

    filled = np.flatnonzero(read.mask.any(axis=1))
    if not len(filled):
        raise InputError("None of the documents holds a token that the model knows; add some text.")
    if len(filled) < len(texts):
        notes.append(f"Documents without any text are left out: {len(texts) - len(filled):,}.")
    longer = int((read.unread > 0).sum())
    if longer:
        notes.append(
            f"Only the first {read.mask.shape[1]:,} tokens of each document are read: {longer:,} documents are longer, "
            f"and {int(read.unread.sum()):,} of their tokens are not seen."
        )
    mask = read.mask[filled]
    known = read.tokens[read.mask]
    dim = min(config.dim, len(known) - 1) if config.kind == "custom" and len(known) > 1 else config.dim
    projected, kept, projection = project_tokens(known, dim)
    if dim < config.dim:  # a handful of words spans fewer directions; nothing varies in the others
        notes.append(f"There are only {len(known)} tokens, which lie in {dim} dimensions; add more text to see more than a sketch.")
        projected = np.pad(projected, ((0, 0), (0, config.dim - dim)))
        projection = replace(projection, directions=np.pad(projection.directions, ((0, 0), (0, config.dim - dim))))
    tokens = np.zeros((*mask.shape, config.dim), dtype=np.float32)
    tokens[mask] = projected
    labels = np.array([corpus.labels[i] for i in chosen])[filled]
    return TokenScene(
        tokens=tokens,
        mask=mask,
        labels=labels,
        token_labels=np.broadcast_to(labels[:, None], mask.shape),
        class_names=corpus.class_names,
        words=[read.words[i] for i in filled],
        texts=[texts[i] for i in filled],
        name=f"{corpus.name}: {len(filled):,} documents",
        source=f"{corpus.source} Token embeddings: {model.source}.",
        explained_variance=kept,
        notes=notes,
        projection=projection,
    )

"""What the Documents page asks of a run or a worker; PyTorch is imported inside. Nothing here changes a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.engine.tasks import few_threads, reporter

TOKEN_SAMPLE = 2000
MOST_TOKENS = 8192  # of one document that is read whole
NAME_WORDS = 10


def material(run: Any) -> dict[str, Any]:
    """What never changes: texts, word pieces, labels and class names of the documents, and notes on what was read."""
    scene = run.scene
    return {
        "texts": list(scene.texts or [""] * scene.num_documents),
        "words": [list(row) for row in scene.words],
        "labels": scene.labels.copy(),
        "class_names": list(scene.class_names),
        "owners": np.nonzero(scene.mask)[0].astype(np.int32),
        "notes": list(scene.notes),
        "source": scene.source,
    }


def moment(run: Any) -> dict[str, Any]:
    """Every token's assignments, the prototypes and the head as they are now, with the logits that the run itself gets.

    assignments (N, K) float16; prototypes (K, d); weight (C, d), bias (C,) and logits (B, C) float64, or None without a
    head; places (S,) and tokens (S, d): an even sample of the encoded tokens, for a map; names: K lists of (word, score);
    npmi (K,): how coherent each name is; agreement: see `agreement`.
    """
    import torch

    from ddcl_core.explain import word_index
    from ddcl_core.losses import quantization_losses

    model, task = run.model, run.config.anchor == "classification"
    host = lambda values: np.nan_to_num(values.detach().float().cpu().numpy())  # noqa: E731
    with torch.no_grad():
        padded = model.encoder(model.tokens, model.mask)  # B, T, d
        losses = quantization_losses(padded, model.prototypes, run.temperature, model.mask)
        logits = _pooled(model, losses.centroids, model.mask).double().cpu().numpy() if task else None
        q, z = host(losses.assignments[model.mask]), padded[model.mask]  # (N, K), (N, d)
        places = np.linspace(0, len(z) - 1, min(TOKEN_SAMPLE, len(z))).astype(np.int64)
        sample = host(z[torch.from_numpy(places).to(z.device)])
    index = word_index(run.scene)
    names = index.names(q, NAME_WORDS)
    return {
        "step": run.step, "temperature": run.temperature, "epsilon": run.epsilon, "status": run.status,
        "assignments": q.astype(np.float16), "prototypes": host(model.prototypes),
        "weight": host(model.head.weight) if task else None, "bias": host(model.head.bias) if task else None,
        "logits": logits, "places": places, "tokens": sample,
        "names": names, "npmi": index.coherence(names), "agreement": agreement(run.scene, q),
    }  # fmt: skip


def agreement(scene: Any, q: np.ndarray) -> dict[str, tuple[float, float, float]] | None:
    """How far prototypes and labels agree: ACC by Hungarian matching, NMI and ARI of two ways to group the documents.

    'lead': by the prototype with the largest share; 'mixtures': by k-means on the square roots of the mixtures, a group a
    class. None with one class. q: (N, K) assignments of the scene's tokens.
    """
    from ddcl_core.clustering import kmeans_clusters, score_clusters
    from ddcl_core.explain import mixtures

    classes = len(scene.class_names)
    if classes < 2:
        return None
    u = mixtures(q, np.nonzero(scene.mask)[0], scene.num_documents)
    ways = {"lead": (u.argmax(axis=1), u.shape[1])}
    if scene.num_documents > classes:
        ways["mixtures"] = (kmeans_clusters(np.sqrt(u), classes), classes)
    scores = {name: score_clusters(scene.labels, groups, classes, count) for name, (groups, count) in ways.items()}
    return {name: (float(s.accuracy), float(s.nmi), float(s.ari)) for name, s in scores.items()}


def _logits(run: Any, rows: Any, mask: Any) -> Any:
    """Logits (B', C) of the run's readout of the documents `rows` (B',) over the tokens of `mask` (B', T), which may have
    holes: they are not read."""
    from ddcl_core.losses import quantization_losses

    model = run.model
    z = model.encoder(model.tokens[rows], mask)
    return _pooled(model, quantization_losses(z, model.prototypes, run.temperature, mask).centroids, mask)


def _pooled(model: Any, centroids: Any, mask: Any) -> Any:
    """Logits (B, C) of the mean of the soft centroids (B, T, d) over `mask`."""
    import torch

    count = mask.sum(1, keepdim=True).clamp(min=1)
    return model.head(torch.where(mask[..., None], centroids, 0.0).sum(1) / count)


def faithfulness(run: Any, draws: int = 5, seed: int = 0, most: int = 400) -> dict[str, Any]:
    """Does the top prototype matter? Take its tokens away, and as many random ones, and see what the logit loses.

    For each document: the predicted class c, and the prototype that adds most to its logit beyond what the mean document
    gets from it. Its tokens (those it leads) are left unread, by encoder and readout alike; at least one token stays.
    Of at most `most` documents, spread evenly. Returns drop_top (B,), drop_random (B,) (mean of `draws`), how many tokens were
    taken (B,), the documents (B,), the step; documents whose top prototype leads no token are left out.
    """
    import torch

    from ddcl_core.losses import quantization_losses

    model = run.model
    with torch.no_grad():
        count = len(model.mask)
        rows = torch.from_numpy(np.linspace(0, count - 1, min(most, count)).astype(np.int64)).to(model.mask.device)
        mask = model.mask[rows]
        z = model.encoder(model.tokens[rows], mask)
        losses = quantization_losses(z, model.prototypes, run.temperature, mask)
        q = losses.assignments  # B, T, K
        u = torch.where(mask[..., None], q, 0.0).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # B, K
        before = _pooled(model, losses.centroids, mask)
        predicted = before.argmax(-1)
        parts = (u - u.mean(0)) * (model.prototypes @ model.head.weight.T)[:, predicted].T  # B, K
        led = (q.argmax(-1) == parts.argmax(-1)[:, None]) & mask
        size = torch.minimum(led.sum(1), mask.sum(1) - 1)
        generator = torch.Generator().manual_seed(seed)
        noise = lambda: torch.rand(mask.shape, generator=generator).to(mask.device)  # noqa: E731

        def without(priority: Any) -> Any:
            order = priority.masked_fill(~mask, -1.0).argsort(1, descending=True).argsort(1)
            gone = _logits(run, rows, mask & (order >= size[:, None]))
            return (before - gone).gather(1, predicted[:, None])[:, 0]

        top_drop = without(noise() + led.float())
        random_drop = torch.stack([without(noise()) for _ in range(draws)]).mean(0)
        use = torch.nonzero(size > 0).flatten()
    pick = lambda values: values[use].double().cpu().numpy()  # noqa: E731
    found = {"drop_top": pick(top_drop), "drop_random": pick(random_drop), "taken": pick(size)}
    return found | {"documents": rows[use].cpu().numpy(), "step": run.step}


def whole(run: Any, document: int, most: int = MOST_TOKENS) -> dict[str, Any]:
    """One document read to its end, in windows, with the run's encoder and prototypes as they are now.

    Returns step; words, its word pieces; assignments (T, K) float32; logits (C,) or None; unread, tokens beyond `most`.
    Raises InputError when the documents come from no language model.
    """
    few_threads()
    import torch

    from ddcl_core.data.text_encoder import encode_documents, resolve_model
    from ddcl_core.errors import InputError
    from ddcl_core.losses import quantization_losses

    scene, model = run.scene, run.model
    if scene.projection is None or scene.texts is None:
        raise InputError("These tokens do not come from a text; there is nothing more to read.")
    read = encode_documents([scene.texts[document]], most, resolve_model(run.config.data.model))
    tokens = torch.from_numpy(scene.projection.apply(read.tokens)).to(run.device)  # 1, T, d
    mask = torch.from_numpy(read.mask).to(run.device)
    with torch.no_grad():
        z = model.encoder(tokens, mask)
        losses = quantization_losses(z[0], model.prototypes, run.temperature)
        logits = None
        if run.config.anchor == "classification":
            logits = model.head(losses.centroids.mean(0)).double().cpu().numpy()
    q = np.nan_to_num(losses.assignments.float().cpu().numpy())
    return {"step": run.step, "words": read.words[0], "assignments": q, "logits": logits, "unread": int(read.unread[0])}


def readout_tables(data: dict[str, Any], seed: int, units: int, seeds: int, given: Any, topic: str) -> dict[str, Any]:
    """Both tables of `ddcl_core.readouts.compare_readouts` for the documents of a DataConfig, full width, frozen encoder."""
    few_threads()
    from ddcl_core.config import DataConfig
    from ddcl_core.data.document_scene import chosen_documents
    from ddcl_core.data.text_encoder import encode_documents, resolve_model
    from ddcl_core.readouts import Documents, compare_readouts

    report, config = reporter(topic), DataConfig(**data)
    texts, labels, _ = chosen_documents(config, seed, given)
    read = encode_documents(texts, config.tokens_per_document, resolve_model(config.model), lambda f, t: report(0.1 * f, t))
    filled = read.mask.any(axis=1)
    documents = Documents.of(read.tokens[filled], read.mask[filled], read.cls[filled], np.asarray(labels)[filled])
    return compare_readouts(documents, units, range(seeds), report=lambda f, t: report(0.1 + 0.9 * f, t))

"""20,000 documents on the Documents page: a step with its picture, a look at all of them, and names found anew each time.

Made-up tokens and words stand for what the encoder gives, so that only training and looking are measured; one thread.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace

from benchmarks.table import Row, load

DOCUMENTS, TOKENS, WORDS, SEED = 20_000, 32, 5_000, 7


def measure() -> list[Row]:
    """Seconds of a picture, measured on all documents and on the page's sample, and of a look, with names from scratch."""
    import numpy as np
    import torch

    from dashboard.documents import worker
    from dashboard.documents.state import DocumentState, panel_of
    from ddcl_core import TrainingRun
    from ddcl_core.explain import characteristic_words, join_pieces, word_index
    from ddcl_core.explain.names import stop_words

    torch.set_num_threads(1)
    state = DocumentState(own="upload:none", own_size=DOCUMENTS, own_labelled=True, count=DOCUMENTS, read=TOKENS, seed=SEED)
    config = panel_of(state).config.with_(frame_every=1)
    scene = _scene(np.random.default_rng(SEED), config.data.dim)
    seconds = {}
    for name, some in (("all", None), ("sample", config.measured_documents)):
        run = TrainingRun(replace(config, measured_documents=some), scene)
        run.advance(1e9, {"until_step": 1})
        began = time.perf_counter()
        run.advance(1e9, {"until_step": 4})
        seconds[name] = (time.perf_counter() - began) / 3
    began = time.perf_counter()
    worker.moment(run)
    first = time.perf_counter() - began
    began = time.perf_counter()
    worker.moment(run)
    again = time.perf_counter() - began
    with torch.no_grad():
        q = torch.softmax(torch.randn(DOCUMENTS * TOKENS, config.num_prototypes), 1).numpy()
    began = time.perf_counter()
    word_index(scene).names(q)
    kept = time.perf_counter() - began
    began = time.perf_counter()
    words, leads, weights, place = [], [], [], 0
    for text, pieces in zip(scene.texts, scene.words):
        for word in join_pieces(text, pieces):
            share = q[place + word.first : place + word.last + 1].mean(axis=0)
            words.append(text[word.start : word.end])
            leads.append(int(share.argmax()))
            weights.append(float(share.max()))
        place += len(pieces)
    characteristic_words(words, np.array(leads), q.shape[1], 10, np.array(weights), stop_words())
    anew = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    how = f"{DOCUMENTS:,} documents of {TOKENS} tokens, K = {config.num_prototypes}, seed {SEED}"
    sampled = f"{how}; {config.measured_documents:,} documents measured"
    return [
        Row("step with a picture, on the page's sample", f"{1e3 * seconds['sample']:.0f} ms", sampled, load=load()),
        Row("the same measured on all documents, time", f"{seconds['all'] / seconds['sample']:.1f} x", how, load=load()),
        Row("look at all documents, first and later", f"{first:.1f} and {again:.1f} s", how, load=load()),
        Row("names from words found once over found anew, time", f"{kept / anew:.3f} x", f"{how}; {kept:.2f} against {anew:.1f} s", load=load()),
        Row("peak resident set", f"{peak:.1f} GB", how, load=load()),
    ]


def _scene(rng, dim: int):
    import numpy as np

    from ddcl_core.data.scene import TokenScene

    vocabulary = np.array([f"w{''.join(chr(97 + int(d)) for d in str(i))}" for i in range(WORDS)])
    words = [row.tolist() for row in vocabulary[rng.zipf(1.3, (DOCUMENTS, TOKENS)) % WORDS]]
    labels = rng.integers(0, 5, DOCUMENTS)
    tokens = rng.standard_normal((DOCUMENTS, TOKENS, dim)).astype(np.float32) + 2 * rng.standard_normal((5, dim))[labels][:, None]
    mask = np.ones((DOCUMENTS, TOKENS), dtype=bool)
    spread = np.broadcast_to(labels[:, None], mask.shape)
    return TokenScene(tokens, mask, labels, spread, tuple("abcde"), words, [" ".join(row) for row in words], "made up", "made up")

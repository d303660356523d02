"""Reading documents: the loader against a bare loop over the same encoder, and a second opening from the cache.

1000 reviews of at most 64 tokens, one thread. The bare loop is what one would write: tokenize sixteen texts at a time, pad them to
the longest, run the model. The loader also sorts by length, cuts windows, keeps the surface of every token and stores the result.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.table import Row, load

DOCUMENTS, TOKENS, BATCH = 1000, 64, 16


def measure() -> list[Row]:
    """The ratio, and seconds of a second opening."""
    import numpy as np
    import torch
    from transformers import AutoModel, AutoTokenizer

    from ddcl_core.data.cache import ArrayCache
    from ddcl_core.data.documents import load_reviews, sample_balanced
    from ddcl_core.data.text_encoder import encode_documents, resolve_model

    torch.set_num_threads(1)
    corpus, model = load_reviews(), resolve_model("minilm")
    texts = [corpus.texts[i] for i in sample_balanced(corpus.labels, DOCUMENTS, np.random.default_rng(7))]
    tokenizer, network = AutoTokenizer.from_pretrained(model.folder), AutoModel.from_pretrained(model.folder).eval()
    encode_documents(texts[:BATCH], TOKENS, model, cache=ArrayCache("warm", Path(tempfile.mkdtemp())))
    began = time.perf_counter()
    with torch.inference_mode():
        for start in range(0, DOCUMENTS, BATCH):
            batch = tokenizer(texts[start : start + BATCH], padding=True, truncation=True, max_length=TOKENS + 2, return_tensors="pt")
            network(**batch).last_hidden_state.numpy()
    bare = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        cache = ArrayCache("tokens", Path(folder))
        began = time.perf_counter()
        encode_documents(texts, TOKENS, model, cache=cache)
        ours = time.perf_counter() - began
        began = time.perf_counter()
        encode_documents(texts, TOKENS, model, cache=cache)
        again = time.perf_counter() - began
    how = f"{DOCUMENTS} reviews, at most {TOKENS} tokens, MiniLM on one thread; {ours:.1f} against {bare:.1f} s"
    return [
        Row("reading documents over a bare loop, time", f"{ours / bare:.2f} x", how, "at most 1.3 x", ours <= 1.3 * bare, load()),
        Row("second opening from the cache", f"{again:.2f} s", how, "under 1 s", again < 1.0, load()),
    ]

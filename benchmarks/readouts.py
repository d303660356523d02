"""Readouts over the frozen MiniLM, side by side: accuracy, clustering, parameters and time.

    python -m benchmarks.readouts [bbc] [reviews] [newsgroups] [--documents 400] [--tokens 64] [--units 16] [--seeds 5]

Frozen all-MiniLM-L6-v2, 70 % of the documents to train on and 30 % held out (stratified, another split each seed), Adam at
2e-3, 200 steps of 32 documents, the same for all. DDCL: prototypes start by k-means++ on tokens and learn at 2e-2 (epsilon =
0.1), T is the critical temperature 2 lambda_max of the tokens, loss cross-entropy + 0.1 L_q / d. Writes benchmarks/results/readouts.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

OUT = Path("benchmarks/results/readouts.json")


def main() -> None:
    """Run what was asked for and merge it into the result file."""
    import torch

    from ddcl_core.data.document_scene import CORPORA
    from ddcl_core.data.documents import sample_balanced
    from ddcl_core.data.text_encoder import encode_documents, resolve_model
    from ddcl_core.readouts import Documents, compare_readouts

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=["bbc", "reviews"])
    for name, value in (("documents", 400), ("tokens", 64), ("units", 16), ("seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    a = parser.parse_args()
    torch.set_num_threads(1)
    results = json.loads(OUT.read_text()) if OUT.is_file() else {}
    for name in a.corpora:
        corpus = CORPORA[name]()
        chosen = sample_balanced(corpus.labels, a.documents, np.random.default_rng(7))
        read = encode_documents([corpus.texts[i] for i in chosen], a.tokens, resolve_model("minilm"))
        labels = np.array([corpus.labels[i] for i in chosen])
        tables = compare_readouts(Documents.of(read.tokens, read.mask, read.cls, labels), a.units, range(a.seeds))
        command = f"python -m benchmarks.readouts {name} --documents {a.documents} --tokens {a.tokens} --units {a.units}"
        results[name] = {"command": f"{command} --seeds {a.seeds}", "torch": torch.__version__, **tables}
        for rows in tables.values():
            for row in rows:
                print(name, {k: [round(x, 4) for x in v] if isinstance(v, tuple) else v for k, v in row.items()}, flush=True)
        OUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""What the Documents page's examples say happens, on several seeds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dashboard.documents import worker
from dashboard.documents.look import DocumentLook, Material
from dashboard.documents.presets import document_preset
from ddcl_core import TrainingRun
from ddcl_core.data.scene import load_scene

torch.set_num_threads(1)


def trained(key: str, seed: int, steps: int = 150) -> TrainingRun:
    config = document_preset(key).pairs[0].left.config.with_(seed=seed, frame_every=50)
    run = TrainingRun(config, load_scene(config.data, seed))
    run.advance(1e9, {"until_step": steps})
    return run


@pytest.mark.parametrize("seed", (0, 7))
def test_the_sections_of_the_news_are_learned_and_most_prototypes_stay(seed: int) -> None:
    run = trained("news", seed)
    metrics = run.last_frame.metrics
    assert metrics["accuracy"] > 0.7 and metrics["effective_prototypes"] > 5 and run.status == "stable"
    look = DocumentLook(Material(**worker.material(run)), **worker.moment(run))
    assert look.profile.max() > 0.5, "some prototype belongs to one section"
    faith = worker.faithfulness(run)
    assert (faith["drop_top"] - faith["drop_random"]).mean() > 0.2


def test_without_labels_prototypes_stay_apart_and_no_label_is_used() -> None:
    run = trained("clusters", 7)
    metrics = run.last_frame.metrics
    assert np.isnan(metrics["accuracy"]) and metrics["effective_prototypes"] > 3 and run.status == "stable"

"""The Hierarchy page's examples: what runs, and what to watch. `tests/hierarchy/test_hierarchy_presets.py` checks the words."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presets import Pair, Panel, Preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig
from ddcl_core.hierarchy.config import HierarchyConfig, LevelConfig

NEWS = RunConfig(
    data=DataConfig(kind="bbc", num_documents=100, tokens_per_document=48, dim=32),
    encoder=EncoderConfig(kind="residual"),
    schedule=ScheduleConfig("constant", 1.0, 1.0),
    num_prototypes=16,
    epsilon=0.02,
    lr_prototypes=0.05,
    anchor="reconstruction",
    anchor_weight=1.0,
    objective_weight=0.15,
    init_scale=0.6,
    batch_documents=50,
    frame_every=4,
    max_steps=300,
)
TWO = HierarchyConfig(NEWS, (LevelConfig(6, 1.0, 0.05),))
THREE = HierarchyConfig(replace(NEWS, num_prototypes=24), (LevelConfig(8, 1.0, 0.05), LevelConfig(3, 1.0, 0.05)))
TOPICS = HierarchyConfig(
    RunConfig(num_prototypes=12, epsilon=0.05, init_scale=0.6, frame_every=2, max_steps=300), (LevelConfig(4, 2.0, 0.1),)
)

HIERARCHY_PRESETS: tuple[Preset, ...] = (
    Preset(
        "two",
        "From words to themes",
        "Sixteen prototypes settle among the words of BBC News, and six coarser ones among those. In the tree below the maps every "
        "band is as wide as the share of words it carries; click a node for its words, parents and children. Left: three levels, "
        "right: two.",
        (Pair("", Panel("24, 8, 3", THREE), Panel("16, 6", TWO)),),
        steps_per_second=16.0,
    ),
    Preset(
        "hot-coarse",
        "One level too hot: the coarse one",
        "Six topics, the same start on both sides. On the left the coarse level alone runs at T = 60, above its critical temperature: "
        "its four prototypes fall together, while the fine level below it stays apart. On the right both levels run at T = 2.",
        (Pair("", Panel("Coarse level at T = 60", TOPICS.with_(**{"temperature@1": 60.0})), Panel("Both at T = 2", TOPICS)),),
        steps_per_second=16.0,
    ),
    Preset(
        "hot-fine",
        "One level too hot: the fine one",
        "Now the fine level alone runs at T = 60 on the left. Its prototypes fall together near step 110, and the coarse level "
        "with them, although its own T is 2: there is nothing left to tell apart. On the right both run at T = 2.",
        (Pair("", Panel("Fine level at T = 60", TOPICS.with_(temperature=60.0)), Panel("Both at T = 2", TOPICS)),),
        steps_per_second=16.0,
    ),
    Preset(
        "fast-fine",
        "Which level falls first at ε = 1?",
        "L_q alone, and on the left a fast encoder (ε = 1): it draws the tokens together and T_c falls below T on both levels. The coarse "
        "level, which has only a few prototypes to read, collapses first, near step 12; the fine one follows near step 55. On the right, "
        "with ε = 0.05, neither does.",
        (
            Pair(
                "", Panel("ε = 1 at the fine level", TOPICS.with_(epsilon=1.0, init_scale=0.2)),
                Panel("ε = 0.05", TOPICS.with_(init_scale=0.2)),
            ),
        ),
        steps_per_second=16.0,
    ),
)  # fmt: skip


def hierarchy_preset(key: str) -> Preset:
    """The example of this key. Raises KeyError when there is none."""
    return next(p for p in HIERARCHY_PRESETS if p.key == key)

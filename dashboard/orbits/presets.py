"""The Orbits page's examples: what runs, and what to watch. `tests/orbits/test_orbit_presets.py` checks every word.

Nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.presets import Pair, Panel, Preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig

DIM = 6  # all of `ddcl_core.orbits.FEATURES`
BATCH = 512  # objects a step: at 30,000 objects a step then costs what it costs at 3,000
POPULATION = DataConfig(kind="orbits", dim=DIM, num_documents=3000, imbalance=10.0, noise=0.35)
BASE = RunConfig(
    data=POPULATION,
    encoder=EncoderConfig("mlp", final_norm=False),
    schedule=ScheduleConfig("constant", 3.0, 3.0),
    num_prototypes=8,
    epsilon=0.05,
    lr_prototypes=0.5,
    initialization="kmeans++",
    batch_documents=BATCH,
    max_steps=300,
)


def _at(imbalance: float) -> RunConfig:
    return replace(BASE, data=replace(POPULATION, imbalance=imbalance))


def _pair(title: str, base: RunConfig, left: dict, right: dict, names: tuple[str, str]) -> Pair:
    return Pair(title, *(Panel(name, base.with_(**changes)) for name, changes in zip(names, (left, right), strict=True)))


_WARM_COLD = ({"temperature": 3.0}, {"temperature": 1.0}, ("Warm, T = 3", "Cold, T = 1"))

ORBIT_PRESETS: tuple[Preset, ...] = (
    Preset(
        "rare",
        "The moment k-means gives a rare regime away",
        "Four regimes, ever fewer of the rare ones. Under the maps, k-means with four clusters still gives MEO one of "
        "its own when LEO is 5 times as frequent; at 10 times it has given MEO away and cuts LEO in two instead. "
        "Eight prototypes at T = 3 (left) keep both there by step 300; at 50 times it depends on the start whether they keep MEO.",
        (
            _pair("LEO 5 times as frequent", _at(5.0), *_WARM_COLD),
            _pair("10 times: given away", _at(10.0), *_WARM_COLD),
            _pair("50 times, as in reality", _at(50.0), *_WARM_COLD),
        ),
        steps_per_second=16.0,
        map="shape",
    ),
    Preset(
        "hot",
        "Too hot",
        "The same start on both sides. The left runs at T = 30, above its critical temperature of about 17: every "
        "prototype takes a little of every object, so all of them are drawn to one spot within 40 steps. The right, "
        "at T = 3, keeps them apart.",
        (_pair("", BASE, {"temperature": 30.0}, {"temperature": 3.0}, ("Hot, T = 30", "Warm, T = 3")),),
        steps_per_second=8.0,
        colour="prototype",
        map="shape",
    ),
    Preset(
        "speed",
        "Slow against fast encoder",
        "Only ε differs. On the left (ε = 1) the encoder is as fast as the prototypes, nothing bounds its output, and "
        "within 20 steps the numbers leave what can be computed; on the right (ε = 0.05) the run stays stable.",
        (_pair("", BASE, {"epsilon": 1.0}, {"epsilon": 0.05}, ("Fast encoder, ε = 1", "Slow encoder, ε = 0.05")),),
        steps_per_second=2.0,
        map="pca",
    ),
    Preset(
        "frozen",
        "With and without an encoder",
        "On the left the features themselves are clustered, on the right a small encoder may bend them first. Watch "
        "T_c: the encoder pulls regimes apart, and T_c rises with them.",
        (
            _pair(
                "", BASE, {"encoder": EncoderConfig("none"), "epsilon": 0.0}, {}, ("No encoder", "Small encoder"),
            ),
        ),
        steps_per_second=16.0,
        map="tilt",
    ),
)  # fmt: skip


def orbit_preset(key: str) -> Preset:
    """The example called `key`, or the first one when there is none."""
    return next((p for p in ORBIT_PRESETS if p.key == key), ORBIT_PRESETS[0])

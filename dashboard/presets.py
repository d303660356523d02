"""The Stability Lab's examples: what runs, and in two sentences what to watch.

`tests/test_presets.py` runs each over several seeds and checks that what the words say happens; the figures come from
`python -m benchmarks.presets`. Nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig

SYNTHETIC = RunConfig(init_scale=0.2)
NEWS = replace(SYNTHETIC, data=DataConfig(kind="bbc"), encoder=EncoderConfig(kind="residual"))
FROZEN = RunConfig(encoder=EncoderConfig(kind="none"), init_scale=0.15, lr_prototypes=0.2)


@dataclass(frozen=True)
class Panel:
    """One side of the comparison: its name on the page and its run."""

    label: str
    config: RunConfig


@dataclass(frozen=True)
class Pair:
    """Two runs on the same data, seed and map. `title` names the pair where an example has several."""

    title: str
    left: Panel
    right: Panel

    @property
    def panels(self) -> tuple[Panel, Panel]:
        """Both sides, left first."""
        return self.left, self.right


@dataclass(frozen=True)
class Preset:
    """An example: `watch` are the two sentences beside the picture; `pairs` are shown one at a time."""

    key: str
    title: str
    watch: str
    pairs: tuple[Pair, ...]
    steps_per_second: float = 8.0
    colour: str = "class"
    map: str = "umap"


def _pair(title: str, base: RunConfig, left: dict, right: dict, names: tuple[str, str]) -> Pair:
    return Pair(title, *(Panel(name, base.with_(**changes)) for name, changes in zip(names, (left, right), strict=True)))


_ANCHORED = replace(NEWS, anchor="reconstruction", anchor_weight=0.8, lr_prototypes=0.05)
_COOLING = ScheduleConfig("exponential", start=6.0, end=0.5, steps=40)
_HELD = ScheduleConfig("constant", start=6.0, end=6.0)

PRESETS: tuple[Preset, ...] = (
    Preset(
        "collapse",
        "Collapse against stability",
        "Both panels train on the same words of BBC News from the same start; only the encoder's speed differs. On the "
        "left (ε = 1) it draws all tokens together before the prototypes have spread, and they collapse near step 95; "
        "on the right (ε = 0.05) the prototypes spread first and are still apart after 200 steps.",
        (_pair("", _ANCHORED, {"epsilon": 1.0}, {"epsilon": 0.05}, ("Fast encoder", "Slow encoder")),),
        steps_per_second=16.0,
    ),
    Preset(
        "synthetic",
        "The same on synthetic topics",
        "Six topics in 32 dimensions and no task at all, only L_q. Watch T_c(t) under the maps: on the left (ε = 1) it "
        "drops below T within ten steps and the prototypes follow, on the right (ε = 0.05) it stays above T.",
        (_pair("", SYNTHETIC, {"epsilon": 1.0}, {"epsilon": 0.05}, ("Fast encoder", "Slow encoder")),),
    ),
    Preset(
        "hot",
        "Too hot: T above T_c",
        "Same ε = 0.05 on both sides, but the left panel runs at T = 30, above its critical temperature. Every token "
        "then belongs a little to every prototype, so all are pulled to the same mean and merge near step 80; T = 2 on "
        "the right is cold enough to keep them apart.",
        (_pair("", replace(SYNTHETIC, init_scale=0.6), {"temperature": 30.0}, {"temperature": 2.0}, ("Hot", "Cold")),),
    ),
    Preset(
        "cooling",
        "Cooling saves it?",
        "Both panels start too hot for long, at T = 6; the right one cools to 0.5 within 40 steps. With a slow encoder "
        "cooling wins the race against the falling T_c; switch to the fast encoder and it comes too late on both sides.",
        (
            _pair("Slow encoder, ε = 0.05", SYNTHETIC, {"schedule": _HELD}, {"schedule": _COOLING}, ("T held", "T cooled")),
            _pair(
                "Fast encoder, ε = 1", replace(SYNTHETIC, epsilon=1.0), {"schedule": _HELD}, {"schedule": _COOLING},
                ("T held", "T cooled"),
            ),
        ),
    ),
    Preset(
        "forces",
        "Which force separates?",
        "The tokens stand still and the prototypes start close together, at a temperature between the two critical "
        "ones. Descending L_OLS alone always drives them apart and V alone always draws them together; their sum L_q "
        "still separates here, and the free energy F does not.",
        (
            _pair(
                "L_OLS against V", FROZEN, {"objective": "L_OLS", "temperature": 17.0},
                {"objective": "V", "temperature": 17.0}, ("L_OLS alone", "V alone"),
            ),
            _pair(
                "L_q against F", FROZEN, {"objective": "L_q", "temperature": 17.0},
                {"objective": "F", "temperature": 17.0}, ("L_q = L_OLS + V", "F = L_q − T H"),
            ),
        ),
        colour="prototype",
        map="pca",
    ),
    Preset(
        "dead",
        "Dead prototypes",
        "On the left the prototypes start at random places, blind to the tokens: most tokens never choose most of "
        "them, and a prototype that nobody chooses feels no force (hollow marks). On the right each starts on a token, "
        "and nearly all of them stay in use.",
        (
            _pair(
                "", replace(SYNTHETIC, num_prototypes=12, init_scale=0.6), {"initialization": "random"},
                {"initialization": "scaled"}, ("Random start", "Start from tokens"),
            ),
        ),
        colour="prototype",
    ),
    Preset(
        "news",
        "Real text, no anchor",
        "BBC News with nothing but L_q to descend: here ε decides how long, not whether. The left panel (ε = 0.05) "
        "collapses between steps 50 and 90, depending on the seed; the right one (ε = 0.01) has not at step 200, but "
        "its prototypes in use grow fewer and T_c keeps falling.",
        (_pair("", NEWS, {"epsilon": 0.05}, {"epsilon": 0.01}, ("ε = 0.05", "ε = 0.01")),),
    ),
    Preset(
        "task",
        "Real text with a task",
        "The same news with a task: name the section from the readout, with a tenth of L_q beside it. With a fast "
        "encoder (left) at most 3 of 8 prototypes are still in use after 60 steps, on some seeds only one; with a slow "
        "one (right) 6 or more are, and the sections are learned.",
        (
            _pair(
                "", replace(NEWS, anchor="classification", objective_weight=0.1, init_scale=0.6),
                {"epsilon": 1.0}, {"epsilon": 0.05}, ("Fast encoder", "Slow encoder"),
            ),
        ),
    ),
)  # fmt: skip


def preset(key: str) -> Preset:
    """The example called `key`, or the first one when there is none."""
    return next((p for p in PRESETS if p.key == key), PRESETS[0])

"""A look at the clusters: where every object stands in both runs at one moment, and what can be read out of it."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.engine.client import get_engine
from dashboard.engine.handles import EngineError
from dashboard.live.hub import get_hub
from dashboard.orbits.catalogues import catalogue_of, columns
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError
from ddcl_core.orbits import REGIMES, Catalogue

PATIENCE = 20.0  # seconds for a worker that trains and places frames beside


@dataclass(frozen=True, eq=False)
class Side:
    """One run at one step. lead, nearest (N,): the leading prototype of each object, and the nearest one in use;
    strength, distance (N,): the share of the former, how far the latter is; usage (K,), prototypes (K, d)."""

    label: str
    config: RunConfig
    step: int
    temperature: float
    status: str
    lead: np.ndarray
    strength: np.ndarray
    nearest: np.ndarray
    distance: np.ndarray
    usage: np.ndarray
    prototypes: np.ndarray

    @classmethod
    def of(cls, label: str, config: RunConfig, answer: Mapping[str, Any]) -> "Side":
        """From what `LiveRun.assign` answers."""
        return cls(label, config, **{name: answer[name] for name in cls.__annotations__ if name not in ("label", "config")})

    @property
    def count(self) -> int:
        """K."""
        return len(self.usage)

    def together(self) -> list[list[int]]:
        """Groups of two or more prototypes that stand practically on one spot: they share their objects equally, and
        which of them leads is chance. Closer than 2 % of the greatest distance between two prototypes."""
        apart = np.linalg.norm(self.prototypes[:, None] - self.prototypes[None], axis=-1)  # K, K
        near = apart <= 0.02 * max(float(apart.max()), 1e-12)
        groups: list[list[int]] = []
        for k in range(self.count):
            if not any(k in group for group in groups):
                groups.append([int(j) for j in np.flatnonzero(near[k])])
        return [group for group in groups if len(group) > 1]

    def members(self, prototype: int) -> np.ndarray:
        """Places of the objects that follow a prototype, those that follow it most surely first."""
        places = np.flatnonzero(self.lead == prototype)
        return places[np.argsort(-self.strength[places], kind="stable")]


@dataclass(frozen=True, eq=False)
class Look:
    """Both sides at about the same step, and the catalogue that they train on."""

    sides: tuple[Side, ...]
    catalogue: Catalogue

    @property
    def step(self) -> int:
        """The step of the side that is behind."""
        return min(side.step for side in self.sides)


def take_look(token: str) -> Look:
    """Ask both runs where every object stands; from a page's thread. Raises InputError with a sentence."""
    session = get_hub(get_engine()).showing(token)
    handles = [panel.handle for panel in session.panels] if session is not None else []
    if session is None or not handles or None in handles:
        raise InputError("The runs are not there yet; wait for the first picture.")
    named = [(panel.label, panel.config) for panel in session.panels]
    try:
        answers = asyncio.run(_ask(handles))
    except (EngineError, asyncio.TimeoutError) as error:
        raise InputError("The workers did not answer just now; look again in a moment.") from error
    config = named[0][1]
    catalogue = catalogue_of(config.data, config.seed)
    sides = tuple(Side.of(label, config, answer) for (label, config), answer in zip(named, answers))
    if any(len(side.lead) != len(catalogue) for side in sides):
        raise InputError("The runs have just been started anew; look again in a moment.")
    return Look(sides, catalogue)


async def _ask(handles: list[Any]) -> list[dict[str, Any]]:
    return await asyncio.gather(*(handle.call("assign", timeout=PATIENCE) for handle in handles))


# ---- what can be read out of it --------------------------------------------------------------------------------------


def confusion(look: Look, side: int) -> np.ndarray:
    """(C, K) objects of each regime that follow each prototype."""
    from ddcl_core.clustering import confusion_matrix

    return confusion_matrix(look.catalogue.regime, look.sides[side].lead, len(REGIMES), look.sides[side].count)


def cloud_table(look: Look, side: int, most: int = 12) -> tuple[list[str], np.ndarray]:
    """Names of the largest debris clouds (M,) and how many fragments of each follow each prototype (M, K)."""
    found = look.catalogue.clouds()[:most]
    lead, K = look.sides[side].lead, look.sides[side].count
    counts = [np.bincount(lead[cloud.members], minlength=K) for cloud in found]
    return [cloud.family for cloud in found], np.array(counts, dtype=int).reshape(len(found), K)


def profile(look: Look, side: int, prototype: int) -> str:
    """What a prototype holds, in one sentence: how many, which regimes, how high, how tilted, which cloud."""
    places = look.sides[side].members(prototype)
    if not len(places):
        return f"Prototype {prototype + 1} leads for no object."
    c = look.catalogue
    counts = np.bincount(c.regime[places], minlength=len(REGIMES))
    order = [n for n in np.argsort(-counts, kind="stable") if counts[n]]
    regimes = ", ".join(f"{_percent(counts[n] / len(places))} {REGIMES[n]}" for n in order)
    low, high = (np.median(values[places]) for values in (c.perigee_altitude, c.apogee_altitude))
    words = (
        f"Prototype {prototype + 1} leads for {len(places):,} of {len(c):,} objects: {regimes}. "
        f"Median orbit {low:,.0f} × {high:,.0f} km, inclination {np.median(c.inclination[places]):.1f}°, "
        f"period {np.median(c.period[places]):,.1f} minutes."
    )
    families = [c.families[n] for n in places if c.families[n]]
    if families:
        name = max(set(families), key=families.count)
        words += f" Its largest cloud: {name}, {families.count(name):,} fragments."
    return words


def holders(counts: np.ndarray) -> str:
    """Which prototypes hold a group of objects (K,), for example '3: 88 %, 5: 12 %'; less than 1 % is left out."""
    share = counts / max(counts.sum(), 1)
    order = [k for k in np.argsort(-share, kind="stable") if share[k] >= 0.01]
    return ", ".join(f"{k + 1}: {_percent(share[k])}" for k in order[:5])


def anomalies(look: Look, side: int, count: int = 25) -> dict[str, object]:
    """The objects farthest from every prototype in use, as columns; see `ddcl_core.clustering.anomalies`."""
    s = look.sides[side]
    places = np.argsort(-np.nan_to_num(s.distance), kind="stable")[:count]
    usual = max(float(np.median(s.distance)), 1e-12)
    shown = columns(look.catalogue, places)
    return {
        "object": shown.pop("object"), "distance": s.distance[places].round(3),
        "times the median": (s.distance[places] / usual).round(1), "nearest prototype": s.nearest[places] + 1, **shown,
    }  # fmt: skip


def members_csv(look: Look) -> str:
    """Every object with its orbit and where it stands on each side, as CSV."""
    table = columns(look.catalogue, np.arange(len(look.catalogue)))
    for side in look.sides:
        about = f"{side.label}, step {side.step}"
        table |= {
            f"prototype ({about})": side.lead + 1, f"share ({about})": side.strength.round(4),
            f"distance ({about})": side.distance.round(4),
        }  # fmt: skip
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_safe, table))
    writer.writerows(zip(*([_safe(v) for v in list(values)] for values in table.values()), strict=True))
    return out.getvalue()


def _safe(value: Any) -> Any:
    """A name is free text: a spreadsheet must not take it for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"

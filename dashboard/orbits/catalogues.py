"""The catalogue behind a configuration, in the page process: made, or taken from what was loaded; and said in words."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import numpy as np

from dashboard.engine.uploads import uploads
from dashboard.process_state import once
from ddcl_core.config import DataConfig
from ddcl_core.errors import InputError
from ddcl_core.orbits import Catalogue, catalogue_for, read_catalogue

KEPT = 4


class _Made:
    """The last few synthetic catalogues: making one of 30,000 objects takes a tenth of a second."""

    def __init__(self) -> None:
        self.kept: OrderedDict[tuple[DataConfig, int], Catalogue] = OrderedDict()
        self.lock = Lock()


def catalogue_of(data: DataConfig, seed: int) -> Catalogue:
    """The catalogue that a run of this configuration trains on; its places are the tokens. Raises InputError."""
    held = uploads().held(data)
    if held is not None:
        return held
    made = once("orbit catalogues", _Made)
    with made.lock:
        if (data, seed) not in made.kept:
            made.kept[data, seed] = catalogue_for(data, seed)
            while len(made.kept) > KEPT:
                made.kept.popitem(last=False)
        made.kept.move_to_end((data, seed))
        return made.kept[data, seed]


def load_upload(content: bytes, name: str, most: int = 100_000) -> tuple[str, Catalogue]:
    """Reference and catalogue of a file that a person chose; raises InputError with one sentence when it is none."""
    catalogue = read_catalogue(content, name)
    if len(catalogue) > most:
        raise InputError(f"The file holds {len(catalogue):,} objects, and at most {most:,} train here; cut it into parts.")
    return uploads().keep(content, catalogue), catalogue


def in_words(catalogue: Catalogue) -> str:
    """What is in a catalogue: regimes, kinds and clouds, the largest first, in two or three sentences."""
    regimes = _listed(catalogue.counts())
    words = f"{len(catalogue):,} {'object' if len(catalogue) == 1 else 'objects'}: {regimes}."
    if any(catalogue.numbers):
        words += f" By name: {_listed(catalogue.kind_counts(), plural=True)}."
    clouds = catalogue.clouds()
    if clouds:
        named = ", ".join(f"{cloud.family} {len(cloud.members):,}" for cloud in clouds[:5])
        more = f" and {len(clouds) - 5} smaller ones" if len(clouds) > 5 else ""
        words += f" Debris clouds: {named}{more}."
    return words


def _listed(counts: dict[str, int], plural: bool = False) -> str:
    ordered = sorted(((n, name) for name, n in counts.items() if n), reverse=True)
    plurals = {"payload": "payloads", "rocket body": "rocket bodies"}
    return ", ".join(f"{n:,} {plurals.get(name, name) if plural and n > 1 else name}" for n, name in ordered)


def columns(catalogue: Catalogue, places: np.ndarray) -> dict[str, object]:
    """Orbits of the objects at these places as named columns with units."""
    from ddcl_core.orbits import KINDS, REGIMES

    return {
        "object": [catalogue.names[n] for n in places],
        "catalogue number": [int(n) or None for n in catalogue.numbers[places]],
        "regime": [REGIMES[n] for n in catalogue.regime[places]],
        "kind": [KINDS[n] for n in catalogue.kind[places]],
        "perigee (km)": catalogue.perigee_altitude[places].round(0),
        "apogee (km)": catalogue.apogee_altitude[places].round(0),
        "period (min)": catalogue.period[places].round(1),
        "inclination (°)": catalogue.inclination[places].round(2),
        "eccentricity": catalogue.eccentricity[places].round(5),
        "cloud": [catalogue.families[n] for n in places],
    }

"""The Earth with the orbits of one prototype, as a still plotly figure that is turned with the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dashboard.theme import palette
from ddcl_core.orbits import EARTH_RADIUS, REGIMES, Catalogue, orbit_paths

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_ORBITS = 60
POINTS = 73  # corners of an ellipse: every five degrees
_HALF = 0.5
_UNIT = 1000.0  # the figure is in thousands of kilometres


def chosen_orbits(places: np.ndarray, most: int = MOST_ORBITS) -> np.ndarray:
    """At most `most` of the places, evenly spread over them."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).round().astype(int)]


def earth_figure(catalogue: Catalogue, places: np.ndarray, theme: str = "light") -> "Figure":
    """Ellipses of the objects at `places` (a colour a regime) around a globe with its graticule, to scale."""
    from plotly import graph_objects as go

    dark = theme == "dark"
    ink, ground = ("#c9ced6", "#1b2a3a") if dark else ("#4d4d4d", "#dbe7f1")
    figure = go.Figure([_globe(go, ground), _graticule(go, ink)])
    for number, name in enumerate(REGIMES):
        here = places[catalogue.regime[places] == number]
        if not len(here):
            continue
        paths = orbit_paths(
            catalogue.axis[here], catalogue.eccentricity[here], catalogue.inclination[here], catalogue.node[here],
            catalogue.perigee[here], POINTS,
        ) / _UNIT  # fmt: skip
        gap = np.full((len(here), 1, 3), np.nan)  # lifts the pen between two orbits
        line = np.concatenate([paths, gap], axis=1).reshape(-1, 3).round(3)
        names = np.repeat([catalogue.names[n] for n in here], POINTS + 1)
        figure.add_trace(
            go.Scatter3d(
                x=line[:, 0], y=line[:, 1], z=line[:, 2], mode="lines", name=f"{name} ({len(here)})", text=names,
                hovertemplate="%{text}<extra></extra>", opacity=0.8,
                line={"color": palette(theme)[number], "width": 2.5},
            )
        )  # fmt: skip
    reach = float(np.abs(catalogue.axis[places] * (1 + catalogue.eccentricity[places])).max()) if len(places) else 8000.0
    # The view is drawn close around the orbits; a low orbit beside a distant one stays to scale.
    axis = {"visible": False, "range": [-reach / _UNIT, reach / _UNIT]}
    figure.update_layout(
        scene={"xaxis": axis, "yaxis": axis, "zaxis": axis, "aspectmode": "cube",
               "camera": {"eye": {"x": 0.78, "y": 0.78, "z": 0.42}}},
        margin={"l": 0, "r": 0, "t": 0, "b": 0}, height=460, showlegend=True,
        legend={"orientation": "h", "y": 0.02, "x": 0.5, "xanchor": "center"},
        paper_bgcolor="rgba(0,0,0,0)",
        uirevision="orbits",
    )  # fmt: skip
    return figure


def alt_text(catalogue: Catalogue, places: np.ndarray, prototype: int, total: int) -> str:
    """The figure in words."""
    counts = np.bincount(catalogue.regime[places], minlength=len(REGIMES))
    said = ", ".join(f"{n} {name}" for n, name in zip(counts, REGIMES) if n) or "none"
    low, high = catalogue.perigee_altitude[places], catalogue.apogee_altitude[places]
    between = f", between {low.min():,.0f} and {high.max():,.0f} km above the ground" if len(places) else ""
    return f"The Earth with {len(places)} of the {total:,} orbits of prototype {prototype + 1}: {said}{between}."


def _globe(go: object, color: str) -> object:
    longitude, latitude = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(-np.pi / 2, np.pi / 2, 19))
    r = EARTH_RADIUS / _UNIT
    x, y, z = r * np.cos(latitude) * np.cos(longitude), r * np.cos(latitude) * np.sin(longitude), r * np.sin(latitude)
    return go.Surface(
        x=x.round(3), y=y.round(3), z=z.round(3), surfacecolor=np.full_like(x, _HALF), cmin=0, cmax=1,
        colorscale=[[0, color], [1, color]], showscale=False, hoverinfo="skip", name="Earth",
        lighting={"ambient": 1.0, "diffuse": 0.0, "specular": 0.0},
    )  # fmt: skip


def _graticule(go: object, color: str) -> object:
    r = 1.003 * EARTH_RADIUS / _UNIT
    turn = np.linspace(0, 2 * np.pi, 61)
    rings = [np.stack([r * np.cos(b) * np.cos(turn), r * np.cos(b) * np.sin(turn), np.full(61, r * np.sin(b))], 1)
             for b in np.radians([-60, -30, 0, 30, 60])]  # fmt: skip
    rings += [np.stack([r * np.cos(turn) * np.cos(a), r * np.cos(turn) * np.sin(a), r * np.sin(turn)], 1)
              for a in np.radians([0, 30, 60, 90, 120, 150])]  # fmt: skip
    gap = np.full((1, 3), np.nan)
    line = np.concatenate([part for ring in rings for part in (ring, gap)]).round(3)
    return go.Scatter3d(
        x=line[:, 0], y=line[:, 1], z=line[:, 2], mode="lines", hoverinfo="skip", showlegend=False, name="graticule",
        line={"color": color, "width": 1}, opacity=0.5,
    )  # fmt: skip

"""A few real element sets as text, and the same orbits as GP data."""

ISS = (
    "ISS (ZARYA)",
    "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927",
    "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537",
)
GPS = (
    "NAVSTAR 43 (USA 132)",
    "1 24876U 97035A   21218.25916802  .00000009  00000-0  00000-0 0  9997",
    "2 24876  55.4781 167.9697 0050396  53.2946 307.1340  2.00562467176336",
)
DEBRIS = (
    "COSMOS 2251 DEB",
    "1 33757U 93036E   21218.11213353 -.00000013  00000-0  48175-5 0  9994",
    "2 33757  74.0385 344.0358 0014546  23.0955 151.1265 14.32055095652373",
)
MOLNIYA = (
    "MOLNIYA 2-10",
    "1 07376U 74056A   21218.18377487 -.00001004  00000-0  00000-0 0  9990",
    "2 07376  63.7529 126.8798 6671864 289.2664  13.2135  2.01140029344019",
)
GEO = (
    "INTELSAT 26 (IS-26)",
    "1 24732U 97007A   21218.60063328 -.00000018  00000-0  00000-0 0  9993",
    "2 24732   9.6205  40.5531 0004461  61.5265 135.6029  1.00272308 54930",
)
ROCKET = (
    "SL-12 R/B(2)",
    "1 11567U 74017F   21218.83782691  .00000104  00000-0  00000+0 0  9991",
    "2 11567   5.1840 288.0338 0045917  24.7392 119.5137  1.00996865174738",
)
ALL = (ISS, GPS, DEBRIS, MOLNIYA, GEO, ROCKET)


def text(*sets: tuple[str, ...], end: str = "\n") -> str:
    """A file of these element sets."""
    return end.join(line for one in sets for line in one) + end


def resum(line: str) -> str:
    """The line with its checksum put right, so that a test breaks one thing at a time."""
    total = sum(int(c) if c.isdigit() else c == "-" for c in line[:68])
    return line[:68] + str(total % 10)


def changed(one: tuple[str, str, str], line: int, start: int, value: str) -> tuple[str, str, str]:
    """An element set with `value` written into a line (1 or 2) at a column (from 0), checksum put right."""
    lines = list(one)
    old = lines[line]
    lines[line] = resum(old[:start] + value + old[start + len(value) :])
    return tuple(lines)


GP = {
    "OBJECT_NAME": "NAVSTAR 43 (USA 132)", "OBJECT_ID": "1997-035A", "EPOCH": "2021-08-06T06:13:12.116928",
    "MEAN_MOTION": 2.00562467, "ECCENTRICITY": 0.0050396, "INCLINATION": 55.4781, "RA_OF_ASC_NODE": 167.9697,
    "ARG_OF_PERICENTER": 53.2946, "MEAN_ANOMALY": 307.1340, "NORAD_CAT_ID": 24876, "BSTAR": 0,
}  # fmt: skip

"""Reading catalogues: every format, and every way in which a line can be wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sgp4.api import Satrec

from ddcl_core.errors import InputError
from ddcl_core.orbits import KINDS, REGIMES, family_of, kind_of, load_catalogue, read_catalogue
from tests.orbits.catalogue_text import ALL, DEBRIS, GEO, GP, GPS, ISS, MOLNIYA, ROCKET, changed, resum, text


def only_problem(content: str | bytes):
    """What was wrong in a file of one bad set and one good one, which must load."""
    catalogue = read_catalogue(content)
    assert catalogue.names == (GEO[0],)
    (problem,) = catalogue.problems
    return problem


def test_importing_the_package_loads_neither_sgp4_nor_torch_nor_sklearn():
    heavy = "'sgp4 torch sklearn scipy pandas'.split()"
    code = f"import sys, ddcl_core.orbits, ddcl_core.clustering; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_elements_are_those_that_sgp4_reads():
    catalogue = read_catalogue(text(*ALL))
    assert not catalogue.problems and len(catalogue) == 6
    for place, (name, one, two) in enumerate(ALL):
        satellite = Satrec.twoline2rv(one, two)
        assert catalogue.names[place] == name and catalogue.numbers[place] == satellite.satnum
        assert catalogue.eccentricity[place] == satellite.ecco
        assert catalogue.mean_motion[place] == pytest.approx(float(two[52:63]), rel=1e-12)
        for column, where in (("inclination", slice(8, 16)), ("node", slice(17, 25)), ("perigee", slice(34, 42))):
            assert getattr(catalogue, column)[place] == pytest.approx(float(two[where]), abs=1e-9)
        # SGP4's own semi-major axis is Brouwer's, ours Kepler's: they differ by terms of the order of J2
        assert catalogue.axis[place] == pytest.approx(satellite.a * satellite.radiusearthkm, rel=1e-3)
        assert catalogue.epochs[place] == pytest.approx(satellite.jdsatepoch + satellite.jdsatepochF)


def test_regimes_kinds_and_altitudes_of_known_objects():
    catalogue = read_catalogue(text(*ALL))
    assert [REGIMES[r] for r in catalogue.regime] == ["LEO", "MEO", "LEO", "HEO", "GEO", "GEO"]
    assert [KINDS[k] for k in catalogue.kind] == ["payload", "payload", "debris", "payload", "payload", "rocket body"]
    assert catalogue.families == ("", "", "Cosmos-2251", "", "", "")
    assert catalogue.perigee_altitude[0] == pytest.approx(347, abs=8)  # the ISS in September 2008
    assert catalogue.apogee_altitude[3] == pytest.approx(37_850, abs=300)
    assert catalogue.period[4] == pytest.approx(1436.1, abs=0.1)
    assert catalogue.counts() == {"LEO": 2, "MEO": 1, "GEO": 2, "HEO": 1}
    assert "COSMOS 2251 DEB (33757): LEO" in catalogue.describe(2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("zero", ["", "0 "])
def test_line_ends_blank_lines_and_three_line_names(end, zero):
    sets = [(zero + one[0], one[1] + "  ", "", one[2]) for one in ALL]
    catalogue = read_catalogue((end + text(*sets, end=end)).encode())
    assert catalogue.names == tuple(one[0] for one in ALL) and not catalogue.problems


def test_sets_without_names_are_called_by_their_number():
    catalogue = read_catalogue(text(*(one[1:] for one in ALL)))
    assert catalogue.names[:2] == ("object 25544", "object 24876") and not catalogue.problems


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]
)  # fmt: skip
def test_encodings(encoding):
    named = ("GRÜN-SAT", *GPS[1:])
    catalogue = read_catalogue(text(named, GEO).encode(encoding))
    assert catalogue.names == ("GRÜN-SAT", GEO[0])
    assert bool(catalogue.notes) == (encoding not in ("utf-8", "utf-8-sig"))


@pytest.mark.parametrize(
    ("bad", "line", "reason"),
    [
        ((GPS[0], GPS[1][:-1] + "3", GPS[2]), 2, "checksum of line 1 is '3', but its digits give 7"),
        ((GPS[0], GPS[1], GPS[2][:-1] + "x"), 3, "checksum of line 2 is 'x'"),
        ((GPS[0], GPS[1], GPS[2][:50]), 3, "line 2 has 50 characters instead of 69: it is cut off"),
        ((GPS[0], GPS[1] + "12", GPS[2]), 2, "71 characters instead of 69: something was added"),
        ((GPS[0], GPS[1].replace("U", "Ü"), GPS[2]), 2, "holds 'Ü'.*ASCII"),
        ((GPS[0], GPS[1], resum(GPS[2].replace("5.4781", "5,4781"))), 3, "columns of line 2"),
        ((GPS[0], GPS[1], GPS[2].replace("2 ", "X ", 1)), 2, "followed by something that is not a line 2"),
        ((GPS[0], GPS[2]), 2, "a line 2 without its line 1"),
        ((GPS[0], GPS[1], "rubbish"), 2, "followed by something that is not a line 2"),
        (("a comment",), 1, "neither a name"),
        (changed(GPS, 2, 2, "24877"), 3, "line 1 belongs to object 24876 and line 2 to 24877"),
        (changed(GPS, 2, 26, "9000000"), 2, "perigee lies at -.* decayed"),
        (changed(ISS, 2, 52, "16.90000000"), 2, "decayed"),
        (changed(ISS, 2, 52, "19.90000000"), 2, "19.9 revolutions a day"),
        (changed(ISS, 2, 52, " 0.00000000"), 2, "0 revolutions a day"),
        (changed(ISS, 2, 8, "190.0000"), 2, "inclination is 190"),
    ],
)
def test_a_bad_set_is_reported_with_line_and_reason_and_the_rest_loads(bad, line, reason):
    problem = only_problem(text(bad, GEO))
    assert problem.line == line
    import re

    assert re.search(reason, problem.reason), problem.reason


def test_a_file_that_ends_too_early():
    catalogue = read_catalogue(text(GEO) + GPS[0])
    assert "ends after a name" in catalogue.problems[0].reason
    assert "without its line 2" in read_catalogue(text(GEO, GPS[:2])).problems[0].reason


def test_of_two_sets_for_one_object_the_newest_stays_wherever_it_stands():
    newer = changed(GPS, 1, 20, "219")
    for sets, kept, dropped in (((GPS, newer), 5, 2), ((newer, GPS), 2, 5)):
        catalogue = read_catalogue(text(*sets))
        assert len(catalogue) == 1 and catalogue.epochs[0] == pytest.approx(2459433.759168, abs=1e-5)
        assert catalogue.problems[0].line == dropped
        assert f"newer set for object 24876 stands in line {kept}" in catalogue.problems[0].reason
    assert "the same set" in read_catalogue(text(GPS, GPS)).problems[0].reason


def test_alpha5_numbers():
    one = changed(changed(GPS, 1, 2, "A0001"), 2, 2, "A0001")
    two = changed(changed(DEBRIS, 1, 2, "Z9999"), 2, 2, "Z9999")
    assert read_catalogue(text(one, two)).numbers.tolist() == [100_001, 339_999]


@pytest.mark.parametrize("as_text", [False, True])
def test_gp_data_as_csv_and_json_give_the_orbit_of_the_two_lines(as_text):
    row = {k: str(v) for k, v in GP.items()} if as_text else GP
    table = ",".join(row) + "\r\n" + ",".join(map(str, row.values())) + "\r\n"
    reference = read_catalogue(text(GPS))
    lower = table.lower().replace("t06", "T06")
    for content in (json.dumps([row]), json.dumps(row), table, table.replace(",", ";"), lower):
        catalogue = read_catalogue(content.encode())
        assert not catalogue.problems and catalogue.numbers[0] == 24876
        for name in ("mean_motion", "eccentricity", "inclination", "node", "perigee", "anomaly", "drag", "epochs"):
            np.testing.assert_allclose(getattr(catalogue, name), getattr(reference, name), rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ECCENTRICITY": 1.2}, "eccentricity is 1.2"),
        ({"ECCENTRICITY": -0.1}, "eccentricity is -0.1"),
        ({"ECCENTRICITY": "nan"}, "not a finite number"),
        ({"ECCENTRICITY": "abc"}, "ECCENTRICITY is 'abc', which is not a number"),
        ({"MEAN_MOTION": ""}, "MEAN_MOTION is missing"),
        ({"EPOCH": "yesterday"}, "EPOCH is 'yesterday'"),
        ({"DECAY_DATE": "2020-01-02"}, "decayed on 2020-01-02"),
        ({"NORAD_CAT_ID": 1.5}, "whole number"),
        ({"NORAD_CAT_ID": 10**9}, "nine digits"),
        ({"REV_AT_EPOCH": "many"}, "SGP4 cannot read it"),
    ],
)
def test_bad_records_of_gp_data(change, reason):
    good = GP | {"NORAD_CAT_ID": 7, "OBJECT_NAME": "GOOD"}
    catalogue = read_catalogue(json.dumps([GP | change, good]))
    assert catalogue.names == ("GOOD",)
    assert catalogue.problems[0].line == 1 and reason in catalogue.problems[0].reason


def test_gp_data_hold_long_numbers_types_and_other_spellings_of_time():
    rows = [
        GP | {"NORAD_CAT_ID": 799_500_123, "OBJECT_TYPE": "DEBRIS", "EPOCH": "2021-08-06T06:13:12.116928Z"},
        GP | {"NORAD_CAT_ID": 5, "OBJECT_TYPE": "ROCKET BODY", "EPOCH": "2021-08-06 08:13:12.116928+02:00"},
        GP | {"NORAD_CAT_ID": 6, "EPOCH": "2021-08-06T06:13:12"},
        "nonsense",
    ]
    catalogue = read_catalogue(json.dumps(rows))
    assert catalogue.numbers.tolist() == [799_500_123, 5, 6]
    assert [KINDS[k] for k in catalogue.kind] == ["debris", "rocket body", "payload"]
    assert np.ptp(catalogue.epochs) < 1e-4
    assert catalogue.problems[0].line == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"), (b" \r\n \n", "empty"), ("\ufeff".encode(), "empty"),
        (b"PK\x03\x04 some packed bytes \x00\x00", "not a text file"),
        (b"hello\nworld", "no element sets"), (b"<html>", "web page"), (b"[1, 2", "JSON"), (b"[]", "None of the 0"),
        (b"3", "no element sets"), (b"OBJECT_NAME,MEAN_MOTION\nx,2", "no column NORAD_CAT_ID"),
        (text((GPS[0], GPS[1][:-1] + "3", GPS[2])).encode(), "None of the 1 .*line 2: the checksum"),
        (b"[" * 100_000, "JSON"),
    ],
)  # fmt: skip
def test_files_of_which_nothing_can_be_used(content, reason):
    with pytest.raises(InputError, match=reason):
        read_catalogue(content)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="nothing.tle cannot be opened"):
        load_catalogue(tmp_path / "nothing.tle")
    (tmp_path / "x.tle").write_text(text(*ALL))
    assert len(load_catalogue(tmp_path / "x.tle")) == 6


@pytest.mark.parametrize("seed", range(3))
def test_no_rubbish_makes_the_reader_fail_in_another_way(seed):
    rng = np.random.default_rng(seed)
    whole = text(*ALL).encode()
    for _ in range(60):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), rng.integers(1, 40)):
            content[place] = rng.integers(0, 256)
        try:
            catalogue = read_catalogue(bytes(content[rng.integers(0, 80) : rng.integers(200, len(content))]))
        except InputError:
            continue
        assert np.isfinite(catalogue.axis).all() and (catalogue.perigee_altitude > 80).all()


@pytest.mark.parametrize(
    ("name", "kind", "family"),
    [
        ("FENGYUN 1C DEB", "debris", "Fengyun-1C"), ("FENGYUN 1C", "payload", ""),
        ("FENGYUN 1D DEB", "debris", "FENGYUN 1D"),
        ("IRIDIUM 33 DEB", "debris", "Iridium-33"), ("COSMOS 2251 DEB", "debris", "Cosmos-2251"),
        ("COSMOS 1408 DEB", "debris", "COSMOS 1408"), ("BREEZE-M DEB [TANK]", "debris", "BREEZE-M"),
        ("CZ-3B R/B", "rocket body", ""), ("METEOSAT-4 AKM", "rocket body", ""), ("REMOVEDEBRIS", "payload", ""),
        ("UNKNOWN", "unknown", ""), ("OBJECT A", "unknown", ""), ("", "unknown", ""), ("STARLINK-1007", "payload", ""),
        ("iridium  33 deb", "debris", "Iridium-33"),
    ],
)  # fmt: skip
def test_kinds_and_families_from_names(name, kind, family):
    assert KINDS[kind_of(name)] == kind and family_of(name) == family


def test_clouds_are_sorted_by_size_and_told_apart():
    number = iter(range(10_000, 99_999))

    def again(name: str) -> tuple[str, str, str]:
        n = f"{next(number):05d}"
        return changed(changed((name, *DEBRIS[1:]), 1, 2, n), 2, 2, n)

    names = ["CZ-4 DEB"] * 3 + ["COSMOS 2251 DEB"] * 5 + ["FENGYUN 1C DEB"] * 2
    catalogue = read_catalogue(text(*map(again, names), ROCKET, MOLNIYA))
    clouds = catalogue.clouds(minimum=3)
    assert [(c.family, len(c.members)) for c in clouds] == [("Cosmos-2251", 5), ("CZ-4", 3)]
    assert "2009" in clouds[0].event and clouds[1].event == ""
    assert set(catalogue.take(clouds[0].members).families) == {"Cosmos-2251"}

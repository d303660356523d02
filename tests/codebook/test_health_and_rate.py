"""Verdicts and rates, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ddcl_core import InputError
from ddcl_core.codebook import VERDICTS, bits_per_pixel, codebook_health

NAN = float("nan")


@pytest.mark.parametrize(
    "numbers, key",
    [
        ((1.0, 0.8, 0.1), "alive"),
        ((0.9, 0.1, 0.5, 0.5), "alive"),
        ((1.0, 0.0, 0.99), "thermal"),  # every code used, every code the same: never healthy
        ((1.0, 0.0, 0.2), "close"),
        ((0.3, 0.02, 0.99), "collapsed"),
        ((0.3, 0.8, 0.1), "dead"),
        ((0.3, 0.8, 0.9), "dead"),
        ((1.0, 0.8, 0.9), "poor"),
        ((1.0, 0.8, 0.1, 0.9), "soft_only"),
        ((NAN, 0.8, 0.1), "diverged"),
        ((1.0, 0.8, math.inf), "diverged"),
    ],
)
def test_verdicts(numbers, key):
    health = codebook_health(*numbers)
    assert health.key == key and health.words == VERDICTS[key] and health.why and health.alive == (key == "alive")


def test_weights_tell_thermal_collapse_where_argmax_is_chance():
    assert codebook_health(0.3, 0.02, 0.99, 0.99, 1.0).key == "thermal"
    assert codebook_health(0.3, 0.02, 0.99, 0.99, 0.4).key == "collapsed"
    assert codebook_health(0.3, 0.8, 0.1, 0.1, 1.0).key == "dead", "weights alone make no code used"


def test_full_usage_alone_is_never_alive():
    assert not any(codebook_health(1.0, s, e).alive for s in (0.0, 0.05, 0.5) for e in (0.6, 1.0, 2.0))


def test_bits_per_pixel_by_hand():
    assert bits_per_pixel(64) == pytest.approx(6 / 16)
    assert bits_per_pixel(1) == 0.0
    assert bits_per_pixel(4, np.array([0.5, 0.25, 0.25, 0.0])) == pytest.approx(1.5 / 16)
    assert bits_per_pixel(8, np.full(8, 1 / 8), cell=2) == pytest.approx(3 / 4)
    with pytest.raises(InputError):
        bits_per_pixel(0)

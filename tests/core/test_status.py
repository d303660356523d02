"""The verdict follows the rule of DESIGN, section 2, step by step."""

import math

import pytest

from ddcl_core.errors import InputError
from ddcl_core.status import StatusTracker

HEALTHY = dict.fromkeys(
    ("L_q", "L_OLS", "V", "H", "F", "F_tilde", "separation_mean", "lambda_max"), 1.0
) | {"token_spread": 2.0, "weighted_separation": 1.0, "effective_prototypes": 6.0, "critical_temperature": math.inf}
# reach = sqrt(2 * 2) = 2, so the border of the weighted separation is 0.2 and the way back 0.3


def run(*changes, k=8):
    tracker = StatusTracker(k)
    return tracker, [tracker.update(10 * i, HEALTHY | change) for i, change in enumerate(changes)]


def test_a_healthy_run_is_stable_even_with_infinite_critical_temperature():
    tracker, seen = run({}, {}, {})
    assert seen == ["stable"] * 3 and tracker.step is None and tracker.collapsed_step is None


@pytest.mark.parametrize("low, high", [
    ({"effective_prototypes": 1.49}, {"effective_prototypes": 1.51}),
    ({"weighted_separation": 0.199}, {"weighted_separation": 0.201}),
])  # fmt: skip
def test_both_borders(low, high):
    assert run({}, high)[1][-1] == "stable"
    tracker, seen = run({}, {}, low)
    assert seen[-1] == "collapsed" and tracker.step == tracker.collapsed_step == 20


def test_the_spread_of_the_start_sets_the_scale_not_that_of_now():
    assert run({}, {"token_spread": 1e-6, "weighted_separation": 0.1})[1][-1] == "collapsed"


def test_recovery_needs_a_margin_and_the_first_collapse_is_remembered():
    low, border, clear = ({"weighted_separation": w} for w in (0.1, 0.25, 0.31))
    tracker, seen = run({}, low, border, clear, {}, low)
    assert seen == ["stable", "collapsed", "collapsed", "stable", "stable", "collapsed"]
    assert (tracker.collapsed_step, tracker.recovered_step, tracker.step) == (10, 30, 50)


def test_two_prototypes_can_recover_although_they_never_reach_the_margin():
    low, back = {"effective_prototypes": 1.2}, {"effective_prototypes": 1.8}
    assert run({"effective_prototypes": 2.0}, low, back, k=2)[1][-1] == "stable"


def test_a_run_that_starts_together_is_unresolved_until_it_leaves():
    low = {"weighted_separation": 0.01}
    tracker, seen = run(low, low, {}, low)
    assert seen == ["unresolved", "unresolved", "stable", "collapsed"] and tracker.collapsed_step == 30


@pytest.mark.parametrize("name", ["L_q", "F_tilde", "weighted_separation", "token_spread"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_divergence_is_final(name, value):
    tracker, seen = run({}, {name: value}, {})
    assert seen == ["stable", "diverged", "diverged"] and tracker.step == 10
    other = StatusTracker(8)
    assert other.update(4, HEALTHY, finite=False) == "diverged" and other.step == 4


def test_saved_and_read_back_it_goes_on_exactly():
    changes = [{}, {"weighted_separation": 0.1}, {"weighted_separation": 0.25}, {}, {"effective_prototypes": 1.0}]
    for cut in range(len(changes)):
        whole, _ = run(*changes)
        first, _ = run(*changes[:cut])
        second = StatusTracker.from_dict(first.to_dict())
        for i, change in enumerate(changes[cut:], cut):
            second.update(10 * i, HEALTHY | change)
        assert second.to_dict() == whole.to_dict()
    with pytest.raises(InputError, match="not a saved status"):
        StatusTracker.from_dict({"status": "stable"})

"""Temperature schedules by hand; two-speed parameter groups."""

import math
import subprocess
import sys

import pytest
import torch
from torch import nn

from ddcl_core.config import ScheduleConfig
from ddcl_core.errors import InputError
from ddcl_core.optim import parameter_groups, set_epsilon, set_learning_rates
from ddcl_core.schedules import temperature_at


@pytest.mark.parametrize("kind, quarter, half", [
    ("linear", 12.25, 8.5), ("exponential", 8.0, 4.0), ("cosine", 1 + 7.5 * (1 + math.sqrt(0.5)), 8.5),
    ("constant", 16.0, 16.0), ("by_hand", 16.0, 16.0),
])  # fmt: skip
def test_schedules_by_hand(kind, quarter, half):
    schedule = ScheduleConfig(kind, start=16.0, end=1.0, steps=40)
    assert temperature_at(schedule, 0) == 16.0
    assert temperature_at(schedule, 10) == pytest.approx(quarter)
    assert temperature_at(schedule, 20) == pytest.approx(half)
    last = 16.0 if kind in ("constant", "by_hand") else 1.0
    assert temperature_at(schedule, 40) == temperature_at(schedule, 10**9) == last
    with pytest.raises(InputError, match="step is -1"):
        temperature_at(schedule, -1)


@pytest.mark.parametrize("kind", ["linear", "exponential", "cosine"])
def test_schedules_cool_without_a_jump(kind):
    schedule = ScheduleConfig(kind, start=1e3, end=1e-3, steps=1000)
    values = [temperature_at(schedule, s) for s in range(1001)]
    assert all(0 < b < a for a, b in zip(values, values[1:]))


def test_schedules_and_status_do_without_torch():
    code = "import sys, ddcl_core.schedules, ddcl_core.status; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_groups_have_two_speeds_and_take_every_parameter_once():
    shared = nn.Linear(2, 2)
    encoder = nn.Sequential(shared, nn.Linear(2, 2, bias=False), shared)
    prototypes = nn.Parameter(torch.zeros(3, 2))
    encoder.prototypes = prototypes  # the layer lives inside the encoder
    head = nn.Linear(2, 2)
    slow, fast, task = parameter_groups(encoder, prototypes, 0.1, 0.05, extra=head)
    assert (slow["name"], slow["lr"]) == ("encoder", pytest.approx(0.005)) and len(slow["params"]) == 3
    assert (fast["name"], fast["lr"], fast["params"]) == ("prototypes", 0.1, [prototypes])
    assert (task["name"], task["lr"]) == ("extra", 0.1) and len(task["params"]) == 2


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_epsilon_changes_between_two_steps(optimizer):
    encoder, prototypes = nn.Linear(2, 2), nn.Parameter(torch.ones(3, 2))
    opt = optimizer(parameter_groups(encoder, prototypes, 0.1, 1.0))
    set_epsilon(opt, 0.0)
    before = encoder.weight.detach().clone()
    (encoder.weight.sum() + encoder.bias.sum() + prototypes.sum()).backward()
    opt.step()
    assert torch.equal(encoder.weight, before) and torch.allclose(prototypes, torch.full((3, 2), 0.9))
    set_learning_rates(opt, 0.2, 0.5)
    assert [g["lr"] for g in opt.param_groups] == [0.1, 0.2]


def test_frozen_encoder_without_parameters_still_has_its_group():
    groups = parameter_groups(nn.Identity(), nn.Parameter(torch.zeros(1)), 0.1, 1.0)
    assert [g["name"] for g in groups] == ["encoder", "prototypes"] and groups[0]["params"] == []
    torch.optim.SGD(groups).step()


@pytest.mark.parametrize("rates", [(-0.1, 1.0), (0.1, math.nan), (math.inf, 1.0)])
def test_impossible_rates_get_a_sentence(rates):
    with pytest.raises(InputError, match="finite number, 0 or more"):
        parameter_groups(nn.Identity(), nn.Parameter(torch.zeros(1)), *rates)
    with pytest.raises(InputError, match="parameter_groups"):
        set_epsilon(torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1), 0.5)

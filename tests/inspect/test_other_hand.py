"""The rules beside a second generator, of another hand and other networks, and both generators in PyTorch."""

from __future__ import annotations

import secrets
import sys

import pytest

from harness.inspect import inspect
from harness.testing.sick import KINDS, make
from tests.inspect.held import healthy_ones, sick_ones, wrong
from tests.inspect.other import networks
from tests.inspect.other import training_faults as faults

#: seed of the runs that are the same everywhere
SEED = 20261129
_EMULATED = [kind for kind in faults.FAULTS if kind not in faults.NOT_IN["emulator"]]
#: told as a note on purpose: weights of the first layers that get no gradient can be frozen
_NOTED = {"cut in the middle"}
_QUICK = {"row divided by its sum", "loss with the wrong sign", "wrong attention axis"}


@pytest.mark.parametrize(
    "kind", [kind if kind in _QUICK else pytest.param(kind, marks=pytest.mark.long) for kind in _EMULATED]
)
def test_a_fault_of_another_hand_is_told(kind: str) -> None:
    other = faults.make(kind, SEED)
    report = inspect(other.capture("emulator"))
    if kind in _NOTED:
        assert any(each.kind in other.says for each in report.findings)
        return
    assert other.right(report), [(each.kind, each.operator, each.iteration) for each in report.findings]


@pytest.mark.parametrize(
    "name", [each if each == "lenet" else pytest.param(each, marks=pytest.mark.long) for each in networks.NETWORKS]
)
def test_a_healthy_network_of_another_hand_has_no_error(name: str) -> None:
    import numpy as np

    report = inspect(networks.draw(np.random.default_rng(SEED), name)[1].capture("emulator"))
    assert len(report.iterations) == 10
    assert report.code == 0, [(each.kind, each.text) for each in report.errors]


@pytest.mark.interop
@pytest.mark.parametrize("kind", KINDS)
def test_a_sick_training_in_pytorch_is_told(kind: str) -> None:
    pytest.importorskip("torch")
    sick = make(kind, SEED, "torch")
    report = inspect(sick.capture())
    assert sick.right(report), [(each.kind, each.operator, each.iteration) for each in report.findings]


@pytest.mark.deep
@pytest.mark.parametrize("hand", ["public", "other"])
@pytest.mark.parametrize("engine", ["emulator", "torch"])
def test_fresh_trainings_are_told(engine: str, hand: str) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    seed = secrets.randbelow(1 << 30)
    print(f"seed {seed}", file=sys.stderr)
    found = [(sick.kind, wrong(sick, inspect(run()))) for sick, run in sick_ones(engine, hand, 128, seed)]
    missed = [each for each in found if each[1]]
    assert len(missed) <= 0.05 * len(found), (seed, missed)
    for name, run in healthy_ones(engine, hand, 60, seed):
        report = inspect(run())
        assert not report.errors, (seed, name, [(each.kind, each.text) for each in report.errors])
        assert report.slots

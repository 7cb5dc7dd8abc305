"""Under ``noise`` a run that differs by rounding alone holds, also after training; no generated fault does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.backends import BACKENDS
from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare import Tolerances
from harness.compare.policy import Judgement, Party, judge
from harness.explain import settle
from harness.framework.runtime import session
from harness.testing.faults import faults
from harness.testing.faults.networks import Network, draw
from harness.testing.faults.roads import captured

SUMS = ("MatMul", "BatchMatMul", "Conv2D", "BiasAddGrad", "ReduceSum", "Conv2DBackpropFilter", "Conv2DBackpropInput")


class Jitter:
    """Another device: each element of each sum is off by a unit in the last place, up or down."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def before(self, launch: Any, iteration: int) -> None:
        """Nothing."""

    def after(self, launch: Any, iteration: int, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Moves the first result."""
        first = results[0]
        if launch.operator.name not in SUMS or first.dtype.kind != "f":
            return results
        sign = self._random.integers(0, 2, first.shape) * 2 - 1
        moved = (first.astype(np.float64) * (1 + np.finfo(first.dtype).eps * sign)).astype(first.dtype)
        return (np.asarray(moved), *results[1:])


def elsewhere(network: Network, seed: int) -> Capture:
    """A run of a network on a device that rounds otherwise."""

    def program() -> None:
        session.current().faults.append(Jitter(seed))
        network.train()

    return BACKENDS.get("cpu").run(program, network=f"{network.family}-{network.seed}")


def party(capture: Capture) -> Party:
    return Party(capture, capture.backend, capture.mode, capture.emulated)


def judged(expected: Capture, found: Capture, asked: Any) -> Judgement:
    return judge(party(expected), party(found), asked, lay=lay_beside, settle=settle)


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_another_rounding_holds(seed: int) -> None:
    network = draw(seed)
    right = judged(captured(network), elsewhere(network, seed), "noise")
    assert [(slot.key, slot.reason) for slot in right.comparison.failures()] == []
    assert right.verdict == "within tolerance"


def _gradients_of_rounding(judgement: Judgement) -> bool:
    """Whether all that was excused at the origin is far below a unit of what its sums were made of."""
    first = next(slot for slot in judgement.comparison.slots if "rounding" in slot.reason)
    return first.measurement is not None and first.measurement.max_abs < 1e-7


@pytest.mark.long
def test_no_fault_passes_that_the_table_shows() -> None:
    compared = 0
    for fault in faults(14, 3):
        golden = captured(fault.network)
        table, noise = judged(golden, fault.run, "default"), judged(golden, fault.run, "noise")
        compared += not table.holds
        assert not noise.holds or table.holds or _gradients_of_rounding(noise), fault.kind
    assert compared >= 8


@pytest.mark.long
def test_what_the_harness_cannot_compute_again_keeps_its_verdict() -> None:
    network = draw(1)
    golden, other = captured(network), elsewhere(network, 1)
    exact = judged(golden, other, "exact")
    assert not exact.holds
    assert all("rounding" not in slot.reason for slot in exact.comparison.slots)


def test_it_is_read_and_stored() -> None:
    parsed = Tolerances.parse("noise")
    assert parsed.noise
    assert parsed.as_json() == "noise"
    table = Tolerances.parse({"default": "noise", "MatMul": 1e-5})
    assert table.noise
    assert Tolerances.parse(table.as_json()) == table
    assert not Tolerances.parse("default").noise


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [66, 179])
def test_a_device_that_computes_in_float16_without_casts_holds(seed: int) -> None:
    network = draw(seed)
    assert network.family == "half"
    found = BACKENDS.get("gpu").run(network.train, network=f"{network.family}-{network.seed}")
    assert not judged(captured(network), found, "default").holds
    right = judged(captured(network), found, "noise")
    assert [(slot.key, slot.reason) for slot in right.comparison.failures()] == []

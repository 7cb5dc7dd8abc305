"""The parts of a step's error: what each operator adds, and that they make up the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.backends import BACKENDS
from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Party, judge
from harness.explain import side_of
from harness.explain.budget import Budget, budget
from harness.framework.seed import seeded
from harness.testing.faults.networks import Network, draw
from harness.testing.faults.roads import captured

Array = np.ndarray[Any, np.dtype[Any]]


def _run(network: Network, backend: str) -> Capture:
    with seeded(network.seed % 2**32):
        return BACKENDS.get(backend).run(network.train, network="net")


def _budget(one: Capture, other: Capture) -> Budget | None:
    parties = [Party(each, each.backend, each.mode, each.emulated) for each in (one, other)]
    return budget(judge(*parties, "default", lay=lay_beside).comparison, side_of(one))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(8))
def test_the_parts_of_another_device_add_up(seed: int) -> None:
    network = draw(seed)
    found = _budget(_run(network, "cpu"), _run(network, "gpu"))
    if found is None:
        return  # equal bits: this network has no operator that the device computes otherwise
    assert found.shares
    assert not found.unknown
    assert sum(part.size for part in found.parts) == pytest.approx(found.error, rel=0.05)
    for share in found.shares:
        assert share.error <= (share.own + share.inherited) * (1 + 1e-12)


class _Off:
    """A kernel whose result is off by a small factor in the first step."""

    def __init__(self, operator: str) -> None:
        self._operator = operator

    def before(self, launch: Any, iteration: int) -> None:
        """Leaves what it takes."""

    def after(self, launch: Any, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """Moves what it gives."""
        if launch.node.name != self._operator or iteration:
            return results
        return ((results[0] * np.float32(1 + 1e-5)).astype(results[0].dtype), *results[1:])


@pytest.mark.parametrize("seed", [2, 4])
def test_one_operator_that_is_off_has_the_whole(seed: int) -> None:
    network = draw(seed)
    golden = captured(network)
    names = [r.key.operator for r in golden.records() if r.op_type == "BiasAdd" and r.key.io == "output"]
    other = captured(network, _Off(names[0]))  # type: ignore[arg-type]
    found = _budget(golden, other)
    assert found is not None
    assert [(part.operators, part.size) for part in found.parts] == [((names[0],), pytest.approx(found.error))]
    by_operator = {share.key.operator: share for share in found.shares}
    assert by_operator[names[0]].own == by_operator[names[0]].error > 0 == by_operator[names[0]].inherited
    assert all(share.own == 0 for name, share in by_operator.items() if name != names[0])
    assert names[0] in found.line()
    assert "100 %" in found.line()


def test_equal_runs_have_none() -> None:
    network = draw(2)
    assert _budget(captured(network), captured(network)) is None

"""The parts of a step's error: what each operator adds, and that they make up the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness
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


#: what computes a network otherwise: a backend, and the settings under which it does
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "float16": ("ascend-o0", {"ascend_config": {"precision_mode": "force_fp16"}}),
    "TF32": ("gpu", {"gpu_config": {"matmul_allow_tf32": True, "conv_allow_tf32": True}}),
    "another backend": ("ascend-o0", {}),
}


def _run(network: Network, backend: str, settings: dict[str, Any] | None = None) -> Capture:
    def program() -> None:
        harness.set_context(**(settings or {}))
        network.train()

    with seeded(network.seed % 2**32):
        return BACKENDS.get(backend).run(program, network="net")


def _budget(one: Capture, other: Capture) -> Budget | None:
    parties = [Party(each, each.backend, each.mode, each.emulated) for each in (one, other)]
    return budget(judge(*parties, "default", lay=lay_beside).comparison, side_of(one))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(17))
def test_the_parts_add_up(seed: int, way: str) -> None:
    network = draw(41_000 + seed)
    found = _budget(_run(network, "cpu"), _run(network, *WAYS[way]))
    if found is None:
        return  # equal bits: this network has no operator that is computed otherwise
    assert found.shares
    assert found.unknown <= 1  # an operator whose result does not depend on its input, such as a mask's
    assert sum(part.size for part in found.parts) == pytest.approx(found.error, rel=0.05)
    assert all(part.operators for part in found.parts)  # the same weights and data were given
    for share in found.shares:
        assert share.error <= (share.own + share.inherited) * (1 + 1e-12)


def test_a_cast_that_a_device_lacks_has_no_part() -> None:
    """Layers in float16 run without their casts there: these are computed from the golden's, not left out."""
    network = next(each for each in map(draw, range(200)) if each.family == "half")
    one, other = _run(network, "cpu"), _run(network, *WAYS["TF32"])
    names = [{r.key.operator for r in each.records() if "/Cast-op" in r.key.operator} for each in (one, other)]
    assert names[0] - names[1]
    found = _budget(one, other)
    assert found is not None
    assert all(part.operators for part in found.parts)


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
    assert by_operator[names[0]].used == by_operator[names[0]].used_alone > 0
    assert all(share.own == 0 for name, share in by_operator.items() if name != names[0])
    assert names[0] in found.line()
    assert "100 %" in found.line()


def test_equal_runs_have_none() -> None:
    network = draw(2)
    assert _budget(captured(network), captured(network)) is None

"""Overflows of a chip that saturates: its status reports them, although the results are finite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness import Tensor, backends, context, nn
from harness.devices.overflow import STATUS, VARIABLE, saturate


class Net(nn.Cell):
    """The product overflows in float16, the sum does not."""

    def construct(self, x: Tensor) -> Tensor:
        return (x + 1) * x


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    mode = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=mode)


def overflowing(backend: str, tree: Path, largest: float) -> tuple[set[str], list[str]]:
    """Operators in the capture of mode overflow, and the records in its dump tree."""
    x = Tensor(np.array([1, largest], np.float16))
    with backends.get(backend).open(network="net", mode="overflow") as process:
        process.keep_tree(tree)
        result = process.execute(lambda: Net()(x))
        records = list(process.capture().records())
    assert np.isfinite(result.asnumpy()).all()
    return {r.key.operator.rpartition("/")[2] for r in records}, [path.name for path in tree.rglob("Opdebug*")]


@pytest.mark.parametrize("backend", ["ascend-o0", "ascend-o2"])
def test_a_saturated_result_is_an_overflow(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "SATURATION_MODE")
    operators, records = overflowing(backend, tmp_path / "tree", 60_000)
    assert any("Mul" in name for name in operators)
    assert bool(records) == (backend == "ascend-o2")


@pytest.mark.parametrize("backend", ["ascend-o0", "ascend-o2"])
def test_nothing_saturated_is_none(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "SATURATION_MODE")
    assert overflowing(backend, tmp_path / "tree", 100) == (set(), [])


def test_the_status() -> None:
    STATUS.raised = False
    saturate(np.array([1.0, 65504.0], np.float16))
    assert not STATUS.raised
    saturate(np.array([1.0, np.inf], np.float16))
    assert STATUS.raised

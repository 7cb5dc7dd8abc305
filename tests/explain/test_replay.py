"""Operators of goldens, computed again, give the golden's bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.compare.divergence import PARAMETER
from harness.explain.evidence import Evidence
from harness.explain.replay import computed, setting
from harness.store import GoldenStore

GOLDEN = Path(__file__).parents[2] / "golden/tests/gate/test_networks"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("network", "backend"), [("mlp", "gpu"), ("transformer", "cpu"), ("half", "ascend-o0")])
def test_every_operator_gives_its_bits(network: str, backend: str) -> None:
    with GoldenStore.open(GOLDEN / f"test_{network}.h5") as store:
        golden = store.run(backend, "tensor")
        run = Evidence(golden.records, golden.artefacts, backend, True)
        count = 0
        for where in run.order:
            if run.op_type(where) == PARAMETER:
                continue
            given = setting(run, where)
            results = computed(given) if given is not None else None
            assert results is not None, where
            for slot, record in run.slots(where, "output").items():
                values = record.load()
                assert values is not None
                assert values.tobytes() == results[slot].tobytes(), where
            count += 1
        assert count > 40


def test_what_cannot_be_computed_gives_nothing() -> None:
    with GoldenStore.open(GOLDEN / "test_mlp.h5") as store:
        golden = store.run("cpu", "tensor")
        run = Evidence(golden.records, golden.artefacts, "cpu", True)
        where = next(each for each in run.order if run.op_type(each) == "MatMul")
        given = setting(run, where)
        assert given is not None
        assert computed(given.changed({0: np.zeros((3, 5), np.float32)})) is None
        without = Evidence(golden.records, dict, "cpu", True)
        assert setting(without, where) is None

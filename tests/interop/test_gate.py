"""The shipped networks under the real MindSpore, beside the cpu backend and beside their stored second golden."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness import backends, compare, context
from harness.capture import Capture
from harness.store import GoldenStore
from pytest_msdump.keys import golden_path
from tests.gate.networks import NETWORKS
from tests.gate.never_written import AGAINST_REAL
from tests.interop.capture_real import GOLDEN, RUN, case, planned, real_capture
from tests.interop.table import Table
from tests.interop.trees import agreement

pytestmark = pytest.mark.interop


def own_capture(name: str) -> Capture:
    """What the emulated cpu backend makes of network ``name``."""
    from tests.gate.networks.recorder import Recorder

    network = importlib.import_module(f"tests.gate.networks.{name}")
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        return backends.get("cpu").run(lambda: network.play(Recorder()), network=name)
    finally:
        context.set_context(mode=before)


@pytest.fixture(scope="module", params=NETWORKS)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, mindspore_python: str) -> Capture:
    """What the real MindSpore makes of a network now."""
    capture = real_capture(mindspore_python, request.param, tmp_path_factory.mktemp("real") / request.param)
    capture.network = request.param
    return capture


def test_same_operators_slots_and_values(real: Capture, interop_table: Table) -> None:
    found = agreement(own_capture(real.network), real)
    interop_table.add("Shipped networks", real.network, found)
    assert found.slots, "nothing was compared"
    assert not found.faults, "\n".join(found.faults[:40])


def test_stored_golden_is_what_mindspore_computes(real: Capture) -> None:
    with GoldenStore.open(Path(GOLDEN) / golden_path(case(real.network))) as store:
        comparison = compare.check(store.run(*RUN), list(planned(real)), AGAINST_REAL)
        assert comparison.holds, [str(slot) for slot in comparison.failures()[:5]]

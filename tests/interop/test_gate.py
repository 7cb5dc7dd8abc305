"""The shipped networks under two releases of the real MindSpore, beside the cpu backend and their stored goldens."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness import backends, compare, context
from harness.backends.calls import Call
from harness.backends.mindspore import Mindspore
from harness.backends.mindspore.process import steady
from harness.capture import Capture
from harness.capture.capture import RECORDED
from harness.compare import Verdict
from harness.compare.pairing import check_paired
from harness.store import GoldenStore, RunId
from pytest_msdump.keys import CaseId, golden_path
from tests.gate.lacking import lacks
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder
from tests.gate.never_written import AGAINST_REAL
from tests.interop.conftest import oracle_python
from tests.interop.known import split
from tests.interop.table import COLUMNS, Table
from tests.interop.trees import ROOT, agreement

pytestmark = pytest.mark.interop

RUN = RunId("mindspore", "tensor")
#: 2.7.0 leaves other values than 2.10.0 in what is updated, and in what a normalisation keeps for its gradient.
UNLIKE = {"Adam", "AdamWeightDecay", "BatchNorm", "BatchNormGrad"}
#: oracle -> the section of its figures
RELEASES = {"mindspore": "Shipped networks", "mindspore-2.7": "Shipped networks under MindSpore 2.7.0"}
INTRO = """
What 2.7.0 compiles otherwise than 2.10.0, whose graphs the cpu backend has, is counted here: slots that differ, slots
that one side alone has. Of the recorder's texts (without pointers and lines) some are equal but for the names of nodes
and for addresses; nearly all others are stages of the graph, which quote the library's own source.
"""
EQUAL, NEARLY, OTHER = "texts equal", "but for names and addresses", "texts differing"
OLDER = (*COLUMNS[:4], "differing", "on one side", *COLUMNS[4:], EQUAL, NEARLY, OTHER)
_NODE = re.compile(rb"(@kernel_graph\d+:|\[\d+\]: (?!param_|ValueNode))[^{\s,}]+")


@dataclass
class Results:
    """A network on both sides.

    Attributes:
        name: of the network.
        oracle: the real MindSpore it ran under.
        own, real: the captures.
    """

    name: str
    oracle: str
    own: Capture
    real: Capture


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> Iterator[tuple[str, Mindspore]]:
    """Each release in turn, in one worker for all networks."""
    backend = Mindspore()
    backend.configure(oracle_python(request.param))
    yield request.param, backend
    backend.close()


def own_capture(name: str, rdr: bool) -> Capture:
    """What the emulated cpu backend makes of network ``name``."""
    network = importlib.import_module(f"tests.gate.networks.{name}")
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        return backends.get("cpu").run(lambda: network.play(Recorder()), network=name, rootdir=str(ROOT), rdr=rdr)
    finally:
        context.set_context(mode=before)


@pytest.fixture(scope="module", params=NETWORKS)
def results(request: pytest.FixtureRequest, release: tuple[str, Mindspore], interop_table: Table) -> Iterator[Results]:
    """A network, under the cpu backend and now under the real MindSpore; skipped where that cannot run it."""
    name, (oracle, backend) = request.param, release
    versions = backend.server().versions
    reason = lacks(name, versions["mindspore"], versions["numpy"])
    file = ROOT / "tests" / "gate" / "networks" / f"{name}.py"
    call = Call(str(file), f"tests.gate.networks.{name}", ("play",), fixture="msdump", paths=[str(ROOT)])
    with backend.open(network=name, rootdir=str(ROOT), rdr=True) as process:
        outcome = process.call(call)
        if reason:
            assert outcome.kind == "failed", f"{name} runs: {reason} is wrong"
            section(interop_table, oracle).rows[name] = {"where": reason}
            pytest.skip(reason)
        assert outcome.kind == "passed", outcome.text
        yield Results(name, oracle, own_capture(name, backend.installed().records), process.capture())


def section(table: Table, oracle: str):
    """The section of a release."""
    if oracle == "mindspore":
        return table.section(RELEASES[oracle])
    return table.section(RELEASES[oracle], OLDER, INTRO)


def texts(results: Results) -> dict[str, int]:
    """How many of the recorder's texts are equal; both sides have the same ones."""
    own, real = ({k: v for k, v in c.artefacts.items() if k.startswith(RECORDED)} for c in (results.own, results.real))
    assert real
    assert own.keys() == real.keys()
    equal = sum(own[name] == text for name, text in real.items())
    nearly = sum(nameless(name, own[name]) == nameless(name, text) for name, text in real.items())
    return {EQUAL: equal, NEARLY: nearly - equal, OTHER: len(real) - nearly}


def nameless(name: str, text: bytes) -> bytes:
    """A text without the names of nodes, and without addresses."""
    return _NODE.sub(rb"\1", text) if "graph_exec_order" in name else steady(name, text)


def test_same_operators_slots_and_values(results: Results, interop_table: Table) -> None:
    found = agreement(results.own, results.real)
    newest = results.oracle == "mindspore"
    found.faults, found.known = split(results.name if newest else f"{results.name} under 2.7.0", found.faults)
    here = section(interop_table, results.oracle)
    here.add(results.name, found)
    if not newest:
        here.rows[results.name] = {**here.rows[results.name], **texts(results)}
    assert found.slots, "nothing was compared"
    assert not found.faults, "\n".join(found.faults[:40])


def test_stored_golden_is_what_mindspore_computes(results: Results) -> None:
    if results.oracle != "mindspore":
        pytest.skip("the goldens are those of 2.10.0")
    case = CaseId("tests/gate/test_networks.py", (f"test_{results.name}",))
    with GoldenStore.open(ROOT / "golden" / golden_path(case)) as store:
        comparison = compare.check(store.run(*RUN), list(results.real.records()), AGAINST_REAL)
        assert comparison.holds, [str(slot) for slot in comparison.failures()[:5]]


def test_operators_of_another_release_are_paired(results: Results) -> None:
    if results.oracle == "mindspore":
        pytest.skip("its operators have the cpu backend's names")
    own, real = list(results.own.records()), list(results.real.records())
    comparison, pairing = check_paired(own, real, (1e-2, 1e-3))
    differing = {slot.op_type for slot in comparison.failures() if slot.verdict is Verdict.DIFFERS}
    assert differing <= UNLIKE, "operators that are not the same were paired"
    alone = sum(lone.whole and not lone.explained for _, _, lone in pairing.alone(0))
    assert alone <= 0.1 * sum(pairing.counts().values())

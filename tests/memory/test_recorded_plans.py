"""Plans of MindSpore's own graphs: every text byte for byte, the total of every solution."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.memory import parse, plan_state, texts
from harness.memory.model import State
from harness.memory.plan import join, prepared, process_references
from harness.memory.solver import all_solutions
from tests.memory import recorded

SHIPPED = [(network, name) for network, found in recorded.texts("shipped").items() for name in found]
TOTALS = json.loads((recorded.DATA / "totals.json").read_text())


@pytest.mark.parametrize("sample", recorded.SAMPLES)
def test_every_text_of_a_sample_is_reproduced(sample: str) -> None:
    real = recorded.texts(sample)[sample]
    made = texts.artefacts(plan_state(parse(real["CPU_somas_initial_info_0.ir"])))
    assert made.keys() == real.keys()
    for name, text in real.items():
        assert made[name] == text, name


@pytest.mark.parametrize("sample", recorded.SAMPLES)
def test_every_info_text_is_read_and_written_alike(sample: str) -> None:
    for name, text in recorded.texts(sample)[sample].items():
        if name.startswith("CPU_somas_") and "offline" not in name:
            assert texts.state_text(parse(text)) + "\n" == text, name


def as_collected(final: State) -> State:
    """What a plan began with, of its last text."""
    unions = {member for group in final.unions for member in group}
    read = {source.index for node in final.nodes for source in node.inputs if source.sort == "T"}
    sizes = {tensor.index: -(-tensor.size // 512) * 512 for tensor in final.tensors}
    tensors = tuple(
        replace(
            tensor,
            offset=0,
            kind="Common" if tensor.index in unions and tensor.index in read
            else "OutputOnly" if tensor.index in unions or tensor.kind == "GraphInput" else tensor.kind,
            aligned=0 if tensor.kind == "GraphOutput" else sizes[tensor.index],
        )
        for tensor in final.tensors
    )  # fmt: skip
    return replace(final, tensors=tensors, unions=(), merged=(), total=0)


@pytest.mark.parametrize(("network", "name"), SHIPPED)
def test_plan_of_a_shipped_network_as_mindspore_has_it(network: str, name: str) -> None:
    text = recorded.texts("shipped")[network][name]
    made = plan_state(as_collected(parse(text)))
    assert texts.state_text(made.state) + "\n" == text


@pytest.mark.parametrize("network", TOTALS)
def test_totals_of_all_eight_solutions(network: str) -> None:
    text = recorded.texts("shipped")[network]["CPU_somas_tensor_offset_0.ir"]
    state = process_references(as_collected(parse(text)))
    blocks, shares, _ = prepared(replace(state, unions=join(state.unions)))
    shared, single = all_solutions(blocks, shares)
    assert [solution.total for solution in shared + single] == TOTALS[network]

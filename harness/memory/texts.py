"""The texts MindSpore writes of a memory plan, byte for byte as 2.10.0 writes them.

Functions give a text as it is recorded (by the Running Data Recorder too); a file of ``save_graphs`` has one newline
more, see ``artefacts``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from harness.memory.hash_order import hash_order
from harness.memory.model import LIFELONG, Group, PlanNode, PlanTensor, State

if TYPE_CHECKING:
    from harness.memory.plan import MemoryPlan

#: stages of planning an info text exists of, in the order in which they are written
STAGES = (
    "initial_info", "device_control_info", "device_spec_node_process", "common_spec_node_process",
    "pre_processed_info", "tensor_offset",
)  # fmt: skip
#: how many of them a graph without tensors has
_WITHOUT_TENSORS = 4
_TENSOR_HEADER = "\t".join((
    "index:", "aligned_size:", "original_size:", "offset:", "type:", "lifelong:", "life_start:", "life_end:",
    "source node name:",
))  # fmt: skip


def info(plan: MemoryPlan, stage: str) -> str:
    """The text of one of ``STAGES``.

    Settled references first show in ``device_spec_node_process``, offsets only in ``tensor_offset``.
    """
    states = {"initial_info": plan.initial, "device_control_info": plan.initial, "tensor_offset": plan.state}
    if stage not in STAGES:
        raise ValueError(f"a memory plan has a text of each of the stages {', '.join(STAGES)}; got {stage!r}")
    return state_text(states.get(stage, plan.processed))


def state_text(state: State) -> str:
    """The text of one state."""
    names = [node.name for node in state.nodes]
    parameters = (f"%{p.index}P\t#{p.size}S\t{p.name}\t{p.output}" for p in state.parameters)
    processed = [group for group in state.contiguous if any(state.tensors[member].aligned for member in group)]
    return (
        _section("All Parameters:", ["index:\tsize:\tsource node name:\tnode out index:", *parameters])
        + _section("All Tensors:", [_TENSOR_HEADER, *(_tensor(t, names[t.node]) for t in state.tensors)])
        + _section("All Nodes:", map(_node, state.nodes))
        + _section("All Union Tensors Info:", map(_union, state.unions))
        + _section("All Original Contiguous Tensors Info:", map(_contiguous, state.contiguous))
        + _section("All Processed Contiguous Tensors Info:", map(_contiguous, processed))
        + _section("All Stream Groups:", ())
        + "All Merged Blocks:\n\n"
        + _lines(["start_offset:\tsize:", *(f"{start}\t{size}" for start, size in state.merged)])
        + f"\nTotal Memory Size after reused:{state.total}"
    )


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _section(title: str, lines: Iterable[str]) -> str:
    return f"{title}\n\n{_lines(lines)}\n\n"


def _tensor(t: PlanTensor, node: str) -> str:
    sizes = f"#{t.aligned}S\t#{t.size}S\t&{t.offset}"
    return f"%{t.index}T\t{sizes}\t{t.kind}\tLifeLong{t.lifelong}\t{t.start}\t{t.end}\t{node}"


def _node(node: PlanNode) -> str:
    inputs = "".join(f"%{source.index}{source.sort}, " for source in node.inputs)
    outputs, workspaces = ("".join(f"%{i}T, " for i in tensors) for tensors in (node.outputs, node.workspaces))
    return (
        f"${node.index}\t{node.name}\t{int(node.communication)}\tinputs[{inputs}]\toutputs[{outputs}]"
        f"\tworkspace[{workspaces}]\tctrl_inputs[]\tctrl_outputs[]\tstreamID[@{node.stream}]"
    )


def _members(group: Group) -> str:
    return "".join(f"%{member}T " for member in group)


def _union(group: Group) -> str:
    return f"union tensors: [{_members(group)}]"


def _contiguous(group: Group) -> str:
    return f"contiguous tensors: [{_members(group)}]"


def offline_log(plan: MemoryPlan) -> str:
    """An edge for each tensor and each of its readers, as they stand before placing.

    A tensor nobody reads, or that is part of a union, has one edge to nowhere; a workspace has none, nor has a result
    of the graph or an updated parameter that no kernel reads (measured).
    """
    return _lines(_edges(plan.processed))


def _edges(state: State) -> Iterator[str]:
    for tensor, readers in zip(state.tensors, state.consumers(), strict=True):
        outside = tensor.kind in ("GraphOutput", "GraphInput")
        if tensor.kind == "Workspace" or (outside and readers == [tensor.node]):
            continue
        stream = state.nodes[tensor.node].stream
        nowhere = tensor.kind in ("OutputOnly", "Union")
        source = f"{'ERROR ' if nowhere else ''}src=n{tensor.node}, srcstm={stream}"
        rest = (
            f"workspace=0, size={tensor.size}, lifelong={LIFELONG.index(tensor.lifelong)}, tid={tensor.index}, "
            f"start={tensor.start}, end={tensor.end}"
        )
        targets = ["dst=nc, dststm=nc"] if nowhere else [f"dst=n{n}, dststm={state.nodes[n].stream}" for n in readers]
        for target in targets:
            yield f"Somas EDGE {source}, {target}, {rest}"


def solver_input(plan: MemoryPlan) -> str:
    """``T index size lifelong`` of each tensor the solver places; ``S`` and the members of each contiguous list."""
    rows = (f"T {i} {plan.sizes[i]} {int(plan.state.tensors[i].lifelong == 'GraphAll')}" for i in _solved(plan))
    return _lines([*rows, *("S" + "".join(f" {member}" for member in group) for group in plan.state.contiguous)])


def solver_output(plan: MemoryPlan) -> str:
    """Where the solver put each tensor."""
    side: dict[int, int] = {}
    for group in plan.state.contiguous:
        side.update(dict.fromkeys(group, 2))
        side.update({group[0]: 1, group[-1]: 3} if len(group) > 1 else {group[0]: 0})
    rows = (
        f"tensor_id={i}\tsize={plan.sizes[i]}\toffset={plan.state.tensors[i].offset}\tcontinuous={side.get(i, 0)}"
        f"\tsize_aligned={int(plan.sizes[i] % 512 == 0)}\toffset_aligned={int(plan.state.tensors[i].offset % 512 == 0)}"
        for i in _solved(plan)
    )
    return "".join(f"\n{row}" for row in rows)


def _solved(plan: MemoryPlan) -> list[int]:
    return hash_order([index for index, size in enumerate(plan.sizes) if size])


def tensor_relation(plan: MemoryPlan) -> str:
    """A row for each tensor with a bit for each other: whether they may lie in the same bytes."""
    return _lines(f"t{i} {''.join(f'H{int(bit)}' for bit in row)}" for i, row in enumerate(plan.relation))


def artefacts(plan: MemoryPlan, level: int = 3) -> dict[str, str]:
    """Every text by its file name, for a ``save_graphs`` level: none below 2, the solver's only at 3 and if it ran.

    A graph that is not planned has none (measured). ``somas_input_graph_*.ir`` is a text of the graph, not of the plan,
    and not among them.
    """
    if level < 2 or not plan.planned:
        return {}
    stages = STAGES if plan.initial.tensors else STAGES[:_WITHOUT_TENSORS]
    found = {f"{plan.device}_somas_{stage}_{plan.graph_id}.ir": info(plan, stage) for stage in stages}
    if plan.initial.tensors:
        found[f"{plan.device}_somas_offline_log_{plan.graph_id}.ir"] = offline_log(plan)
    if level >= 3 and any(plan.sizes):
        found[f"somas_solver_input_{plan.graph_id}.ir"] = solver_input(plan)
        found[f"somas_solver_output_{plan.graph_id}.ir"] = solver_output(plan)
        found[f"somas_tensor_relation_{plan.graph_id}.ir"] = tensor_relation(plan)
    return {name: text + "\n" for name, text in found.items()}

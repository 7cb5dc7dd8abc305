"""Fuses chains of elementwise kernels into one, as the graph kernels of Ascend's O1 do.

A kernel joins its user if nothing else uses its result, so joining them cannot make a cycle.
The tensors between the members of a fusion do not exist; neither they nor the members' names are dumped. A
fused kernel is called ``GraphKernel_``, its members in the order of the graph, ``_fusion`` (public source:
``ExtractGraphKernelName``, ``CNode::fullname_with_scope``). Which kernels take part: ``fusible``. The original also
makes fusions of several results, and may split one again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.framework.compile.fusible import is_fusible
from harness.framework.compile.order import Numbering, arrange
from harness.graph import Const, Graph, Node, Operand

PREFIX, POSTFIX = "GraphKernel", "fusion"


@dataclass(frozen=True, slots=True)
class Fusion:
    """The parts of a fused kernel: ``node.extra.fusion``.

    Attributes:
        members: the kernels, in the order of the graph; the last gives the result. Their numbers are those they would
            have if nothing were fused. An input that is neither a member nor a ``Const`` is one of the fused node's.
    """

    members: tuple[Node, ...]


def fuse(graph: Graph, unfused: Numbering) -> None:
    """Fuses kernels in a graph that is not numbered yet; makes its orders again.

    Each kernel's ``extra.alone`` is the name it would have if nothing were fused, a fused one's that of its last
    member: by it graphs of different devices are laid beside one another.
    """
    unfused.number(graph.nodes)
    for node in graph.nodes:
        node.extra.alone = node.name
    for members in _chains(graph):
        if len(members) > 1:
            _fuse(members)
    arrange(graph)


def _chains(graph: Graph) -> list[list[Node]]:
    """The members of each planned fusion, in the order of the graph."""
    users: dict[int, list[Node]] = {}
    for node in graph.nodes:
        for operand in node.inputs:
            users.setdefault(id(operand), []).append(node)
    root_of: dict[int, Node] = {}
    for node in reversed(graph.nodes):
        if not is_fusible(node):
            continue
        roots = {id(root): root for root in (root_of.get(id(user)) for user in users.get(id(node), ())) if root}
        inside = all(id(user) in root_of for user in users.get(id(node), ()))
        alone = not inside or len(roots) != 1 or node is graph.output
        root_of[id(node)] = node if alone else next(iter(roots.values()))
    chains: dict[int, list[Node]] = {}
    for node in graph.nodes:
        if id(node) in root_of:
            chains.setdefault(id(root_of[id(node)]), []).append(node)
    return list(chains.values())


def _fuse(members: list[Node]) -> None:
    """Makes the last of ``members``, which others refer to, the fused node."""
    root = members[-1]
    last = replace(root)
    inside = {id(node) for node in members}
    outer: dict[int, Operand] = {}
    for node in members:
        for operand in node.inputs:
            if not isinstance(operand, Const) and id(operand) not in inside:
                outer.setdefault(id(operand), operand)
    root.op = "_".join([PREFIX, *(node.op for node in members), POSTFIX])
    root.inputs = list(outer.values())
    root.attrs = {}
    layout = (None,) * len(root.inputs)
    fusion = Fusion((*members[:-1], last))
    root.extra = replace(root.extra, layout=layout, functional=False, fusion=fusion)

"""The facts about a kernel graph that tests compare, taken from a dump's texts in the same way on both sides."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

from harness.graph.ir_parse import IrNode, parse

LONGEST = 64
_NUMBER = re.compile(r"-op\d+$")
_REFERENCE = re.compile(r"Ref\[Tensor\[(\w+)\]\], (\([^)]*\)), ref_key=[^,>]*(?:, is_parameter)?(?:, is_inplace)?")


def facts(ir: str, order: str, counted: Counter[str]) -> dict[str, Any]:
    """Parameters, nodes and launch order of one graph.

    Args:
        ir: text of the ``.ir``.
        order: text of the execution order csv.
        counted: kernels of each name in the graphs before; goes on counting, since file ids do.

    Returns:
        ``parameters``: name and type of each, weights with a star (nameless: an empty name). ``nodes``: in printed
        order; kernels with the id of their dump files, other nodes by their primitive, then arguments and result.
        Values of more than ``LONGEST`` characters are cut and digested; references read as the tensors they are.
        ``launch``: place in ``nodes`` of each kernel, as launched.
    """
    graph = parse(ir)
    places = {node.name: node.number for node in graph.nodes}
    return {
        "parameters": [
            f"{'*' if p.is_weight else ''}{'' if p.name.startswith('_') else p.name} {_plain(p.type.text)}"
            for p in graph.parameters
        ],
        "nodes": [_node(node, counted) for node in graph.nodes],
        "launch": [places[name] for name in order.splitlines()[1:]],
    }


def _node(node: IrNode, counted: Counter[str]) -> str:
    name = node.op
    if node.kernel:
        scoped = _NUMBER.sub("", node.name)
        name = f"{scoped}-op{counted[scoped]}"
        counted[scoped] += 1
    types = ", ".join(_plain(entry.text) for entry in node.outputs)
    return f"{name}({', '.join(map(_argument, node.args))}) -> {types}"


def _argument(text: str) -> str:
    text = re.sub(r"^%para(\d+)_.*", r"%p\1", text)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _plain(text: str) -> str:
    """A type without what says that it, or a member of it, refers to memory."""
    text = re.sub(r"Ref\[(Tensor\[\w+\])\]", r"\1", _REFERENCE.sub(r"Tensor[\1], \2", text))
    return re.sub(r"(Tensor\[\w+\])\*(\d+)", lambda same: ",".join([same[1]] * int(same[2])), text)

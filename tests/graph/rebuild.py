"""Rebuilds a ``Graph`` from a real ``.ir`` and ``.pb``, to hold the writers against MindSpore's own bytes."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from harness import dtypes
from harness.graph import IOMONAD, UMONAD, Const, Graph, Node, NodeExtra, Parameter, TensorSpec, TupleSpec
from harness.graph.ir_parse import IrGraph, IrNode, IrType, type_of
from harness.recording.spec import OpaqueSpec, ScalarSpec, Spec

SHORT = {"I": np.dtype, "Bool": bool}
NUMBER = re.compile(r"(Bool|[IUF]\d+)\((.*?)\)")
SHORT_DTYPES = {"F": "Float", "I": "Int", "U": "UInt", "BF": "BFloat"}


def spec_from(text: str) -> Spec:
    """The spec of one type entry."""
    entry = type_of(text)
    if entry.is_tensor:
        ref = re.search(r"ref_key=(.*), is_parameter", text)
        assert entry.dtype is not None
        assert entry.shape is not None
        return TensorSpec(dtypes.by_name(entry.dtype), entry.shape, ref[1] if ref else None)
    if text.startswith("Tuple["):
        return _tuple_spec(text)
    if entry.dtype is not None:
        return ScalarSpec(dtypes.by_name(entry.dtype))
    return {"UMonad": UMONAD, "IOMonad": IOMONAD}.get(text.split(",")[0]) or OpaqueSpec(text.split(",")[0])


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text else []


def _tuple_spec(text: str) -> TupleSpec:
    core, shapes = re.fullmatch(r"Tuple\[(.*)\], TupleShape\((.*?)\)(?:, elements_use_flags=.*)?", text).groups()  # type: ignore[union-attr]
    kinds: list[str] = []
    for part in _split(core):
        times = re.fullmatch(r"(.*)\*(\d+)", part)
        kinds += [times[1]] * int(times[2]) if times else [part]
    return TupleSpec(tuple(spec_from(f"{k}, {s}") for k, s in zip(kinds, _split(shapes), strict=True)))


def tensor_value(text: str) -> np.ndarray[Any, Any]:
    """The array of ``Tensor(shape=[..], dtype=.., value=..)``; zeros where the text holds no values."""
    shape, dtype, value = re.fullmatch(r"Tensor\(shape=(\[.*?\]), dtype=(\w+), value=(.*)\)", text, re.S).groups()  # type: ignore[union-attr]
    kind = dtypes.by_name(dtype)
    sizes = tuple(ast.literal_eval(shape))
    cells = re.findall(r"True|False|nan|-?inf|-?\d[-+.\de]*", value) if "..." not in value else []
    if "..." in value and "[..." not in value:
        return _with_gaps(value, sizes, kind)
    raw = [{"True": True, "False": False}.get(c, c) for c in cells] or np.zeros(sizes, kind.numpy)
    if kind.kind in "iu" and cells:
        raw = [int(c) for c in cells]
    elif kind.is_floating and cells:
        raw = [float(c) for c in cells]
    return np.asarray(raw, kind.numpy).reshape(sizes)


def _with_gaps(value: str, sizes: tuple[int, ...], kind: dtypes.DType) -> np.ndarray[Any, Any]:
    """A value printed with ``...`` along its one long axis: the six that are printed, zeros between."""
    cells = re.findall(r"True|False|-?\d[-+.\de]*", value)
    flat = np.zeros(int(np.prod(sizes)), kind.numpy)
    parsed = [c == "True" if kind.kind == "b" else float(c) for c in cells]
    flat[:3], flat[-3:] = parsed[:3], parsed[-3:]
    return flat.reshape(sizes)


def value_from(text: str, *, bare: bool = False) -> Any:
    """The Python value of an argument or attribute."""
    if text.startswith('"'):
        return text[1:-1]
    if text.startswith("Tensor("):
        return tensor_value(text)
    if text[:1] in "([":
        made = [value_from(p, bare=bare) for p in _split(text[1:-1])]
        return made if text[0] == "[" else tuple(made)
    if text == "None":
        return None
    number = NUMBER.fullmatch(text)
    if number:
        kind, digits = number.groups()
        if kind == "Bool":
            return bool(int(digits))
        if kind == "I64":
            return int(digits)
        return float(digits) if kind == "F32" else np.dtype(f"{kind[0].lower()}{int(kind[1:]) // 8}").type(digits)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    short = re.fullmatch(r"(BF|[FIU])(8|16|32|64)|Bool", text)
    if short and not bare:
        return dtypes.by_name(SHORT_DTYPES[short[1]] + short[2] if short[1] else "Bool")
    return text


def attrs_from(text: str) -> dict[str, Any]:
    """``{a: 1, b: (2, 3)}`` as a dictionary."""
    found = {}
    for part in _split(text):
        key, _, value = part.partition(": ")
        found[key] = value_from(value, bare=value[:1] in "([")
    return found


def _brackets(text: str) -> dict[str, str]:
    found = {}
    instance = re.search(r"\{instance name: ([^}]*)\}", text)
    if instance:
        found["instance_name"] = instance[1]
    for title in ("primitive_attrs", "cnode_attrs", "cnode_primal_attrs"):
        block = re.search(rf" {title}: \{{(.*?)\}}(?= cnode|$)", text)
        if block:
            found[title] = block[1]
    return found


def _node(entry: IrNode, operands: list[Any]) -> Node:
    scope, _, last = entry.name.rpartition("/")
    blocks = _brackets(entry.brackets)
    extra = NodeExtra(functional=entry.functional)
    if "instance_name" in blocks:
        extra.instance_name = blocks["instance_name"]
    if "cnode_attrs" in blocks:
        extra.cnode_attrs = attrs_from(blocks["cnode_attrs"])
    if "cnode_primal_attrs" in blocks:
        extra.primal_attrs = attrs_from(blocks["cnode_primal_attrs"])
    spec = spec_from(entry.outputs[0].text)
    device = _on_device(spec, entry.device[1])
    if device != spec:
        extra.abstract = spec
    return Node(
        entry.op, operands, attrs_from(blocks.get("primitive_attrs", "")), scope, device,
        kernel=entry.kernel, number=int(last.rpartition("-op")[2]), source=entry.stacks[0],
        related=entry.stacks[1], related_kind=entry.stacks[2], debug_name=entry.debug_name, extra=extra,
    )  # fmt: skip


def _on_device(spec: Spec, entries: tuple[str, ...]) -> Spec:
    """``spec`` with the dtypes of a device line."""
    if not entries:
        return spec
    names = [entry.partition("xDefaultFormat")[0] for entry in entries]
    if isinstance(spec, TensorSpec):
        return TensorSpec(dtypes.by_name(names[0]), spec.shape, spec.ref_key)
    if isinstance(spec, TupleSpec) and len(names) == len(spec.items):
        return TupleSpec(tuple(_on_device(s, (e,)) for s, e in zip(spec.items, entries, strict=True)))
    return spec


def _const(text: str, type_: IrType) -> Const:
    spec = spec_from(re.sub(r", (value=\.\.\.|elements_use_flags=.*)$", "", type_.text))
    if isinstance(spec, OpaqueSpec) and spec.kind.endswith("Monad"):
        return Const(text[len(spec.kind) + 1 : -1], spec)
    return Const(value_from(text), spec)


def rebuild(ir: IrGraph, message: Any) -> Graph:
    """The graph that ``ir`` and its ``.pb`` (``message``) describe; constants are shared as the ``.pb`` shares them."""
    parameters = [
        # In control-flow graphs the list of the .ir leaves out names that the .pb has.
        Parameter(named.name, spec_from(p.type.text), p.is_weight, is_inplace=p.type.text.endswith("is_inplace"))
        for p, named in zip(ir.parameters, message.graph.parameters, strict=True)
    ]
    constants: dict[str, Const] = {}
    nodes: list[Node] = []

    def operand(text: str, type_: IrType, edge: str) -> Any:
        parameter = re.match(r"%para(\d+)_", text)
        if parameter:
            return parameters[int(parameter[1]) - 1]
        if re.fullmatch(r"%\d+", text):
            return nodes[int(text[1:])]
        return constants.setdefault(edge, _const(text, type_))

    for entry, proto in zip(ir.nodes, message.graph.node, strict=True):
        edges = [edge.name for edge in proto.input]
        nodes.append(_node(entry, [operand(*row) for row in zip(entry.args, entry.inputs, edges, strict=True)]))
    assert ir.returned is not None
    output = operand(ir.returned.args[0], ir.returned.inputs[0], "")
    number = int(ir.returned.name.rpartition("-op")[2])
    ordered = [constants[c.key] for c in message.graph.const_vals]
    return Graph(
        ir.id, parameters, output, nodes, [n for n in nodes if n.kernel], ordered,
        attrs={"enable_zero_copy_in_graph": 1}, return_number=number,
    )  # fmt: skip

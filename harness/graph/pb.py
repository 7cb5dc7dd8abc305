"""Writes and reads a graph as ``ms_output_trace_code_graph_N.pb`` (a ``ModelProto``).

Source of what goes into which field: the files of MindSpore 2.10.0 CPU, measured. As in our ``.ir``, full names carry
the numbers of the dump files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from harness import dtypes
from harness.dtypes import DType
from harness.errors import TreeError
from harness.graph.graph import Graph
from harness.graph.ir import INDENT, related_headings, source_line
from harness.graph.ir_types import abstract
from harness.graph.node import Const, Node, Operand, Parameter
from harness.graph.pb_schema import CLASSES, DATA_TYPES
from harness.recording.spec import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec

MAX_BYTES = 1 << 30
"""Largest size of a file; larger ones are refused."""
_UNSIGNED_LISTS = frozenset({"IsFeatureMapInputList"})
"""Attributes whose numbers are size_t in MindSpore, and so in ``uint_val``."""
_OPAQUE_TYPES = {"String": "DT_STRING", "UMonad": "DT_UMONAD", "IOMonad": "DT_IOMONAD", "None": "DT_NONE"}


def _set_type(message: Any, spec: Spec, *, inside: bool = False) -> None:
    """Fills a ``TypeProto``; shapes of tensors inside a tuple are left out, as MindSpore does."""
    if isinstance(spec, TensorSpec):
        message.data_type = DATA_TYPES["DT_TENSOR"]
        message.tensor_type.SetInParent()
        message.tensor_type.elem_type = spec.dtype.proto
        if not inside:
            for size in spec.shape:
                message.tensor_type.shape.dim.add(size=size)
    elif isinstance(spec, TupleSpec):
        message.data_type = DATA_TYPES["DT_TUPLE"]
        message.sequence_type.SetInParent()
        for item in spec.items:
            _set_type(message.sequence_type.elem_types.add(), item, inside=True)
    elif isinstance(spec, ScalarSpec):
        message.data_type = spec.dtype.proto
    elif spec.kind in _OPAQUE_TYPES:
        message.data_type = DATA_TYPES[_OPAQUE_TYPES[spec.kind]]


def _set_dtype_value(message: Any, value: DType) -> None:
    """A dtype as a value; MindSpore leaves unsigned and bfloat16 ones empty."""
    bases = {"b": "DT_BOOL", "i": "DT_BASE_INT", "f": "DT_BASE_FLOAT"}
    base = bases.get(value.kind)
    if base is not None and value is not dtypes.bfloat16:
        message.dtype = DATA_TYPES["DT_TYPE"]
        message.type_val.data_type = DATA_TYPES[base]


def _set_number(message: Any, value: Any, *, unsigned: bool) -> None:
    if isinstance(value, (bool, np.bool_)):
        message.dtype, message.bool_val = DATA_TYPES["DT_BOOL"], bool(value)
        return
    if isinstance(value, (np.integer, np.floating)):
        dtype = dtypes.from_numpy(value.dtype)
    else:
        dtype = dtypes.int64 if isinstance(value, int) else dtypes.float32
    if unsigned:
        dtype = dtypes.uint64
    message.dtype = dtype.proto
    if dtype.kind == "f":
        field = "double_val" if dtype is dtypes.float64 else "float_val"
        setattr(message, field, float(value))
    else:
        setattr(message, "uint_val" if dtype.kind == "u" else "int_val", int(value))


def _set_value(message: Any, value: Any, *, unsigned: bool = False) -> None:
    """Fills a ``ValueProto``."""
    if isinstance(value, (tuple, list)):
        message.dtype = DATA_TYPES["DT_LIST" if isinstance(value, list) else "DT_TUPLE"]
        for item in value:
            _set_value(message.values.add(), item, unsigned=unsigned)
    elif isinstance(value, DType):
        _set_dtype_value(message, value)
    elif isinstance(value, str):
        message.dtype, message.str_val = DATA_TYPES["DT_STRING"], value
    elif value is None:
        message.dtype, message.str_val = DATA_TYPES["DT_NONE"], "None"
    elif not isinstance(value, np.ndarray):
        _set_number(message, value, unsigned=unsigned)


def source_address(node: Node) -> str:
    """The node's stack in the ``.pb``: innermost first; candidates of derived nodes with bullets."""
    lines = [INDENT + source_line(line) for line in reversed(node.source)]
    if node.related_kind and node.related:
        first, *callers = (source_line(line).removeprefix("# ") for line in reversed(node.related))
        lines.append(INDENT + related_headings(node.related_kind)[-1])
        lines.append(f"{INDENT}#  - {first}")
        lines += [f"{INDENT}#    {line}" for line in callers]
    return "".join(f"{line}\n" for line in lines)


class _Names:
    """Names of a graph's operands in edges: node position from 1, parameter name, ``cstN``."""

    def __init__(self, graph: Graph) -> None:
        self.names = {id(node): str(k) for k, node in enumerate(graph.nodes, 1)}
        self.names |= {id(p): p.name for p in graph.parameters}
        self.names |= {id(const): f"cst{k}" for k, const in enumerate(graph.constants, 1)}

    def __getitem__(self, operand: Operand) -> str:
        try:
            return self.names[id(operand)]
        except KeyError:
            kind = {Const: "constant", Parameter: "parameter", Node: "node"}[type(operand)]
            raise ValueError(f"{kind} {operand!r} is used in the graph but is not listed by it") from None


def to_message(graph: Graph) -> Any:
    """``graph`` as a ``ModelProto``."""
    model = CLASSES["ModelProto"](ir_version=1)
    out = model.graph
    names = _Names(graph)
    for node in graph.nodes:
        _add_node(out, node, names)
    out.name = graph.name
    for parameter in graph.parameters:
        _set_type(_typed(out.parameters.add(name=parameter.name)), parameter.spec)
    _set_type(_typed(out.outputs.add(name=names[graph.output])), abstract(graph.output))
    first = graph.constant_base
    for k, const in enumerate(graph.constants):
        entry = out.const_vals.add(key=f"cst{k + 1}")
        if not isinstance(const.value, np.ndarray):
            entry.value.SetInParent()
            if not (isinstance(const.spec, OpaqueSpec) and const.spec.kind.endswith("Monad")):
                _set_value(entry.value, const.value)
        entry.full_name = f"Default_data-{first + k}"
    out.root_name = str(graph.id)
    return model


def _typed(message: Any) -> Any:
    message.type.SetInParent()
    return message.type


def _add_node(out: Any, node: Node, names: _Names) -> None:
    entry = out.node.add(name=names[node], op_type=node.op, scope=node.scope)
    for operand in node.inputs:
        entry.input.add(name=names[operand], type=0)
    for key, value in node.attrs.items():
        attribute = entry.attribute.add(name=key)
        attribute.value.SetInParent()
        _set_value(attribute.value, value, unsigned=key in _UNSIGNED_LISTS)
    entry.output_type.SetInParent()
    _set_type(entry.output_type, abstract(node))
    entry.full_name = node.name
    entry.source_address = source_address(node)


def write(graph: Graph) -> bytes:
    """The ``.pb`` bytes of ``graph``; equal graphs give equal bytes.

    Raises:
        ValueError: a node uses an operand that the graph does not list.
    """
    data: bytes = to_message(graph).SerializeToString(deterministic=True)
    return data


def read(data: bytes, where: str = ".pb bytes") -> Any:
    """Parses ``data`` as a ``ModelProto``.

    Args:
        where: name of the data in error messages (a path).

    Raises:
        TreeError: not a ``ModelProto`` with a graph, or larger than ``MAX_BYTES``.
    """
    if len(data) > MAX_BYTES:
        raise TreeError(f"{where}: {len(data)} bytes; at most {MAX_BYTES} are read")
    message = CLASSES["ModelProto"]()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise TreeError(f"{where}: not a ModelProto: {error}") from None
    if not message.HasField("graph"):
        raise TreeError(f"{where}: the ModelProto holds no graph")
    return message

"""The message types of ``ms_output_trace_code_graph_N.pb``, built in code.

Field names and numbers are those MindSpore 2.10 writes and MindInsight 2.3.1 reads (measured).
"""

from __future__ import annotations

from typing import Any

from harness.messages import build

DATA_TYPES = {
    "DT_UNDEFINED": 0, "DT_BOOL": 1, "DT_INT8": 2, "DT_INT16": 3, "DT_INT32": 4, "DT_INT64": 5, "DT_UINT8": 6,
    "DT_UINT16": 7, "DT_UINT32": 8, "DT_UINT64": 9, "DT_FLOAT16": 10, "DT_FLOAT32": 11, "DT_FLOAT64": 12,
    "DT_STRING": 13, "DT_TENSOR": 14, "DT_GRAPH": 15, "DT_BOOLS": 16, "DT_INTS8": 17, "DT_INTS16": 18, "DT_INTS32": 19,
    "DT_INTS64": 20, "DT_UINTS8": 21, "DT_UINTS16": 22, "DT_UINTS32": 23, "DT_UINTS64": 24, "DT_FLOATS16": 25,
    "DT_FLOATS32": 26, "DT_FLOATS64": 27, "DT_STRINGS": 28, "DT_TENSORS": 29, "DT_GRAPHS": 30, "DT_TUPLE": 31,
    "DT_LIST": 32, "DT_DICT": 33, "DT_NONE": 34, "DT_SYM_INST": 35, "DT_BASE_INT": 36, "DT_BASE_UINT": 37,
    "DT_BASE_FLOAT": 38, "DT_TYPE": 39, "DT_ANYTHING": 40, "DT_REFKEY": 41, "DT_REF": 42, "DT_UMONAD": 43,
    "DT_IOMONAD": 44, "DT_BFLOAT16": 46, "DT_INT4": 48, "DT_SLICE": 49,
}  # fmt: skip
"""Values of the ``DataType`` enum; MindInsight 2.3.1 does not know 43 and above and keeps them as unknown fields."""

_MESSAGES = {
    "ValueProto": (
        "dtype 1 #DataType", "bool_val 2 bool", "int_val 3 int64", "uint_val 4 uint64", "float_val 5 float",
        "double_val 6 double", "str_val 7 string", "tensor_val 8 TensorProto", "graph 9 GraphProto",
        "*bool_vals 10 bool", "*int_vals 11 int64", "*uint_vals 12 uint64", "*float_vals 13 float",
        "*double_vals 14 double", "*str_vals 15 string", "*tensor_vals 16 TensorProto", "*graphs 17 GraphProto",
        "*values 18 ValueProto", "*dict_val 19 NamedValueProto", "type_val 20 TypeProto",
    ),
    "AttributeProto": ("name 1 string", "value 2 ValueProto"),
    "NamedValueProto": ("key 1 string", "value 2 ValueProto", "full_name 3 string"),
    "TensorShapeDimension": ("size 1 int64", "name 2 string"),
    "TensorShapeProto": ("*dim 1 TensorShapeDimension",),
    "TensorTypeProto": ("elem_type 1 #DataType", "shape 2 TensorShapeProto"),
    "SequenceTypeProto": ("*elem_types 1 TypeProto",),
    "TypeProto": ("data_type 1 #DataType", "tensor_type 2 TensorTypeProto", "sequence_type 3 SequenceTypeProto"),
    "ParameterProto": ("name 1 string", "type 2 TypeProto", "default_val 3 ValueProto"),
    "OutputProto": ("name 1 string", "type 2 TypeProto"),
    "InputProto": ("name 1 string", "type 2 #EdgeType"),
    "NodeProto": (
        "*input 1 InputProto", "name 2 string", "op_type 3 string", "scope 4 string", "*attribute 5 AttributeProto",
        "output_type 6 TypeProto", "output_i 7 uint64", "full_name 8 string", "source_address 9 string",
    ),
    "OperatorProto": ("name 1 string", "config 2 bytes", "obj_info 3 bytes"),
    "OperatorSetProto": ("*operators 1 OperatorProto", "summary 2 string"),
    "GraphProto": (
        "*node 1 NodeProto", "name 2 string", "*parameters 3 ParameterProto", "*outputs 4 OutputProto",
        "*const_vals 5 NamedValueProto", "root_name 6 string",
    ),
    "ModelProto": (
        "ir_version 1 int64", "domain 2 string", "model_version 3 int64", "graph 4 GraphProto",
        "metadata_operators 5 OperatorSetProto",
    ),
    "TensorProto": (
        "node_name 1 string", "slot 2 string", "tensor_content 3 bytes", "*dims 4 int64", "data_type 5 #DataType",
        "finished 6 bool", "iter 7 string", "truncate 8 bool",
    ),
}  # fmt: skip
_ENUMS = {"DataType": DATA_TYPES, "EdgeType": {"DATA_EDGE": 0, "CONTROL_EDGE": 1}}


CLASSES: dict[str, Any] = build("harness.graph", _MESSAGES, _ENUMS)
"""Message classes by name; typed as ``Any`` because they exist at run time only."""

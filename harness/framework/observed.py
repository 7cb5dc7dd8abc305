"""Observed facts about MindSpore 2.10.0 that no document states: tables with one fact per row.

A row names the recording that holds it: the network script of ``tests/data/graphs/nets`` whose recorded graphs change
without the row, or ``crossings``, a form of ``tests/data/crossings`` whose crossing changes.
``tests/witnesses`` takes every row out and shows that its recording fails without it; docs/facts.md counts them.
"""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A fact about one name.

    Attributes:
        name: of an operator, a function, a method.
        recording: what holds it.
    """

    name: str
    recording: str


class Nesting(NamedTuple):
    """Function graphs that a function or a layer of MindSpore's library consists of.

    Attributes:
        name: ``ops.relu``, ``Tensor.__add__``, or the class of a layer. A tuple names more: the kind of an index, the
            first keyword of a call, or ``axis`` for a call with more than the tensor.
        depth: how many, one inside the other, down to the one its operators stand in (1 where nothing is said).
        passed: how many more its result passes.
        checks: its ``construct`` begins with a check of its own.
        recording: as of ``Fact``.
    """

    name: str | tuple[str, str]
    depth: int
    passed: int
    checks: bool = False
    recording: str = ""


class OlderForm(NamedTuple):
    """A method or a function that becomes another one when called with a keyword of its older form.

    Attributes:
        name: ``Tensor.sum``.
        keywords: those of the older form.
        recording: as of ``Fact``.
    """

    name: str
    keywords: tuple[str, ...]
    recording: str = ""


FUNCTION_GRAPHS = (
    Nesting("ops.amax", 2, 7, recording="crossings"),
    Nesting("nn.joined_states", 24, 0, recording="recurrent_states"),
    Nesting("ops.amin", 2, 7, recording="crossings"),
    Nesting("ops.chunk", 10, 2, recording="crossings"),
    Nesting("ops.cross_entropy", 12, 0, recording="crossings"),
    Nesting("ops.cross_entropy, labels", 4, 0, recording="crossings"),
    Nesting("ops.cross_entropy, softmax", 8, 0, recording="crossings"),
    Nesting("ops.dropout", 4, 0, recording="crossings"),
    Nesting("ops.max", 7, 0, recording="crossings"),
    Nesting("ops.min", 7, 0, recording="crossings"),
    Nesting("ops.sort", 2, 0, recording="crossings"),
    Nesting("ops.split", 11, 5, recording="crossings"),
    Nesting("ops.std", 4, 0, recording="crossings"),
    Nesting("ops.topk", 9, 0, recording="crossings"),
    Nesting("ops.var", 6, 0, recording="crossings"),
    Nesting("Tensor.__abs__", 0, 0, recording="crossings"),
    Nesting(("Tensor.astype", "dtype"), 6, 0, recording="crossings"),
    Nesting("Tensor.chunk", 13, 0, recording="crossings"),
    Nesting("Tensor.clamp", 0, 0, recording="crossings"),
    Nesting("Tensor.masked_fill", 0, 0, recording="crossings"),
    Nesting("Tensor.max", 12, 1, recording="crossings"),
    Nesting("Tensor.min", 12, 1, recording="crossings"),
    Nesting("Tensor.split", 17, 0, recording="crossings"),
    Nesting(("ops.max", "axis"), 20, 0, recording="crossings"),
    Nesting(("ops.min", "axis"), 20, 0, recording="crossings"),
    Nesting(("Tensor.max", "axis"), 26, 0, recording="crossings"),
    Nesting(("Tensor.min", "axis"), 26, 0, recording="crossings"),
    Nesting(("Tensor.sum", "dim"), 0, 0, recording="crossings"),
)
#: layers; other layers have the structure of their source in this package
LAYER_GRAPHS = (
    Nesting("AvgPool2d", 4, 3, recording="crossings"),
    Nesting("BatchNorm1d", 5, 6, checks=True, recording="crossings"),
    Nesting("BatchNorm2d", 7, 6, checks=True, recording="crossings"),
    Nesting("BatchNorm3d", 1, 0, checks=True, recording="crossings"),
    Nesting("Conv2dTranspose", 1, 6, recording="crossings"),
    Nesting("Dropout", 3, 1, recording="crossings"),
    Nesting("Flatten", 11, 2, recording="crossings"),
    Nesting("GELU", 8, 1, recording="crossings"),
    Nesting("GRU", 7, 0, recording="crossings"),
    Nesting("LSTM", 7, 0, recording="crossings"),
    Nesting("LayerNorm", 1, 1, recording="crossings"),
    Nesting("MaxPool2d", 4, 5, recording="crossings"),
    Nesting("RNN", 7, 0, recording="crossings"),
    Nesting("_DynamicGRUCPUGPU", 15, 0, recording="crossings"),
    Nesting("_DynamicLSTMCPUGPU", 23, 4, recording="crossings"),
    Nesting("_DynamicRNNRelu", 15, 0, recording="crossings"),
    Nesting("_DynamicRNNTanh", 15, 0, recording="crossings"),
)

#: a method is its older form with any keyword (these aside: ``SAME_METHODS``), a function with one of these
OLDER_FORMS = (
    OlderForm("ops.flip", ("dims",), "keyworded"),
    OlderForm("ops.triu", ("diagonal", "input"), "older"),
)

#: methods that are the same function with a keyword
SAME_METHODS = (
    Fact("addcmul", "keyworded"),
    Fact("amin", "keyworded"),
    Fact("argmax_with_value", "keyworded"),
    Fact("argmin_with_value", "keyworded"),
    Fact("astype", "keyworded"),
    Fact("bmm", "keyworded"),
    Fact("cumprod", "keyworded"),
    Fact("expand_dims", "keyworded"),
    Fact("flip", "keyworded"),
    Fact("gather_elements", "keyworded"),
    Fact("gather_nd", "keyworded"),
    Fact("moveaxis", "keyworded"),
    Fact("movedim", "keyworded"),
    Fact("multiply", "keyworded"),
    Fact("norm", "keyworded"),
    Fact("softmax", "keyworded"),
    Fact("swapaxes", "keyworded"),
    Fact("swapdims", "keyworded"),
    Fact("tensor_split", "keyworded"),
)

#: functions whose operator stands where they are called, if by position alone; with a keyword they are graph functions,
#: as every other one is
DIRECT_FUNCTIONS = (
    Fact("all", "keywords"),
    Fact("broadcast_to", "keywords"),
    Fact("cat", "keywords"),
    Fact("log_softmax", "keywords"),
)
#: functions whose operator stands where they are called, however they are called
UNSHARED_FUNCTIONS = (Fact("flip", "older"),)
#: names that are an operator in MindSpore, not a function, if called by position alone
PRIMITIVE_FUNCTIONS = (
    Fact("reduce_max", "older"),
    Fact("reduce_mean", "older"),
    Fact("reduce_min", "older"),
    Fact("reduce_sum", "older"),
)
#: methods whose operator stands where they are called, if by position alone; every other one is a function of its own
DIRECT_METHODS = (
    Fact("__abs__", "lookups"),
    Fact("__floordiv__", "methods"),
    Fact("__ge__", "methods"),
    Fact("__iadd__", "augmented"),
    Fact("__imod__", "augmented"),
    Fact("__imul__", "augmented"),
    Fact("__isub__", "augmented"),
    Fact("__itruediv__", "augmented"),
    Fact("__le__", "methods"),
    Fact("__mul__", "scopes"),
    Fact("__pow__", "scopes"),
    Fact("__rfloordiv__", "methods"),
    Fact("__rpow__", "methods"),
    Fact("__rsub__", "methods"),
    Fact("__rtruediv__", "methods"),
    Fact("__sub__", "scopes"),
    Fact("__truediv__", "methods"),
    Fact("abs", "methods"),
    Fact("broadcast_to", "keyworded"),
    Fact("ceil", "methods"),
    Fact("cos", "methods"),
    Fact("div", "keyworded"),
    Fact("eq", "lookups"),
    Fact("erf", "methods"),
    Fact("exp", "methods"),
    Fact("expm1", "methods"),
    Fact("floor", "methods"),
    Fact("greater", "methods"),
    Fact("gt", "methods"),
    Fact("le", "methods"),
    Fact("less", "keyworded"),
    Fact("less_equal", "methods"),
    Fact("log", "methods"),
    Fact("log1p", "lookups"),
    Fact("logical_not", "methods"),
    Fact("lt", "methods"),
    Fact("maximum", "keyworded"),
    Fact("minimum", "methods"),
    Fact("ne", "methods"),
    Fact("neg", "methods"),
    Fact("not_equal", "methods"),
    Fact("reciprocal", "methods"),
    Fact("reshape", "scopes"),
    Fact("round", "keyworded"),
    Fact("rsqrt", "methods"),
    Fact("sigmoid", "methods"),
    Fact("sin", "methods"),
    Fact("sinh", "methods"),
    Fact("sqrt", "methods"),
    Fact("square", "methods"),
    Fact("std", "methods"),
    Fact("tan", "methods"),
    Fact("tanh", "methods"),
    Fact("to", "keyworded"),
    Fact("triu", "keyworded"),
    Fact("trunc", "methods"),
    Fact("var", "methods"),
    Fact("view", "methods"),
)

#: operators that are computed at compile time when all their tensors are constants
FOLDED = (
    Fact("Abs", "folded"),
    Fact("BroadcastTo", "folded"),
    Fact("Cast", "folded"),
    Fact("Concat", "folded"),
    Fact("Div", "folded"),
    Fact("Divs", "folded"),
    Fact("EqScalar", "folded"),
    Fact("Equal", "folded"),
    Fact("Greater", "folded"),
    Fact("GreaterEqual", "folded"),
    Fact("Less", "folded"),
    Fact("LessEqual", "folded"),
    Fact("LessScalar", "folded"),
    Fact("Log", "folded"),
    Fact("Max", "folded"),
    Fact("Min", "folded"),
    Fact("Minimum", "folded"),
    Fact("Mul", "simplify"),
    Fact("Muls", "simplify"),
    Fact("Neg", "gradients"),
    Fact("NotEqual", "folded"),
    Fact("ProdExt", "folded"),
    Fact("Reciprocal", "folded"),
    Fact("ReduceAll", "truths"),
    Fact("ReduceAny", "truths"),
    Fact("ReduceMax", "folded"),
    Fact("ReduceMean", "folded"),
    Fact("ReduceMin", "folded"),
    Fact("ReduceSum", "folded"),
    Fact("Reshape", "functions"),
    Fact("Softmax", "folded"),
    Fact("Sqrt", "folded"),
    Fact("Stack", "folded"),
    Fact("SumExt", "gradients"),
    Fact("Tile", "functions"),
)
#: operators that are simplified even if their result is changed in place later
BEFORE_READS = (
    Fact("Add", "folded"),
    Fact("Reshape", "folded"),
)

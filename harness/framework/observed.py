"""Observed facts about MindSpore 2.10.0 that no document states: tables with one fact per row.

A row names the recording that holds it: the network script of ``tests/data/graphs/nets`` whose recorded graphs are
others without it. Rows whose last entry is empty were seen in graphs that were not kept;
``tests/framework/test_observed.py`` takes out every row that names a recording and sees that recording go red.
"""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A fact about one name.

    Attributes:
        name: of an operator, a function, a method.
        recording: the network script that holds it; empty if none does.
    """

    name: str
    recording: str = ""


class Nesting(NamedTuple):
    """Function graphs that a function or a layer of MindSpore's library consists of.

    Attributes:
        name: ``ops.relu``, ``Tensor.__add__`` (with the kind of an argument: a tuple), or the class of a layer.
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
    """A method that is another function when it is called with a keyword of its older form.

    Attributes:
        name: ``Tensor.sum``.
        keywords: those of the older form.
        recording: as of ``Fact``.
    """

    name: str
    keywords: tuple[str, ...]
    recording: str = ""


FUNCTION_GRAPHS = (
    Nesting("ops.amax", 2, 0),
    Nesting("ops.amin", 2, 0),
    Nesting("ops.argmax", 6, 2),
    Nesting("ops.chunk", 10, 0),
    Nesting("ops.clamp", 4, 0),
    Nesting("ops.concat", 2, 0),
    Nesting("ops.cross_entropy", 12, 0),
    Nesting("ops.cross_entropy, labels", 4, 0),
    Nesting("ops.cross_entropy, softmax", 8, 0),
    Nesting("ops.cumsum", 2, 0),
    Nesting("ops.flatten", 10, 0),
    Nesting("ops.gelu", 6, 1),
    Nesting("ops.leaky_relu", 2, 0),
    Nesting("ops.log_softmax", 1, 1),
    Nesting("ops.logaddexp", 7, 0),
    Nesting("ops.logsumexp", 1, 3),
    Nesting("ops.matmul", 2, 0),
    Nesting("ops.mean", 2, 0),
    Nesting("ops.prod", 2, 0),
    Nesting("ops.relu", 3, 0),
    Nesting("ops.softmax", 4, 1),
    Nesting("ops.softplus", 3, 1),
    Nesting("ops.split", 11, 0),
    Nesting("ops.squeeze", 2, 0),
    Nesting("ops.swapaxes", 7, 0),
    Nesting("ops.unsqueeze", 2, 0),
    Nesting("Tensor.T", 5, 0),
    Nesting("Tensor.__add__", 2, 0),
    Nesting("Tensor.__gt__", 2, 0),
    Nesting("Tensor.__lt__", 3, 0),
    Nesting("Tensor.__neg__", 2, 0),
    Nesting("Tensor.astype", 4, 0),
    Nesting("Tensor.max", 12, 0),
    Nesting("Tensor.mean", 3, 0),
    Nesting("Tensor.min", 12, 0),
    Nesting("Tensor.squeeze", 3, 0),
    Nesting("Tensor.std", 1, 0),
    Nesting("Tensor.sum", 3, 0),
    Nesting("Tensor.swapaxes", 8, 0),
    Nesting("Tensor.unsqueeze", 3, 0),
    Nesting("Tensor.var", 8, 8),
    Nesting(("Tensor.__getitem__", "int"), 22, 0),
    Nesting(("Tensor.__getitem__", "slice"), 4, 0),
    Nesting(("Tensor.__getitem__", "tuple"), 11, 0),
)
#: functions that are one more further in with a number (``x * 2``)
WITH_NUMBER = (
    Fact("Tensor.__mul__"),
    Fact("Tensor.__rmul__"),
)
#: layers; the structure of those not named here is that of their source in this package
LAYER_GRAPHS = (
    Nesting("AvgPool2d", 4, 3),
    Nesting("BatchNorm1d", 5, 0, checks=True),
    Nesting("BatchNorm2d", 7, 0, checks=True),
    Nesting("BatchNorm3d", 7, 0, checks=True),
    Nesting("Conv2dTranspose", 1, 5),
    Nesting("Dropout", 3, 0),
    Nesting("Flatten", 1, 1),
    Nesting("GELU", 1, 1),
    Nesting("LayerNorm", 1, 0),
    Nesting("MaxPool2d", 4, 5),
)

OLDER_FORMS = (
    OlderForm("Tensor.add", ("other",), "keywords"),
    OlderForm("Tensor.any", ("axis",)),
    OlderForm("Tensor.argmax", ("axis",)),
    OlderForm("Tensor.argmin", ("axis",)),
    OlderForm("Tensor.cumsum", ("axis",)),
    OlderForm("Tensor.flatten", ("start_dim",)),
    OlderForm("Tensor.gather", ("axis",)),
    OlderForm("Tensor.max", ("axis",)),
    OlderForm("Tensor.mean", ("axis",)),
    OlderForm("Tensor.min", ("axis",)),
    OlderForm("Tensor.pow", ("exponent",), "keywords"),
    OlderForm("Tensor.squeeze", ("axis",)),
    OlderForm("Tensor.std", ("axis",)),
    OlderForm(
        "Tensor.sum",
        (
            "axis",
            "keepdims",
            "initial",
        ),
        "loops",
    ),
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
UNSHARED_FUNCTIONS = (Fact("flip"),)
#: names that are an operator there, and no function
PRIMITIVE_FUNCTIONS = (
    Fact("reduce_max"),
    Fact("reduce_mean"),
    Fact("reduce_min"),
    Fact("reduce_sum"),
)
#: methods whose operator stands where they are called, if by position alone; every other one is a function of its own
DIRECT_METHODS = (
    Fact("__abs__", "lookups"),
    Fact("__floordiv__"),
    Fact("__ge__"),
    Fact("__getitem__"),
    Fact("__iadd__"),
    Fact("__ifloordiv__"),
    Fact("__imod__"),
    Fact("__imul__"),
    Fact("__isub__"),
    Fact("__itruediv__"),
    Fact("__le__"),
    Fact("__mul__", "scopes"),
    Fact("__pow__", "scopes"),
    Fact("__rfloordiv__"),
    Fact("__rmul__"),
    Fact("__rpow__"),
    Fact("__rsub__"),
    Fact("__rtruediv__"),
    Fact("__sub__", "scopes"),
    Fact("__truediv__"),
    Fact("abs"),
    Fact("broadcast_to", "keywords"),
    Fact("ceil"),
    Fact("cos"),
    Fact("div", "keywords"),
    Fact("eq", "lookups"),
    Fact("erf"),
    Fact("exp"),
    Fact("expm1"),
    Fact("floor"),
    Fact("greater"),
    Fact("gt"),
    Fact("le"),
    Fact("less", "keywords"),
    Fact("less_equal"),
    Fact("log"),
    Fact("log1p", "lookups"),
    Fact("logical_not"),
    Fact("lt"),
    Fact("maximum", "keywords"),
    Fact("minimum"),
    Fact("ne"),
    Fact("neg"),
    Fact("not_equal"),
    Fact("reciprocal"),
    Fact("reshape", "scopes"),
    Fact("round", "keywords"),
    Fact("rsqrt"),
    Fact("sigmoid"),
    Fact("sin"),
    Fact("sinh"),
    Fact("sqrt"),
    Fact("square"),
    Fact("std"),
    Fact("tan"),
    Fact("tanh"),
    Fact("to", "keywords"),
    Fact("triu", "keywords"),
    Fact("trunc"),
    Fact("var"),
    Fact("view"),
)

#: operators that are computed at compile time when all their tensors are constants
FOLDED = (
    Fact("BroadcastTo"),
    Fact("Cast"),
    Fact("Divs"),
    Fact("Mul", "simplify"),
    Fact("Muls", "simplify"),
    Fact("Neg", "gradients"),
    Fact("Reshape", "functions"),
    Fact("SumExt", "gradients"),
    Fact("Tile", "functions"),
)
#: operators that are simplified even where their result is changed in place later
BEFORE_READS = (
    Fact("Add"),
    Fact("Cast"),
    Fact("Load"),
    Fact("Reshape"),
)

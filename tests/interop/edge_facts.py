"""Prints, as JSON, what MindSpore makes of values at the edges: casts that do not fit, ties of TopK, forms of ``max``,
dtypes beside each other, sums that float32 cannot hold, searches in what is not sorted, axes of ``flatten``,
dtypes of what is drawn.

Run under the real one it makes ``tests/data/ops/edges.json``; ``msdump run`` must print the same.
"""

from __future__ import annotations

import importlib
import itertools
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

warnings.simplefilter("ignore")
DTYPES = ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "bfloat16")  # fmt: skip
MIXED = ("bool", "int32", "int64", "float16", "float32", "float64")
FLOATS = (
    np.nan, np.inf, -np.inf, 1e20, -1e20, 3e9, -3e9, 2.0**31, -(2.0**31) - 1, 300.0, -1.0, -300.0, 7e4, 1e10, 65504.0,
    -0.5, 1.9, -1.9, 9.3e18, 1.9e19, 5e9, 2.0**63, -(2.0**63), 2.0**64, 127.9, 128.0, -129.0, 32768.0, 65536.0, 4e4,
)  # fmt: skip
INTEGERS = (0, 1, -1, 127, 128, 255, 256, -129, 32768, 65536, 2**31, -(2**31) - 1, 2**32, 2**63 - 1, -(2**63))
FORMS = (
    "x.max(1)", "x.max(0, True)", "x.max((0, 1))", "x.min(1)", "x.max(axis=1)", "x.max(dim=1)",
    "x.max(1, keepdim=True)", "x.max(axis=1, keepdims=True)", "x.max(axis=1, return_indices=True)", "x.max(None)",
    "x.min(-1, False)", "x.max()", "x.min(dim=0, keepdim=True)", "x.max(1, keepdims=True)",
    "x.max(1, True, return_indices=True)", "x.min((0, 1), True)", "x.max(axis=(0, 1))",
)  # fmt: skip


def cast_facts() -> dict[str, list[str]]:
    """``from to`` -> the results as text."""
    found = {}
    for source in DTYPES:
        values = FLOATS if "float" in source else INTEGERS
        if source == "bfloat16":
            x = Tensor(np.array(values, np.float32)).astype(ms.bfloat16)
        else:
            x = Tensor(np.array(values).astype("bool" if source == "bool_" else source))
        for target in DTYPES:
            y = ops.cast(x, getattr(ms, target))
            y = y.astype(ms.float32) if target == "bfloat16" else y
            found[f"{source} {target}"] = [str(v) for v in y.asnumpy().tolist()]
    return found


def mixed_facts() -> dict[str, dict[str, str]]:
    """``mode operator`` -> ``dtype rank, dtype rank`` -> dtype of the result."""
    operators: dict[str, Callable[[Any, Any], Any]] = {
        "*": lambda x, y: x * y, "/": lambda x, y: x / y, "+": lambda x, y: x + y,
    }  # fmt: skip
    sides = [(dtype, rank) for dtype in MIXED for rank in (0, 1)]
    found: dict[str, dict[str, str]] = {}
    for mode, (symbol, function) in itertools.product((0, 1), operators.items()):
        ms.set_context(mode=mode)
        row = found[f"{mode} {symbol}"] = {}
        for (left, n), (right, m) in itertools.product(sides, sides):
            if symbol == "+" and left == right == "bool":  # no kernel: an error, once the value is asked for
                continue
            x, y = Tensor(np.ones((2,) * n, left)), Tensor(np.ones((2,) * m, right))
            row[f"{left} {n}, {right} {m}"] = str(function(x, y).dtype)
    return found


def tie_facts() -> list[list[object]]:
    """[values, k, sorted indices, unsorted indices] of rows with many equal elements."""
    random = np.random.RandomState(0)
    found: list[list[object]] = []
    for size in (3, 4, 5, 8, 17, 40, 200):
        for k in (1, 2, 3, size // 2):
            for kinds in (2, 3, 10):
                x = Tensor(random.randint(0, kinds, size).astype(np.float32))
                indices = [ops.TopK(sorted=flag)(x, k)[1].asnumpy().tolist() for flag in (True, False)]
                found.append([x.asnumpy().astype(int).tolist(), k, *indices])
    return found


#: kernels that add in float32 on the way to what float32 can hold
SUMS: dict[str, Callable[[Any], Any]] = {
    "ReduceStd": lambda x: ops.std(x, -1), "LayerNorm": lambda x: nn.LayerNorm((4,))(x),
    "L2Normalize": lambda x: ops.L2Normalize(axis=-1)(x),
    "LpNorm": lambda x: ops.LpNorm(axis=-1, p=2)(x), "BatchNorm": lambda x: nn.BatchNorm2d(2).set_train()(x),
}  # fmt: skip
MEANS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: x.mean(), "mean of axis": lambda x: x.mean(-1), "AvgPool": lambda x: nn.AvgPool2d(2, 2)(x),
}  # fmt: skip
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "Adam": lambda p: nn.Adam(p, 0.1), "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.1),
    "RMSProp": lambda p: nn.RMSProp(p, 0.1), "centered": lambda p: nn.RMSProp(p, 0.1, centered=True),
    "Adadelta": lambda p: nn.Adadelta(p, 0.1), "FTRL": lambda p: nn.FTRL(p, learning_rate=0.1),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.1), "LazyAdam": lambda p: nn.LazyAdam(p, 0.1),
}  # fmt: skip


def kinds(array: Any) -> str:
    """A letter for each value: 0, a number (x), infinite (+, -), NaN (?)."""
    letters = []
    for value in array.ravel().tolist():
        is_large = "+" if value > 0 else "-"
        letters.append("?" if np.isnan(value) else is_large if np.isinf(value) else "x" if value else "0")
    return "".join(letters)


def sum_facts() -> dict[str, str]:
    """``size name`` -> the kinds of what it gives, or of what an optimizer's parameters are after two steps."""
    ms.set_context(mode=1)
    found: dict[str, str] = {}
    ramp = np.linspace(0.8, 1.0, 64).reshape(2, 2, 4, 4) * np.tile((1, -1, -1, 1), 16).reshape(2, 2, 4, 4)
    for size in (1e5, 1e18, 1.5e19, 3e19, 1e20, 1e25):
        for name, form in SUMS.items():
            found[f"{size} {name}"] = kinds(form(Tensor((ramp * size).astype(np.float32))).asnumpy())
        for name, make in OPTIMIZERS.items():
            weight = Parameter(Tensor(np.ones(11, np.float32)), name="weight")
            optimizer = make([weight])
            gradient = np.linspace(0.5, 1.0, 11) * size
            for _ in range(2):
                optimizer((Tensor(gradient.astype(np.float32)),))
            for each in (weight, *optimizer.get_parameters()):
                found[f"{size} {name} {each.name}"] = kinds(each.asnumpy())
    for size in (1e38, 3e38):
        for name, form in MEANS.items():
            found[f"{size} {name}"] = kinds(form(Tensor(np.abs(ramp * size).astype(np.float32))).asnumpy())
    return found


def search_facts() -> list[list[list[int]]]:
    """Places in rows of small numbers, sorted and not, with NaN at the ends; from the left, then from the right."""
    random = np.random.RandomState(0)
    found = []
    for size in range(1, 13):
        rows = random.randint(0, 6, (3, size)).astype(np.float32)
        rows[1].sort()
        rows[2, 0] = rows[2, -1] = np.nan
        values = np.concatenate([random.randint(-1, 7, (3, 6)), np.full((3, 1), np.nan)], 1).astype(np.float32)
        for right in (False, True):
            found.append(ops.searchsorted(Tensor(rows), Tensor(values), right=right).asnumpy().tolist())
    return found


def flatten_facts() -> dict[str, list[object]]:
    """Shape of a tensor -> the shapes or errors that every pair of axes from -4 to 3 gives, and the default ones."""
    found = {}
    for rank in range(4):
        x = Tensor(np.zeros((2, 3, 4)[:rank], np.float32))
        pairs = itertools.product(range(-4, 4), repeat=2)
        settings = [{}, *({"start_dim": first, "end_dim": last} for first, last in pairs)]
        found[str(x.shape)] = [shape_of(x, **each) for each in settings]
    return found


def shape_of(x: Tensor, **settings: int) -> object:
    try:
        return list(ops.flatten(x, **settings).shape)
    except ValueError:
        return "ValueError"


def drawn_facts() -> dict[str, str]:
    """Dtype of what each function draws, or ``ValueError``, by its input's dtype and the dtype that is asked for."""
    names = ("bool_", "int32", "int64", "float16", "float32", "float64", "bfloat16")
    dtypes = {name: getattr(ms, name) for name in names}
    found = {}
    for (given, of), (name, asked) in itertools.product(dtypes.items(), {"None": None, **dtypes}.items()):
        for function in (ops.rand_like, ops.randn_like):
            like = Tensor(np.zeros((2, 2)), of)
            found[f"{function.__name__} {given} {name}"] = drawn(lambda f=function, x=like, a=asked: f(x, dtype=a))
    for (name, asked), function in itertools.product(dtypes.items(), (ops.rand, ops.randn)):
        found[f"{function.__name__} {name}"] = drawn(lambda f=function, a=asked: f(2, dtype=a))
    return found


def drawn(draw: Callable[[], Tensor]) -> str:
    try:
        return str(draw().dtype)
    except ValueError:
        return "ValueError"


def plain(value: object) -> object:
    return [plain(v) for v in value] if isinstance(value, tuple) else value.asnumpy().tolist()


def form_facts(cells: Sequence[type[nn.Cell]]) -> dict[str, object]:
    """``mode form`` -> what it gives; a tuple as a list of its members."""
    x = Tensor(np.array([[1, 5, 3], [4, 2, 6]], np.float32))
    found: dict[str, object] = {}
    for mode in (0, 1):
        ms.set_context(mode=mode)
        for form, cell in zip(FORMS, cells, strict=True):
            found[f"{mode} {form}"] = plain(cell()(x))
    return found


#: MindSpore parses source: each form is a class in a file
SOURCE = "\n".join(
    f"class F{at}(nn.Cell):\n    def construct(self, x):\n        return {form}\n" for at, form in enumerate(FORMS)
)


def main(out: str, folder: str) -> None:
    """Writes the facts to ``out``; ``folder`` is for the file of the forms."""
    with open(f"{folder}/forms_of_max.py", "w", encoding="utf-8") as file:
        file.write("from mindspore import nn\n\n" + SOURCE)
    sys.path.insert(0, folder)
    module = importlib.import_module("forms_of_max")
    cells = [getattr(module, f"F{at}") for at in range(len(FORMS))]
    with open(out, "w", encoding="utf-8") as file:
        found = {"casts": cast_facts(), "ties": tie_facts(), "forms": form_facts(cells), "mixed": mixed_facts(),
                 "sums": sum_facts(), "searches": search_facts(), "flattened": flatten_facts(),
                 "drawn": drawn_facts()}  # fmt: skip
        json.dump(found, file, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

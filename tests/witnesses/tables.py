"""The tables of facts observed of MindSpore, and how a row is taken out of one."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from harness.framework import observed, ops
from harness.framework.compile import closures, functions, simplify
from harness.framework.tensor import dispatch, tensor

_COMPILE = "tests/framework/compile"
_OPS = "tests/framework/ops"


class Table(NamedTuple):
    """A table of facts.

    Attributes:
        module: where it is, below ``harness``.
        name: of the dict, the set, or the constant.
        kind: what its rows are about.
        tests: files of tests beside something recorded that may hold a row; the networks of ``tests/data/graphs`` may
            hold any.
    """

    module: str
    name: str
    kind: str
    tests: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of the table in ``tests/data/witnesses.json``."""
        return f"{self.module}.{self.name}"

    @property
    def value(self) -> Any:
        """The table itself."""
        return getattr(importlib.import_module(f"harness.{self.module}"), self.name)

    def rows(self) -> dict[str, Hashable]:
        """The rows by their texts."""
        return {row if isinstance(row, str) else repr(row): row for row in self.value}


_GRAPHS = (f"{_OPS}/test_graphs.py", f"{_OPS}/test_functions.py", f"{_OPS}/test_arrays.py")
_SCOPES, _GRADIENTS, _FOLDS = "scopes", "gradients", "what is computed at compile time"
TABLES = (
    Table("framework.compile.functions", "METHODS", _SCOPES),
    Table("framework.compile.functions", "CONSISTING", _SCOPES),
    Table("framework.compile.functions", "ABROAD", _SCOPES),
    Table("framework.compile.functions", "COMPOSED", _SCOPES),
    Table("framework.compile.functions", "EACH", _SCOPES),
    Table("framework.compile.functions", "DEEP", _SCOPES),
    Table("framework.compile.functions", "_SHARED_KINDS", _SCOPES),
    Table("framework.compile.functions", "_OPERATORS", _SCOPES),
    Table("framework.compile.spread", "SPREAD", _SCOPES),
    Table("framework.compile.spread", "_APART", _SCOPES),
    Table("framework.tensor.dispatch", "DIRECT_WITH_FLAG", _SCOPES),
    Table("framework.compile.differentiate", "LATE_ZEROS", _GRADIENTS, _GRAPHS),
    Table("framework.compile.differentiate", "UNPACKED", _GRADIENTS, _GRAPHS),
    Table("framework.compile.differentiate", "ZERO_GRADIENTS", _GRADIENTS, _GRAPHS),
    Table("framework.compile.differentiate", "IN_DEFAULT", _GRADIENTS, _GRAPHS),
    Table("framework.compile.differentiate", "OF_FUNCTIONS_IN_DEFAULT", _GRADIENTS, _GRAPHS),
    Table("framework.compile.differentiate", "RESHAPED_IN_DEFAULT", _GRADIENTS, _GRAPHS),
    Table("framework.compile.simplify", "_JOINED", _FOLDS),
    Table("framework.compile.simplify", "_OF_TENSORS", _FOLDS, _GRAPHS),
    Table("framework.ops.eager", "_NEED_A_TENSOR", "arguments", (f"{_COMPILE}/test_misuse.py",)),
    Table("framework.ops.eager", "VIEWS", "memory", (f"{_OPS}/test_eager.py",)),
    Table("devices.cpu", "FLOAT16_AS_FLOAT32", "dtypes of kernels", _GRAPHS),
    Table("devices.cpu", "FLOAT64_AS_FLOAT32", "dtypes of kernels", _GRAPHS),
    Table("devices.cpu", "INT64_AS_INT32", "dtypes of kernels", _GRAPHS),
)
#: tables of ``observed``, whose rows name their recordings themselves
OBSERVED = (
    "FUNCTION_GRAPHS", "LAYER_GRAPHS", "OLDER_FORMS", "SAME_METHODS", "DIRECT_FUNCTIONS", "PRIMITIVE_FUNCTIONS",
    "DIRECT_METHODS", "UNSHARED_FUNCTIONS", "FOLDED", "BEFORE_READS",
)  # fmt: skip


def take_out(table: Table, row: Hashable) -> None:
    """Takes a row out, for the rest of the process."""
    old = table.value
    if isinstance(old, dict):
        del old[row]
        return
    _replace(old, old - {row})


def _replace(old: Any, new: Any) -> None:
    """Puts ``new`` in the place of ``old`` wherever a module or an object has it."""
    for holder in gc.get_referrers(old):
        if isinstance(holder, dict):
            for key in [key for key, value in holder.items() if value is old]:
                holder[key] = new
        for name in getattr(type(holder), "__slots__", ()):
            if getattr(holder, name, None) is old:
                object.__setattr__(holder, name, new)


def take_out_observed(table: str, name: Any) -> None:
    """The same for a row of a table of ``observed``: out of what is made of it."""
    made: Mapping[str, tuple[Any, str]] = {
        "FUNCTION_GRAPHS": (closures, "FUNCTIONS"), "LAYER_GRAPHS": (closures, "LAYERS"),
        "OLDER_FORMS": (dispatch, "_OLD_KEYWORDS"), "FOLDED": (simplify, "_FOLDED"),
        "BEFORE_READS": (simplify, "_BEFORE_READS"),
    }  # fmt: skip
    if table in made:
        module, attribute = made[table]
        take_out(Table(module.__name__.removeprefix("harness."), attribute, ""), name)
    elif table == "SAME_METHODS":
        _replace(dispatch._SAME, dispatch._SAME - {f"Tensor.{name}"})
    elif table == "DIRECT_METHODS":
        plain = tensor._METHODS[name].__wrapped__  # type: ignore[attr-defined]
        method = dispatch.graph_function(f"Tensor.{tensor.REFLECTED.get(name, name)}", plain)
        tensor._METHODS[name] = method
        setattr(tensor.Tensor, name, method)
        _replace(functions._DIRECT, functions._DIRECT - {name})
    else:
        function = getattr(ops, name)
        setattr(ops, name, dispatch.graph_function(f"ops.{name}", getattr(function, "__wrapped__", function)))


def observed_rows() -> list[tuple[str, Any]]:
    """Every table of ``observed`` with each of its rows."""
    return [(table, row) for table in OBSERVED for row in getattr(observed, table)]

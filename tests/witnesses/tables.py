"""The tables of facts observed of MindSpore, and how a row is taken out of one."""

from __future__ import annotations

import gc
import importlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.framework import observed, ops
from harness.framework.compile import closures, functions, simplify
from harness.framework.tensor import dispatch, tensor
from tests.witnesses.changes import AT_IMPORT, planted
from tests.witnesses.marks import marks

WITNESSES = Path(__file__).parents[1] / "data" / "witnesses.json"
#: of each fact that code says was measured: the function, the change of it, and the test that fails with that change;
#: None where no witness is known
FACTS = WITNESSES.with_name("facts.json")
#: begins the change of a constant: what follows is the row that is taken out
WITHOUT = "without "


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
        """The rows by their texts, in order: a set has another one in each process; a constant is one row."""
        value = self.value
        if not isinstance(value, (Mapping, frozenset, set, tuple)):
            return {repr(value): value}
        named = {row if isinstance(row, str) else getattr(row, "__name__", repr(row)): row for row in value}
        return dict(sorted(named.items()))


_SCOPES, _GRADIENTS, _FOLDS = "scopes of functions", "gradients", "what is computed at compile time"
TABLES = (
    Table("framework.compile.functions", "METHODS", _SCOPES),
    Table("framework.compile.functions", "CONSISTING", _SCOPES),
    Table("framework.compile.functions", "ABROAD", _SCOPES),
    Table("framework.compile.functions", "COMPOSED", _SCOPES),
    Table("framework.compile.functions", "EACH", _SCOPES),
    Table("framework.compile.functions", "PLACED_LATE", _SCOPES),
    Table("framework.compile.functions", "DEEP", _SCOPES),
    Table("framework.compile.functions", "_SHARED_KINDS", _SCOPES),
    Table("framework.compile.functions", "_OPERATORS", _SCOPES),
    Table("framework.compile.spread", "SPREAD", _SCOPES),
    Table("framework.compile.spread", "_APART", _SCOPES),
    Table("framework.compile.differentiate", "LATE_ZEROS", _GRADIENTS),
    Table("framework.compile.differentiate", "UNPACKED", _GRADIENTS),
    Table("framework.compile.differentiate", "ZERO_GRADIENTS", _GRADIENTS),
    Table("framework.compile.differentiate", "IN_DEFAULT", _GRADIENTS),
    Table("framework.compile.differentiate", "OF_FUNCTIONS_IN_DEFAULT", _GRADIENTS),
    Table("framework.compile.differentiate", "RESHAPED_IN_DEFAULT", _GRADIENTS),
    Table("framework.compile.simplify", "_JOINED", _FOLDS),
    Table("framework.compile.simplify", "_OF_TENSORS", _FOLDS),
    Table("framework.compile.effects", "_VIEWS", "memory"),
)

#: tables of ``observed``, whose rows name their recordings themselves, and what they are about
OBSERVED = {
    "FUNCTION_GRAPHS": "function graphs", "LAYER_GRAPHS": "function graphs", "OLDER_FORMS": _SCOPES,
    "SAME_METHODS": _SCOPES, "DIRECT_FUNCTIONS": _SCOPES, "PRIMITIVE_FUNCTIONS": _SCOPES, "DIRECT_METHODS": _SCOPES,
    "UNSHARED_FUNCTIONS": _SCOPES, "FOLDED": _FOLDS, "BEFORE_READS": _FOLDS,
}  # fmt: skip


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        table: key of its table.
        name: its text.
        kind: what it is about.
        key: what the witness needs of it: the name of a row of ``observed``.
        take_out: takes it out, for the rest of the process.
        witness: what fails without it, as of ``recordings.holds``; empty where nothing is known to.
        at_import: the function and the change, where the module ``table`` is imported with it in a new process.
    """

    table: str
    name: str
    kind: str
    key: Any
    take_out: Callable[[], None]
    witness: str
    at_import: tuple[str, str] | None = None


def rows() -> list[Row]:
    """Every row of every table."""
    known: dict[str, dict[str, str]] = json.loads(WITNESSES.read_text()) if WITNESSES.is_file() else {}
    found = [
        Row(table.key, name, table.kind, None, _taking_out(table, row), known.get(table.key, {}).get(name, ""))
        for table in TABLES
        for name, row in table.rows().items()
    ]
    for table_name, kind in OBSERVED.items():
        for row in getattr(observed, table_name):
            name = row.name if isinstance(row.name, str) else ", ".join(row.name)
            taking = _taking_out_observed(table_name, row.name)
            found.append(Row(f"framework.observed.{table_name}", name, kind, row.name, taking, row.recording))
    return found


def statements() -> list[Row]:
    """Every fact that code outside of ``TABLES`` says was measured: its module, and what of it the fact is about."""
    known, tables = facts(), {f"harness.{table.key}" for table in TABLES}
    found = []
    for mark in marks():
        if f"{mark.module}.{mark.place}" not in tables:
            function, change, witness = known.get(mark.module, {}).get(mark.place) or ("", "", "")
            kind = ".".join(mark.module.split(".")[1 : 3 if ".framework." in mark.module else 2])
            found.append(_in_code(mark.module, mark.place, kind, mark, (function, change, witness)))
    return found


def held_in_code() -> list[Row]:
    """Those of ``statements`` that have a witness, as ``tests/data/facts.json`` lists them; the code is not read."""
    return [
        _in_code(module, place, "", None, found)
        for module, places in facts().items()
        for place, found in places.items()
        if found
    ]


def _in_code(module: str, place: str, kind: str, key: Any, found: Sequence[str]) -> Row:
    function, change, witness = found
    at_import = (function, change) if function.startswith(AT_IMPORT) else None
    return Row(module, place, kind, key, _planting(module, function, change), witness, at_import)


def facts() -> dict[str, dict[str, list[str] | None]]:
    """``tests/data/facts.json``: by module and place."""
    return json.loads(FACTS.read_text()) if FACTS.is_file() else {}  # type: ignore[no-any-return]


def _planting(module: str, function: str, change: str) -> Callable[[], None]:
    if change.startswith(WITHOUT):
        return lambda: without(table_at(module, function), change.removeprefix(WITHOUT))
    return lambda: planted(module, function, change)


def table_at(module: str, name: str) -> Table:
    """A constant that the code says was measured, as a table."""
    return Table(module.removeprefix("harness."), name, "")


def without(table: Table, row: str) -> None:
    """Takes a row out by its text, for the rest of the process."""
    take_out(table, table.rows()[row])


def _taking_out(table: Table, row: Hashable) -> Callable[[], None]:
    return lambda: take_out(table, row)


def _taking_out_observed(table: str, name: Any) -> Callable[[], None]:
    return lambda: take_out_observed(table, name)


def take_out(table: Table, row: Hashable) -> None:
    """Takes a row out, for the rest of the process; a constant becomes another one."""
    old = table.value
    if isinstance(old, dict):
        del old[row]
    elif isinstance(old, Mapping):
        _replace(old, {key: value for key, value in old.items() if key != row})
    elif isinstance(old, tuple):
        _replace(old, tuple(each for each in old if each != row))
    elif isinstance(old, (frozenset, set)):
        _replace(old, old - {row})
    elif isinstance(old, (int, float)):
        setattr(importlib.import_module(f"harness.{table.module}"), table.name, old + 1)
    else:
        raise TypeError(f"{table.key} is a {type(old).__name__}: no row can be taken out of it")


def _replace(old: Any, new: Any) -> None:
    """Puts ``new`` in the place of ``old`` wherever a module or an object has it."""
    gc.unfreeze()  # what is frozen has no referrers
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

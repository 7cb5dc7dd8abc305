"""Tables and labelled arrays of pandas, polars and xarray, taken apart without losing labels, order or dtypes.

None of these libraries is imported: their classes are known by name. Each column is a part of its own, so that whole
numbers stay whole numbers; labels, dtypes that numpy lacks, missing values, categories and time zones are further
parts. Times are the whole numbers that they are kept as, beside a text that names their unit and zone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from harness.errors import SettingTypeError

LIBRARIES = frozenset({"pandas", "polars", "xarray", "pyarrow"})
#: modules whose scalars have a text that tells them apart
_TOLD = frozenset({"builtins", "datetime", "decimal", "fractions", "numpy", "pandas", "uuid", "zoneinfo"})
_SCALARS = (str, bytes, bool, int, float, complex, type(None), np.generic)


class Parts(list[tuple[str, Any]]):
    """Parts of a value with their parts of its name; an empty name is the value's own."""


def parts_of(value: Any) -> Parts | None:
    """What a table or a labelled array holds; None of anything else.

    Raises:
        SettingTypeError: it has values that cannot be kept; the message says what to hand over in their place.
    """
    if type(value).__module__ == "builtins" or LIBRARIES.isdisjoint(sys.modules):
        return None
    for each in type(value).__mro__:
        reader = _READERS.get((each.__module__.partition(".")[0], each.__name__))
        if reader is not None:
            return reader(value)
    return None


# -- pandas ------------------------------------------------------------------------------------------------------------
def _frame(value: Any) -> Parts:
    labels, unique = list(value.columns), value.columns.is_unique
    found = Parts([(".columns", _index(value.columns)), (".index", _index(value.index))])
    for at, label in enumerate(labels):
        part = f"[{label!r}]" if unique else f"[{at}: {label!r}]"
        found.append((part, _extension(value.iloc[:, at].array)))
    return _with_attrs(found, value)


def _series(value: Any) -> Parts:
    found = [(".name", repr(value.name)), (".index", _index(value.index)), ("", _extension(value.array))]
    return _with_attrs(Parts(found), value)


def _index(value: Any) -> Parts:
    found = Parts([(".names", repr(list(value.names)))])
    if value.nlevels > 1:
        levels = range(value.nlevels)
        return Parts([*found, *((f"[{at}]", _extension(value.get_level_values(at).array)) for at in levels)])
    return Parts([*found, ("", _extension(value.array))])


def _extension(array: Any) -> Parts:
    """The values of a column: numpy's own dtypes as they are, others with a text that names theirs."""
    dtype = array.dtype
    kind = type(dtype).__name__
    named = Parts([(".dtype", str(dtype))])
    if isinstance(dtype, np.dtype) or kind in ("NumpyEADtype", "PandasDtype"):
        return _plain(np.asarray(array))
    if kind == "CategoricalDtype":
        ordered = (".ordered", bool(dtype.ordered))
        return Parts([*named, ordered, (".categories", _index(dtype.categories)), ("", np.asarray(array.codes))])
    if kind in ("DatetimeTZDtype", "PeriodDtype"):
        return Parts([*named, ("", np.asarray(array.asi8))])
    if kind == "IntervalDtype":
        return Parts([*named, (".left", _index(array.left)), (".right", _index(array.right))])
    if kind == "SparseDtype":
        return Parts([*named, *_plain(np.asarray(array.to_dense()))])
    numeric = getattr(dtype, "numpy_dtype", None)
    if isinstance(numeric, np.dtype) and numeric.kind in "biuf":
        missing = np.asarray(array.isna(), bool)
        values = array.to_numpy(dtype=numeric, na_value=numeric.type(0))
        return Parts([*named, (".isna", missing), ("", np.where(missing, numeric.type(0), values))])
    return Parts([*named, ("", _lines(array, str(dtype)))])


def _with_attrs(found: Parts, value: Any) -> Parts:
    if getattr(value, "attrs", None):
        found.append((".attrs", "".join(f"{_note(each)}\n" for pair in value.attrs.items() for each in pair)))
    return found


def _note(value: Any) -> str:
    """An attribute in a line: files have lists and small arrays among them."""
    if isinstance(value, np.ndarray):
        return (
            f"{value.dtype}{value.shape} {value.tolist()!r}"
            if value.dtype.kind in "biufcUSmM"
            else _line(value, "attrs")
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_note, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_note(name)}: {_note(each)}' for name, each in value.items())}}}"
    return _line(value, "attrs")


# -- xarray ------------------------------------------------------------------------------------------------------------
def _variable(value: Any) -> Parts:
    return _with_attrs(Parts([(".dims", repr(tuple(value.dims))), *_plain(np.asarray(value.values))]), value)


def _data_array(value: Any) -> Parts:
    found = Parts([(".name", repr(value.name)), *_variable(value.variable)])
    return Parts([*found, (".coords", _named(value.coords))])


def _data_set(value: Any) -> Parts:
    return _with_attrs(Parts([*_named(value.data_vars), (".coords", _named(value.coords))]), value)


def _named(variables: Any) -> Parts:
    return Parts(sorted((f"[{name!r}]", _variable(each.variable)) for name, each in variables.items()))


# -- polars ------------------------------------------------------------------------------------------------------------
def _polars_frame(value: Any) -> Parts:
    return Parts([(".columns", repr(value.columns)), *((f"[{each.name!r}]", _polars_values(each)) for each in value)])


def _polars_series(value: Any) -> Parts:
    return Parts([(".name", repr(value.name)), *_polars_values(value)])


def _polars_values(value: Any) -> Parts:
    dtype = value.dtype
    found = Parts([(".dtype", str(dtype)), (".is_null", np.asarray(value.is_null().to_numpy(), bool))])
    if dtype.is_numeric() and not (dtype.is_decimal() or str(dtype).endswith("Int128")):  # numpy has neither
        return Parts([*found, ("", np.asarray(value.fill_null(0).to_numpy()))])
    if str(dtype) == "Boolean":
        return Parts([*found, ("", np.asarray(value.fill_null(False).to_numpy(), bool))])
    if dtype.is_temporal():
        return Parts([*found, ("", np.asarray(value.to_physical().fill_null(0).to_numpy()))])
    return Parts([*found, ("", _lines(value.to_list(), str(dtype)))])


def _arrow(value: Any) -> Parts:
    raise SettingTypeError(f"a pyarrow {type(value).__name__} is not taken; hand over what its `to_pandas()` gives")


# -- values ------------------------------------------------------------------------------------------------------------
def _plain(array: np.ndarray[Any, np.dtype[Any]]) -> Parts:
    """Numbers as they are; times as whole numbers with their unit, anything else as a text."""
    if array.dtype.kind in "biufcV":
        return Parts([("", array)])
    named = (".dtype", str(array.dtype))
    if array.dtype.kind in "mM":
        return Parts([named, ("", np.ascontiguousarray(array).view("i8"))])
    shape = [(".shape", repr(array.shape))] if array.ndim != 1 else []
    return Parts([named, *shape, ("", _lines(array.reshape(-1), str(array.dtype)))])


def _lines(values: Iterable[Any], what: str) -> str:
    """Values in a text, a line each; their types are in it."""
    return "".join(f"{_line(each, what)}\n" for each in values)


def _line(value: Any, what: str) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_line(each, what) for each in value)})"
    known = isinstance(value, _SCALARS) or type(value).__module__.partition(".")[0] in _TOLD - {"builtins"}
    if not known or (isinstance(value, np.ndarray)):
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise SettingTypeError(
            f"values of dtype {what} that hold a {kind} are not taken; hand over numbers, texts or times in its place"
        )
    return repr(value)


_READERS: dict[tuple[str, str], Callable[[Any], Parts]] = {
    ("pandas", "DataFrame"): _frame, ("pandas", "Series"): _series, ("pandas", "Index"): _index,
    ("pandas", "ExtensionArray"): _extension,
    ("xarray", "DataArray"): _data_array, ("xarray", "Dataset"): _data_set, ("xarray", "Variable"): _variable,
    ("polars", "DataFrame"): _polars_frame, ("polars", "Series"): _polars_series,
    ("pyarrow", "Table"): _arrow, ("pyarrow", "RecordBatch"): _arrow, ("pyarrow", "Array"): _arrow,
    ("pyarrow", "ChunkedArray"): _arrow,
}  # fmt: skip

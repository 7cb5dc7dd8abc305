"""Drawn tables and labelled arrays, each with one drawn change: the check fails on every one, and takes what was not
changed. ``tox -e tables`` has the libraries."""

from __future__ import annotations

import decimal
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.errors import DtypeError, SettingTypeError
from tests.examples import FRESH

#: changes of the three libraries together: 200, and as many again with a fresh seed
COUNTS = {"pandas": 90, "polars": 60, "xarray": 50}
#: admits every change of a float, and of nothing else
WIDE = 0.9
Change = tuple[str, Any]


def words(r: random.Random, count: int) -> list[str]:
    return r.sample(["ä", "b", "", "long text " * 3, "1", "None", "nan", "x\ny"], count)


# -- pandas ------------------------------------------------------------------------------------------------------------
def pandas_columns(pd: Any, r: random.Random, n: int) -> dict[str, Any]:
    start = pd.Timestamp("2020-01-01") + pd.Timedelta(days=r.randint(0, 99))
    whole = [r.randint(-(10**15), 10**15) for _ in range(n)]
    all_of_them = {
        "float": pd.Series([r.random() + 1 for _ in range(n)]),
        "float32": pd.Series([r.random() + 1 for _ in range(n)], dtype="float32"),
        "missing float": pd.Series([float("nan"), *[r.random() + 1 for _ in range(n - 1)]]),
        "whole": pd.Series(whole), "small": pd.Series([r.randint(-9, 9) for _ in range(n)], dtype="int8"),
        "maybe whole": pd.array([None, *whole[1:]], dtype="Int64"),
        "maybe flag": pd.array([None, *[r.random() < 0.5 for _ in range(n - 1)]], dtype="boolean"),
        "flag": pd.Series([r.random() < 0.5 for _ in range(n)]), "text": pd.Series(words(r, n), dtype="string"),
        "object": pd.Series([None, *words(r, n - 1)], dtype=object),
        "mixed": pd.Series([1, 2.5, "a", None, True, *words(r, 3)][:n], dtype=object),
        "time": pd.Series(pd.date_range(start, periods=n, freq="h")),
        "zone": pd.Series(pd.date_range(start, periods=n, freq="D", tz="Europe/Paris")),
        "span": pd.Series(pd.to_timedelta([r.randint(1, 10**6) for _ in range(n)], unit="s")),
        "kind": pd.Series(pd.Categorical([r.choice("pqr") for _ in range(n)], categories=list("pqrs"))),
        "period": pd.Series(pd.period_range("2020-01", periods=n, freq="M")),
        "complex": pd.Series([complex(r.random(), 1) for _ in range(n)]),
    }  # fmt: skip
    return {name: all_of_them[name] for name in r.sample(sorted(all_of_them), r.randint(2, 6))}


def pandas_frame(pd: Any, r: random.Random) -> Any:
    n = r.randint(3, 6)
    frame = pd.DataFrame(pandas_columns(pd, r, n))
    indexes: list[Callable[[], Any]] = [
        lambda: pd.RangeIndex(n), lambda: pd.Index(r.sample(range(100), n), name="row"),
        lambda: pd.Index(words(r, n)), lambda: pd.date_range("2021", periods=n),
        lambda: pd.MultiIndex.from_arrays([range(n), words(r, n)], names=["i", None]),
    ]  # fmt: skip
    return frame.set_axis(r.choice(indexes)(), axis=0)


def other_element(pd: Any, r: random.Random, column: Any) -> Any:
    """The column with one element changed, of the same dtype; None where this cannot be."""
    at, made = r.randrange(len(column)), column.copy()
    kind, old = str(column.dtype), column.iloc[at]
    if old is None or old is pd.NA or old is pd.NaT or (isinstance(old, float) and np.isnan(old)):
        return None
    if isinstance(old, bool | np.bool_):
        new: Any = not old
    elif kind == "category":
        new = next(each for each in column.cat.categories if each != old)
    elif isinstance(old, str):
        new = old + "'"
    elif kind.startswith(("datetime", "timedelta")):
        new = old + pd.Timedelta(1, unit="s")
    elif kind == "int8":
        new = np.int8(old + 1)
    else:
        new = old + 1 if isinstance(old, int | np.integer) or kind.startswith("period") else old * 1.25
    made.iloc[at] = new
    return made


def pandas_changes(pd: Any, r: random.Random, frame: Any) -> Iterator[Change]:
    """Every change that applies to a frame, drawn anew."""
    name = r.choice(list(frame.columns))
    column, rest = frame[name], [each for each in frame.columns if each != name]
    changed = other_element(pd, r, column)
    if changed is not None:
        yield ("float" if column.dtype.kind in "fc" else "element"), frame.assign(**{name: changed})
    if column.isna().sum() == 0 and str(column.dtype) not in ("int64", "int8", "bool"):
        gone = column.copy()
        gone.iloc[r.randrange(len(gone))] = None
        if str(gone.dtype) == str(column.dtype):
            yield "missing", frame.assign(**{name: gone})
    narrower = {"float64": "float32", "int64": "Int64", "int8": "int16", "bool": "boolean", "string": "object",
                "float32": "float64", "Int64": "Float64", "category": "object", "timedelta64[ns]": "timedelta64[s]",
                "datetime64[ns]": "datetime64[us]", "boolean": "Int8"}  # fmt: skip
    if str(column.dtype) in narrower:
        yield "dtype", frame.assign(**{name: column.astype(narrower[str(column.dtype)])})
    if str(column.dtype) == "category":
        yield "ordered", frame.assign(**{name: column.cat.as_ordered()})
        yield "categories", frame.assign(**{name: column.cat.set_categories(list("srqp"))})
        yield "no category", frame.assign(**{name: column.cat.remove_categories("s")})
    if "Paris" in str(column.dtype):
        yield "zone", frame.assign(**{name: column.dt.tz_convert("UTC")})
        yield "no zone", frame.assign(**{name: column.dt.tz_localize(None)})
    yield "rename", frame.rename(columns={name: f"{name} "})
    yield "order", frame[[*rest, name]] if frame.columns[-1] != name else frame[[name, *rest]]
    if rest:
        yield "exchanged names", frame.rename(columns={name: rest[0], rest[0]: name})
    yield "no column", frame.drop(columns=name)
    yield "one more", frame.assign(more=0)
    yield "no row", frame.iloc[:-1]
    yield "a row twice", frame.iloc[[*range(len(frame)), 0]]
    yield "rows reversed", frame.iloc[::-1]
    yield "name of columns", frame.rename_axis(columns="c")
    if frame.index.nlevels == 1:
        yield "name of index", frame.rename_axis("other")
        labels = list(frame.index)
        yield "a label", frame.set_axis(pd.Index([*labels[1:], labels[0]], name=frame.index.name), axis=0)
        yield "texts as labels", frame.set_axis(pd.Index([f"{each}" for each in range(len(frame))]), axis=0)
    yield (
        "another index",
        frame.reset_index(drop=frame.index.nlevels > 1).set_index(pd.Index(range(7, 7 + len(frame)), dtype="int32")),
    )
    yield "series", frame[name]
    yield "attributes", _with_attributes(frame)
    mixed = frame.astype(object)
    yield "objects", mixed if not all(str(each) == "object" for each in frame.dtypes) else frame.assign(more="x")


def _with_attributes(frame: Any) -> Any:
    made = frame.copy()
    made.attrs["unit"] = "m"
    return made


# -- polars ------------------------------------------------------------------------------------------------------------
def polars_frame(pl: Any, r: random.Random) -> Any:
    import datetime as dt

    n = r.randint(3, 6)
    day = dt.datetime(2020, 1, 1) + dt.timedelta(hours=r.randint(0, 999))
    times = [day + dt.timedelta(minutes=7 * each) for each in range(n)]
    columns = {
        "float": pl.Series([r.random() + 1 for _ in range(n)]),
        "float32": pl.Series([r.random() + 1 for _ in range(n)], dtype=pl.Float32),
        "nan": pl.Series([float("nan"), *[1.5] * (n - 1)]), "whole": pl.Series([r.randint(0, 2**60) for _ in range(n)]),
        "maybe": pl.Series([None, *[r.randint(-9, 9) for _ in range(n - 1)]], dtype=pl.Int32),
        "flag": pl.Series([None, *[r.random() < 0.5 for _ in range(n - 1)]], dtype=pl.Boolean),
        "text": pl.Series([None, *words(r, n - 1)], dtype=pl.String),
        "kind": pl.Series([r.choice("pq") for _ in range(n)], dtype=pl.Categorical),
        "enum": pl.Series([r.choice("pq") for _ in range(n)], dtype=pl.Enum(["p", "q", "z"])),
        "time": pl.Series(times), "zone": pl.Series(times).dt.replace_time_zone("UTC"),
        "date": pl.Series([each.date() for each in times]), "clock": pl.Series([each.time() for each in times]),
        "span": pl.Series([dt.timedelta(seconds=r.randint(1, 999)) for _ in range(n)]),
    }  # fmt: skip
    return pl.DataFrame({name: columns[name] for name in r.sample(sorted(columns), r.randint(2, 6))})


def polars_changes(pl: Any, r: random.Random, frame: Any) -> Iterator[Change]:
    name = r.choice(frame.columns)
    column, rest, last = frame[name], [each for each in frame.columns if each != name], frame.height - 1
    kind, old = column.dtype, frame[name][frame.height - 1]
    moved = {pl.Float64: lambda v: v * 1.25, pl.Float32: lambda v: v * 1.25, pl.Int64: lambda v: v + 1,
             pl.Int32: lambda v: v + 1, pl.Boolean: lambda v: not v, pl.String: lambda v: v + "'"}  # fmt: skip
    if kind in moved and old is not None and old == old:
        values = [*column.to_list()[:-1], moved[kind](old)]
        yield ("float" if kind.is_float() else "element"), frame.with_columns(pl.Series(name, values, dtype=kind))
    if old is not None:
        gone = pl.Series(name, [*column.to_list()[:-1], None], dtype=kind)
        yield "missing", frame.with_columns(gone)
    if kind.is_temporal() and not isinstance(kind, pl.Time):
        yield "a time", frame.with_columns(column + pl.duration(days=1))
    other = {pl.Float64: pl.Float32, pl.Float32: pl.Float64, pl.Int64: pl.UInt64, pl.Int32: pl.Int64,
             pl.Boolean: pl.Int8, pl.String: pl.Categorical}  # fmt: skip
    if kind in other:
        yield "dtype", frame.with_columns(column.cast(other[kind]))
    if isinstance(kind, pl.Categorical | pl.Enum):
        yield "text", frame.with_columns(column.cast(pl.String))
    if isinstance(kind, pl.Enum):
        yield "categories", frame.with_columns(column.cast(pl.Enum(["q", "p", "z"])))
    if isinstance(kind, pl.Datetime):
        yield "unit", frame.with_columns(column.dt.cast_time_unit("ms"))
        zone = column.dt.replace_time_zone(None if kind.time_zone else "Asia/Tokyo")
        yield "zone", frame.with_columns(zone)
    yield "rename", frame.rename({name: name.upper()})
    yield "order", frame.select(*rest, name) if frame.columns[-1] != name else frame.select(name, *rest)
    yield "no column", frame.drop(name)
    yield "one more", frame.with_columns(more=pl.lit(1))
    yield "no row", frame.head(last)
    if not frame.reverse().equals(frame):
        yield "rows reversed", frame.reverse()
    yield "series", frame[name]


# -- xarray ------------------------------------------------------------------------------------------------------------
def xarray_set(xr: Any, r: random.Random) -> Any:
    x, t = r.randint(2, 4), r.randint(2, 4)
    values: dict[str, Any] = {
        "u": (("x", "t"), np.array([[r.random() + 1 for _ in range(t)] for _ in range(x)])),
        "n": ("x", np.array([r.randint(0, 2**60) for _ in range(x)])), "s": ("t", words(r, t)),
        "when": ("x", np.array(["2020-01-01"] * x, "M8[ns]")), "flag": ("t", np.array([True] * t)),
        "span": ("t", np.arange(t).astype("m8[s]")),
    }  # fmt: skip
    kept = {name: values[name] for name in ("u", *r.sample(sorted(values.keys() - {"u"}), r.randint(1, 5)))}
    coords = {
        "x": r.sample(range(99), x),
        "t": np.arange(t) + np.datetime64("2020-01-01", "ns"),
        "q": ("x", words(r, x)),
    }
    return xr.Dataset(kept, coords=coords, attrs={"unit": "m"})


def xarray_changes(xr: Any, r: random.Random, found: Any) -> Iterator[Change]:
    name = r.choice(sorted(found.data_vars))
    array = found[name]
    kind = array.dtype.kind
    new = array.copy(deep=True)
    at = tuple(0 for _ in array.dims)
    if kind == "f":
        new.values[at] *= 1.25
    elif kind in "iu":
        new.values[at] += 1
    elif kind == "b":
        new.values[at] = not new.values[at]
    elif kind in "mM":
        new.values[at] += np.timedelta64(1, "D")
    else:
        new = new.astype("U40")
        new.values[at] = f"{array.values[at]}'"
    yield ("float" if kind == "f" else "element"), found.assign({name: new})
    yield "name", found.rename({name: f"{name}2"})
    yield "dims", found.rename_dims({"x": "y"})
    yield "coordinate", found.assign_coords(x=[1000, *found.x.values[1:]])
    yield "time", found.assign_coords(t=found.t + np.timedelta64(1, "D"))
    yield "label", found.assign_coords(q=("x", [f"{each}'" for each in found.q.values]))
    yield "attributes", found.assign_attrs(unit="km")
    yield "more attributes", found.assign({name: array.assign_attrs(long="name")})
    yield "transposed", found.assign(u=found.u.transpose("t", "x"))
    yield "no coordinate", found.drop_vars("q")
    yield "no variable", found.drop_vars(name)
    yield "reversed", found.isel(x=slice(None, None, -1))
    yield "narrower", found.assign(u=found.u.astype("float32"))
    yield "coordinate from variable", found.set_coords(name)
    yield "array", found[name]


LIBRARIES: dict[str, tuple[Callable[..., Any], Callable[..., Iterator[Change]]]] = {
    "pandas": (pandas_frame, pandas_changes), "polars": (polars_frame, polars_changes),
    "xarray": (xarray_set, xarray_changes),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_drawn_change_fails(library: str, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    draw, changes = LIBRARIES[library]
    seed = random.randrange(2**32) if FRESH else 0
    r, passed, seen = random.Random(f"{library} {seed}"), [], set()
    for number in range(COUNTS[library]):
        own = r.randrange(2**32)
        whole, again = draw(module, random.Random(own)), draw(module, random.Random(own))
        kind, changed = r.choice(list(changes(module, r, whole)))
        seen.add(kind)
        golden = tmp_path / f"{number}.h5"
        harness.write(golden, {"v": whole})
        assert harness.check(golden, {"v": again}).verdict == "identical"
        for tolerance in (None,) if kind == "float" else (None, WIDE):
            try:
                harness.check(golden, {"v": changed}, tolerance=tolerance)
            except harness.DiffersError:
                continue
            passed.append((seed, number, kind, tolerance))
    assert not passed
    assert len(seen) > 8


@pytest.mark.parametrize(
    "value",
    [
        [1, [2, 3], [4]], [[1.0], [2.0, 3.0]], np.array(["a", "b"]), np.array([b"a"]), np.array(["2020"], "M8[D]"),
        np.array([1, 2], "m8[s]"), np.array([(1, 2.0)], [("a", int), ("b", float)]),
        np.ma.masked_array([1.0, 2.0], [True, False]), np.array([None, 1], object), np.rec.array([(1, 2)]),
        np.array([[1], [1, 2]], object), [np.datetime64("2020")], {"t": np.timedelta64(1, "s")}, [b"raw"], {1, 2}, "",
    ],
    ids=range(16),
)  # fmt: skip
def test_taken_or_refused_in_one_line(value: Any, tmp_path: Path) -> None:
    assert _said(value, tmp_path / "v.h5")


def _said(value: Any, golden: Path) -> str:
    """``taken``, or the one line that refuses a value and says how to hand it over."""
    try:
        harness.write(golden, {"v": value})
    except (SettingTypeError, DtypeError) as error:
        text = str(error)
    else:
        return "taken" if harness.check(golden, {"v": value}).verdict == "identical" else ""
    says = any(each in text for each in ("hand over", "give", ".view(", ".tolist(", "fields", "accepted"))
    return text if says and "\n" not in text else ""


@pytest.mark.parametrize(
    "made",
    [
        lambda pl: pl.Series([2**100, None], dtype=pl.Int128), lambda pl: pl.Series([1, 2], dtype=pl.UInt8),
        lambda pl: pl.Series([decimal.Decimal("1.5"), None]), lambda pl: pl.Series([b"a"]),
        lambda pl: pl.Series([None, None]), lambda pl: pl.DataFrame(), lambda pl: pl.Series([0.5], dtype=pl.Float32),
    ],
    ids=range(7),
)  # fmt: skip
def test_polars_is_taken(made: Callable[[Any], Any], tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    assert _said(made(pl), tmp_path / "v.h5") == "taken"
    assert "hand over" in _said(pl.Series([[1], [2, 3]]), tmp_path / "w.h5")


def test_attributes_are_taken(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    golden = tmp_path / "v.h5"
    whole = {"valid_range": [0, 9], "flags": np.array([1, 2], "int8"), "of": {"a": (1, "x")}, "when": None}
    harness.write(golden, {"v": xr.DataArray([1.0], attrs=whole)})
    assert harness.check(golden, {"v": xr.DataArray([1.0], attrs=dict(whole))}).verdict == "identical"
    others: list[dict[str, Any]] = [
        {"valid_range": [0, 8]}, {"flags": np.array([1, 2], "int16")}, {"of": {"a": (1, "y")}}, {"when": 0},
    ]  # fmt: skip
    for other in others:
        with pytest.raises(harness.DiffersError):
            harness.check(golden, {"v": xr.DataArray([1.0], attrs=whole | other)})


@pytest.mark.parametrize(
    "whole",
    [
        lambda n: n, lambda n: [n, 2], lambda n: np.array([n, 2]), lambda n: np.array(n, np.uint64),
        lambda n: {"k": (n,)},
        lambda n: [[n, 1], [2]], lambda n: np.array([n], object).tolist(), lambda n: [n, 0.5],
    ],
    ids=range(8),
)  # fmt: skip
def test_whole_numbers_are_never_judged_as_floats(whole: Callable[[int], Any], tmp_path: Path) -> None:
    golden = tmp_path / "v.h5"
    harness.write(golden, {"v": whole(2**53)})
    for other in (2**53 + 1, 2**53 - 1):
        with pytest.raises(harness.DiffersError):
            harness.check(golden, {"v": whole(other)}, tolerance=WIDE)

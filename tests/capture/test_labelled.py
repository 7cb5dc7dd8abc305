"""Tables and labelled arrays: every change of values, labels, order or dtypes is seen, and none is refused that holds
numbers, texts, times or categories. ``tox -e tables`` has the libraries."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.capture.given import leaves, record_of
from harness.errors import SettingTypeError


def seen(value: Any) -> dict[str, Any]:
    """What a golden would hold of a value: names, and the content of each part."""
    found: dict[str, Any] = {}
    for leaf in leaves("v", value):
        assert leaf.name not in found
        if isinstance(leaf.content, str):
            found[leaf.name] = leaf.content
        else:
            record = record_of(leaf, "v", None)
            found[leaf.name] = (record.dtype, record.shape, record.digest)
    return found


# -- pandas ------------------------------------------------------------------------------------------------------------
def _frame(pd: Any) -> Any:
    return pd.DataFrame(
        {
            "number": [1.5, 2.5, float("nan")], "whole": [10**13, 10**13 + 1, 3], "text": ["a", None, "c"],
            "time": pd.date_range("2020", periods=3, tz="UTC"), "kind": pd.Categorical(["x", "y", "x"]),
            "maybe": pd.array([2**53 + 1, None, 1], dtype="Int64"), "flag": [True, False, True],
            "span": pd.to_timedelta([1, 2, 3], unit="s"),
        },
        index=pd.Index([3, 5, 7], name="row"),
    )  # fmt: skip


FRAMES: dict[str, Callable[[Any, Any, random.Random], Any]] = {
    "rename": lambda pd, f, r: f.rename(columns={r.choice(list(f)): "new"}),
    "column order": lambda pd, f, r: f[[*list(f)[1:], next(iter(f))]],
    "row order": lambda pd, f, r: f.iloc[::-1],
    "shifted index": lambda pd, f, r: f.set_axis(f.index + r.randint(1, 9), axis=0),
    "index name": lambda pd, f, r: f.rename_axis("other"),
    "index dtype": lambda pd, f, r: f.set_axis(f.index.astype("float64"), axis=0),
    "drop": lambda pd, f, r: f.drop(columns=r.choice(list(f))),
    "drop row": lambda pd, f, r: f.iloc[:2],
    "one more": lambda pd, f, r: f.assign(more=r.random()),
    "a whole number": lambda pd, f, r: f.assign(whole=[10**13 + r.randint(2, 9), 10**13 + 1, 3]),
    "a nullable number": lambda pd, f, r: f.assign(maybe=pd.array([2**53, None, 1], dtype="Int64")),
    "a missing one": lambda pd, f, r: f.assign(maybe=pd.array([2**53 + 1, 0, 1], dtype="Int64")),
    "another dtype": lambda pd, f, r: f.assign(maybe=f["maybe"].astype("Float64")),
    "narrower": lambda pd, f, r: f.assign(number=f["number"].astype("float32")),
    "a text": lambda pd, f, r: f.assign(text=["a", None, "d"]),
    "None is no text": lambda pd, f, r: f.assign(text=["a", "None", "c"]),
    "zone": lambda pd, f, r: f.assign(time=f["time"].dt.tz_convert("Europe/Paris")),
    "no zone": lambda pd, f, r: f.assign(time=f["time"].dt.tz_localize(None)),
    "a time": lambda pd, f, r: f.assign(time=f["time"] + pd.Timedelta(r.randint(1, 99), unit="s")),
    "a span": lambda pd, f, r: f.assign(span=f["span"] * 2),
    "ordered": lambda pd, f, r: f.assign(kind=f["kind"].cat.as_ordered()),
    "categories": lambda pd, f, r: f.assign(kind=f["kind"].cat.add_categories("z")),
    "category order": lambda pd, f, r: f.assign(kind=f["kind"].cat.reorder_categories(["y", "x"])),
    "a category": lambda pd, f, r: f.assign(kind=pd.Categorical(["y", "y", "x"])),
    "no category": lambda pd, f, r: f.assign(kind=["x", "y", "x"]),
    "a flag": lambda pd, f, r: f.assign(flag=[True, True, True]),
    "flags as numbers": lambda pd, f, r: f.assign(flag=f["flag"].astype("int64")),
    "two levels": lambda pd, f, r: f.set_index("whole", append=True),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_a_changed_frame_is_seen(name: str) -> None:
    pd = pytest.importorskip("pandas")
    for seed in range(3):
        frame = _frame(pd)
        assert seen(frame) == seen(_frame(pd))
        assert seen(FRAMES[name](pd, frame, random.Random(seed))) != seen(frame)


@pytest.mark.parametrize("column", ["number", "whole", "text", "time", "kind", "maybe", "flag", "span"])
def test_a_series_and_an_index_are_taken(column: str) -> None:
    pd = pytest.importorskip("pandas")
    series = _frame(pd)[column]
    assert seen(series) != seen(series.rename("other"))
    other = series.iloc[[1, 0, 2]]
    assert seen(series) != seen(other)
    assert seen(pd.Index(series)) != seen(pd.Index(other))
    assert seen(series.array)
    if column == "whole":
        assert {each[0] for each in seen(series).values() if isinstance(each, tuple)} == {"Int64"}


@pytest.mark.parametrize(
    "made",
    [
        lambda pd: pd.DataFrame(), lambda pd: pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        lambda pd: pd.Series([], dtype="float64"), lambda pd: pd.period_range("2020", periods=3, freq="M"),
        lambda pd: pd.interval_range(0, 3), lambda pd: pd.Series([1, 2], dtype="string"),
        lambda pd: pd.MultiIndex.from_product([[1, 2], ["a", "b"]]), lambda pd: pd.RangeIndex(3),
        lambda pd: pd.Series([0.0, 1.0], dtype="Sparse[float64]"), lambda pd: pd.array([True, None], dtype="boolean"),
        lambda pd: pd.Series([datetime.date(2020, 1, 1), 1, "a", None]),
    ],
    ids=range(11),
)  # fmt: skip
def test_none_of_these_is_refused(made: Callable[[Any], Any]) -> None:
    pd = pytest.importorskip("pandas")
    assert seen(made(pd)) == seen(made(pd))


def test_a_frame_of_objects_is_refused_by_name() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(SettingTypeError, match=r"msdump.check: 'v.*' ?.*hold a .*list.*hand over") as caught:
        seen(pd.DataFrame({"a": [[1], [2]]}))
    assert "\n" not in str(caught.value)


# -- xarray ------------------------------------------------------------------------------------------------------------
def _set(xr: Any) -> Any:
    values = {"u": (("x", "t"), np.arange(6.0).reshape(2, 3)), "n": ("x", [1, 2]), "s": ("x", ["a", "b"])}
    times = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[ns]")
    return xr.Dataset(values, coords={"x": [10, 20], "t": times, "label": ("x", ["p", "q"])}, attrs={"unit": "m"})


SETS: dict[str, Callable[[Any, Any], Any]] = {
    "dims": lambda xr, s: s.rename_dims({"x": "y"}), "coordinate": lambda xr, s: s.assign_coords(x=[10, 21]),
    "time": lambda xr, s: s.assign_coords(t=s.t + np.timedelta64(1, "D")),
    "label": lambda xr, s: s.assign_coords(label=("x", ["p", "r"])),
    "value": lambda xr, s: s.assign(n=("x", [1, 3])), "text": lambda xr, s: s.assign(s=("x", ["a", "c"])),
    "dtype": lambda xr, s: s.assign(n=s.n.astype("int32")), "name": lambda xr, s: s.rename(u="w"),
    "attributes": lambda xr, s: s.assign_attrs(unit="km"), "transposed": lambda xr, s: s.transpose("t", "x"),
    "no coordinate": lambda xr, s: s.drop_vars("label"), "reversed": lambda xr, s: s.isel(x=[1, 0]),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_a_changed_data_set_is_seen(name: str) -> None:
    xr = pytest.importorskip("xarray")
    assert seen(_set(xr)) == seen(_set(xr))
    assert seen(SETS[name](xr, _set(xr))) != seen(_set(xr))


def test_the_dims_of_a_data_array_are_seen() -> None:
    xr = pytest.importorskip("xarray")
    one, other = (xr.DataArray(np.eye(2), dims=dims) for dims in (("x", "y"), ("y", "x")))
    assert seen(one) != seen(other)
    assert seen(one) != seen(one.rename("named"))


# -- polars ------------------------------------------------------------------------------------------------------------
def test_a_changed_frame_of_polars_is_seen() -> None:
    pl = pytest.importorskip("polars")

    def frame(**columns: Any) -> Any:
        day = [datetime.date(2020, 1, each) for each in (1, 2)]
        return pl.DataFrame({"a": [1, None], "b": [0.5, 1.5], "s": ["x", None], "d": day, "f": [True, False]} | columns)

    same = frame()
    changed = [
        frame(a=[1, 0]), frame(a=[1.0, None]), frame(s=["x", "None"]), frame(d=[datetime.date(2020, 1, 1)] * 2),
        frame(f=[True, True]), same.rename({"a": "z"}), same.select("b", "a", "s", "d", "f"), same.reverse(),
        same.with_columns(pl.col("a").cast(pl.Int32)), same.with_columns(pl.col("s").cast(pl.Categorical)),
    ]  # fmt: skip
    assert seen(same) == seen(frame())
    for each in changed:
        assert seen(each) != seen(same)
    assert seen(same["a"]) != seen(same["a"].rename("z"))


# -- numpy -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.array(["2020"], "M8[D]"), "x.view.'int64'"), (np.array([1], "m8[s]"), "x.view.'int64'"),
        (np.zeros(2, [("a", int)]), "its fields"), (np.array(["a"]), "x.tolist"), (np.array([b"a"]), "texts"),
        (np.array([[1], [1, 2]], object), "x.tolist"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_hand_over(value: Any, says: str) -> None:
    with pytest.raises(SettingTypeError, match=says) as caught:
        seen(value)
    assert "\n" not in str(caught.value)

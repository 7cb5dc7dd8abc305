"""Containers hold, add, replace and remove cells; names follow."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import nn
from harness.errors import CellNameError, SettingError, SettingTypeError


def sized(size: int) -> nn.Cell:
    """A cell with one parameter that shows ``size``."""
    return nn.LayerNorm((size,))


def shown(cells: Any) -> list[tuple[str, int]]:
    """Names and sizes of the cells' scales."""
    return [(p.name, p.shape[0]) for p in cells.get_parameters() if p.name.endswith("gamma")]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.just(0)),
            st.tuples(st.just("insert"), st.integers(-4, 4)),
            st.tuples(st.just("delete"), st.integers(-4, 4)),
            st.tuples(st.just("set"), st.integers(-4, 4)),
        ),
        max_size=8,
    ),
    st.sampled_from([nn.CellList, nn.SequentialCell]),
    st.booleans(),
)
def test_names_are_positions_whatever_is_done(
    steps: list[tuple[str, int]], kind: type[nn.CellList], attached: bool
) -> None:
    cells: Any = kind([sized(1), sized(2)])
    prefix = ""
    if attached:
        outer = nn.Cell()
        outer.inner = cells
        prefix = "inner."
    model = [1, 2]
    for count, (step, at) in enumerate(steps, start=3):
        fits = -len(model) <= at < len(model)
        if step == "append":
            cells.append(sized(count))
            model.append(count)
        elif step == "insert" and -len(model) <= at <= len(model):
            cells.insert(at, sized(count))
            model.insert(at, count)
        elif step == "delete" and fits and len(model) > 1:
            del cells[at]
            del model[at]
        elif step == "set" and fits:
            cells[at] = sized(count)
            model[at] = count
    assert shown(cells) == [(f"{prefix}{position}.gamma", size) for position, size in enumerate(model)]
    assert [cells[position].gamma.shape[0] for position in range(len(cells))] == model
    assert list(cells.name_cells()) == [str(position) for position in range(len(model))]


def test_slices_and_iteration() -> None:
    cells = nn.CellList([sized(1), sized(2), sized(3)])
    assert [c.gamma.size for c in cells[1:]] == [2, 3]
    assert isinstance(cells[1:], nn.CellList)
    chain = nn.SequentialCell(OrderedDict(first=sized(1), then=sized(2)))
    assert list(chain[1:].name_cells()) == ["then"]
    del cells[0:2]
    assert shown(cells) == [("0.gamma", 3)]
    cells += [sized(4)]
    assert shown(cells) == [("0.gamma", 3), ("1.gamma", 4)]


@pytest.mark.parametrize("kind", [nn.CellList, nn.SequentialCell])
def test_wrong_indices_and_members(kind: Any) -> None:
    cells = kind([sized(1)])
    for index in (1, -2):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 1 cells"):
            cells[index]
    with pytest.raises(SettingTypeError, match="an index must be an int, got str"):
        cells["0"]
    with pytest.raises(SettingTypeError, match="holds Cells, got int"):
        cells.append(3)
    with pytest.raises(TypeError):
        kind(3)


def test_a_sequential_cell_applies_its_cells_in_order() -> None:
    class Add(nn.Cell):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

        def construct(self, x: str) -> str:
            return x + self.text

    chain = nn.SequentialCell(Add("a"), Add("b"))
    assert chain.construct("x") == "xab"
    assert not nn.SequentialCell([])
    assert len(chain) == 2


def test_cell_dict() -> None:
    cells = nn.CellDict({"a": sized(1)})
    cells["b"] = sized(2)
    cells.update([("c", sized(3))])
    assert list(cells) == ["a", "b", "c"] == list(cells.keys())
    assert shown(cells) == [("a.gamma", 1), ("b.gamma", 2), ("c.gamma", 3)]
    outer = nn.Cell()
    outer.d = cells
    cells["e"] = sized(4)
    assert shown(cells)[-1] == ("d.e.gamma", 4)
    assert cells.pop("a").gamma.size == 1
    assert "a" not in cells
    with pytest.raises(CellNameError, match="'training' is an attribute"):
        cells["training"] = sized(1)
    with pytest.raises(CellNameError):
        cells["x.y"] = sized(1)
    with pytest.raises(SettingTypeError, match="holds plain Cells, got SequentialCell"):
        cells["s"] = nn.SequentialCell()
    with pytest.raises(SettingError, match="a pair of a name and a Cell"):
        cells.update([3])
    cells.clear()
    assert not cells

"""``SequentialCell``, ``CellList`` and ``CellDict``.

Source of the naming rules: MindSpore 2.10.0, measured (``tests/data/nn/names.json``): cells are children named by their
position; adding or removing one renames the parameters after it, keeping the prefix they have.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.errors import CellNameError, SettingError, SettingTypeError
from harness.framework.nn import naming
from harness.framework.nn.cell import Cell
from harness.framework.tensor import Tensor, is_tracing

__all__ = ["CellDict", "CellList", "SequentialCell"]


def _place(holder: Cell) -> tuple[str, int]:
    """The prefix of the held cells' parameters, and how many parts of a name it has: what stands before the child's
    name in the first parameter of all. A name that holds the child's more than once is cut at the last one, but at the
    first at which the next child with parameters has its own name, too."""
    firsts = [(key, next(iter(naming.parameters(cell)), None)) for key, cell in holder._cells.items() if cell]
    named = [(key, found[1].name.split(".")) for key, found in firsts if found is not None][:2]
    place = 0
    for at, part in enumerate(named[0][1]) if named else ():
        if part == named[0][0]:
            place = at
            if len(named) == 2 and named[1][1][at : at + 1] == [named[1][0]]:
                break
    return "".join(f"{part}." for part in (named[0][1][:place] if named else ())), place


def _prefix(holder: Cell) -> str:
    return _place(holder)[0]


class _Numbered(Cell):
    """Cells named ``0``, ``1``, ...; cells given with names keep those."""

    def _require_cell(self, cell: Any) -> Cell:
        if not isinstance(cell, Cell):
            raise SettingTypeError(f"{self.cls_name} holds Cells, got {type(cell).__name__}")
        return cell

    def _keys(self) -> list[str]:
        return list(self._cells)

    def _position(self, index: Any, end: int) -> int:
        if isinstance(index, Tensor) and is_tracing():
            index = int(index)  # the function is traced with its value (test_joins.py)
        if isinstance(index, bool) or not isinstance(index, int):
            raise SettingTypeError(f"{self.cls_name}: an index must be an int, got {type(index).__name__}")
        if not -len(self) <= index < end:
            raise IndexError(f"{self.cls_name}: index {index} is out of range for {len(self)} cells")
        return index % len(self) if index < 0 else index

    def _put(self, key: str, cell: Cell, prefix: str) -> None:
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{key}.")
        self._cells[key] = cell

    def _arrange(self, items: list[tuple[str, Any]], place: tuple[str, int], every: bool = False) -> None:
        """Takes over cells in this order; a key that is a number (or empty) becomes the position. Names of the
        parameters follow: those of a new cell are made of its paths; of one that moves (with ``every``, of each whose
        key is a number) the part at ``place`` is changed."""
        prefix, at = place
        self.__dict__["_cells"] = OrderedDict()
        for position, (key, cell) in enumerate(items):
            new = key if key and not key.isdigit() else str(position)
            if not key:
                self._put(new, cell, prefix)
                continue
            moves = self._auto_prefix and (new != key or (every and key.isdigit()))
            for _, parameter in naming.parameters(cell) if cell and moves else ():
                naming.rename(parameter, ".".join([f"{prefix}{new}", *parameter.name.split(".")[at + 1 :]]))
            self._cells[new] = cell

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cells.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(list(self._cells.items())[index])
        return list(self._cells.values())[self._position(index, len(self))]

    def _part(self, items: list[tuple[str, Any]]) -> Cell:
        raise NotImplementedError

    def __setitem__(self, index: int, cell: Cell) -> None:
        self._put(self._keys()[self._position(index, len(self))], self._require_cell(cell), _prefix(self))

    def __delitem__(self, index: Any) -> None:
        doomed = range(len(self))[index] if isinstance(index, slice) else [self._position(index, len(self))]
        items: list[tuple[str, Any]] = list(self._cells.items())
        kept = [item for position, item in enumerate(items) if position not in doomed]
        self.__dict__["_cells"] = OrderedDict(kept)
        self._arrange(kept, _place(self), every=True)

    def append(self, cell: Cell) -> None:
        """Adds a cell at the end."""
        self._put(str(len(self)), self._require_cell(cell), _prefix(self))

    def insert(self, index: int, cell: Cell) -> None:
        """Adds a cell before position ``index``."""
        place = _place(self)
        items: list[tuple[str, Any]] = list(self._cells.items())
        items.insert(self._position(index, len(self) + 1), ("", self._require_cell(cell)))
        self._arrange(items, place)

    def set_grad(self, flag: bool = True) -> Any:
        """``set_grad`` here and of every cell held; returns self."""
        self.requires_grad = flag
        for cell in self._cells.values():
            if cell is not None:
                cell.set_grad(flag)
        return self


class SequentialCell(_Numbered):
    """Cells applied one after the other.

    Args:
        args: cells; or one list of cells; or one ``OrderedDict`` of named cells.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        given = args[0] if len(args) == 1 and not isinstance(args[0], Cell) else list(args)
        if isinstance(given, OrderedDict):
            named = list(given.items())
        elif isinstance(given, list):
            named = [(str(position), cell) for position, cell in enumerate(given)]
        else:
            raise SettingTypeError(
                f"{self.cls_name} takes Cells, a list of Cells or an OrderedDict of Cells, got {type(given).__name__}"
            )
        for name, cell in named:
            self.insert_child_to_cell(name, self._require_cell(cell))
            cell.update_parameters_name(f"{name}.")

    @property
    def cell_list(self) -> list[Cell | None]:
        """The cells."""
        return list(self._cells.values())

    def _held(self) -> list[Cell]:
        return [cell for cell in self._cells.values() if cell is not None]

    def _part(self, items: list[tuple[str, Any]]) -> Cell:
        return type(self)(OrderedDict(items))

    def construct(self, input_data: Any) -> Any:
        for cell in self._held():
            input_data = cell(input_data)
        return input_data


class CellList(_Numbered):
    """A list of cells, to be called one by one by the cell that holds it.

    Args:
        args: at most one list of cells.
        kwargs: ``auto_prefix``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.extend(args[0])
        elif args:
            raise SettingTypeError(f"{self.cls_name} takes one list of Cells, got {len(args)} arguments")

    def _part(self, items: list[tuple[str, Any]]) -> Cell:
        return CellList([cell for _, cell in items])

    def extend(self, cells: list[Cell]) -> CellList:
        """Adds cells at the end; returns self."""
        if not isinstance(cells, list):
            raise SettingTypeError(f"{self.cls_name} takes a list of Cells, got {type(cells).__name__}")
        prefix = _prefix(self)
        for cell in cells:
            if isinstance(cell, CellDict):
                raise SettingTypeError(f"{self.cls_name} cannot hold a CellDict")
            self._put(str(len(self)), self._require_cell(cell), prefix)
        return self

    def __iadd__(self, cells: list[Cell]) -> CellList:
        return self.extend(cells)


class CellDict(Cell):
    """Named cells, to be called one by one by the cell that holds them.

    Args:
        args: at most one mapping, or iterable of pairs, of names and cells.
        kwargs: ``auto_prefix``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def __getitem__(self, key: str) -> Any:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        naming.check_child_name(key, self.cls_name)
        if key not in self._cells and hasattr(self, key):
            raise CellNameError(f"{self.cls_name}: {key!r} is an attribute of every Cell and cannot be a key")
        if not isinstance(cell, Cell) or isinstance(cell, (CellDict, _Numbered)):
            raise SettingTypeError(f"{self.cls_name} holds plain Cells, got {type(cell).__name__}")
        if self._auto_prefix:
            cell.update_parameters_name(f"{_prefix(self)}{key}.")
        self._cells[key] = cell

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def keys(self) -> Iterable[str]:
        """Names."""
        return self._cells.keys()

    def values(self) -> Iterable[Any]:
        """Cells."""
        return self._cells.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and cells."""
        return self._cells.items()

    def clear(self) -> None:
        """Removes every cell."""
        self._cells.clear()

    def pop(self, key: str) -> Any:
        """Removes a cell and gives it back."""
        return self._cells.pop(key)

    def update(self, cells: Any) -> None:
        """Adds the cells of a mapping, or of an iterable of pairs."""
        if isinstance(cells, (Mapping, CellDict)):
            pairs: list[Any] = list(cells.items())
        elif isinstance(cells, Iterable):
            pairs = list(cells)
        else:
            raise SettingTypeError(f"{self.cls_name} takes a mapping or pairs, got {type(cells).__name__}")
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise SettingError(f"{self.cls_name}: each entry must be a pair of a name and a Cell, got {pair!r}")
            self[pair[0]] = pair[1]

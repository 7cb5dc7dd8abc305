"""How the parameters and scopes of a tree of cells are named.

Source of the rules: MindSpore 2.10.0, measured (``tests/data/nn/names.json``): a parameter's name is its path at the
time its cell is attached (attaching prefixes the whole subtree, whatever names were given); a scope is the path from
the cell that is compiled first, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.errors import CellNameError, SettingError
from harness.framework import context
from harness.framework.tensor import Parameter

if TYPE_CHECKING:
    from harness.framework.nn.cell import Cell

_PREFIX = re.compile(r"\w*[0-9a-zA-Z_\-./]*")


def path(prefix: str, name: str) -> str:
    """``prefix.name``, or ``name`` where there is no prefix."""
    return f"{prefix}.{name}" if prefix else name


def check_child_name(name: Any, what: str) -> None:
    """``CellNameError`` unless ``name`` can be the name of a child or parameter: a non-empty str without a dot."""
    if not isinstance(name, str) or not name or "." in name:
        raise CellNameError(f"{what}: the name must be a non-empty str without '.', got {name!r}")


def walk(cell: Cell, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Cell]]:
    """A cell and every cell below it, each once, with its path; parents first, children in order."""
    visited = set() if seen is None else seen
    left = [(prefix, cell)]  # no recursion: a tree of cells may be deeper than Python's stack
    while left:
        place, each = left.pop()
        if id(each) not in visited:
            visited.add(id(each))
            yield place, each
            left += [(path(place, name), child) for name, child in reversed(each._cells.items()) if child]


def parameters(cell: Cell, prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
    """Every parameter once, with its path: a cell's own ones in the order they were attached, then its children's."""
    seen: set[int] = set()
    for place, owner in walk(cell, prefix) if expand else [(prefix, cell)]:
        for name, parameter in owner._params.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield path(place, name), parameter


def rename(parameter: Parameter, name: str) -> None:
    """Names a parameter; from then on it counts as named."""
    parameter.name = name
    parameter.named = True


def prefix_parameters(cell: Cell, prefix: str, expand: bool = True) -> None:
    """Names every parameter ``prefix`` + its path below ``cell``."""
    if not _PREFIX.fullmatch(prefix):
        raise SettingError(f"a prefix of parameter names is made of letters, digits, '_', '-', '.' and '/', "
                           f"got {prefix!r}")  # fmt: skip
    for name, parameter in list(parameters(cell, expand=expand)):
        rename(parameter, prefix + name)


def check_unique(cell: Cell) -> None:
    """Renames parameters with colliding names to their paths; ``SettingError`` if names still collide."""
    found = list(parameters(cell))
    if len({p.name for _, p in found}) < len(found):
        prefix_parameters(cell, "")
        refuse_duplicates(cell)


def refuse_duplicates(cell: Cell) -> None:
    """``SettingError`` if two parameters of the tree have one name."""
    names: dict[str, str] = {}
    for place, parameter in parameters(cell):
        if parameter.name in names:
            raise SettingError(
                f"{type(cell).__name__}: parameters {names[parameter.name]!r} and {place!r} are both named "
                f"{parameter.name!r}; give each its own name"
            )
        names[parameter.name] = place


def scopes(cell: Cell, prefix: str = "Default") -> Iterator[tuple[str, Cell]]:
    """Scopes of the cells below ``cell``: all children first, then the children's subtrees."""
    with_class = context.get_context("reserve_class_name_in_scope")
    named = [
        (f"{prefix}/{name}-{type(child).__name__}" if with_class else f"{prefix}/{name}", child)
        for name, child in cell.name_cells().items()
    ]
    yield from named
    for scope, child in named:
        yield from scopes(child, scope)

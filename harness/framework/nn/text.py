"""``repr`` of a cell, as MindSpore prints it (``tests/data/nn/texts.json``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.framework.nn.cell import Cell


def tree_text(cell: Cell) -> str:
    """Class, settings (``extend_repr``) and children, each child on lines of its own."""
    own = cell.extend_repr()
    lines = own.split("\n") if own else []
    for name, child in cell._cells.items():
        lines.append(f"({name}): {child!r}".replace("\n", "\n  "))
    if not cell._cells and len(lines) <= 1:
        return f"{cell.cls_name}({''.join(lines)})"
    return f"{cell.cls_name}(\n" + "".join(f"  {line}\n" for line in lines) + ")"

"""Draws the rooms and their imports: ``python -m tests.architecture.rooms`` writes them to ``docs/architecture.md``.

A room is a package of ``harness``, the plugin, or the foundation: all modules of row 0 together. An arrow is an import
of any kind of one room by another, but for those that the page lists as exceptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.architecture.source import PAGE, Import, imports, table

FOUNDATION, FACADE, PLUGIN = "foundation", "facade", "plugin"
_PLACE = re.compile(r"(?<=<!-- drawing -->\n).*?(?=<!-- end of drawing -->)", re.DOTALL)


def rows() -> dict[str, int]:
    """The row of each room, the highest first; the plugin and the facade are above all."""
    known = {FACADE: 9, PLUGIN: 8}
    for row, names, _ in table("rows"):
        known |= {name.strip() if int(row) else FOUNDATION: int(row) for name in names.split(",")}
    return known


def _exceptions() -> set[tuple[str, str]]:
    return {(source.strip("`"), target.strip("`")) for source, target, _ in table("exceptions")}


def arrows(found: Iterable[Import]) -> dict[str, set[str]]:
    """For each room the rooms that it imports."""
    known, excepted = rows(), _exceptions()

    def room(module: str) -> str:
        top, _, rest = module.partition(".")
        if top != "harness":
            return PLUGIN
        name = rest.partition(".")[0]
        return FACADE if not name else name if name in known else FOUNDATION

    drawn: dict[str, set[str]] = {name: set() for name in known}
    for each in found:
        source, target = room(each.source), room(each.target)
        if source != target and (each.source, each.target) not in excepted:
            drawn[source].add(target)
    return drawn


def drawing() -> str:
    """The part of the page: how many there are, and a line for each room."""
    drawn, known = arrows(imports()), rows()
    order = sorted(drawn, key=lambda name: (-known[name], name))
    lines = [f"{len(drawn)} rooms, {sum(map(len, drawn.values()))} arrows:", "", "```text"]
    lines += [f"{name:12} -> {' '.join(sorted(drawn[name], key=order.index))}".rstrip(" >-") for name in order]
    return "\n".join([*lines, "```", ""])


def main() -> None:
    """Writes the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_PLACE.sub(lambda _: drawing(), text), encoding="utf-8")


if __name__ == "__main__":
    main()

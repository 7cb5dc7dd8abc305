"""Colours of what is not paired: equal where kinds and neighbourhoods are."""

from __future__ import annotations

from collections.abc import Sequence

from harness.compare.pairing.neighbours import Side

#: A colour of each free node, and whether all that it says is known.
Colours = dict[int, tuple[int, bool]]


def first_colours(side: Side) -> Colours:
    return {
        at: (hash((side.nodes[at].kind, side.nodes[at].backward, side.nodes[at].counts)), True) for at in side.free()
    }


def refine(side: Side, colours: Colours, ways: Sequence[str]) -> Colours:
    """Colours that also say what the neighbours' are.

    Where a run begins or ends says nothing, as another run may begin earlier: what is near there is not known.
    """
    refined: Colours = {}
    pairs = side.pair
    for at, (colour, known) in colours.items():
        around = []
        for way in ways:
            joins = False
            for label, other, is_made in side.joined(way)[at]:
                pair = pairs.get(other)
                if pair is not None:
                    around.append((label, pair))
                    joins = True
                    continue
                beyond, sure = colours[other]
                around.append((label, beyond))
                if is_made:
                    joins, known = True, known and sure
            known = known and joins
        around.sort()
        refined[at] = hash((colour, tuple(around))), known
    return refined


def of_all(side: Side) -> Colours | None:
    """Colours that say all that leads to a free node, and all that it leads to, however far: of a tower of
    equal layers each has its height. None where a value leads to itself.
    """
    first = first_colours(side)
    before, behind = _reached(side, first, "ins"), _reached(side, first, "outs")
    if before is None or behind is None:
        return None
    return {at: (hash((before[at], behind[at])), True) for at in first}


def _reached(side: Side, first: Colours, way: str) -> dict[int, int] | None:
    """Of each free node, a colour of all that lies in one direction; paired neighbours stand for themselves."""
    joined, pairs = side.joined(way), side.pair
    reached: dict[int, int] = {}
    open_at: dict[int, bool] = {}
    for start in first:
        stack = [start]
        while stack:
            at = stack[-1]
            if at in reached:
                stack.pop()
                continue
            missing = [other for _, other, _ in joined[at] if other not in pairs and other not in reached]
            if missing and open_at.get(at):
                return None  # seen again while what it waits for is not done
            if missing:
                open_at[at] = True
                stack += missing
                continue
            around = sorted(
                (label, pairs[other] if other in pairs else reached[other]) for label, other, _ in joined[at]
            )
            reached[at] = hash((first[at][0], tuple(around)))
            stack.pop()
    return reached

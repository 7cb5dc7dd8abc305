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

"""Gives a dump the steps and the rank of what it is compared with: where counting begins, and which process ran, says
nothing about what was computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from harness.capture import Capture
from harness.records import Record
from harness.store import StoredRun

_NAMED = 3
_STATED = re.compile(r"(_rank_)(\d+)(_step_)(\d+)$")


class Labels(NamedTuple):
    """The steps and ranks of a side.

    Attributes:
        steps, ranks: their numbers; empty where they are not known before everything is read.
        unranked: whether it is of one process whose rank is not stated.
    """

    steps: frozenset[int] = frozenset()
    ranks: frozenset[int] = frozenset()
    unranked: bool = False


def labels_of(side: Capture | StoredRun) -> Labels:
    """The labels of a dump tree, by its directories, or of a run of a store."""
    if isinstance(side, StoredRun):
        keys = side.index.keys
        return Labels(frozenset(key.iteration for key in keys), frozenset(key.rank for key in keys))
    steps = frozenset(step for source in side.sources for _, step, _ in source.parts())
    return Labels(steps, frozenset(source.rank for source in side.sources), side.unranked)


def laid_beside(capture: Capture, own: Labels, other: Labels, name: str) -> tuple[Capture, list[str]]:
    """``capture`` with the labels of the other side where both have none in common, and lines that say so.

    Steps of one side that the other side does not have are paired in their order, if both sides have no step in
    common. A process whose rank is not stated has the rank of the other side's only one.

    Args:
        own, other: labels of both sides.
        name: of the capture, in the lines.
    """
    steps: dict[int, int] = {}
    ranks: dict[int, int] = {}
    notes = []
    if own.steps and other.steps and not own.steps & other.steps:
        mine, its = sorted(own.steps), sorted(other.steps)
        steps = dict(zip(mine, its, strict=False))
        # What has no counterpart must not take the label of another step.
        steps.update(zip(mine[len(its) :], range(max(its) + 1, max(its) + 1 + len(mine)), strict=False))
        notes.append(_told(steps, mine[: len(its)], name))
    if len(own.ranks) == len(other.ranks) == 1 and own.ranks != other.ranks and (own.unranked or other.unranked):
        ranks = dict(zip(own.ranks, other.ranks, strict=True))
    if not steps and not ranks:
        return capture, []
    texts = {_renamed(text, steps, ranks): text for text in capture.artefacts}
    moved = replace(
        capture,
        source=lambda: _relabelled(capture.records(), steps, ranks),
        as_rows=lambda: None,
        execution=lambda _where: None,
        artefacts=_Renamed(capture.artefacts, texts),
        sources=(),
    )
    return moved, notes


def _told(steps: Mapping[int, int], paired: list[int], name: str) -> str:
    shown = ", ".join(f"{step} with {steps[step]}" for step in paired[:_NAMED])
    more = f" and {len(paired) - _NAMED} more" if len(paired) > _NAMED else ""
    return f"Steps in their order: no step has the same number; of {name} were compared {shown}{more}"


def _relabelled(records: Iterable[Record], steps: Mapping[int, int], ranks: Mapping[int, int]) -> Iterator[Record]:
    for record in records:
        key = record.key
        step, rank = steps.get(key.iteration, key.iteration), ranks.get(key.rank, key.rank)
        record.key = key._replace(iteration=step, rank=rank)
        yield record


def _renamed(text: str, steps: Mapping[int, int], ranks: Mapping[int, int]) -> str:
    match = _STATED.search(text)
    if match is None:
        return text
    rank, step = int(match[2]), int(match[4])
    return f"{text[: match.start()]}{match[1]}{ranks.get(rank, rank)}{match[3]}{steps.get(step, step)}"


class _Renamed(Mapping[str, bytes]):
    """Texts under other names, each still made when it is asked for."""

    def __init__(self, texts: Mapping[str, bytes], names: Mapping[str, str]) -> None:
        self._texts, self._names = texts, names

    def __getitem__(self, name: str) -> bytes:
        return self._texts[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

"""Directories of the steps and ranks of a dump of msprobe's, and one rank step by step."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from harness.capture.capture import Problem
from harness.capture.msprobe_json import MAX_TEXT, JsonEntries
from harness.dump.msprobe.step_files import DUMP
from harness.errors import TreeError
from harness.reading import is_directory, no_directory, read_object
from harness.records import Record

_STEP = re.compile(r"step(\d{1,9})")
_RANK = re.compile(r"rank(\d{0,9})")
_PROCESS = re.compile(r"proc(\d{0,9})")
_PLACE = re.compile(r"(?:rank|proc)\d{0,9}")
_DEBUG = "debug.json"
MODES = ("graph", "pynative")
"""Directories of a dump of MindSpore's in both modes."""
#: Processes that a line names.
_NAMED = 4

#: Stands for the graph of a part that holds those of all graphs.
ALL_GRAPHS = -1
#: How the problem of a step begins that is not read at all.
LEFT_OUT = "the step is left out: "


class StepDirectory(NamedTuple):
    """Where one ``dump.json`` is.

    Attributes:
        step, rank: as the directories' names say; 0 where they say nothing. The number of a process is no rank: the
            processes of a dump have the ranks 0, 1, ... in the order of their numbers.
        path: real path of its directory.
        root: real path of the dump, which no link may leave.
        file: its name; level debug writes ``debug.json`` alone.
        ranked: whether the rank is stated.
    """

    step: int
    rank: int
    path: str
    root: str
    file: str
    ranked: bool = True

    def entries(self) -> JsonEntries:
        """What it holds; ``TreeError`` if that is no object with an object ``data``."""
        return JsonEntries(os.path.join(self.path, self.file), self.root)


def step_directories(path: str, problems: list[Problem] | None = None) -> list[StepDirectory]:
    """Every step's directory in ``path``: that of a dump, of a step, or of a rank, or a ``dump.json`` itself; empty if
    it is none of them.

    Args:
        problems: receives what is named like such a directory and is none, and how processes became ranks.
    """
    root = os.path.realpath(path)
    told: list[Problem] = []
    named = ""
    if os.path.isfile(root):
        root, named = os.path.split(root)
    if file := named or _dump_file(root):
        step = _number(_STEP, root) or _number(_STEP, os.path.dirname(root))
        found = [StepDirectory(step, _number(_RANK, root), root, root, file, _is_ranked(root))]
        return found if _PLACE.fullmatch(os.path.basename(root)) else [found[0]._replace(ranked=False)]
    steps = [(root, _number(_STEP, root))] + [
        (found, _number(_STEP, found)) for top in _tops(root) for found in _children(top, _STEP, told)
    ]
    places = [(step, rank) for directory, step in steps for rank in _children(directory, _PLACE, told)]
    places += [(step, directory) for directory, step in steps[1:] if _dump_file(directory)]
    ranks = ranks_of([(step, os.path.basename(rank)) for step, rank in places], told, root)
    found = [
        StepDirectory(step, ranks[step, os.path.basename(rank)], rank, root, file, _is_ranked(rank))
        for step, rank in places
        if (file := _dump_file(rank)) or _without(rank, told)
    ]
    told += [
        Problem(os.path.join(each.path, _DEBUG), "skipped", f"beside a {DUMP}; give it as the operand to have it read")
        for each in found
        if each.file == DUMP and os.path.isfile(os.path.join(each.path, _DEBUG))
    ]
    if problems is not None:
        problems += [each._replace(path=os.path.relpath(each.path, root)) for each in told]
    return sorted(found, key=lambda each: (each.rank, each.step))


def _tops(root: str) -> list[str]:
    """The directories that hold steps: MindSpore's dumps of both modes have one for each."""
    return [root, *(mode for name in MODES if is_directory(mode := os.path.join(root, name), TreeError))]


def ranks_of(places: Sequence[tuple[int, str]], told: list[Problem], root: str) -> dict[tuple[int, str], int]:
    """The rank of each step's directory, by its name: the number of a process is none.

    Args:
        places: number of the step and name of the directory (``rank0``, ``proc4711``) of each.
        told: receives a note if processes became ranks in the order of their numbers.
        root: the dump, for the note.
    """
    found = {(step, name): _number(_RANK, name) for step, name in places if not _PROCESS.fullmatch(name)}
    processes = [(step, name) for step, name in places if _PROCESS.fullmatch(name)]
    alone = len({step for step, _ in processes}) == len(processes)
    free = (number for number in count() if number not in found.values())
    if alone:  # also where each step was dumped by a process of its own
        found.update(dict.fromkeys(processes, next(free)))
        return found
    names = sorted({name for _, name in processes}, key=lambda name: _number(_PROCESS, name))
    ranks = dict(zip(names, free, strict=False))
    found.update(((step, name), ranks[name]) for step, name in processes)
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    first, last = ranks[names[0]], ranks[names[-1]]
    told.append(Problem(root, "note", f"{shown} state no rank: read in this order as the ranks {first} to {last}"))
    return found


def _is_ranked(path: str) -> bool:
    match = _RANK.fullmatch(os.path.basename(path))
    return match is not None and bool(match[1])


def _dump_file(directory: str) -> str:
    """The name of the file that describes the tensors there; empty if there is none."""
    return next((name for name in (DUMP, _DEBUG) if os.path.isfile(os.path.join(directory, name))), "")


def _number(pattern: re.Pattern[str], path: str) -> int:
    match = pattern.fullmatch(os.path.basename(path))
    return int(match[1] or 0) if match else 0


def _without(rank: str, told: list[Problem]) -> str:
    told.append(Problem(rank, "incomplete", f"there is no file {DUMP} in it"))
    return ""


def _children(path: str, pattern: re.Pattern[str], told: list[Problem]) -> list[str]:
    """Directories in ``path`` of such names; links are not followed."""
    found = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not pattern.fullmatch(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found.append(entry.path)
                else:
                    told.append(Problem(entry.path, "damaged", no_directory(entry)))
    except OSError as error:
        told.append(Problem(path, "damaged", str(error.strerror)))
    return found


def json_object(path: str, inside: str) -> dict[str, Any]:
    """The object a file holds; ``TreeError`` if it holds none, or lies outside of ``inside`` (a real path)."""
    return read_object(path, MAX_TEXT, TreeError, inside=inside)


class Step(NamedTuple):
    """A step's number, the directory it lies in, and its records; each iteration reads them again."""

    number: int
    path: str
    records: Iterable[Record]


class StepsOfRank:
    """What ``RankRecords`` is to a tree with directories of iterations."""

    last: Mapping[int, int] = {}
    closed: Mapping[tuple[int, int], bool] = {}

    def __init__(self, steps: Sequence[Step], rank: int) -> None:
        self._steps = steps
        self.rank = rank

    def parts(self) -> list[tuple[int, int, str]]:
        """``ALL_GRAPHS``, step and path of each directory."""
        return [(ALL_GRAPHS, step.number, step.path) for step in self._steps]

    def part(
        self, graph: int, iteration: int, paths: Sequence[str], wanted: Callable[[str], bool]
    ) -> Iterator[tuple[tuple[int, int, int], Iterator[Record]]]:
        """What a step's directories hold, each as one execution; ``wanted`` is not asked: a step is read whole."""
        for at, step in enumerate(self._steps):
            if step.number == iteration and step.path in paths:
                yield (iteration, at, 0), iter(step.records)

    def parents(self) -> dict[str, str | None]:
        """The caller of each entry, where a step states it."""
        found: dict[str, str | None] = {}
        for step in self._steps:
            found.update(getattr(step.records, "parents", dict)())
        return found

    def look_at_constants(self) -> None:
        """There are none."""

"""What a worker read last: captures of ranks, whose graphs are parsed once and not with every part of a rank, and the
names of ranks in a tree, which are not listed for each of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from harness.capture import Capture
from harness.capture.tree import RANK, inside, rank_directories
from harness.capture.tree_records import RankRecords
from harness.errors import TreeError

#: Two sides of one comparison.
_MOST = 2
#: What a rank's directory holds beside its tensors.
_BESIDE = (".dump_metadata", "execution_order", "graphs")


class _Kept(NamedTuple):
    """A capture that nobody reads, where its rank is, what was there beside tensors, and the problems of that."""

    capture: Capture
    root: str
    facts: tuple[object, ...]
    problems: int


_idle: dict[Hashable, _Kept] = {}
_roots: dict[str, tuple[tuple[int, int] | None, dict[int, str]]] = {}


@contextmanager
def capture(folder: str, what: Hashable, read: Callable[[], Capture]) -> Iterator[Capture]:
    """A capture with no more problems than it had when it was made.

    Args:
        folder: of the tree.
        what: tells one rank and way of reading from others.
        read: makes it, unless it is there and nothing but tensors can have changed.
    """
    key = folder, what
    found = _idle.pop(key, None)  # of several threads one has it
    if found is None or found.facts != _facts(found.root):
        made = read()
        roots = [source.root for source in made.sources if type(source) is RankRecords]
        root = roots[0] if len(roots) == len(made.sources) == 1 else ""
        found = _Kept(made, root, _facts(root), len(made.problems))
    del found.capture.problems[found.problems :]
    yield found.capture  # what fails here is not kept
    if found.root:
        _idle[key] = found
        for other in list(_idle)[:-_MOST]:
            _idle.pop(other, None)


def root(folder: str, rank: int) -> str:
    """Real path of a rank's directory in a folder that holds such directories and nothing else; empty for another.

    Raises:
        TreeError: it is a link that leaves the folder.
    """
    try:
        facts = os.stat(folder)
        known, ranks = _roots.pop(folder, (None, {}))
        if known != (facts.st_ino, facts.st_mtime_ns):
            alike = all(RANK.fullmatch(name) for name in os.listdir(folder))
            known, ranks = (facts.st_ino, facts.st_mtime_ns), rank_directories(folder, -1) if alike else {}
    except (OSError, TreeError):  # whoever reads it says why
        return ""
    _roots[folder] = known, ranks
    for other in list(_roots)[:-_MOST]:
        _roots.pop(other, None)
    found = ranks.get(rank, "")
    return os.path.realpath(inside(os.path.realpath(folder), found)) if found else ""


def _facts(root: str) -> tuple[object, ...]:
    """A rank's files but for its tensors."""
    known: list[object] = []
    for folder in [root, *(os.path.join(root, name) for name in _BESIDE)] if root else ():
        with suppress(OSError):
            facts = os.stat(folder)
            known.append((folder, facts.st_ino, facts.st_mtime_ns))
            if folder != root:
                with os.scandir(folder) as entries:
                    known += sorted(_fact(entry) for entry in entries)
    return tuple(known)


def _fact(entry: os.DirEntry[str]) -> tuple[object, ...]:
    facts = entry.stat(follow_symlinks=False)
    return entry.name, facts.st_size, facts.st_mtime_ns, facts.st_mode

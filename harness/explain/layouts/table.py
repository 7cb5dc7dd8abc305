"""A table of placements: how the parts of each slot are joined, and what a rank's modules are called elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.compare.shards import Shard, lines_of
from harness.errors import ScaleError
from harness.explain.ranks.timeline import GRADIENT, PARAMETER
from harness.records import Record

#: how one slot is joined, step by step
Chain = tuple[Shard, ...]
#: what a gradient shares with its parameter
_CUTS = frozenset({"Shard", "Interleaved", "Vocabulary"})
_STEP = re.compile(r"\w+(?:\([^()]*\))?(?:@[\d,|]+)?|-?\d+")
_NAMES = re.compile(r"(\S*)\s*->\s*(\S*?)\s*(?:@([\d,]+))?")


@dataclass(frozen=True)
class Named:
    """What a module is called on the one rank.

    Attributes:
        here, there: paths, ``module`` and ````, ``0`` and ``2``.
        ranks: where; empty for all.
    """

    here: str
    there: str
    ranks: tuple[int, ...] = ()

    def of(self, name: str, rank: int) -> str | None:
        """An operator's or a parameter's name on the one rank; None if this says nothing of it."""
        if self.ranks and rank not in self.ranks:
            return None
        rest = name.removeprefix(self.here) if self.here else f".{name}"
        if (self.here and rest == name) or (rest and rest[0] not in "./"):
            return None
        made = f"{self.there}{rest}".lstrip(".")
        return f"Default{made}" if made.startswith("/") else made


@dataclass(frozen=True)
class Table:
    """What is declared.

    Attributes:
        chains: pattern and placement, the first that fits a slot counts.
        names: names of modules.
    """

    chains: tuple[Chain, ...] = ()
    names: tuple[Named, ...] = ()

    def of(self, record: Record) -> Chain | None:
        """How a slot, in the one rank's terms, is placed; None if nothing is declared. A gradient is cut as its
        parameter is, unless something is declared of it."""
        found = next((chain for chain in self.chains if chain[0].fits(record)), None)
        if found is None and record.op_type == GRADIENT:
            key = record.key._replace(operator=record.key.operator.removesuffix(".grad"))
            cut = self.of(replace(record, key=key, op_type=PARAMETER))
            return cut if cut is not None and all(step.kind in _CUTS for step in cut) else None
        return found

    def name(self, name: str, rank: int) -> str:
        """An operator's or a parameter's name on the one rank."""
        return next((made for each in self.names if (made := each.of(name, rank)) is not None), name)


def chain_of(text: str) -> Chain:
    """``SLOT = PLACEMENT PLACEMENT ...``; ``ScaleError`` for anything else."""
    pattern, _, given = text.rpartition("=")
    steps = _STEP.findall(given)
    if _STEP.sub("", given).strip() or not steps:
        return (Shard.parse(text),)  # which says what is wrong
    return tuple(Shard.parse(f"{pattern}={step}") for step in steps)


def table_of(given: Iterable[str]) -> Table:
    """The table that lines, and files named ``@FILE``, make: ``SLOT = PLACEMENT ...``, ``HERE -> THERE @RANKS``.

    Raises:
        ScaleError: a line is neither, or a file cannot be read.
    """
    chains: list[Chain] = []
    names: list[Named] = []
    for line in (line for each in given for line in (lines_of(each[1:]) if each[:1] == "@" else [each])):
        if "->" not in line:
            chains.append(chain_of(line))
            continue
        found = _NAMES.fullmatch(line.strip())
        if found is None:
            raise ScaleError(f"--shard: HERE -> THERE @RANKS is accepted for names of modules, given was {line!r}")
        ranks = tuple(int(each) for each in (found[3] or "").split(",") if each)
        names.append(Named(found[1], found[2], ranks))
    return Table(tuple(chains), tuple(names))

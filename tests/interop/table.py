"""``docs/interop.md``: written by the interop run itself, where ``MSDUMP_INTEROP_TABLE`` names the file."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from filelock import FileLock

from tests.interop.oracles import ORACLES
from tests.interop.trees import LIMITS, Agreement

HEAD = """# Beside the real tools

Written by `tox -e interop` (generated programs by `tox -e differential`); do not edit. A section that a run does not
compare stays as its last run left it. Every script and every shipped network runs on the emulated cpu backend and
under the real thing ({oracles}), with equal weights and inputs; then every slot of every operator is
compared: operators, slots, dtypes, element counts and planned execution order must be equal. The error of a slot is its
largest absolute difference over its largest absolute value; it must stay within
{limits}. All other dtypes must have equal bits.

"Not written" are outputs that MindSpore's own CPU kernels leave as the memory was (`tests/gate/never_written.py`): of
those only dtype and element count are compared.

"On PyTorch" is the backend torch beside the backend cpu: the same graphs, computed by PyTorch's kernels on a CPU.

Last run: Python {python}, numpy {numpy}, {machine}.
"""
#: of a section of agreements, in the words of ``Agreement.cells``
COLUMNS = ("operators", "slots", "identical", "within the limit", "not written", "worst error", "where")


SCENARIOS = """
What MindSpore's own system tests of the dump ask for, rewritten in `tests/scenarios` with what must be in the tree:
every file, every array, every row, computed with numpy. Each holds on every emulated device that has the feature; under
the real MindSpore on a CPU:
"""


@dataclass
class Section:
    """One table of the page.

    Attributes:
        title: headline.
        columns: heads, without that of the name.
        intro: what is to be said before the table.
        head: of the column of names.
        rows: name -> cells by head; a head without a cell has "-".
        notes: title of a list below the table -> its lines.
        place: of the section in the page; first the module that made it, then how many it made before.
        names: every row the section can have, where a run compares some of them: the page's rows of others stay.
    """

    title: str
    columns: Sequence[str] = COLUMNS
    intro: str = ""
    head: str = "network"
    rows: dict[str, Mapping[str, object]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    place: Sequence[str | int] = ()
    names: Sequence[str] = ()

    def add(self, name: str, found: Agreement) -> None:
        """Adds one network's agreement; a disagreement too is written down, as such."""
        self.rows[name] = found.cells()
        self.note("Known differences", [f"{name}: {reason}" for reason in found.known])
        self.note("Not in agreement (the first five of each)", [f"{name}: {fault}" for fault in found.faults[:5]])

    def note(self, title: str, lines: Sequence[str]) -> None:
        """Adds lines to a list below the table."""
        if lines:
            self.notes.setdefault(title, []).extend(lines)

    def lines(self, before: str = "") -> Iterator[str]:
        """The section as Markdown; ``before`` is what the page has of it."""
        yield f"## {self.title}\n"
        if self.intro:
            yield f"{self.intro.strip()}\n"
        yield f"| {self.head} | {' | '.join(self.columns)} |"
        yield "|---" * (len(self.columns) + 1) + "|"
        rows = {name: line for line in before.splitlines() if (name := line[2:].partition(" |")[0]) in self.names}
        for name, cells in self.rows.items():
            rows[name] = f"| {name} | {' | '.join(str(cells.get(column, '-')) for column in self.columns)} |"
        yield from sorted(rows.values(), key=lambda line: self._place(line[2:].partition(" |")[0]))
        for title, lines in sorted(self.notes.items()):
            yield f"\n{title}:\n"
            yield from (f"* {line}" for line in lines)
        yield ""

    def _place(self, name: str) -> int:
        """Of a row among all; those of no place keep their order."""
        return self.names.index(name) if name in self.names else len(self.names)


def _head() -> str:
    return HEAD.format(
        oracles=", ".join(map(shown, ORACLES)),
        limits=", ".join(f"{limit:.1e} for {dtype}" for dtype, limit in LIMITS.items()),
        python=platform.python_version(),
        numpy=np.__version__,
        machine=platform.machine(),
    )


def shown(oracle: str) -> str:
    """An oracle as the page names it."""
    return ORACLES[oracle].requirements[0].replace("==", " ")


class Table:
    """Collects sections and prints them as Markdown.

    Attributes:
        module: whose tests run.
    """

    def __init__(self) -> None:
        self.module = ""
        self._sections: dict[str, Section] = {}

    def section(
        self,
        title: str,
        columns: Sequence[str] = COLUMNS,
        intro: str = "",
        head: str = "network",
        names: Sequence[str] = (),
    ) -> Section:
        """The section of that title, made if it is not there; the page has them by the module that asked first, in the
        order they were made."""
        if title not in self._sections:
            place = [self.module, len(self._sections)]
            self._sections[title] = Section(title, columns, intro, head, place=place, names=names)
        return self._sections[title]

    def scenario(self, name: str, release: str, outcome: str) -> None:
        """Adds what became of a scenario of ``tests/scenarios`` under the MindSpore of oracle ``release``."""
        columns = [shown(each) for each in ("mindspore", "mindspore-2.7")]
        rows = self.section("Scenarios of the dump", columns, SCENARIOS, "scenario").rows
        rows[name] = {**rows.get(name, dict.fromkeys(columns, "not run")), shown(release): outcome}

    def write(self, path: Path, kept: Path) -> None:
        """Writes the page, if anything was compared.

        Sections of the page that this run has not stay as they are.

        Args:
            path: the page.
            kept: what other processes of this run have written; theirs is in the page, and this one's is added.
        """
        if not self._sections:
            return
        with FileLock(kept.with_suffix(".lock")):
            theirs = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
            everything = [*(Section(**each) for each in theirs), *self._sections.values()]
            kept.write_text(json.dumps([asdict(each) for each in everything], default=str), encoding="utf-8")
            before = sections_of(path.read_text(encoding="utf-8")) if path.exists() else {}
            texts = {each.title: "\n".join(each.lines(before.get(each.title, ""))) for each in joined(everything)}
            path.write_text("\n".join([_head(), *beside(texts, before)]), encoding="utf-8")


def joined(sections: Iterable[Section]) -> list[Section]:
    """One section of each title, in the order of places: which process had which section must not show, and two may
    have rows of one."""
    found: dict[str, Section] = {}
    for each in sorted(sections, key=lambda each: each.place):
        first = found.setdefault(each.title, each)
        if first is not each:
            first.rows |= each.rows
            for title, lines in each.notes.items():
                first.note(title, lines)
    return list(found.values())


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page, by title."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0][3:]: part.rstrip("\n") + "\n" for part in parts}


def beside(texts: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """The sections ``texts``, and those of ``before`` that are not among them, each behind the one it stood behind."""
    order, last = list(texts), ""
    for title in before:
        if title not in texts:
            order.insert(order.index(last) + 1 if last else 0, title)
        last = title
    return [texts.get(title) or before[title] for title in order]

"""What the files of the Running Data Recorder alone say of a run: where it ended, and memory that cannot be right."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path

from harness.errors import HarnessError
from harness.inspect.finding import Certainty, Finding, Report, Severity
from harness.rdr import Artefact, artefacts
from harness.rdr.read import KernelMemory, execution_orders, memory_addresses
from harness.words import counted

RULE = "recorder"
_NAME = re.compile(r"# Fullname with scope: \((.*)\)")
_LINE = re.compile(r"# In file (.+?):(\d+)")


def recorded(directory: Path) -> Report:
    """The report on a directory of the recorder.

    Args:
        directory: ``rdr``, ``rank_N`` or a directory of ranks.

    Raises:
        ArtefactError: the directory cannot be read.
    """
    groups: dict[int, list[Artefact]] = {}
    for each in artefacts(directory):
        groups.setdefault(each.rank or 0, []).append(each)
    findings: list[Finding] = []
    untold = ["values: the recorder keeps none, so that NaN, sizes, gradients and units are not looked at"]
    unread = 0
    for rank, files in sorted(groups.items()):
        look = _Rank(rank, files)
        findings += look.findings()
        untold += look.untold
        unread += look.unread
    findings.sort(key=lambda each: not each.is_error)
    return Report(str(directory), findings, untold, [RULE], 0, unread, [], sorted(groups))


class _Rank:
    """One rank's files.

    Args:
        rank: its number.
        files: its artefacts.
    """

    def __init__(self, rank: int, files: Iterable[Artefact]) -> None:
        self.rank, self.unread = rank, 0
        self.untold: list[str] = []
        self.kernels: list[KernelMemory] = []
        self.orders: dict[str, int] = {}
        self.places: dict[str, str] = {}
        self.graphs = 0
        for each in files:
            try:
                self._read(each)
            except HarnessError as error:
                self.unread += 1
                self.untold.append(str(error))
        words = f"{counted(self.graphs, 'text')} of graphs, {counted(sum(self.orders.values()), 'kernel')} in order"
        self.untold.append(f"rank {rank}: {words}, addresses of {counted(len(self.kernels), 'kernel')}")

    def _read(self, each: Artefact) -> None:
        if each.extension == "ir":
            self.graphs += 1
            if each.name.startswith("graph_build") or "before_graph" in each.name:
                self._lines(each.read().decode("utf-8", "replace"))
        elif each.name.startswith("graph_exec_order"):
            blocks = execution_orders(each.read().decode("utf-8", "replace"), str(each.path))
            self.orders[each.name] = len(blocks[-1]) if blocks else 0
        elif each.name.startswith("mem_address_list"):
            self.kernels = memory_addresses(each.read().decode("utf-8", "replace"), str(each.path))

    def _lines(self, text: str) -> None:
        name = ""
        for line in text.splitlines():
            if found := _NAME.search(line):
                name = found[1]
            elif name and (found := _LINE.search(line)):
                self.places[name] = f"{os.path.relpath(found[1]) if os.path.isabs(found[1]) else found[1]}:{found[2]}"
            elif "#" not in line and "=" in line:
                name = ""

    def findings(self) -> list[Finding]:
        """What is wrong."""
        found = [each for kernel in self.kernels for each in self._memory(kernel)]
        total = sum(self.orders.values())
        if self.kernels and len(self.orders) == 1 and len(self.kernels) < total:
            last = self.kernels[-1].name
            text = f"the latest step ended in {last.rpartition('/')[2]}, kernel {len(self.kernels)} of {total}"
            found.append(self._finding("run ended early", text, last))
        elif not self.kernels:
            self.untold.append(f"rank {self.rank}: no kernel ran, or none was recorded: addresses are missing")
        elif len(self.orders) != 1:
            self.untold.append(
                f"rank {self.rank}: {len(self.orders)} graphs: how far the latest step came is not clear"
            )
        return found

    def _memory(self, kernel: KernelMemory) -> Iterable[Finding]:
        addresses = kernel.addresses
        for at, each in enumerate(addresses.inputs):
            if each.start == 0 and each.size:
                yield self._finding("memory not given", f"input {at} of {each.size} bytes has no address", kernel.name)
                return
        for (i, one), (j, other) in itertools.combinations(enumerate(addresses.outputs), 2):
            first, second = sorted((one, other), key=lambda each: each.start or 0)
            if first.start and second.start and second.size and second.start < first.start + first.size:
                text = f"results {i} and {j} share bytes at {second.start:#x}"
                yield self._finding("results overlap", text, kernel.name)
                return

    def _finding(self, kind: str, text: str, name: str) -> Finding:
        source = self.places.get(name, "")
        return Finding(
            RULE, kind, Severity.ERROR, text, name, name.rpartition("/")[0], 0, self.rank, source, Certainty.SHOWN
        )  # fmt: skip

"""Whether ranks call their collectives in one order: MindSpore's ``utils.runtime_execution_order_check``.

A device's backend writes a table of each rank's collectives, ``rank_N/execute_order/comm_execute_order.csv``. Each call
gets a key that all its ranks share; a key that a rank lacks, or keys that wait for each other in a circle, are told in
the log. ``tests/data/programs/execution_order.txt`` holds what is answered under MindSpore 2.10.0.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from harness.errors import SettingError, SettingTypeError
from harness.framework import log
from harness.framework.communication.checker import CommExecOrderChecker

__all__: list[str] = []  # names of another module

_SENDS = ("Send", "DistCommIsend", "InnerCommIsend")
_RECEIVES = ("Receive", "DistCommIrecv", "InnerCommIrecv")


class ExecuteOrder:
    """One call of a collective: a row of the table.

    Attributes:
        comm_rank: the ranks of its group, as texts.
    """

    def __init__(
        self, index: str, group: str, comm_rank: str, primitive: str, src_rank: str = "", dest_rank: str = "",
        root_rank: str = "", input_shape: str = "", output_shape: str = "",
    ) -> None:  # fmt: skip
        self.index, self.group, self.primitive = index, group, primitive
        self.comm_rank = comm_rank.split()
        self.src_rank, self.dest_rank, self.root_rank = src_rank, dest_rank, root_rank
        self.input_shape, self.output_shape = input_shape, output_shape

    def generate_base_key(self, rank: str) -> str:
        """The key that all ranks of this call share, without which of several equal calls it is."""
        ranks = ",".join(self.comm_rank)
        if not (self.src_rank or self.dest_rank or self.root_rank):
            return f"{self.primitive}_{self.group}_({ranks})"
        if self.primitive in _SENDS:
            return f"Send_Receive_{self.group}_({rank})->({self.dest_rank})_{self.input_shape}"
        if self.primitive in _RECEIVES:
            return f"Send_Receive_{self.group}_({self.src_rank})->({rank})_{self.output_shape}"
        ends = (("srcRank", self.src_rank), ("destRank", self.dest_rank), ("rootRank", self.root_rank))
        return "_".join(
            [f"{self.primitive}_{self.group}", f"commRank:({ranks})"] + [f"{name}:({end})" for name, end in ends if end]
        )

    def generate_key(self, rank: str, count: int) -> str:
        """The key of the ``count``-th of several equal calls."""
        return f"{self.generate_base_key(rank)}_{count}th"


class RankFolderParser:
    """Reads the tables of directories ``rank_N``, or of directories that hold such.

    Args:
        folders: one absolute path, or several.

    Raises:
        ValueError: a path is not absolute, does not exist, has no ``rank_N``, or a rank is there twice.
    """

    REQUIRED_COLUMNS: ClassVar[list[str]] = [
        "index", "group", "comm_rank", "primitive", "src_rank", "dest_rank", "root_rank", "input_shape", "input_type",
        "output_shape", "output_type", "input_size", "output_size",
    ]  # fmt: skip

    def __init__(self, folders: str | list[str]) -> None:
        self.folders = [folders] if isinstance(folders, str) else folders
        self.result_map: dict[str, list[ExecuteOrder]] = {}
        seen: set[str] = set()
        for folder in map(Path, self.folders):
            for found in _ranks_of(folder):
                if found.name in seen:
                    raise SettingError(f"Duplicate rank folder detected: {found.name} in {folder}")
                seen.add(found.name)

    def parse(self) -> dict[str, list[ExecuteOrder]]:
        """The calls of each rank, by its number as a text; a table that cannot be read is told in the log."""
        for folder in map(Path, self.folders):
            for found in _ranks_of(folder):
                table = found / "execute_order"
                if not table.is_dir():
                    log.error(f"{table} does not exist: rank {found.name} is left out")
                    continue
                rank, orders = self.parse_rank_folder(str(table), found.name.split("_")[1])
                if orders:
                    self.result_map[rank] = orders
        return self.result_map

    def parse_rank_folder(self, rank_folder_path: str, rank_id: str) -> tuple[str, list[ExecuteOrder] | None]:
        """The rank, and the calls of its table; None, and a line in the log, if there is none with these columns."""
        path = Path(rank_folder_path) / "comm_execute_order.csv"
        try:
            with open(path, encoding="utf-8") as file:
                rows = csv.DictReader(file)
                if rows.fieldnames != self.REQUIRED_COLUMNS:
                    log.error(f"{path} is left out: its columns are not {self.REQUIRED_COLUMNS}")
                    return rank_id, None
                kept = [name for name in self.REQUIRED_COLUMNS if not name.endswith(("_type", "_size"))]
                return rank_id, [ExecuteOrder(**{name: row[name] for name in kept}) for row in rows]
        except FileNotFoundError:
            log.error(f"there is no {path}: rank {rank_id} is left out")
            return rank_id, None


def _ranks_of(folder: Path) -> list[Path]:
    """The directories ``rank_N`` that a path stands for."""
    if not folder.is_absolute():
        raise SettingError(f"Invalid path: {folder}; an absolute one is needed")
    if not folder.exists():
        raise SettingError(f"Path does not exist: {folder}")
    if not folder.is_dir():
        raise SettingError(f"Invalid path: {folder} is no directory")
    if folder.name.startswith("rank_"):
        return [folder]
    found = sorted(each for each in folder.iterdir() if each.name.startswith("rank_") and each.is_dir())
    if not found:
        raise SettingError(f"No rank_x folders found in {folder}; rank_0 is one")
    return found


def modify_execute_orders(execute_orders_map: Mapping[str, Sequence[ExecuteOrder] | None]) -> dict[str, list[str]]:
    """The keys of each rank's calls, in their order; equal ones are numbered from 1."""
    found: dict[str, list[str]] = {}
    for rank, orders in execute_orders_map.items():
        counts: Counter[str] = Counter()
        found[rank] = []
        for order in orders or ():
            base = order.generate_base_key(rank)
            counts[base] += 1
            found[rank].append(order.generate_key(rank, counts[base]))
    return found


def parse_and_validate(data: Any, all_rank: bool = True) -> None:
    """Tells in the log which rank lacks a call that another one has with it.

    Args:
        data: the keys of each rank's calls.
        all_rank: whether a rank of a call must be among ``data``.
    """
    if not isinstance(data, dict):
        log.error("a dict of lists of texts is needed")
        return
    sound = {}
    for rank, keys in data.items():
        if isinstance(keys, list) and all(isinstance(key, str) for key in keys):
            sound[rank] = set(keys)
    for rank in data:
        if rank not in sound:
            log.error(f"rank {rank!r}: a list of texts is needed")
    for rank, keys in data.items():
        for key in keys if rank in sound else ():
            ranks = {each.strip() for group in re.findall(r"\((.*?)\)", key)[:2] for each in group.split(",")}
            if all_rank and (missing := ranks - sound.keys()):
                log.error(f"{key} of rank {rank}: there are no calls of rank {', '.join(sorted(missing))}")
                continue
            for other in sorted(ranks & sound.keys()):
                if key not in sound[other]:
                    log.error(f"rank {other} does not call {key}, rank {rank} does")


def detect_cycle_in_graph(ranks_map: Mapping[str, Sequence[str]]) -> tuple[list[str] | None, list[str] | None]:
    """A circle of calls that wait for each other, each for the one before it on some rank.

    Returns:
        Its calls (the first one again at the end), and ``"rank call -> next"`` of each step; None twice without one.
    """
    after: dict[str, list[str]] = {}
    rank_of: dict[tuple[str, str], str] = {}
    for rank, calls in ranks_map.items():
        for one, other in itertools.pairwise(calls):
            after.setdefault(one, []).append(other)
            rank_of[one, other] = rank
    done: set[str] = set()
    for start in list(after):
        path: dict[str, Iterable[str]] = {}
        call: str | None = start
        while call is not None:
            if call in path:
                names = list(path)
                circle = [*names[names.index(call) :], call]
                steps = itertools.pairwise(circle)
                return circle, [f"{rank_of[step]} {step[0]} -> {step[1]}" for step in steps]
            if call not in done:
                done.add(call)
                path[call] = iter(after.get(call, ()))
            call = None
            while path and call is None:
                last = next(reversed(path))
                call = next(iter(path[last]), None)
                if call is None:
                    del path[last]
    return None, None


def determine_all_rank(folders_: Any) -> bool | None:
    """Whether paths name all ranks: one does, several do not; None for neither."""
    if isinstance(folders_, str) and folders_:
        return True
    return len(folders_) == 1 if isinstance(folders_, list) and folders_ else None


def output_cycle_results(cycle_path: Sequence[str] | None, cycle_ranks: Iterable[str] | None) -> None:
    """Tells a circle in the log, or that there is none."""
    if not cycle_path:
        log.warning("no calls wait for each other in a circle")
        return
    log.error(f"calls wait for each other: {' -> '.join(cycle_path)}")
    for step in cycle_ranks or ():
        log.error(step)


def runtime_execution_order_check(folders_: Any, all_rank: bool | None = None) -> None:
    """Reads the tables of ranks, and tells in the log where their orders do not fit.

    Args:
        folders_: absolute paths of ``rank_N``, or of directories of such.
        all_rank: whether every rank is among them; by default if one path is given.
    """
    if all_rank is None:
        all_rank = determine_all_rank(folders_)
    if folders_ is None:
        log.error("a path, or a list of such, is needed")
        return
    orders = RankFolderParser(folders_).parse()
    if not orders:
        log.error("no rank has a table of calls: nothing was checked")
        return
    keys = modify_execute_orders(orders)
    parse_and_validate(keys, bool(all_rank))
    output_cycle_results(*detect_cycle_in_graph(keys))


class CommExecOrderCheck:
    """``start`` and ``end`` of a check while the process runs; there is one object."""

    _instance: CommExecOrderCheck | None = None

    def __new__(cls) -> CommExecOrderCheck:
        if cls._instance is None:
            made = cls._instance = super().__new__(cls)
            made.order_checker = CommExecOrderChecker.get_instance()
            made.is_collecting = False
        return cls._instance

    order_checker: CommExecOrderChecker
    is_collecting: bool

    def __call__(self, action: str) -> None:
        """Starts (``"start"``) or ends (``"end"``) the check; ``ValueError`` for another text."""
        if action == "start":
            self.start_function()
        elif action == "end":
            self.end_function()
        else:
            raise SettingError(f"action is 'start' or 'end', got {action!r}")

    def start_function(self) -> None:
        """Starts; a second time it is told in the log."""
        if self.is_collecting:
            log.error("The 'start' action cannot be called twice.")
            return
        self.is_collecting = True
        self.order_checker.start_collect_exec_order()

    def end_function(self) -> None:
        """Ends what was started; else it is told in the log."""
        if not self.is_collecting:
            log.error("The 'end' action cannot be called before the 'start' action.")
            return
        self.is_collecting = False
        self.order_checker.stop_collect_exec_order()


def comm_exec_order_check(action: str) -> None:
    """``CommExecOrderCheck()(action)``; ``TypeError`` for no text."""
    if not isinstance(action, str):
        raise SettingTypeError(f"action: a text is needed, got {type(action).__name__}")
    CommExecOrderCheck()(action)

"""Asynchronous dump trees of graphs that are sunk as a whole (O2): ``{step}/{time}/{device}/{model}/{id}/{iteration}``.

They hold no graphs. Raw files hold their operator's name. For our ``.npy`` files a list beside the steps holds it;
otherwise operators keep the names of their files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness.capture.capture import Capture, Problem, in_turn
from harness.capture.directory_kinds import kinds_of
from harness.capture.join import Join
from harness.capture.names import is_label
from harness.capture.networks import chosen
from harness.capture.tree_records import RankDirectory, RankRecords
from harness.dump.asynchronous.layout import ENGINE, MARK, operators_name
from harness.dump.names import ambiguous, mangle
from harness.errors import TreeError
from harness.reading import is_directory, no_directory, read_object

MAX_TEXT = 1 << 26
_TIME = re.compile(r"\d{14}")
_ACL_DUMP = re.compile(r"acl_dump_\d{1,9}\.json")
_BACKEND = "ascend-o2"


class ModelDirectory(NamedTuple):
    """The directory of one run of one model.

    Attributes:
        step: the step's label; the iteration in releases without that directory.
        device: id of the device.
        model: its name.
        number: its id.
        path: of the directory.
    """

    step: int
    device: int
    model: str
    number: int
    path: str


def _children(path: str, other: Callable[[os.DirEntry[str]], None] = lambda _: None) -> list[str]:
    """Names of the directories in ``path``; links are not followed. ``other`` is told of everything else."""
    found = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found.append(entry.name)
                else:
                    other(entry)
    except OSError as error:
        raise TreeError(f"{path}: {error.strerror}") from None
    return sorted(found)


def _numbered(path: str) -> list[str]:
    return [name for name in _children(path) if is_label(name)]


def _timed(path: str) -> list[str]:
    return [name for name in _children(path) if _TIME.fullmatch(name)]


def model_directories(path: str, problems: list[Problem]) -> list[ModelDirectory]:
    """Every run of every model below ``path``; empty if it is no such tree. What is named like one of its directories
    and is none is a problem."""

    def none(entry: os.DirEntry[str]) -> None:
        if is_label(entry.name):
            problems.append(Problem(os.path.relpath(entry.path, path), "damaged", no_directory(entry)))

    def numbered(folder: str) -> list[str]:
        return [name for name in _children(folder, none) if is_label(name)]

    tops = [(None, os.path.join(path, time)) for time in _timed(path)]
    tops += [
        (int(step), os.path.join(path, step, time))  # type: ignore[misc]
        for step in _numbered(path)
        for time in _timed(os.path.join(path, step))
    ]
    found = []
    for step, top in tops:
        for device in numbered(top):
            for model in _children(os.path.join(top, device)):
                for number in numbered(os.path.join(top, device, model)):
                    parent = os.path.join(top, device, model, number)
                    for iteration in numbered(parent):
                        label = int(iteration) if step is None else step
                        directory = os.path.join(parent, iteration)
                        found.append(ModelDirectory(label, int(device), model, int(number), directory))
    return found


class _ModelRecords(RankRecords):
    """See ``RankRecords``."""

    def __init__(self, rank: int, root: str, runs: list[ModelDirectory], problems: list[Problem], ahead: bool) -> None:
        super().__init__(RankDirectory(rank, root, "", False, ahead), Join([], root), problems)
        self._runs = runs
        self._names = _full_names(root, operators_name(rank), problems)

    def _full_name(self, name: str) -> str:
        return self._names.get(name, name)

    def _directories(self) -> Iterator[tuple[int, int, str]]:
        return ((run.number, run.step, run.path) for run in self._runs)


def _full_names(root: str, file: str, problems: list[Problem]) -> dict[str, str]:
    """Mangled name -> full name, from a list of operators; without operators whose mangled names are equal."""
    operators = _object(root, file, problems).get("operators")
    names = [name for name in operators if isinstance(name, str)] if isinstance(operators, list) else []
    unclear = {mangle(name) for name in ambiguous(names)}
    return {mangle(name): name for name in names if mangle(name) not in unclear}


def _object(root: str, file: str, problems: list[Problem]) -> dict[str, Any]:
    """The JSON object in a file; empty if there is none, with a problem if there is something else."""
    path = os.path.join(root, file)
    try:
        return read_object(path, MAX_TEXT, TreeError, inside=root) if os.path.lexists(path) else {}
    except TreeError as error:
        problems.append(Problem(file, "damaged", str(error)))
        return {}


def _acl_dumps(path: str, problems: list[Problem]) -> list[dict[str, object]]:
    """The content of the files beside the steps."""
    found = []
    for name in sorted(os.listdir(path)):
        if _ACL_DUMP.fullmatch(name) and (content := _object(path, name, problems)):
            found.append(content)
    return found


def _devices(runs: list[ModelDirectory], wanted: int | None, path: str) -> list[int]:
    """The devices to read."""
    devices = sorted({run.device for run in runs})
    if wanted is None:
        return devices
    if wanted not in devices:
        raise TreeError(f"{path}: no device {wanted} in it; it holds {', '.join(map(str, devices)) or 'no tensors'}")
    return [wanted]


def _alone(path: str) -> list[ModelDirectory]:
    """A single iteration that was taken out of its tree; its name may say which."""
    name = os.path.basename(path)
    return [ModelDirectory(int(name) if is_label(name) else 0, 0, "", 0, path)] if kinds_of(path).alone else []


def read_models(
    path: str,
    rank: int | None = None,
    *,
    network: str | None = None,
    backend: str | None = None,
    ahead: bool = False,
    one_of_several: bool = False,
) -> Capture | None:
    """Reads such a tree, or a directory of dump files alone; None if ``path`` is neither.

    Args:
        path: the dump path.
        rank: id of a device; every device by default.
        network: name of a model, if the tree holds several.
        backend: name of the backend; by default ``ascend-o2`` for a tree the harness wrote, else ``mindspore``.
        ahead, one_of_several: see ``read_tree``.

    Raises:
        TreeError: the tree lacks the device or model, or holds several models and none is named.
    """
    problems: list[Problem] = []
    root, runs, notes = _found(path, problems)
    if not runs and not notes:
        return None
    devices = _devices(runs, rank, path)
    models = sorted({run.model for run in runs})
    model = (network or "".join(models[:1])) if one_of_several else chosen(models, network, path)
    wanted = [run for run in runs if network in (None, run.model)]
    sources = [
        _ModelRecords(device, root, [run for run in wanted if run.device == device], problems, ahead)
        for device in devices
    ]
    engine = next((note[ENGINE] for note in notes if isinstance(note.get(ENGINE), str)), "")
    emulated = any(note.get(MARK) for note in notes)
    return Capture(
        model,
        backend or str(engine).partition(" ")[0] or (_BACKEND if emulated else "mindspore"),
        emulated,
        in_turn(sources, problems),
        next((mode for run in runs if (mode := kinds_of(run.path).mode)), "" if one_of_several else "tensor"),
        rules={name: value for note in notes for name, value in note.items() if name in (MARK, ENGINE)},
        problems=problems,
        listed=lambda: sum(source.listed for source in sources),
        sources=sources,
        networks=models,
    )


def devices_of(path: str) -> dict[int, list[str]]:
    """Of each device of such a tree, its directories; empty if it is none."""
    found: dict[int, list[str]] = {}
    if is_directory(path, TreeError):
        for run in _found(path, [])[1]:
            found.setdefault(run.device, []).append(run.path)
    return found


def _found(path: str, problems: list[Problem]) -> tuple[str, list[ModelDirectory], list[dict[str, object]]]:
    """Where such a tree begins, its runs, and what the files beside them say."""
    root = os.path.realpath(path)
    below = os.path.join(root, "debug_dump")
    if is_directory(below, TreeError) and not os.path.islink(below):
        root = below
    runs, notes = model_directories(root, problems), _acl_dumps(root, problems)
    return root, runs if runs or notes else _alone(root), notes

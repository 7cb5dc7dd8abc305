"""Files of trees that become links to outside, pipes or nothing, between the check of a name and the reading."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.capture import read_tree
from harness.capture.recorder import read_recorder
from harness.errors import HarnessError
from tests.fuzz.trees import trees

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not say where an open file lies"),
]
TREES = {name: tree.seeds for name, tree in trees().items() if name != "tree-real"}
TREES["recorder"] = tuple({name: files[name] for name in list(files)[-5:]} for files in TREES["recorder"])
OPEN = os.open


def to_a_link(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(outside / path.name)


def to_a_hidden_link(path: Path, outside: Path) -> None:
    """The file keeps its name; its directory becomes a link."""
    path.parent.rename(outside / "away")
    path.parent.symlink_to(outside)


def to_a_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_nothing(path: Path, outside: Path) -> None:
    path.unlink()


def read(folder: Path) -> list[str]:
    """Reads everything; what is told."""
    try:
        if (folder / "rdr").is_dir():
            list(read_recorder(folder / "rdr").values())
            return []
        capture = read_tree(folder / "tree", ahead=True)
        for record in list(capture.records()):
            record.load()  # some are read only now
        return [problem.why for problem in capture.problems]
    except HarnessError as error:
        return [str(error)]


def put(folder: Path, outside: Path, files: Mapping[str, bytes], victim: str) -> None:
    """A tree, and elsewhere what can take the place of ``victim``, or of its directory: other values, as readable."""
    for each in (folder, outside):
        shutil.rmtree(each, ignore_errors=True)
    outside.mkdir()
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        if os.path.dirname(path) == os.path.dirname(victim):
            (outside / os.path.basename(path)).write_bytes(
                data[:-1] + bytes((data[-1] ^ 1,)) if path == victim else data
            )


@pytest.mark.long
@pytest.mark.sampled(12)
@pytest.mark.parametrize("exchange", [to_a_link, to_a_hidden_link, to_a_pipe, to_nothing])
@pytest.mark.parametrize("name", TREES)
def test_a_file_exchanged_while_it_is_opened(
    name: str, exchange: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    opened, exchanged = [0], 0

    def opening(file: object, *more: Any, **named: Any) -> int:
        if os.fspath(file) == str(folder / victim):  # type: ignore[call-overload]
            opened[0] += 1
            if opened[0] == nth:
                exchange(folder / victim, outside)
        return OPEN(file, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", opening)
    for files, nth in product(TREES[name], (1, 2) if exchange is to_a_link else (1,)):
        for victim in files:
            put(folder, outside, files, victim)
            opened[0] = 0
            told = read(folder)
            assert told or opened[0] < nth, f"{victim}: opening {nth}: nothing is told"
            exchanged += opened[0] >= nth
    assert exchanged


@pytest.mark.parametrize("exchange", [to_a_link, to_a_pipe])
@pytest.mark.parametrize("name", [name for name in TREES if name != "recorder"])
def test_what_is_no_directory_is_told(name: str, exchange: Callable[[Path, Path], None], tmp_path: Path) -> None:
    """In place of any directory that a number or the tool names; links may lead nowhere."""
    folder, outside = tmp_path / "in", tmp_path / "outside"
    for files in TREES[name]:
        paths = {parent for file in files for parent in Path(file).parents if re.search(r"\d", parent.name)}
        for victim in sorted(paths):
            put(folder, outside, files, "")
            shutil.rmtree(folder / victim)
            (folder / victim).touch()
            exchange(folder / victim, outside)
            assert read(folder), f"{victim}: nothing is told"

"""The synchronous dump of MindSpore 1.0 to 1.2: ``NET/device_N/iteration_N/*.bin``, raw elements whose shape, dtype
and format are in the file's name.

Source: public documents and files of those releases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.capture import Capture, Problem, in_turn
from harness.capture.msprobe_steps import ALL_GRAPHS
from harness.capture.names import LARGEST
from harness.capture.networks import chosen
from harness.dtypes import DType
from harness.errors import DtypeError, TreeError
from harness.reading import is_directory, open_inside, read_bytes, refuse_outside
from harness.records import Array, Record, SlotKey

_NAME = re.compile(r"(.+)_(input|output)_(\d{1,9})_shape((?:_\d{1,18}){0,32})_([A-Z][A-Za-z0-9]*)_(\w+)\.bin", re.ASCII)
_DEVICE = re.compile(r"(?:device|rank)_(\d{1,9})")
_ITERATION = re.compile(r"iteration_(\d{1,9})")
_ORDER = re.compile(r"ms_execution_order_graph_(\d{1,9})\.csv")
_NUMBERED = re.compile(r"-op\d+$")
_HEADING = "NodeExecutionOrder"
_LONGEST_ORDER = 1 << 26


class BinName(NamedTuple):
    """What a file's name says: the operator (with ``--`` for ``/``), the slot, and the tensor."""

    operator: str
    io: str
    slot: int
    shape: tuple[int, ...]
    dtype: DType
    format: str


class Directory(NamedTuple):
    """The directory of one iteration of one device of one network."""

    network: str
    device: int
    iteration: int
    path: str


def parse(name: str) -> BinName | None:
    """Parses a file's name; None if it is no such name."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[3]) > LARGEST:
        return None
    try:
        dtype = dtypes.by_name(match[5])
    except DtypeError:
        return None
    shape = tuple(int(size) for size in match[4].split("_")[1:])
    return BinName(match[1], match[2], int(match[3]), shape, dtype, match[6])


def directories(path: str) -> list[Directory]:
    """The iterations below ``path``: a dump path, a network's directory, a device's, or an iteration's own."""
    root = os.path.realpath(path)
    own = os.path.basename(root)
    found = []
    for network, device, place in _devices(root, own):
        for name in _names(place):
            if match := _ITERATION.fullmatch(name):
                found.append(Directory(network, device, int(match[1]), os.path.join(place, name)))
    if match := _ITERATION.fullmatch(own):
        above = _DEVICE.fullmatch(os.path.basename(os.path.dirname(root)))
        found.append(Directory("", int(above[1]) if above else 0, int(match[1]), root))
    held = [each for each in found if any(parse(name) for name in _names(each.path, folders=False))]
    return sorted(held, key=lambda each: (each.network, each.device, each.iteration))


def _devices(root: str, own: str) -> Iterator[tuple[str, int, str]]:
    if match := _DEVICE.fullmatch(own):
        yield os.path.basename(os.path.dirname(root)), int(match[1]), root
        return
    for name in _names(root):
        place = os.path.join(root, name)
        if match := _DEVICE.fullmatch(name):
            yield own, int(match[1]), place
            continue
        for inner in _names(place):
            if match := _DEVICE.fullmatch(inner):
                yield name, int(match[1]), os.path.join(place, inner)


def _names(path: str, folders: bool = True) -> list[str]:
    """Names of the directories, or else of the regular files, in a directory; links are not followed."""
    try:
        with os.scandir(path) as entries:
            return sorted(
                e.name for e in entries
                if (e.is_dir(follow_symlinks=False) if folders else e.is_file(follow_symlinks=False))
            )  # fmt: skip
    except OSError:
        return []


class _Records:
    """The records of one device, iteration by iteration."""

    last: Mapping[int, int] = {}
    closed: Mapping[tuple[int, int], bool] = {}

    def __init__(self, rank: int, found: Sequence[Directory], root: str, problems: list[Problem]) -> None:
        self.rank = rank
        self._found = found
        self._root = root
        self._problems = problems

    def parts(self) -> list[tuple[int, int, str]]:
        """``ALL_GRAPHS``, iteration and path of each directory."""
        return [(ALL_GRAPHS, each.iteration, each.path) for each in self._found]

    def __iter__(self) -> Iterator[Record]:
        for each in self._found:
            yield from self._iteration(each)

    def _iteration(self, where: Directory) -> Iterator[Record]:
        order = _order(os.path.dirname(where.path), self._root)
        files = []
        for name in _names(where.path, folders=False):
            parsed = parse(name)
            if parsed is not None:
                files.append((order.get(parsed.operator, (len(order), ""))[0], parsed, name))
            elif name.endswith(".bin"):
                self._problem(
                    os.path.join(where.path, name), "name", "not the name of a dump file of MindSpore 1.0 to 1.2"
                )
        files.sort(key=lambda file: (file[0], file[1].operator, file[1].io, file[1].slot))
        for _, parsed, name in files:
            path = os.path.join(where.path, name)
            refuse_outside(path, self._root, TreeError)
            try:
                wanted, size = prod(parsed.shape) * parsed.dtype.itemsize, os.path.getsize(path)
            except OSError as error:
                self._problem(path, "damaged", str(error))
                continue
            if size != wanted:
                kind = "incomplete" if size < wanted else "damaged"
                self._problem(path, kind, f"{size} bytes, where shape and dtype of its name make {wanted}")
                continue
            operator = order.get(parsed.operator, (0, parsed.operator.replace("--", "/")))[1]
            key = SlotKey(self.rank, 0, where.iteration, operator, 0, parsed.io, parsed.slot)
            op_type = _NUMBERED.sub("", operator.rpartition("/")[2])
            values = _Values(path, self._root, parsed)
            yield Record(key, op_type, parsed.dtype.name, parsed.shape, parsed.format, values)

    def _problem(self, path: str, kind: str, why: str) -> None:
        self._problems.append(Problem(os.path.relpath(path, self._root), kind, why))


@dataclass(frozen=True, slots=True)
class _Values:
    """Loads one file."""

    path: str
    inside: str
    name: BinName

    def __call__(self) -> Array:
        descriptor, _ = open_inside(self.path, self.inside, TreeError)
        with open(descriptor, "rb") as file:
            flat = np.fromfile(file, self.name.dtype.numpy)
        if flat.size != prod(self.name.shape):
            raise TreeError(f"{self.path}: the file is cut")
        return flat.reshape(self.name.shape)


def _order(device: str, root: str) -> dict[str, tuple[int, str]]:
    """Place and full name of each operator, by its name in files, as the execution orders list them."""
    folder = os.path.join(device, "execution_order")
    found: dict[str, tuple[int, str]] = {}
    for name in _names(folder, folders=False):
        if _ORDER.fullmatch(name):
            text = read_bytes(os.path.join(folder, name), _LONGEST_ORDER, TreeError, inside=root)
            for line in text.decode("utf-8", "replace").splitlines():
                operator = line.split(",")[0].strip()
                if operator and not operator.startswith(_HEADING):
                    found.setdefault(operator.replace("/", "--"), (len(found), operator))
    return found


def read_bin_files(
    path: str, rank: int | None = None, *, network: str | None = None, backend: str | None = None,
    one_of_several: bool = False,
) -> Capture | None:  # fmt: skip
    """Reads such a dump; None if ``path`` is not one. Arguments: see ``read_tree``.

    Raises:
        TreeError: the dump lacks the device or network, or a link leaves it.
    """
    found = directories(path) if is_directory(path, TreeError) else []
    if not found:
        return None
    names = sorted({each.network for each in found})
    name = (network or "".join(names[:1])) if one_of_several else chosen(names, network, path)
    devices = sorted({each.device for each in found})
    if rank is not None and rank not in devices:
        raise TreeError(f"{path}: no device {rank} in it; it holds {', '.join(map(str, devices))}")
    problems: list[Problem] = []
    root = os.path.realpath(path)
    sources = [
        _Records(device, [e for e in found if (e.network, e.device) == (name, device)], root, problems)
        for device in (devices if rank is None else [rank])
    ]
    return Capture(
        name, backend or "mindspore", False, in_turn(sources, problems), "tensor",
        problems=problems, sources=sources, networks=names,
    )  # fmt: skip

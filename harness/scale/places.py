"""The place of a tree: a directory, a template of directories, or a URL."""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from harness.capture.msprobe_steps import ALL_GRAPHS, ranks_of
from harness.capture.names import is_label
from harness.errors import HarnessError, ScaleError, TreeError, first_line
from harness.suggest import install

HOST_VARIABLE = "MSDUMP_HOST"
_HOST = "{host}"
_LOCAL, _WEB = "file://", ("http://", "https://")
_RANK, _STEP, _PROBED = (
    re.compile(r"(?:rank|device)_(\d{1,9})"),
    re.compile(r"step(\d{1,9})"),
    re.compile(r"(rank|proc)(\d{0,9})"),
)
_TIME = re.compile(r"\d{14}")
#: What file systems tell that changes with a file, the best first.
_STAMPS = ("ETag", "md5Hash", "etag", "LastModified", "mtime", "modified", "created")


def host() -> str:
    """The value of ``{host}`` on this machine: ``MSDUMP_HOST``, else the machine's name."""
    return os.environ.get(HOST_VARIABLE) or socket.gethostname()


def absolute(place: str) -> str:
    """A place in a form that works from any directory; templates and URLs stay unchanged."""
    if place.startswith(_LOCAL):
        place = place.removeprefix(_LOCAL)
    return place if is_url(place) else os.path.abspath(place)


def is_url(place: str) -> bool:
    """Whether fsspec opens it."""
    return "://" in place


def here(place: str) -> str:
    """The directory or URL that a place is on this host."""
    return place.replace(_HOST, host())


@contextmanager
def opened(place: str, part: tuple[int, int, int] | None, rank: int | None = None) -> Iterator[str]:
    """A directory with a rank of a tree.

    Args:
        place: as ``here`` gives it.
        part: rank, graph and iteration; None for the rank's head alone. Of a tree on an object store only its files and
            the head's are brought here, for as long as the context lasts.
        rank: of the head.
    """
    if not is_url(place):
        yield place
        return
    files, root = filesystem(place)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="msdump-scale-"))
    try:
        for path, name, wanted in _wanted(place, part, part[0] if part is not None else rank):
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if wanted:
                _bring(files, f"{root}/{path}", target, place)
        yield folder
    except HarnessError as error:
        raise type(error)(str(error).replace(folder, place)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bring(files: Any, path: str, target: str, place: str) -> None:
    try:
        files.get_file(path, target)
    except Exception as error:  # whatever a file system's client raises
        raise TreeError(f"{place}: {path} cannot be read: {first_line(error)}") from None


def filesystem(place: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises:
        ScaleError: fsspec is missing, or does not know the protocol.
        TreeError: the place cannot be reached.
    """
    try:
        import fsspec
    except ImportError:
        raise ScaleError(f"{place}: a tree at a URL needs fsspec: {install('pytest-msdump[scale]')}") from None
    try:
        files, root = fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        raise ScaleError(f"{place}: {error}") from None
    except OSError as error:
        raise TreeError(f"{place}: {error}") from None
    return files, str(root).rstrip("/")


class RemoteFile(NamedTuple):
    """A file at a URL.

    Attributes:
        path: below the tree's root.
        size: in bytes; ``stamp``: a text that changes with it.
        rank: whose it is; None for all ranks'.
        place: graph and iteration that it is part of; None for what a rank's head needs.
    """

    path: str
    size: int
    stamp: str
    rank: int | None
    place: tuple[int, int] | None


def listed(place: str) -> list[RemoteFile]:
    """Every file of a tree at a URL, by path.

    Raises:
        TreeError: it cannot be listed.
    """
    files, root = filesystem(place)
    try:
        found = files.find(root, detail=True)
        if not found and place.startswith(_WEB):
            files.ls(root)  # which says why a server shows nothing
    except Exception as error:  # whatever a file system's client raises
        raise TreeError(f"{place}: it cannot be listed: {first_line(error)}") from None
    told = []
    for path, facts in sorted(found.items()):
        name = path[len(root) :].lstrip("/")
        if ".." in name.split("/"):
            raise TreeError(f"{place}: {name!r} leaves the tree")
        known = next((facts[key] for key in _STAMPS if facts.get(key)), "")
        told.append(RemoteFile(name, int(facts.get("size") or 0), str(known), *located(name)))
    return _ranked(told)


def _ranked(files: list[RemoteFile]) -> list[RemoteFile]:
    """Files of msprobe's dumps with the rank that all directories together tell: the number of a process is none."""
    of = {file: place for file in files if (place := _probed(file)) is not None}
    ranks = ranks_of(list(dict.fromkeys(of.values())), [], "")
    return [file._replace(rank=ranks[of[file]]) if file in of else file for file in files]


def _probed(file: RemoteFile) -> tuple[int, str] | None:
    """The step and the directory of a file of msprobe's; None of others."""
    graph, step = file.place or (None, 0)
    return (step, file.path.split("/")[1]) if graph == ALL_GRAPHS else None


def _local(file: RemoteFile) -> str:
    """Where a file is brought: the directory of a process has the name of its rank, which its neighbours tell."""
    words = file.path.split("/")
    if _probed(file) and words[1].startswith("proc"):
        words[1] = f"rank{file.rank}"
    return "/".join(words)


def located(path: str) -> tuple[int | None, tuple[int, int] | None]:
    """Rank, and graph and iteration, of a file by its path below a tree's root; None where it is of all. Of a process's
    directory the rank is 0: all directories together tell it, see ``listed``.

    Layouts: ``rank_N/NETWORK/GRAPH/ITERATION/...``; ``stepN/rankN/...``; ``[STEP/]TIME/DEVICE/MODEL/ID/ITERATION/...``.
    """
    words = path.split("/")[:-1]
    words = words[words[:1] == ["debug_dump"] :]
    if words and (rank := _RANK.fullmatch(words[0])):
        inside = len(words) > 3 and is_label(words[2]) and is_label(words[3])
        return int(rank[1]), (int(words[2]), int(words[3])) if inside else None
    if len(words) > 1 and (step := _STEP.fullmatch(words[0])) and (rank := _PROBED.fullmatch(words[1])):
        return 0 if rank[1] == "proc" else int(rank[2] or 0), (ALL_GRAPHS, int(step[1]))
    stepped = bool(words) and is_label(words[0]) and not _TIME.fullmatch(words[0])
    rest = words[stepped:]
    if len(rest) > 4 and _TIME.fullmatch(rest[0]) and all(is_label(rest[at]) for at in (1, 3, 4)):
        return int(rest[1]), (int(rest[3]), int(words[0] if stepped else rest[4]))
    return None, None


def _wanted(place: str, part: tuple[int, int, int] | None, rank: int | None) -> Iterator[tuple[str, str, bool]]:
    """Paths of a rank's files, there and here, and whether each is to be brought; of the others the directories are
    made."""
    found = [each for each in listed(place) if each.rank in (None, rank)]
    places = sorted({each.place for each in found if each.place is not None})
    for each in found:
        head = each.place is None
        if part is not None:
            wanted = head or each.place == part[1:3]
        else:
            told = each.place is not None and each.place[0] == ALL_GRAPHS and each.path.endswith(".json")
            wanted = head or each.place == places[0] or told
        yield each.path, _local(each), wanted

"""The place of a tree: a directory, a template of directories, or a URL."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import ScaleError, TreeError

HOST_VARIABLE = "MSDUMP_HOST"
_HOST = "{host}"
_LOCAL = "file://"


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


def is_template(place: str) -> bool:
    """Whether hosts have directories of their own."""
    return _HOST in place


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
    folder = tempfile.mkdtemp(prefix="msdump-scale-")
    try:
        for path, size, local in _wanted(files, root, part, rank):
            target = os.path.join(folder, local)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if size is not None:
                files.get_file(path, target)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def filesystem(place: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises:
        ScaleError: fsspec is missing, or does not know the protocol.
        TreeError: the place cannot be reached.
    """
    try:
        import fsspec
    except ImportError:
        raise ScaleError(f"{place}: a tree at a URL needs fsspec: pip install 'pytest-msdump[scale]'") from None
    try:
        files, root = fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        raise ScaleError(f"{place}: {error}") from None
    except OSError as error:
        raise TreeError(f"{place}: {error}") from None
    return files, str(root).rstrip("/")


def listed(place: str) -> dict[int, dict[str, int]]:
    """Of each ``rank_N`` at a URL, its files by path below it, and their sizes."""
    files, root = filesystem(place)
    found: dict[int, dict[str, int]] = {}
    for path, facts in sorted(files.find(root, detail=True).items()):
        name, _, rest = path[len(root) :].lstrip("/").partition("/")
        if name.startswith("rank_") and name[5:].isdecimal() and rest:
            found.setdefault(int(name[5:]), {})[rest] = int(facts["size"] or 0)
    return found


def place_of(path: str) -> tuple[int, int] | None:
    """Graph and iteration of a tensor file by its path below the rank's directory; None for any other file."""
    words = path.split("/")
    if len(words) < 4 or not (words[1].isdecimal() and words[2].isdecimal()):
        return None
    return int(words[1]), int(words[2])


def _wanted(
    files: Any, root: str, part: tuple[int, int, int] | None, rank: int | None
) -> Iterator[tuple[str, int | None, str]]:
    """Remote path, size and local path of what is brought here; size None for a directory that is only made."""
    number = part[0] if part is not None else rank
    below = listed(f"{files.unstrip_protocol(root)}").get(number if number is not None else -1, {})
    places = sorted({found for path in below if (found := place_of(path))})
    chosen = part[1:] if part is not None else places[0] if places else None
    for path, size in below.items():
        where = place_of(path)
        local = f"rank_{number}/{path}"
        yield f"{root}/{local}", size if where in (None, chosen) else None, local

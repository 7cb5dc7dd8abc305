"""Files from elsewhere are opened here: regular files only, of a bounded size, inside of where they should be.

And what goes wrong while one is read becomes one error that names it, whatever the parser raised (``parsing``).
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import HarnessError, first_line

#: Makes the error of a caller's own kind from its text.
Refuse = Callable[[str], HarnessError]
Path = str | os.PathLike[str]

_SMALL = 1 << 16
_KINDS = (
    (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip


def kind_of(mode: int) -> str:
    """What a file is that is no regular one, in words; empty for one that is."""
    if stat.S_ISREG(mode):
        return ""
    return next((name for test, name in _KINDS if test(mode)), "no regular file")


def open_regular(path: Path, *, follow: bool = True) -> int:
    """A descriptor to read a regular file from.

    Args:
        follow: take what a symbolic link leads to.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device, a socket or a directory (``EINVAL``, with the kind).
    """
    # Without O_NONBLOCK a pipe nobody writes to would hold us for ever.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error), os.fspath(path)) from None
    if kind := kind_of(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{kind}, where a regular file is needed", os.fspath(path))
    return descriptor


def read_bytes(path: Path, limit: int, refuse: Refuse, *, inside: str | None = None) -> bytes:
    """The bytes of a regular file.

    Args:
        path: of the file.
        limit: the most bytes it may have.
        refuse: makes the error.
        inside: real path of a directory that no link may leave; anything goes by default.

    Raises:
        HarnessError: what ``refuse`` makes: the file is missing, no regular file, too large, or a link out of
            ``inside``.
    """
    where = os.fspath(path)
    try:
        if inside is not None:
            refuse_outside(where, inside, refuse)
        with open(open_regular(where), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            # One byte more shows a file that grows; some of /proc say that they have none.
            data = file.read(min(limit, max(size, _SMALL)) + 1) if size <= limit else None
    except OSError as error:
        raise refuse(f"{where}: {error.strerror or first_line(error)}") from None
    if data is None or len(data) > limit:
        raise refuse(f"{where}: more than {limit} bytes; larger files are not read")
    return data


def refuse_outside(path: str, root: str, refuse: Refuse) -> None:
    """Raises what ``refuse`` makes if ``path`` is (or goes through) a link that leaves the real path ``root``."""
    real = os.path.realpath(path)
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise refuse(f"{path}: a link to {real}, outside of the tree {root}; it is not followed")


def read_json(path: Path, limit: int, refuse: Refuse, *, inside: str | None = None) -> Any:
    """What a JSON file holds; errors as ``read_bytes``, and for text that is not JSON."""
    return parse_json(read_bytes(path, limit, refuse, inside=inside), os.fspath(path), refuse)


def parse_json(data: bytes | str, where: str, refuse: Refuse) -> Any:
    """What a JSON text holds; what ``refuse`` makes for anything else (numbers of too many digits included)."""
    try:
        return json.loads(data)
    except RecursionError:
        raise refuse(f"{where}: no JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise refuse(f"{where}: no JSON: {first_line(error)}") from None


@contextmanager
def parsing(where: object, refuse: Refuse) -> Iterator[None]:
    """Turns whatever a parser raises within it into the error that ``refuse`` makes; deliberate errors stay.

    Only the reading of a file from elsewhere belongs inside: there every exception is damage to the file.
    """
    try:
        yield
    except HarnessError:
        raise
    except OSError as error:
        raise refuse(f"{where}: {error.strerror or first_line(error)}") from None
    except RecursionError:
        raise refuse(f"{where}: damaged: it is nested too deep") from None
    except MemoryError:
        raise refuse(f"{where}: it asks for more memory than there is") from None
    except Exception as error:
        raise refuse(f"{where}: damaged: {first_line(error)} ({type(error).__name__})") from None

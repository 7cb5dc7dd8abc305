"""Mutations of whole files: of their bytes, JSON values, lines, names and types."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

Mutate = Callable[[bytes, random.Random], bytes]

#: What a file outside says, which no reader may bring back.
SECRET = b"outside-4711"
_ODD = (
    b"\xff" * 8, b"\0" * 4, b"9" * 30, b"1e999", b"-1", b"\x1b[", b"../", b"[" * 2000, b"\xed\xa0\x80",
    b"\x7f\xff\xff\xff", b"\xe2\x80\xae", b"nan", b"\n", b"\r", b",", b'"', b"9" * 5000,
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, [], {}, "", -1, 0, 2**31, 2**32, 2**63, 2**64, -(2**63) - 1, 1e308, float("inf"), float("nan"),
    [None], {"": None}, "\x1b]0;x\x07", "\u202e", "\ud800", "../x", "/etc/passwd", "x" * 300, "=1+1", 10**400, [[[[]]]],
    "\0", ".", "NUL", 0.5, "1e999",
)  # fmt: skip
_NAMES = (
    "..\u202e", "CON", "nul.npy", " ", "-rf", "a\nb", "\x1b[2J", "x" * 255, "mapping.csv", "statistic.csv", "=1+1",
    "\udcff\udcfe", "\u0130", "\u00df", "e\u0301", "\u00e9", "\U0001f600", "\u0660", "\ue000", "\ufdd0", "0", "rank_0",
    ".hidden", "~", "%s", "{}", "*", "dump.json", "dump_tensor_data", "99999999999999999999",
)  # fmt: skip


def changed_bytes(whole: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, cut out, repeated, or odd ones put in."""
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at, size = rng.randrange(len(data) + 1), rng.choice((1, 2, 8, 64))
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at : at + size] = rng.randbytes(size)
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = rng.choice(_ODD)
        elif kind == 4 and not rng.randrange(8):
            del data[at:]
        else:
            data[at:at] = data[at : at + size] * rng.choice((1, 3))
    return bytes(data)


def changed_json(whole: bytes, rng: random.Random) -> bytes:
    """One value or name of a JSON text replaced, taken out, or doubled."""
    try:
        found = json.loads(whole)
    except ValueError:
        return changed_bytes(whole, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(found))
        if not places:
            found = deepcopy(rng.choice(_VALUES))
            continue
        holder, key = rng.choice(places)
        kind = rng.randrange(5)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(("", "\x1b", "../x", "x" * 300, "\ud800", "a b"))] = holder.pop(key)
        elif kind == 2:
            other, name = rng.choice(places)
            with suppress(KeyError, IndexError):
                holder[key] = json.loads(json.dumps(other[name]))
        else:
            holder[key] = deepcopy(rng.choice(_VALUES))
    return json.dumps(found).encode()


def _places(found: Any) -> Any:
    """Every holder and key of a JSON value."""
    for key in list(found) if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ():
        yield found, key
        yield from _places(found[key])


def changed_lines(whole: bytes, rng: random.Random) -> bytes:
    """A line or a field of a text taken out, doubled, moved, or replaced."""
    lines = whole.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, kind = rng.randrange(len(lines)), rng.randrange(5)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[at])
        elif kind == 2:
            lines[at], lines[-1] = lines[-1], lines[at]
        else:
            mark = rng.choice((b",", b"\t", b" ", b"=", b"("))
            parts = lines[at].split(mark)
            parts[rng.randrange(len(parts))] = rng.choice(_ODD)
            lines[at] = mark.join(parts)
    return b"\n".join(lines)


def mutators_of(name: str) -> dict[str, Mutate]:
    """What is done to a file of this name, by kind."""
    if name.endswith(".json"):
        return {"bytes": changed_bytes, "values": changed_json}
    if name.endswith((".csv", ".txt", ".ir", ".toml")):
        return {"bytes": changed_bytes, "lines": changed_lines}
    return {"bytes": changed_bytes}


def odd_name(folder: Path, rng: random.Random) -> None:
    """Gives a file or a directory below ``folder`` another name, or a twin of one."""
    found = sorted(folder.rglob("*"))
    path = rng.choice(found)
    kind = rng.randrange(4)
    name = rng.choice(_NAMES)
    if kind == 0:
        name = path.name.swapcase()
    elif kind == 1:
        at = rng.randrange(len(path.name) + 1)
        name = (
            path.name[:at] + rng.choice(("\x1b", "\u202e", ".", "-1", "\udcff", "9" * 30, " ", "\n")) + path.name[at:]
        )
    elif kind == 2:
        name = path.stem + name + path.suffix
    with suppress(OSError, ValueError):  # longer than the file system takes
        if path.is_file() and rng.randrange(2):
            shutil.copy(path, path.with_name(name))
        else:
            path.rename(path.with_name(name))


def odd_kind(folder: Path, rng: random.Random, outside: Path) -> None:
    """Puts a link, a pipe, a socket, a directory, a device or nothing where a file or a directory was."""
    path = rng.choice(sorted(folder.rglob("*")))
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    kind = rng.randrange(8)
    if kind == 0:
        path.symlink_to(outside / "secret")
    elif kind == 1:
        path.symlink_to(outside)
    elif kind == 2:
        path.symlink_to(path.name)
    elif kind == 3:
        os.mkfifo(path)
    elif kind == 4:
        path.mkdir()
    elif kind == 5:
        path.symlink_to("/dev/zero")
    elif kind == 6:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as end:  # a socket's path is 107 bytes at most
            end.bind(str(path))

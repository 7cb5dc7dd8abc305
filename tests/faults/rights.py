"""Takes from a process what lets a superuser write where nobody may: then it is a user without rights."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.steps import run

#: chown, dac_override, dac_read_search, fowner
_CAPABILITIES = (0, 1, 2, 3)
_DROP_FROM_BOUNDS, _VERSION = 24, 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def give_up() -> None:
    """Gives up a superuser's rights over files, for this process and what it starts; anybody else has none."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    for each in _CAPABILITIES:
        library.prctl(_DROP_FROM_BOUNDS, each, 0, 0, 0)
    header, sets = _Header(_VERSION, 0), (_Set * 2)()
    if library.capget(ctypes.byref(header), sets) == 0:
        lost = sum(1 << each for each in _CAPABILITIES)
        for name in ("effective", "permitted", "inheritable"):
            setattr(sets[0], name, getattr(sets[0], name) & ~lost)
        library.capset(ctypes.byref(header), sets)


def lock(folder: Path) -> None:
    """Makes everything below a directory, and itself, read-only."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def unlock(folder: Path) -> None:
    """Undoes ``lock``, so that the directory can be removed."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o200)


def skip_unless_held() -> None:
    """Skips the test where this system lets a process write all the same, with the reason."""

    def writes(folder: Path) -> None:
        give_up()
        (folder / "x").touch()

    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o500)
        held = run(lambda: writes(folder), under=folder).code != 0
        folder.chmod(0o700)
    if not held:
        pytest.skip("this process cannot give up its right to write everywhere")

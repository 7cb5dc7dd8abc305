"""Each call by which a command reads fails once: it ends in one line, or says that it could not compare."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.store import manifest
from tests.dump.build import dumped, one_op
from tests.faults.hostile import whole_golden
from tests.faults.hostile_place import main_quietly, wrong

pytestmark = pytest.mark.faults

_CALLS = ("open", "read", "pread", "preadv", "fstat", "stat", "lstat", "listdir", "scandir", "readlink")
ERRORS = (errno.EIO, errno.ENOMEM, errno.ESTALE, errno.EACCES, errno.EMFILE, errno.EINTR, errno.ENOENT)


class Reads:
    """Counts the calls of ``os`` that read something below a directory, and fails one of them."""

    def __init__(self, under: Path, monkeypatch: pytest.MonkeyPatch, calls: Sequence[str] = _CALLS) -> None:
        self._under, self._where = str(under), os.readlink
        self.count = self.at = self.number = 0
        for name in calls:
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            if given and self._is_below(given[0]):
                self.count += 1
                if self.count == self.at:
                    raise OSError(self.number, os.strerror(self.number))
            return real(*given, **more)

        return call

    def _is_below(self, what: Any) -> bool:
        try:
            place = self._where(f"/proc/self/fd/{what}") if isinstance(what, int) else os.fsdecode(what)
        except (OSError, TypeError, ValueError):
            return False
        return place.startswith(self._under)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("command", ["show", "check", "diff", "verify", "inspect", "accept"])
def test_each_read_that_fails_is_told(command: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "golden").mkdir(parents=True)
    for seed, name in enumerate(("golden/x.h5", "y.h5")):
        (home / name).write_bytes(whole_golden(seed))
    manifest.rebuild(home / "golden")
    dumped(home / "tree", one_op())
    one, other = f"{home}/golden/x.h5::cpu/tensor", f"{home}/y.h5::cpu/tensor"
    words = {
        "show": ["show", f"{home}/golden/x.h5", "--all", "--run", "cpu/tensor"], "diff": ["diff", one, other],
        "check": ["check", f"{home}/tree", f"{home}/golden/x.h5", "--run", "cpu/tensor"],
        "verify": ["verify", f"{home}/golden"], "inspect": ["inspect", one],
        "accept": ["accept", f"{home}/golden", "--golden", f"{home}/golden"],
    }[command]  # fmt: skip
    kept = (home / "golden" / "x.h5").read_bytes()
    sound = main_quietly(words)
    reads = Reads(home, monkeypatch)
    assert main_quietly(words) == sound
    calls, told = reads.count, 0
    assert calls > 5
    for at in range(1, calls + 1, step):
        for number in ERRORS if step == 1 else ERRORS[at % len(ERRORS) :][:1]:
            reads.count, reads.at, reads.number = 0, at, number
            code, out, err = main_quietly(words)
            assert wrong(code, out, err) == "", f"call {at}, {errno.errorcode[number]}: {err[-600:]}"
            told += code == 2
            named = any(words in out for words in (os.strerror(number), "cannot be used"))
            silent = code != 2 and (code, out, err) != sound and command != "verify" and number != errno.ENOENT
            assert named or not silent, f"call {at}, {errno.errorcode[number]}: {code} {out[-300:]}"
    assert told
    assert (home / "golden" / "x.h5").read_bytes() == kept

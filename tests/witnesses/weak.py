"""How a witness fails: by a comparison, or only because the changed code raises an error of Python's, which says little
about the fact."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import pytest

from tests.differential import forking
from tests.framework.compile.test_recorded_graphs import compiled
from tests.framework.ops.facts import emitted
from tests.framework.programs import DATA
from tests.subprocesses import ROOT
from tests.witnesses.recordings import CALL, PROGRAM, apart

#: what code raises that was changed, and not asked to refuse anything
ACCIDENTS = frozenset({
    "AttributeError", "IndexError", "KeyError", "NameError", "RecursionError", "TypeError", "UnboundLocalError",
    "ZeroDivisionError",
})  # fmt: skip


class _Kinds:
    """Notes the classes of errors by which tests fail."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        if call.excinfo is not None:
            self.kinds.append(call.excinfo.typename)


def accident(witness: str) -> str:
    """The class of the error by which a witness fails, if it is one of ``ACCIDENTS``; else empty."""
    found = _raised(witness)
    return found if found in ACCIDENTS else ""


def _raised(witness: str) -> str:
    if witness.startswith(PROGRAM):
        return str(apart(lambda: _ends_with(witness.removeprefix(PROGRAM))))
    if "::" in witness:
        notes = _Kinds()
        with contextlib.chdir(ROOT):
            pytest.main(["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", witness], plugins=[notes])
        return notes.kinds[0] if notes.kinds else ""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            emitted(witness.removeprefix(CALL)) if witness.startswith(CALL) else compiled(witness)
    except Exception as error:
        return type(error).__name__
    return ""


def _ends_with(program: str) -> str:
    """The class of the error that ends a recorded program in this process, a fork."""
    with tempfile.TemporaryDirectory() as scratch:
        forking.preload(str(ROOT))
        forking.carry_out({"script": str(DATA / f"{program}.txt"), "out": scratch, "limit": 60, "environment": {}})
        lines = (Path(scratch) / "stderr").read_text(encoding="utf-8").splitlines()
    return lines[-1].partition(":")[0].rpartition(".")[2] if lines else ""

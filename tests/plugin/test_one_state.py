"""A session's goldens take effect together: where one of them cannot be written, none is."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.errors import StoreWriteError
from harness.store import transaction
from harness.store.layout.schema import FOLDER

pytest_plugins = ["pytester"]
Files = Callable[..., dict[str, bytes]]
FULL = "No space left on device"

#: A conftest of a session whose disk is full when test_one's golden is written.
CONFTEST = f"""
from harness.errors import StoreWriteError
from harness import store
from harness.store import transaction

real = transaction.update

def update(path, *more, **named):
    if path.name == "test_one.h5":
        raise StoreWriteError(f"{{path.name}}: {FULL}")
    return real(path, *more, **named)

transaction.update = update
"""


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """No golden called test_one.h5 can be written."""
    real = transaction.update

    def update(path: Path, *more: Any, **named: Any) -> Any:
        if path.name == "test_one.h5":
            raise StoreWriteError(f"{path.name}: {FULL}")
        return real(path, *more, **named)

    monkeypatch.setattr(transaction, "update", update)


def test_one_golden_that_cannot_be_written_stops_all(
    made: pytest.Pytester, files: Files, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(made)
    request.getfixturevalue("full")
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump-regen")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines([f"a golden could not be written: test_one.h5: {FULL}; nothing was regenerated"])
    assert result.ret == 1
    assert files(made) == before
    assert not (made.path / "golden" / FOLDER).exists()


@pytest.mark.usefixtures("full")
def test_from_nothing_comes_nothing(nets: pytest.Pytester) -> None:
    assert nets.runpytest("--msdump-regen").ret == 1
    assert not (nets.path / "golden").exists()


def test_a_golden_that_cannot_be_put_in_place_stops_all(
    made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real, placed = files(made), os.replace, list[str]()

    def replace(source: Path, target: Path) -> None:
        if Path(target).suffix in (".h5", ".json") and FOLDER not in Path(target).parts:
            placed.append(str(target))
            if len(placed) == 2:
                raise OSError(errno.EROFS, "Read-only file system")
        real(source, target)

    monkeypatch.setenv("ADDED", "1.5")
    monkeypatch.setattr(os, "replace", replace)
    result = made.runpytest("--msdump-regen")
    assert len(placed) > 1
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*golden: the goldens could not be written (Read-only file system); *regenerated"])
    assert result.ret == 1
    assert files(made) == before


@pytest.mark.deep
@pytest.mark.parametrize("workers", ["0", "2", "4"])
def test_workers_too(made: pytest.Pytester, files: Files, workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    before = files(made)
    made.makeconftest(CONFTEST)
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest_subprocess("--msdump-regen", "-n", workers)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines([f"a golden could not be written: test_one.h5: {FULL}; nothing was regenerated"])
    assert result.ret == 1
    assert files(made) == before


@pytest.mark.deep
def test_workers_write_the_same_bytes(nets: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goldens and manifests of four workers are those of one process, and of a second regeneration."""
    pytest.importorskip("xdist")
    nets.runpytest_subprocess("--msdump-regen", "-n", "0").assert_outcomes(passed=4)
    serial = files(nets)
    assert any(name.endswith(".h5") for name in serial)
    shutil.rmtree(nets.path / "golden")
    nets.runpytest_subprocess("--msdump-regen", "-n", "4").assert_outcomes(passed=4)
    assert files(nets) == serial


def test_two_sessions_at_once(made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one regenerates, another one checks what is there; a second regeneration does not begin."""
    before = files(made)
    monkeypatch.setattr(store, "Transaction", partial(transaction.Transaction, timeout=0.05))
    with transaction.Transaction(made.path / "golden"):
        made.runpytest("--msdump").assert_outcomes(passed=4)
        monkeypatch.setenv("ADDED", "1.5")
        refused = made.runpytest("--msdump-regen")
    refused.assert_outcomes(failed=4)
    refused.stdout.fnmatch_lines(
        ["a golden could not be written (and 3 more): *another process*; nothing was regenerated"]
    )
    assert files(made) == before


@pytest.mark.parametrize("whole", [True, False])
def test_a_golden_replaced_during_a_check(made: pytest.Pytester, whole: bool) -> None:
    """A change that takes effect between a test and the session's end is told; a manifest that does not fit fails."""
    made.makeconftest(
        f"""
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_runtestloop(session):
            done = yield
            from harness.store import RunId, Transaction, update
            from tests.store.helpers import run_data
            golden = session.config.rootpath / "golden"
            name, runs = "test_nets/test_one.h5", {{RunId("cpu", "tensor"): run_data(3)}}
            if {whole}:
                with Transaction(golden) as change:
                    change.update(name, "test_nets.py::test_one", runs)
                    change.commit()
            else:
                (golden / "test_nets" / "test_one.manifest.json").write_text("{{}}")
            return done
        """
    )
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4)
    assert result.ret == (0 if whole else 1)
    told = "test_nets/test_one.h5: run cpu/tensor was replaced by another session while this one checked it"
    assert (told in result.outlines) == whole

"""Keeping recorders and exporting them: modes, replacement, threads, and what is wrong with a directory."""

from __future__ import annotations

import itertools
import logging
import os
import threading
from collections import Counter as Counts
from pathlib import Path

import pytest

from harness.errors import UnknownNameError
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.listing import artefacts
from harness.rdr.recorders import RECORDERS, Export, Recorder
from harness.rdr.recorders.graph import GraphTexts

THREADS = 64


def box(path: object, mode: int = 2, enable: bool = True) -> Recorders:
    stamps = (f"{n:014d}" for n in itertools.count())
    return Recorders(RdrConfig(enable, mode, f"{path}/"), clock=lambda: next(stamps))


def names(path: Path) -> list[str]:
    return [found.path.name for found in artefacts(path)]


@pytest.fixture(autouse=True)
def _levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="harness")


def test_off_keeps_nothing(tmp_path: Path) -> None:
    recorders = box(tmp_path, enable=False)
    assert not recorders.record("text", "OPTIMIZER", "a", "x")
    recorders.trigger()
    recorders.snapshot()
    recorders.trigger_new()
    assert len(recorders) == 0
    assert not list(tmp_path.iterdir())


def test_trigger_writes_in_both_modes_and_keeps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for mode in (1, 2):
        recorders = box(tmp_path / str(mode), mode)
        assert recorders.record("text", "OPTIMIZER", "a", "x")
        recorders.trigger()
        assert names(tmp_path / str(mode)) == ["OPTIMIZER.a.00000000000000.txt"]
        assert len(recorders) == 1
    assert caplog.text.count("in abnormal end scenario") == 1  # said in mode 1 only


def test_snapshot_is_mode_2s_and_exports_nothing_twice(tmp_path: Path) -> None:
    for mode in (1, 2):
        recorders = box(tmp_path / str(mode), mode)
        recorders.record("text", "OPTIMIZER", "a", "x")
        recorders.snapshot()
        assert len(recorders) == (mode == 1)
        recorders.snapshot()
    assert not (tmp_path / "1").exists()
    (found,) = artefacts(tmp_path / "2")
    assert found.read() == b"x"


def test_nothing_to_export_is_one_warning_and_no_directory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    box(tmp_path / "d").snapshot()
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert warnings == ["rdr: There is no recorder to export."]
    assert not (tmp_path / "d").exists()


def test_the_same_key_is_replaced(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    recorders.record("text", "OPTIMIZER", "a", "first")
    recorders.record("text", "OPTIMIZER", "a", "later")
    recorders.record("text", "SESSION", "a", "other module")
    recorders.trigger()
    assert {f.path.name: f.read() for f in artefacts(tmp_path)} == {
        "OPTIMIZER.a.00000000000001.txt": b"later",
        "SESSION.a.00000000000002.txt": b"other module",
    }


def test_a_cut_name_is_the_key(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    for tail in "xy":
        recorders.record("text", "KERNEL", "n" * 64 + tail, tail)
    assert len(recorders) == 1
    assert recorders.find("KERNEL", "n" * 64) is not None


def test_the_timestamp_is_that_of_recording(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    recorders.record("text", "OPTIMIZER", "a", "x")
    recorders.record("text", "OPTIMIZER", "b", "x")
    for _ in range(3):
        recorders.trigger()
    assert names(tmp_path) == ["OPTIMIZER.a.00000000000000.txt", "OPTIMIZER.b.00000000000001.txt"]


def test_graph_numbers_are_given_once_and_rise(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    numbers: list[int] = []
    for step in range(3):
        for name in ("a", "b"):
            recorders.record("graph", "PIPELINE", f"{step}{name}", GraphTexts("x"))
        recorders.record("text", "OPTIMIZER", "t", "x")
        before = {f.path for f in artefacts(tmp_path)}
        recorders.trigger()
        new = [f for f in artefacts(tmp_path) if f.path not in before and f.extension == "ir"]
        numbers += sorted(f.number for f in new if f.number is not None)
    assert numbers == list(range(len(numbers)))
    assert all((f.number is not None) == (f.extension == "ir") for f in artefacts(tmp_path))


def test_names_are_taken_as_they_are(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    for name in ("", "a b", "ü", "sub/name"):
        recorders.record("text", "KERNEL", name, "x")
    recorders.trigger()
    assert [f.name for f in artefacts(tmp_path)] == ["", "a b", "sub/name", "ü"]
    assert (tmp_path / "rank_0" / "rdr" / "KERNEL.sub").is_dir()


def test_an_unknown_kind_names_its_kin(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="graph_exec_order"):
        box(tmp_path).record("graph_exec_oder", "SESSION", "x", ())


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    standing = tmp_path / "standing"
    standing.mkdir()
    standing.chmod(0o755)
    recorders = box(standing / "new")
    recorders.record("graph", "SESSION", "g", GraphTexts("x", b"y", ".ir;.pb"))
    before = os.umask(umask)
    try:
        recorders.trigger()
        recorders.trigger()
    finally:
        os.umask(before)
    assert standing.stat().st_mode & 0o777 == 0o755
    for directory in ("new", "new/rank_0", "new/rank_0/rdr"):
        assert (standing / directory).stat().st_mode & 0o777 == 0o700
    assert {f.path.stat().st_mode & 0o777 for f in artefacts(standing / "new")} == {0o400}
    assert not list(standing.rglob(".*"))


def test_the_rank_is_asked_at_export(tmp_path: Path) -> None:
    rank = [0]
    recorders = Recorders(RdrConfig(True, 2, f"{tmp_path}/"), lambda: rank[0])
    recorders.record("text", "OPTIMIZER", "a", "x")
    rank[0] = 5
    recorders.trigger()
    (found,) = artefacts(tmp_path)
    assert found.rank == 5


def test_the_default_path_is_looked_up_at_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = Recorders(RdrConfig(True, 2))
    recorders.record("text", "OPTIMIZER", "a", "x")
    monkeypatch.chdir(tmp_path)
    recorders.trigger()
    assert len(artefacts(tmp_path)) == 1


def refused(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]


def test_two_dots_are_refused_for_each_recorder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorders = box(tmp_path / "a" / ".." / "b")
    for name in ("x", "y"):
        recorders.record("text", "OPTIMIZER", name, "x")
    recorders.trigger()
    assert sum("Do not support relative path" in text for text in refused(caplog)) == 2
    assert not list(tmp_path.iterdir())


def test_a_name_cannot_leave_the_directory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorders = box(tmp_path / "in")
    recorders.record("text", "KERNEL", "/../../../../out", "x")
    recorders.record("text", "KERNEL", "a\0b", "x")
    recorders.trigger()
    assert len(refused(caplog)) == 4  # what is wrong, and for which recorder
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_name_that_is_too_long_for_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorders = box(tmp_path)
    recorders.record("text", "KERNEL", "ü" * 64 + "", "x")
    recorders.record("text", "K" * 250, "x", "x")
    recorders.trigger()
    assert [f.module for f in artefacts(tmp_path)] == ["KERNEL"]
    assert "longer than 255 bytes" in caplog.text


def test_a_directory_that_cannot_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("mine")
    recorders = box(tmp_path / "file")
    for name in ("x", "y"):
        recorders.record("text", "OPTIMIZER", name, "z")
    recorders.trigger()
    texts = refused(caplog)
    for name in ("x", "y"):
        assert any(f"Get real path failed. Info: module=OPTIMIZER, name={name}, path=" in text for text in texts)
    assert (tmp_path / "file").read_text() == "mine"


class _Faulty(Recorder):
    def export(self, export: Export) -> bool:
        raise ArithmeticError("of its own")


def test_a_fault_of_one_does_not_stop_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorders = box(tmp_path)
    recorders.keep(_Faulty("SESSION", "faulty", "0" * 14, None))
    recorders.record("text", "OPTIMIZER", "a", "x")
    recorders.trigger()
    assert len(artefacts(tmp_path)) == 1
    assert "ArithmeticError('of its own')" in caplog.text


def test_what_was_exported_is_not_new_until_it_is_recorded_again(tmp_path: Path) -> None:
    recorders = box(tmp_path)
    recorders.record("text", "OPTIMIZER", "a", "x")
    recorders.trigger()
    recorders.record("text", "OPTIMIZER", "b", "x")
    recorders.trigger_new()
    recorders.trigger_new()
    assert [f.read() for f in artefacts(tmp_path)] == [b"x", b"x"]


def test_what_could_not_be_written_stays_new(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorders = box(tmp_path / "file")
    recorders.record("text", "OPTIMIZER", "a", "x")
    recorders.trigger()
    (tmp_path / "file").unlink()
    recorders.trigger_new()
    assert len(artefacts(tmp_path / "file")) == 1


@pytest.mark.long
def test_64_threads_lose_nothing(tmp_path: Path) -> None:
    recorders = Recorders(RdrConfig(True, 2, f"{tmp_path}/"))
    each = 20
    barrier = threading.Barrier(THREADS + 1)

    def work(thread: int) -> None:
        barrier.wait()
        for k in range(each):
            kind, content = ("text", "x") if k % 2 else ("graph", GraphTexts("x"))
            assert recorders.record(kind, "KERNEL", f"{thread}.{k}", content)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    while any(thread.is_alive() for thread in threads):
        recorders.snapshot()
    recorders.snapshot()
    found = artefacts(tmp_path)
    assert Counts(f.name for f in found) == Counts(f"{n}.{k}" for n in range(THREADS) for k in range(each))
    assert all(f.read() == b"x" for f in found)
    numbers = [f.number for f in found if f.extension == "ir"]
    assert len(numbers) == len(set(numbers))


def test_kinds_come_from_the_one_registry() -> None:
    assert set(RECORDERS) >= {"text", "graph", "graph_exec_order", "mem_address_list", "stream_exec_order", "task_info"}


def test_two_lists_of_addresses_in_one_second_are_two_files(tmp_path: Path) -> None:
    recorders = Recorders(RdrConfig(True, 2, f"{tmp_path}/"), clock=lambda: "20261231235959")
    for _ in range(3):
        recorders.record("mem_address_list", "RUNTIME_FRAMEWORK", "mem_address_list", [])
        recorders.record("graph", "PIPELINE", "00_bootstrap", GraphTexts("x"))
        recorders.snapshot()
    assert [f.timestamp for f in artefacts(tmp_path) if f.extension == "txt"] == [
        "20261231235959", "20270101000000", "20270101000001",
    ]  # fmt: skip
    assert {f.timestamp for f in artefacts(tmp_path) if f.extension == "ir"} == {"20261231235959"}

"""A tree read in parts is the tree; verdicts made beside the files are the serial ones. In one process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.capture import read_tree
from harness.capture import tree as trees
from harness.cli import main
from harness.compare import check
from harness.errors import ScaleError
from harness.progress import Progress
from harness.records import Record
from harness.scale import Scale, remote, session
from harness.scale.cluster import limit
from harness.scale.driver import Session
from harness.scale.journal import Journal, packed, unpacked
from harness.scale.parts import part
from harness.scale.wire import Done, Folded, Part, Tree, Work
from harness.scale.work import visible_ranks
from tests.scale import serial
from tests.scale.clusters import Here
from tests.scale.trees import write_rank, write_tree


def shared(folder: Path, *, resume: bool = False) -> tuple[Session, Here, Journal]:
    here, journal = Here(), Journal(folder / "journal", "job", resume)
    return Session(here, journal, Progress()), here, journal  # type: ignore[arg-type]


def told(records: Iterable[Record]) -> list[Any]:
    return [
        (r.key, r.op_type, r.dtype, r.shape, r.format, r.source, None if (a := r.load()) is None else a.tobytes())
        for r in records
    ]


@pytest.mark.parametrize("batch", [1 << 20, 300])
def test_parts_put_together_are_the_tree(tmp_path: Path, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BATCH", batch)
    tree = write_tree(tmp_path / "tree", range(3), 3, changed=(1, 1))
    damaged = next((tree / "rank_2" / "Net" / "0" / "1").glob("ReLU*output*"))
    damaged.write_bytes(damaged.read_bytes()[:90])
    serial = read_tree(tree)
    expected = told(serial.records())
    work, here, journal = shared(tmp_path)
    capture = work.tree(str(tree))
    assert told(capture.records()) == expected
    assert capture.problems == serial.problems
    assert capture.problems
    assert (capture.network, capture.backend, capture.mode) == (serial.network, serial.backend, serial.mode)
    journal.close(done=True)
    assert len([t for t in here.tasks if t.function.__name__ == "part"]) > (9 if batch == 300 else 8)


@pytest.mark.parametrize("batch", [1 << 20, 300])
def test_verdicts_are_those_of_the_serial_check(tmp_path: Path, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BATCH", batch)
    one = write_tree(tmp_path / "one", range(3), 3)
    other = write_tree(tmp_path / "other", range(4), 3, changed=(1, 1))
    serial = check(read_tree(one), read_tree(other), "default")
    work, here, journal = shared(tmp_path)
    sides = work.tree(str(one)), work.tree(str(other))
    found = check(*sides, "default", judging=work.judging(*sides))
    assert found.slots == serial.slots
    assert found.counts == serial.counts
    assert dict(found.digests) == dict(serial.digests)
    assert "fetch" not in {task.function.__name__ for task in here.tasks}, "no values travel for a verdict"
    journal.close(done=True)


def test_a_journal_holds_what_parts_gave(tmp_path: Path) -> None:
    one, other = write_tree(tmp_path / "one", range(2), 2), write_tree(tmp_path / "other", range(2), 2, changed=(1, 1))
    for resume in (False, True):
        work, here, journal = shared(tmp_path, resume=resume)
        sides = work.tree(str(one)), work.tree(str(other))
        found = check(*sides, "default", judging=work.judging(*sides))
        assert sum(not slot.verdict.holds for slot in found.slots) == 1
        assert journal.taken == 4 * resume
        journal.close(done=False)
    # A line that was cut off is work to be done again; so is a part whose files changed.
    lines = journal.path.read_text().splitlines()
    journal.path.write_text("\n".join([*[line for line in lines if line][:3], "0123 [tor"]))
    work, here, journal = shared(tmp_path, resume=True)
    sides = work.tree(str(one)), work.tree(str(other))
    check(*sides, "default", judging=work.judging(*sides))
    journal.close(done=True)
    assert journal.taken == 3
    assert len([task for task in here.tasks if task.function.__name__ == "part"]) == 1


def test_a_journal_holds_no_other_classes() -> None:
    with pytest.raises(ScaleError):
        packed(object())
    assert unpacked(packed(Done())) == Done()
    values = [None, True, 1, 1.5, float("inf"), 1 + 2j, b"\0\xff", (1, [2]), {("a", 1): {"": "float"}}, "x"]
    assert unpacked(packed(values)) == values


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--workers", "-1"], "at least 0"),
        (["--workers", "1", "--scheduler", "tcp://127.0.0.1:1"], "give one of the two"),
        (["--scheduler", "tcp://127.0.0.1:1"], "no scheduler can be reached at tcp://127.0.0.1:1"),
        (["--scheduler", "nowhere"], "nowhere"),
        (["--resume"], "--resume needs --workers or --scheduler"),
    ],
)
def test_bad_options_are_one_line(
    tmp_path: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "1")
    tree = write_tree(tmp_path / "tree", range(1), 1)
    assert main(["import", str(tree), "x.h5"]) == 0
    capsys.readouterr()
    assert main(["check", str(tree), "x.h5", *words]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert len(error.splitlines()) == 1


def test_a_limit_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "soon")
    with pytest.raises(ScaleError, match="MSDUMP_SCALE_LIMIT is a number of seconds above 0; given was 'soon'"):
        limit()


def test_nobody_shares_by_default() -> None:
    with session(Scale()) as found:
        assert found is None


@pytest.mark.parametrize("address", ["", "  "])
def test_an_empty_address_is_refused(address: str) -> None:
    with pytest.raises(ScaleError, match="--scheduler is empty; accepted: an address"), session(Scale(0, address)):
        pass


@pytest.mark.parametrize(
    ("ranks", "said"), [([0, 1, 2, 3], "on all 4 ranks"), ([1, 2], "on ranks 1-2 of 4"), ([3], "on rank 3 alone of 4")]
)
def test_a_first_divergence_says_which_ranks_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ranks: list[int], said: str
) -> None:
    one, other = write_tree(tmp_path / "one", range(4), 2), tmp_path / "other"
    for rank in range(4):
        write_rank(other, rank, 2, (rank, 1) if rank in ranks else None)
    assert main(["diff", str(one), str(other)]) == 1
    out = capsys.readouterr().out
    assert f"  {said}; at [" in out
    assert main(["diff", str(one / "rank_0"), str(one / "rank_0")]) == 0
    assert "alone of" not in capsys.readouterr().out


def test_what_lies_beside_tensors_is_read_once_for_all_parts_of_a_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = trees.parse_ir
    monkeypatch.setattr(trees, "parse_ir", lambda text, path: parsed.append(path) or parse(text, path))
    serial.write(tmp_path / "tree", "tree-mapped", (0, 1), 3, 7)
    (graph,) = (tmp_path / "tree" / "rank_1").rglob("*.ir")
    next((tmp_path / "tree" / "rank_1" / "Net" / "0" / "2").glob("Parameter*")).write_bytes(b"damaged")
    tree = Tree(str(tmp_path / "tree"), None, str(tmp_path))
    works = [Work(Part(1, 0, iteration), None, tree) for iteration in (0, 1, 2, 2)]

    def problems() -> list[str]:
        done = part(*works)
        assert isinstance(done, Folded)
        return [each.path for one, _ in done.each() if one.found for step in one.found.steps for each in step.problems]

    told = problems()
    assert len(parsed) == 1
    assert len(told) == 2, "whoever reads a part is told of its damage"
    graph.write_text(graph.read_text() + "\n# another run's\n")
    assert problems() == told
    assert len(parsed) == 2


def test_a_worker_says_why_it_sees_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_HOST", "a host")
    write_rank(tmp_path / "a host", 3, 1)
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    said = {
        "{host}": {3: ""}, "file": "not a directory", "pipe": "not a directory", "nothing": "no such file or directory",
        "file/below": "not a directory", "{host}/nothing": f"{tmp_path}/a host/nothing: no such file or directory",
    }  # fmt: skip
    places = [f"{tmp_path}/{name}" for name in said]
    assert visible_ranks(places, alone=True)["seen"] == dict(zip(places, said.values(), strict=True))

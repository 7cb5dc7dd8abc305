"""Findings of earlier attacks, by their repros, that no other file holds: silent loss, depth, rot, surroundings."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Tensor, context, float32, nn
from harness.capture import read_tree
from harness.cli import main
from harness.errors import HarnessError, NestingError
from harness.store import GoldenStore, manifest, recover, update
from harness.store.layout.schema import FOLDER
from harness.store.transaction import Transaction
from tests.capture.test_msprobe import dump, edit, leaf
from tests.dump.build import dumped, dumped_on, one_op
from tests.faults.steps import AFTER, run
from tests.store.helpers import ASCEND, CPU, run_data

pytestmark = pytest.mark.faults
__all__ = ["dump"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("field", ["dtype", "shape"])
@pytest.mark.parametrize("value", [None, [], {}, "x", -1, [None]])
def test_a_tensor_that_cannot_be_described_is_told(
    field: str, value: Any, dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """D13: an entry with a null dtype or shape vanished, and import said that all was well."""
    edit(dump, lambda content: leaf(content).update({field: value}))
    assert main(["import", str(dump), str(tmp_path / "x.h5")]) != 0
    assert "Add-op0" in capsys.readouterr().err
    read = read_tree(dump)
    # No axes are a shape, though not the file's: then the statistics stand for the tensor.
    by_statistics = (field, value) == ("shape", [])
    assert (len(list(read.records())), len(read.problems)) == (6 if by_statistics else 5, 1)


def test_a_table_that_is_a_pipe_is_told(tmp_path: Path) -> None:
    """D13: a statistic.csv that is a pipe read as empty."""
    dumped_on(tmp_path / "tree", "gpu", one_op(), saved_data="full", statistic_category=["max"])
    (table,) = (tmp_path / "tree").rglob("statistic.csv")
    table.unlink()
    os.mkfifo(table)
    outcome = run(lambda: sys.exit(main(["import", str(tmp_path / "tree"), str(tmp_path / "x.h5")])), tmp_path)
    assert outcome.code in (1, 2)
    assert "statistic.csv" in outcome.output


class _Leaf(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x + 1


class _Around(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Any) -> Any:
        return self.inner(x)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("depth", [300, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_cells_nested_deeper_than_python_calls(depth: int, mode: int) -> None:
    """D16: one error that names the limit and how to raise it."""
    net: nn.Cell = _Leaf()
    for _ in range(depth):
        net = _Around(net)
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        with pytest.raises(NestingError, match=rf"{depth} cells lie in one another.*setrecursionlimit"):
            net(Tensor([1.0], float32))
    finally:
        context.set_context(mode=before)


@pytest.mark.long
def test_a_flip_in_a_golden_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D15: check reads digests only and says so; verify names whatever flipped."""
    dumped(tmp_path / "tree", one_op())
    golden = tmp_path / "golden"
    golden.mkdir()
    assert main(["import", str(tmp_path / "tree"), str(golden / "x.h5")]) == 0
    manifest.rebuild(golden)
    capsys.readouterr()
    assert main(["check", str(tmp_path / "tree"), str(golden / "x.h5"), "--exact"]) == 0
    slots = len(list(read_tree(tmp_path / "tree").records()))
    assert f"Not read: the golden's values of {slots} slots with equal digests (msdump verify {golden} " in (
        capsys.readouterr().out
    )
    whole, rng = (golden / "x.h5").read_bytes(), random.Random(0)
    silent = []
    for _ in range(100):
        damaged, at = bytearray(whole), rng.randrange(len(whole))
        damaged[at] ^= 1 << rng.randrange(8)
        (golden / "x.h5").write_bytes(damaged)
        if main(["verify", str(golden)]) == 0 and _says(golden / "x.h5") != SAID.setdefault(whole, _of(whole, golden)):
            silent.append(at)
    assert silent == []


SAID: dict[bytes, object] = {}


def _of(whole: bytes, folder: Path) -> object:
    path = folder / "whole.h5"
    path.write_bytes(whole)
    said = _says(path)
    path.unlink()
    return said


def _says(path: Path) -> object:
    try:
        with GoldenStore.open(path) as store:
            return [
                (each.key, each.dtype, tuple(each.shape), None if (a := each.load()) is None else a.tobytes())
                for name in store.runs()
                for each in store.run(*name).records()
            ]
    except HarnessError as error:
        return str(error)


@pytest.mark.long
def test_who_reads_completes_what_was_decided(tmp_path: Path) -> None:
    """D9: killed between two renames, a change is completed by the next reader."""
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    manifest.rebuild(tmp_path)

    def change() -> None:
        with Transaction(tmp_path) as session:
            session.update("x.h5", "net", {ASCEND: run_data(1)})
            session.commit()

    made = run(change, tmp_path).steps
    update(tmp_path / "x.h5", "net", {ASCEND: None})
    manifest.rebuild(tmp_path)
    renames = [at for at, step in enumerate(made, 1) if step.call == "replace" and not step.path.startswith(FOLDER)]
    assert run(change, tmp_path, at=renames[0], how=AFTER).code is None
    assert (tmp_path / FOLDER).exists()
    assert main(["show", str(tmp_path / "x.h5")]) == 0
    assert not (tmp_path / FOLDER).exists()
    assert manifest.stale(tmp_path) == []


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "link/x.json"])
def test_a_journal_reaches_nothing_outside(name: str, tmp_path: Path) -> None:
    golden, outside = tmp_path / "golden", tmp_path / "outside"
    (golden / FOLDER).mkdir(parents=True)
    outside.mkdir()
    for path in (outside / "x.json", tmp_path / "x.json"):
        path.write_text("{}")
    (golden / "link").symlink_to(outside)
    (golden / FOLDER / "journal.json").write_text(
        f'{{"format": "msdump journal 2", "files": [], "remove": ["{name}"], "fresh": []}}'
    )
    with pytest.raises(HarnessError, match="not a journal"):
        recover(golden)
    assert (outside / "x.json").exists()
    assert (tmp_path / "x.json").exists()


REGENERATE = """
import os, sys
os.umask(int(os.environ["MASK"], 8))
from pathlib import Path
from tests.faults.test_store_kill import regenerate
regenerate(Path(sys.argv[1]), 1)
"""


@pytest.mark.long
def test_surroundings_change_no_byte(tmp_path: Path) -> None:
    root, found = Path(__file__).parents[2], []
    ways: tuple[tuple[dict[str, str], list[str]], ...] = (
        ({"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "MASK": "077"}, ["-O"]),
        ({"PYTHONHASHSEED": "2", "TZ": "UTC", "LC_ALL": "tr_TR.UTF-8", "MASK": "022", "HOME": "/nowhere"}, []),
    )
    for number, (environ, flags) in enumerate(ways):
        golden = tmp_path / f"{number}"
        kept = {name: value for name, value in os.environ.items() if name != "HOME"}
        subprocess.run(
            [sys.executable, *flags, "-c", REGENERATE, str(golden)], env={**kept, **environ, "PYTHONPATH": str(root)},
            cwd=(tmp_path, root)[number], check=True,
        )  # fmt: skip
        found.append({p.relative_to(golden): p.read_bytes() for p in sorted(golden.rglob("*")) if p.is_file()})
    assert found[0] == found[1]
    assert len(found[0]) == 6


def test_what_another_h5py_wrote_is_read_and_kept(tmp_path: Path) -> None:
    """Its bytes differ from those of newer releases; equal contents are not written again."""
    path = tmp_path / "x.h5"
    path.write_bytes((Path(__file__).parents[1] / "store" / "data" / "h5py-3.11.h5").read_bytes())
    before = path.read_bytes()
    with GoldenStore.open(path) as store:
        assert store.verify() == []
    assert not update(path, "net", {CPU: run_data(), ASCEND: run_data(1)}).changed
    assert path.read_bytes() == before

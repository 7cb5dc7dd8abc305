"""Nothing of an HDF5 file from elsewhere reaches libhdf5: each is one line, or is read by the golden's own contents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import store
from harness.store import GoldenStore, RunData, update
from tests.dump.build import dumped, one_op
from tests.faults.hdf5_kinds import SIGNATURES, kinds
from tests.faults.hostile_place import wrong
from tests.store.helpers import CPU, contents, declared, network, run_data

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A golden with objects, tables and texts."""
    path = tmp_path_factory.mktemp("golden") / "x.h5"
    update(path, "net", {CPU: RunData(network(0, 40), {"a.ir": b"text"}, declared=declared(40))})
    return path.read_bytes()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_every_kind_is_one_line_without_libhdf5(step: int, golden: bytes, tmp_path: Path) -> None:
    told, sound = {}, {}
    dumped(tmp_path / "tree", one_op())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.h5").write_bytes(golden)
    every = list(kinds(golden, 44))
    assert len({kind for kind, _, _ in every for each in SIGNATURES if repr(each[:4]) in kind}) > 100
    for at, (kind, raw, is_sound) in enumerate(every[::step]):
        name = f"{at:03}.h5"
        (tmp_path / name).write_bytes(raw)
        told[name], sound[name] = kind, is_sound
    ended = subprocess.run([sys.executable, "-m", "tests.faults.hdf5_kinds", str(tmp_path)], check=False, text=True,
                           capture_output=True, encoding="utf-8")  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found: dict[str, list[Any]] = json.loads(ended.stdout)
    assert found.keys() == told.keys()
    for name, all_ended in found.items():
        for command, code, out, err in all_ended:
            assert wrong(code, out, err) == "", f"{told[name]}: {command}: {err}"
            if not sound[name] and command != "verify":
                assert code == 2, f"{told[name]}: {command} took it: {out[:200]}"


def test_a_golden_whose_hdf5_half_is_another_is_what_it_says(golden: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    path.write_bytes(golden)
    whole = contents(path)
    for kind, raw, is_sound in list(kinds(golden, 4))[::3]:
        if is_sound:
            path.write_bytes(raw)
            try:
                assert contents(path) == whole, kind
            except store.read.StoreError:  # a signature stood among its tensors
                continue
            # What is written afterwards has nothing of it.
            update(path, "net", {CPU: run_data()})
            with GoldenStore.open(path) as written:
                assert written.verify() == []

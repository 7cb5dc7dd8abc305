"""A regeneration that is killed, or runs out of disk, leaves the old store or the new one; never anything between."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreWriteError
from harness.store import GoldenStore, RunData, manifest, update
from tests.store.helpers import ASCEND, CPU, record, run_data

pytestmark = pytest.mark.faults

ROUNDS = 200


def test_killed_at_random_moments(tmp_path: Path) -> None:
    script, root = Path(__file__).with_name("regenerate.py"), Path(__file__).parents[2]
    command = [sys.executable, str(script), str(tmp_path), str(ROUNDS), "2"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["content 0"] + seen["content 1"] == ROUNDS, seen
    assert (seen["damaged"], seen["strange files"], seen.get("half-new", 0)) == (0, 0, 0)
    assert seen["interrupted"] > ROUNDS // 10, "kills must hit the writing, or this proves nothing"
    assert min(seen["content 0"], seen["content 1"]) > 0
    assert (seen["left"], seen["after"]) == ([], 0), "the next writer sweeps what killed ones left"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process can grow beyond ``size`` bytes: writing further fails as on a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)


def big(seed: int) -> RunData:
    """A run of about 300 kB."""
    rng = np.random.default_rng(seed)
    return RunData([record(rng.standard_normal(3000), f"Default/Op-op{n}") for n in range(12)], {"t": b"text" * 9})


@pytest.mark.parametrize("size", [0, 100, 2048, 4096, 60_000, 200_000, 290_000, 292_000])
def test_a_full_disk_leaves_the_old_store(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data(), ASCEND: run_data(1)})
    manifest.rebuild(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with (
        files_of_at_most(size),
        pytest.raises(StoreWriteError, match=r"x\.h5: .*what was there before stands") as caught,
    ):
        update(path, "net", {CPU: big(1)})
    assert os.strerror(errno.EFBIG) in str(caught.value)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    update(path, "net", {CPU: big(1)})
    with GoldenStore.open(path) as store:
        assert store.verify() == []


def test_every_size_of_disk_is_enough_or_an_error(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.h5", tmp_path / "x.h5"
    update(whole, "net", {CPU: big(1)})
    content = whole.read_bytes()
    outcomes = set()
    for size in [*range(len(content) - 6000, len(content) + 3000, 500), len(content) - 1, len(content)]:
        path.unlink(missing_ok=True)
        try:
            with files_of_at_most(size):
                update(path, "net", {CPU: big(1)})
        except StoreWriteError:
            assert list(tmp_path.iterdir()) == [whole]
            outcomes.add("refused")
        else:
            assert path.read_bytes() == content
            outcomes.add("written")
    assert outcomes == {"refused", "written"}


def test_a_full_disk_leaves_the_old_manifest(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    manifest.rebuild(tmp_path)
    update(tmp_path / "y.h5", "net", {CPU: run_data()})
    before = (tmp_path / manifest.NAME).read_bytes()
    with files_of_at_most(len(before)), pytest.raises(StoreWriteError, match="the manifest could not be written"):
        manifest.rebuild(tmp_path)
    assert (tmp_path / manifest.NAME).read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [manifest.NAME, "x.h5", "y.h5"]


def test_a_directory_one_may_not_write_to(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    before = path.read_bytes()
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreWriteError):
            update(path, "net", {CPU: run_data(1)})
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == before

"""A regeneration that is killed, or runs out of disk, leaves the old store or the new one; never anything between."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreWriteError
from harness.store import GoldenStore, RunData, Transaction, manifest, recover, update
from tests.faults.steps import AFTER, BEFORE, run
from tests.store.helpers import ASCEND, CPU, record, run_data

pytestmark = pytest.mark.faults

OLD, NEW = 0, 1


def regenerate(golden: Path, seed: int) -> None:
    """A session's work: one run of each of two stores, a store that is new, and manifests."""
    with Transaction(golden) as change:
        for name in ("x.h5", "deep/y.h5", *(["z.h5"] if seed else [])):
            change.update(name, name, {CPU: run_data(seed)})
        change.commit({manifest.RunKey("x.h5", CPU): {"commit": str(seed)}})


def state(golden: Path) -> dict[str, bytes]:
    return {p.relative_to(golden).as_posix(): p.read_bytes() for p in sorted(golden.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """The goldens before and after."""
    golden = tmp_path_factory.mktemp("states")
    regenerate(golden, OLD)
    old = state(golden)
    regenerate(golden, NEW)
    return [old, state(golden)]


def stopped(folder: Path, states: list[dict[str, bytes]], at: int, how: str | int) -> int:
    """Stops a regeneration at its n-th step; which state the next session finds. Gives 0 or 1."""
    for name, content in states[OLD].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    outcome = run(lambda: regenerate(folder, NEW), folder, at=at, how=how)
    if isinstance(how, str):
        assert outcome.code is None, outcome.output
    elif outcome.code == 0:  # the call that failed changed nothing: what it would make is there, or nobody needs it
        assert state(folder) == states[NEW]
    else:
        assert outcome.code == 70, outcome.output
        assert "Error: " in outcome.output
    for name in states[NEW]:
        if name.endswith(".h5") and (folder / name).exists():
            with GoldenStore.open(folder / name) as store:
                assert store.verify() == []
    recover(folder)
    left = state(folder)
    left.pop(".goldens.lock", None)  # of one that was killed before it made anything: it locks nobody out
    assert left in states, sorted(left)
    found = states.index(left)
    regenerate(folder, NEW)
    assert state(folder) == states[NEW]
    assert not list(folder.rglob(".*")), "the next session sweeps what was left"
    return found


def steps(folder: Path, states: list[dict[str, bytes]]) -> int:
    """How many steps a regeneration has."""
    for name, content in states[OLD].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    outcome = run(lambda: regenerate(folder, NEW), folder)
    assert outcome.code == 0, outcome.output
    assert {step.call for step in outcome.steps} >= {"open", "pwrite", "fsync", "replace", "unlink", "mkdir", "rmdir"}
    return len(outcome.steps)


@pytest.mark.long
def test_a_sample_of_the_steps(tmp_path: Path, states: list[dict[str, bytes]]) -> None:
    count = steps(tmp_path / "count", states)
    sample = {*range(1, count, max(1, count // 12)), count}
    found = {stopped(tmp_path / f"{at}", states, at, AFTER) for at in sample}
    assert found == {OLD, NEW}, "kills must hit both sides of the decision"
    stopped(tmp_path / "full", states, count // 2, errno.ENOSPC)


@pytest.mark.deep
@pytest.mark.parametrize("how", [BEFORE, AFTER, errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EACCES])
def test_every_step(tmp_path: Path, states: list[dict[str, bytes]], how: str | int) -> None:
    for at in range(1, steps(tmp_path / "count", states) + 1):
        stopped(tmp_path / f"{at}", states, at, how)


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
        pytest.raises(StoreWriteError, match=r"x\.h5: .*the old one is unchanged") as caught,
    ):
        update(path, "net", {CPU: big(1)})
    assert os.strerror(errno.EFBIG) in str(caught.value)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    update(path, "net", {CPU: big(1)})
    with GoldenStore.open(path) as store:
        assert store.verify() == []


@pytest.mark.long
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
    update(tmp_path / "x.h5", "net", {CPU: run_data(1)})
    before = (tmp_path / "x.manifest.json").read_bytes()
    with files_of_at_most(len(before) - 1), pytest.raises(StoreWriteError, match="a manifest could not be written"):
        manifest.rebuild(tmp_path)
    assert (tmp_path / "x.manifest.json").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.h5", "x.manifest.json"]


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

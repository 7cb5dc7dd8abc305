"""Verifying a directory: whatever rotted is named, manifests can be mended, stores never change."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.verify import verify_goldens
from harness.errors import StoreError
from harness.store import GoldenStore, manifest, update
from harness.store.verify import verify
from tests.store.helpers import ASCEND, CPU, run_data


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Two stores with their manifests."""
    (tmp_path / "deep").mkdir()
    update(tmp_path / "a.h5", "a", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    update(tmp_path / "deep/b.h5", "b", {CPU: run_data(2)})
    manifest.rebuild(tmp_path)
    return tmp_path


def test_nothing_is_wrong(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_goldens(golden, fix=False) == 0
    assert "2 stores, 3 runs, 24 tensors read: everything is as written" in capsys.readouterr().out


def test_a_rotten_object_is_named(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with GoldenStore.open(golden / "a.h5") as store:
        at = store._source.places[store.run(*CPU).index.digests[0]][0]  # type: ignore[attr-defined]
    raw = bytearray((golden / "a.h5").read_bytes())
    raw[at] ^= 1
    (golden / "a.h5").write_bytes(raw)
    assert verify_goldens(golden, fix=True) == 1
    out = capsys.readouterr().out
    assert "MatMul-op0 input.0: the golden is damaged" in out
    assert (golden / "a.h5").read_bytes() == raw


@pytest.mark.parametrize("content", [b"<<<<<<< ours\n", b"{", None])
def test_a_broken_manifest_is_named_and_mended(golden: Path, content: bytes | None) -> None:
    path = golden / "a.manifest.json"
    before = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert verify(golden).problems
    mended = verify(golden, fix=True)
    assert (mended.problems, mended.fixed) == ([], True)
    assert path.read_bytes() == before


def test_a_pointer_of_git_lfs_is_named(golden: Path) -> None:
    (golden / "a.h5").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    assert "run `git lfs pull`" in verify(golden).problems[0]


def test_where_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no golden store"):
        verify(tmp_path)
    with pytest.raises(StoreError, match="no such directory"):
        verify(tmp_path / "no")

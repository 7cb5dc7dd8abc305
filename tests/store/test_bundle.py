"""Candidate bundles: taken over whole, or refused before anything is written."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.store import GoldenStore, accept, bundle, manifest, seal, update
from harness.store.manifest import RunKey
from tests.store.helpers import ASCEND, CPU, contents, edit_index, run_data


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    """A bundle of one changed run and one new store."""
    source = tmp_path / "candidate"
    (source / "deep").mkdir(parents=True)
    update(source / "a.h5", "a", {CPU: run_data(5)})
    update(source / "deep/new.h5", "new", {CPU: run_data(6)})
    seal(source, {RunKey("a.h5", CPU): {"commit": "new"}, RunKey("deep/new.h5", CPU): {"commit": "new"}})
    return source


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Goldens: two runs in one store."""
    target = tmp_path / "golden"
    target.mkdir()
    update(target / "a.h5", "a", {CPU: run_data(), ASCEND: run_data(1)})
    manifest.rebuild(target, {RunKey("a.h5", run): {"commit": "old"} for run in (CPU, ASCEND)})
    return target


def state(directory: Path) -> dict[str, bytes]:
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def zipped(source: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in state(source).items():
            archive.writestr(name, content)
        archive.writestr("README", "not taken over")
    return target


@pytest.mark.parametrize("packed", [False, True], ids=["directory", "zip"])
def test_runs_of_the_bundle_replace_and_the_rest_stays(candidate: Path, golden: Path, packed: bool) -> None:
    kept = contents(golden / "a.h5")[ASCEND]
    given = zipped(candidate, candidate.with_name("c.zip")) if packed else candidate
    results = accept(given, golden)
    assert [result.path for result in results] == [golden / "a.h5", golden / "deep/new.h5"]
    assert contents(golden / "a.h5") == {ASCEND: kept, **contents(candidate / "a.h5")}
    assert (golden / "deep/new.h5").read_bytes() == (candidate / "deep/new.h5").read_bytes()
    assert sorted(state(golden)) == ["a.h5", "a.manifest.json", "deep/new.h5", "deep/new.manifest.json"]
    assert manifest.stale(golden) == []
    assert manifest.provenance_of(golden) == {
        RunKey("a.h5", CPU): {"commit": "new"},
        RunKey("a.h5", ASCEND): {"commit": "old"},
        RunKey("deep/new.h5", CPU): {"commit": "new"},
    }
    before = state(golden)
    assert not any(result.changed for result in accept(given, golden))
    assert state(golden) == before


def test_what_is_held_to_equal_bits_stays_so(candidate: Path, golden: Path) -> None:
    manifest.rebuild(golden, {RunKey("a.h5", CPU): {manifest.REPEATED: True}})
    marked = {"commit": "old", manifest.REPEATED: True}  # a run that a regeneration saw again, with equal bits twice
    assert manifest.provenance_of_run(golden, "a.h5", CPU) == marked
    accept(candidate, golden)
    assert manifest.provenance_of_run(golden, "a.h5", CPU) == {"commit": "new", manifest.REPEATED: True}
    assert manifest.provenance_of_run(golden, "a.h5", ASCEND) == {"commit": "old"}
    assert manifest.provenance_of_run(golden, "deep/new.h5", CPU) == {"commit": "new"}


def test_into_a_directory_that_is_not_there_yet(candidate: Path, tmp_path: Path) -> None:
    accept(candidate, tmp_path / "fresh")
    assert state(tmp_path / "fresh") | {bundle.MARK: (candidate / bundle.MARK).read_bytes()} == state(candidate)


def refused(given: Path, golden: Path, said: str) -> None:
    before = state(golden)
    with pytest.raises(StoreError, match=said):
        accept(given, golden)
    assert state(golden) == before


def test_one_damaged_store_and_nothing_is_taken(candidate: Path, golden: Path) -> None:
    edit_index(candidate / "deep/new.h5", 0, "digest", b"\1" * 16)
    refused(
        candidate,
        golden,
        r"2 problems in the bundle; the first: .*new\.h5",
    )


def test_one_store_of_another_network_and_nothing_is_taken(candidate: Path, golden: Path) -> None:
    (golden / "deep").mkdir()
    update(golden / "deep/new.h5", "other", {CPU: run_data()})
    refused(candidate, golden, "it holds network 'new', but .* holds 'other'")


def test_nothing_to_accept(tmp_path: Path, golden: Path) -> None:
    refused(tmp_path / "nowhere", golden, "there is no such bundle")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", golden, "no golden store in this bundle")
    (tmp_path / "text").write_text("hello")
    refused(tmp_path / "text", golden, "neither a directory nor a complete zip archive")


def test_a_directory_of_bundles_is_none(candidate: Path, golden: Path) -> None:
    before = state(golden)
    with pytest.raises(StoreError, match="name one of them: candidate"):
        accept(candidate.parent, golden)
    assert state(golden) == before


def test_symbolic_links_are_refused(candidate: Path, golden: Path) -> None:
    (candidate / "b.h5").symlink_to("/etc/hostname")
    refused(candidate, golden, r"b\.h5 is a symbolic link")


@pytest.mark.parametrize("name", ["../evil.h5", "/evil.h5", "a/../../evil.h5", "..\\evil.h5", "C:evil.h5"])
def test_archives_that_reach_out_are_refused(candidate: Path, golden: Path, tmp_path: Path, name: str) -> None:
    archive = zipped(candidate, tmp_path / "c.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(name, (candidate / "a.h5").read_bytes())
    refused(archive, golden, "leads out of the bundle")
    assert not list(tmp_path.rglob("evil*"))


def test_archives_with_links_are_refused(golden: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("a.h5")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr(link, "/etc/hostname")
    refused(tmp_path / "c.zip", golden, "is a symbolic link")


def test_archives_that_are_too_large_are_refused(
    candidate: Path, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = zipped(candidate, tmp_path / "c.zip")
    monkeypatch.setattr(bundle, "MAX_UNPACKED", 10_000)
    refused(archive, golden, "would unpack to more than 10000 bytes")


def test_damaged_archives_are_refused(candidate: Path, golden: Path, tmp_path: Path) -> None:
    archive = zipped(candidate, tmp_path / "c.zip")
    raw = bytearray(archive.read_bytes())
    raw[1000] ^= 255
    archive.write_bytes(raw)
    refused(archive, golden, "a.h5': it is damaged")


def test_accept_shows_what_could_not_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.cli import main

    made, golden = tmp_path / "bundle", tmp_path / "golden"
    made.mkdir()
    update(made / "x.h5", "net", {CPU: run_data()})
    seal(made, {})
    assert main(["accept", str(made), "--golden", str(golden)]) == 0
    told = "accepted, not compared: Default/layer0-Dense/MatMul-op0 output.1: it lies elsewhere"
    assert f"x.h5: run cpu/tensor: {told}" in capsys.readouterr().out
    with GoldenStore.open(golden / "x.h5") as store:
        assert len(store.run(*CPU).gaps) == 1

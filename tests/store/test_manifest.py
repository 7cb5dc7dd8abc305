"""The manifest: generated, deterministic, and honest about where results come from."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import atomic
from harness.atomic import writer_lock
from harness.errors import LockError, StoreError
from harness.store import RunData, RunId, Transaction, manifest, update
from harness.store.manifest import RunKey
from tests.store.helpers import ASCEND, CPU, network, record, run_data


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A directory of two stores."""
    (tmp_path / "gate").mkdir()
    update(tmp_path / "a.h5", "a", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    update(tmp_path / "gate/b.h5", "b", {CPU: run_data(2)})
    return tmp_path


FIRST = {
    RunKey("a.h5", CPU): {"tool": "1", "commit": "abc"},
    RunKey("a.h5", ASCEND): {"tool": "1"},
    RunKey("gate/b.h5", CPU): {"tool": "1"},
}
SECOND = {key: {"tool": "2"} for key in FIRST}


def lines_that_differ(one: str, other: str) -> list[str]:
    return sorted(set(one.splitlines()) ^ set(other.splitlines()))


def test_says_what_the_stores_hold(golden: Path) -> None:
    assert manifest.rebuild(golden, FIRST)
    assert list(manifest.read(golden)["stores"]) == ["a.h5", "gate/b.h5"]
    read = json.loads((golden / "a.manifest.json").read_text())
    assert (read["network"], read["version"]) == ("a", manifest.VERSION)
    runs = read["runs"]
    run = runs["cpu/tensor"]
    # Both runs were given the same attributes, which are written once.
    assert run["attrs"] == "as ascend-o0/statistic"
    run["attrs"] = runs["ascend-o0/statistic"]["attrs"]
    assert (run["level"], run["slots"], run["attrs"]) == ("tensors", len(network()), {"emulated": True})
    assert run["provenance"] == FIRST[RunKey("a.h5", CPU)]
    assert len(run["operators"]) == len({r.key.operator for r in network()})
    assert manifest.provenance_of(golden) == FIRST
    assert manifest.stale(golden) == []


def test_a_line_of_an_operator_tells_what_it_gave_last(tmp_path: Path) -> None:
    """The numbers of output 0 of the last iteration; none of what has none."""
    rng = np.random.default_rng()
    made = [rng.standard_normal((3, 5)).astype(np.float32) for _ in range(3)]
    records = [
        replace(each, key=each.key._replace(iteration=at), values=values)
        for at, values in enumerate(made)
        for each in network()[-1:]
    ]
    update(tmp_path / "a.h5", "a", {CPU: replace(run_data(), records=records)})
    manifest.rebuild(tmp_path)
    (line,) = json.loads((tmp_path / "a.manifest.json").read_text())["runs"]["cpu/tensor"]["operators"].values()
    last = made[-1].astype(np.float64)
    numbers = f"{last.min():.4g}..{last.max():.4g} norm {np.sqrt((last**2).sum()):.4g}"
    assert re.fullmatch(rf"3 [0-9a-f]{{16}} Float32\[3x5\] {re.escape(numbers)}", line), line


def test_a_manifest_of_the_version_before_counts_until_its_store_changes(golden: Path) -> None:
    manifest.rebuild(golden, FIRST)
    path = golden / "a.manifest.json"
    now = json.loads(path.read_text())
    for run in now["runs"].values():
        if isinstance(run["operators"], dict):
            run["operators"] = {name: " ".join(line.split()[:2]) for name, line in run["operators"].items()}
    path.write_text(manifest.render({**now, "version": 2}))
    assert manifest.stale(golden) == []
    assert manifest.provenance_of(golden)[RunKey("a.h5", CPU)] == FIRST[RunKey("a.h5", CPU)]
    path.write_text(path.read_text().replace('"slots": ', '"slots": 1'))
    assert len(manifest.stale(golden)) == 1
    assert manifest.rebuild(golden)
    assert json.loads(path.read_text()) == {**json.loads(path.read_text()), "version": 3}


def test_an_empty_directory_has_no_manifest(tmp_path: Path) -> None:
    assert manifest.read(tmp_path)["stores"] == {}
    assert not manifest.rebuild(tmp_path)
    assert manifest.read(tmp_path)["stores"] == {}


def test_hidden_files_are_no_stores(golden: Path) -> None:
    (golden / ".c.h5").touch()
    (golden / ".cache").mkdir()
    (golden / ".cache/d.h5").touch()
    assert manifest.store_paths(golden) == ["a.h5", "gate/b.h5"]


def test_making_the_same_golden_again_changes_nothing(golden: Path) -> None:
    manifest.rebuild(golden, FIRST)
    before = (golden / "a.manifest.json").read_bytes()
    update(golden / "a.h5", "a", {CPU: run_data()})
    assert not manifest.rebuild(golden, SECOND)
    assert not manifest.rebuild(golden)
    assert (golden / "a.manifest.json").read_bytes() == before
    assert sorted(path.name for path in golden.iterdir()) == ["a.h5", "a.manifest.json", "gate"]


def test_a_changed_operator_is_a_changed_line(golden: Path) -> None:
    manifest.rebuild(golden, FIRST)
    before, other = (golden / "gate/b.manifest.json").read_text(), (golden / "a.manifest.json").read_bytes()
    changed = network(2)
    changed[4].values = changed[4].values * np.float32(2)
    update(golden / "gate/b.h5", "b", {CPU: replace(run_data(2), records=changed)})
    manifest.rebuild(golden, SECOND)
    after = (golden / "gate/b.manifest.json").read_text()
    assert (golden / "a.manifest.json").read_bytes() == other
    named = [line for line in lines_that_differ(before, after) if "rank0/graph0/" in line]
    assert len(named) == 2
    assert all(changed[4].key.operator in line for line in named)
    known = manifest.provenance_of(golden)
    assert known == FIRST | {RunKey("gate/b.h5", CPU): {"tool": "2"}}


def test_a_changed_run_without_provenance_has_none(golden: Path) -> None:
    manifest.rebuild(golden, FIRST)
    update(golden / "a.h5", "a", {CPU: run_data(7)})
    manifest.rebuild(golden)
    assert RunKey("a.h5", CPU) not in manifest.provenance_of(golden)
    assert RunKey("a.h5", ASCEND) in manifest.provenance_of(golden)


def test_stale_says_how(golden: Path) -> None:
    assert manifest.stale(golden) == [
        "a.h5: run ascend-o0/statistic is not in the manifest",
        "a.h5: run cpu/tensor is not in the manifest",
        "gate/b.h5: run cpu/tensor is not in the manifest",
    ]
    manifest.rebuild(golden)
    update(golden / "a.h5", "a", {CPU: run_data(7), ASCEND: None})
    assert manifest.stale(golden) == [
        "a.h5: run cpu/tensor is not the one the manifest describes",
        "a.h5: run ascend-o0/statistic is only in the manifest",
    ]


BROKEN = [
    (b"{", "not JSON"),
    (b"\xff", "not JSON"),
    (b"[" * 200_000, "nested too deep"),
    (b"[]", "not a manifest"),
    (b'{"format": "x"}', "not a manifest"),
    (b'{"format": "msdump manifest", "version": 99}', "version 99"),
    (b"{\n<<<<<<< ours\n}\n=======\n>>>>>>> theirs\n", "git's conflict markers"),
    (b"<<<<<<< ours\n{}\n=======\n>>>>>>> theirs\n", "git's conflict markers"),
]


@pytest.mark.parametrize(("content", "said"), BROKEN, ids=range(len(BROKEN)))
def test_a_damaged_manifest_is_named_and_written_anew(golden: Path, content: bytes, said: str) -> None:
    name = ("a.manifest.json", "MANIFEST.json")[BROKEN.index((content, said)) % 2]
    (golden / name).write_bytes(content)
    with pytest.raises(StoreError, match=said) as caught:
        manifest.read(golden)
    assert str(golden / name) in str(caught.value)
    assert manifest.rebuild(golden)
    assert manifest.stale(golden) == []
    assert not (golden / "MANIFEST.json").exists()


def legacy(golden: Path) -> None:
    """Leaves the manifest earlier versions wrote in place of today's."""
    manifest.rebuild(golden, FIRST)
    stores = {name: {**entry, "bytes": 1} for name, entry in manifest.read(golden)["stores"].items()}
    for path in golden.rglob("*.manifest.json"):
        path.unlink()
    (golden / "MANIFEST.json").write_text(json.dumps({"format": manifest.FORMAT, "version": 1, "stores": stores}))


def test_the_manifest_of_earlier_versions_counts_and_is_split(golden: Path) -> None:
    legacy(golden)
    assert manifest.stale(golden) == []
    assert manifest.provenance_of(golden) == FIRST
    update(golden / "gate/b.h5", "b", {CPU: run_data(8)})
    assert manifest.rebuild(golden, SECOND, names=["gate/b.h5"])
    assert manifest.provenance_of(golden) == FIRST | {RunKey("gate/b.h5", CPU): {"tool": "2"}}
    assert sorted(path.name for path in golden.rglob("*.json")) == ["a.manifest.json", "b.manifest.json"]


def test_a_transaction_splits_it_too(golden: Path) -> None:
    legacy(golden)
    with Transaction(golden) as change:
        change.update("gate/b.h5", "b", {CPU: run_data(8)})
        assert change.commit(SECOND) == ["gate/b.h5"]
    assert manifest.provenance_of(golden) == FIRST | {RunKey("gate/b.h5", CPU): {"tool": "2"}}
    assert manifest.stale(golden) == []
    assert sorted(path.name for path in golden.rglob("*.json")) == ["a.manifest.json", "b.manifest.json"]


def test_a_manifest_whose_store_is_gone_goes_too(golden: Path) -> None:
    manifest.rebuild(golden)
    (golden / "a.h5").unlink()
    assert manifest.stale(golden) == [
        "a.h5: run ascend-o0/statistic is only in the manifest",
        "a.h5: run cpu/tensor is only in the manifest",
    ]
    assert manifest.rebuild(golden)
    assert not (golden / "a.manifest.json").exists()


def test_two_branches_merge(golden: Path) -> None:
    """Two goldens changed on two branches change two manifests, each a text of its own."""
    manifest.rebuild(golden)
    before = {path: path.read_bytes() for path in golden.rglob("*.manifest.json")}
    update(golden / "a.h5", "a", {CPU: run_data(7)})
    manifest.rebuild(golden, names=["a.h5"])
    assert [path.name for path in before if path.read_bytes() != before[path]] == ["a.manifest.json"]


def test_strange_but_valid_manifests_are_replaced(golden: Path) -> None:
    strange = {"format": manifest.FORMAT, "version": manifest.VERSION, "runs": {"x": 1, "y": []}}
    (golden / "a.manifest.json").write_text(json.dumps(strange))
    manifest.rebuild(golden)
    assert manifest.stale(golden) == []


def test_a_damaged_store_stops_it(golden: Path) -> None:
    (golden / "a.h5").write_bytes(b"nothing")
    with pytest.raises(StoreError, match=r"a\.h5: not a complete HDF5 file"):
        manifest.rebuild(golden)
    assert not list(golden.rglob("*.json"))


def test_one_writer_at_a_time(golden: Path) -> None:
    with writer_lock(golden / manifest.NAME), pytest.raises(LockError):
        manifest.rebuild(golden, timeout=0.05)


def test_provenance_must_be_json(golden: Path) -> None:
    with pytest.raises(StoreError, match="provenance is not JSON"):
        manifest.rebuild(golden, {RunKey("a.h5", CPU): {"when": {1}}})


@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), min_size=1, max_size=3, unique=True))
def test_runs_of_any_name_keep_their_provenance(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[str, str]]
) -> None:
    golden = tmp_path_factory.mktemp("golden")
    update(golden / "x.h5", "x", {RunId(*run): RunData([record(1.0)]) for run in runs})
    given_ = {RunKey("x.h5", RunId(*run)): {"n": n} for n, run in enumerate(runs)}
    manifest.rebuild(golden, given_)
    assert manifest.provenance_of(golden) == given_


def test_names_of_stores_left_unsettled_are_settled_once(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr(atomic, "_flush", lambda path, _flags: flushed.append(path))
    for number in range(3):
        update(golden / f"gate/c{number}.h5", "c", {CPU: run_data(number)}, settle=False)
    assert not [path for path in flushed if path.is_dir()]
    assert len(flushed) == 3
    assert manifest.rebuild(golden)
    assert flushed.count(golden / "gate") == 1

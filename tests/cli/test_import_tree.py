"""``msdump import``: the golden holds what the tree holds."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness.capture import read_tree
from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.store import GoldenStore, manifest, update
from tests.cli.test_app import dump
from tests.real_trees import extract
from tests.store.helpers import CPU, run_data


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return dump(tmp_path / "tree")


def test_a_tree_checks_against_what_was_imported_of_it(tree: Path, tmp_path: Path) -> None:
    golden = tmp_path / "x.h5"
    assert main(["import", str(tree), str(golden)]) == HOLDS
    assert main(["check", str(tree), str(golden)]) == HOLDS
    with GoldenStore.open(golden) as store:
        (run,) = store.runs()
        assert str(run) == "cpu/tensor"
        stored = store.run(*run)
        assert stored.attrs["imported"] is True
        assert stored.attrs["emulated"] is True
        assert [r.key for r in stored.records()] == [r.key for r in read_tree(tree).records()]
        assert set(stored.artefacts()) == set(read_tree(tree).artefacts)


@pytest.mark.long
def test_runs_stand_side_by_side(tree: Path, tmp_path: Path) -> None:
    golden = tmp_path / "x.h5"
    assert main(["import", str(tree), str(golden), "--run", "mindspore/a"]) == HOLDS
    other = dump(tmp_path / "other", added=2.0)
    assert main(["import", str(other), str(golden), "--run", "mindspore/b"]) == HOLDS
    assert main(["diff", f"{golden}::mindspore/a", f"{golden}::mindspore/b"]) == DIFFERS
    before = golden.read_bytes()
    assert main(["import", str(tree), str(golden), "--run", "mindspore/a"]) == HOLDS
    assert golden.read_bytes() == before


@pytest.mark.long
def test_a_name_alone_is_a_backend(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = tmp_path / "x.h5"
    assert main(["import", str(tree), str(golden), "--run", "before"]) == HOLDS
    assert main(["import", str(dump(tmp_path / "other", added=2.0)), str(golden), "--run", "after"]) == HOLDS
    with GoldenStore.open(golden) as store:
        assert list(map(str, store.runs())) == ["after/tensor", "before/tensor"]
    assert main(["check", str(tree), str(golden), "--run", "before"]) == HOLDS
    assert main(["check", str(tree), str(golden), "--run", "after"]) == DIFFERS
    assert main(["diff", f"{golden}::before", str(tree)]) == HOLDS
    capsys.readouterr()
    assert main(["check", str(tree), str(golden), "--run", "neither"]) == CANNOT_TELL
    assert "holds after/tensor, before/tensor; none of them is 'neither' alone" in capsys.readouterr().err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["", "../x", "a/b/c", "a\nb", "a b", "/", "a/", "/tensor", ".a", "-a", "x" * 101])
def test_what_is_no_name_of_a_run(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["import", str(tree), str(tmp_path / "x.h5"), f"--run={name}"]) == CANNOT_TELL
    (line,) = capsys.readouterr().err.splitlines()
    assert "--run takes NAME or BACKEND/MODE" in line
    assert line.endswith(f"got {name!r}")
    assert not (tmp_path / "x.h5").exists()


@pytest.mark.long
def test_an_iteration_of_empty_tensors_is_no_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Empty tensors leave no file, so that nothing tells such an iteration from one that was stopped at once."""
    tree = extract("train", tmp_path)
    iterations = [path for path in tree.glob("rank_0/Net/0/*") if path.name.isdecimal()]
    shutil.rmtree(max(iterations, key=lambda path: int(path.name)))
    arguments = [str(tree), str(tmp_path / "x.h5")]
    assert main(["import", *arguments]) == HOLDS
    assert "all tensors are empty" in capsys.readouterr().err
    assert main(["check", *arguments]) == HOLDS
    assert "all tensors are empty" in capsys.readouterr().err


def test_of_several_networks_one_is_chosen(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = tmp_path / "x.h5"
    assert main(["import", str(tree), str(golden)]) == HOLDS
    (network,) = (each for each in (tree / "rank_0").iterdir() if (each / "0" / "0").is_dir())
    shutil.copytree(network, network.with_name("Second"))
    assert main(["import", str(tree), str(golden)]) == CANNOT_TELL
    assert "tensors of several networks" in capsys.readouterr().err
    assert main(["check", str(tree), str(golden), "--network", network.name]) == HOLDS
    assert main(["import", str(tree), str(golden), "--network", "Second"]) == CANNOT_TELL
    assert f"the store of network '{network.name}', not of 'Second'" in capsys.readouterr().err
    assert main(["import", str(tree), str(tmp_path / "second.h5"), "--network", "Second"]) == HOLDS


def test_digests_only_and_compressed(tree: Path, tmp_path: Path) -> None:
    assert main(["import", str(tree), str(tmp_path / "d.h5"), "--level", "digest"]) == HOLDS
    assert main(["check", str(tree), str(tmp_path / "d.h5")]) == HOLDS
    with GoldenStore.open(tmp_path / "d.h5") as store:
        assert store.run("cpu", "tensor").level == "digest"
    assert main(["import", str(tree), str(tmp_path / "c.h5"), "--compress"]) == HOLDS
    with GoldenStore.open(tmp_path / "c.h5") as store:
        assert store.compression == "gzip"


def test_the_last_label_of_32_bits(tree: Path, tmp_path: Path) -> None:
    label = 2**32 - 1
    directory = max(
        (each for each in tree.rglob("*") if each.is_dir() and each.name.isdecimal()), key=lambda e: len(str(e))
    )
    directory.rename(directory.with_name(str(label)))
    order = next(tree.rglob("ms_global_execution_order_graph_*.csv"))
    order.chmod(0o600)
    order.write_text(order.read_text().replace(directory.name, str(label)))
    assert main(["import", str(tree), str(tmp_path / "x.h5")]) == HOLDS
    assert main(["check", str(tree), str(tmp_path / "x.h5")]) == HOLDS
    with GoldenStore.open(tmp_path / "x.h5") as store:
        assert label in {record.key.iteration for record in store.run("cpu", "tensor").records()}


def test_a_tree_that_was_interrupted(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    victim = next(path for path in sorted(tree.rglob("*.npy")) if "Mul" in path.name)
    victim.chmod(0o600)
    victim.write_bytes(victim.read_bytes()[:-3])
    assert main(["import", str(tree), str(tmp_path / "x.h5")]) == DIFFERS
    assert victim.name in capsys.readouterr().err
    assert main(["check", str(tree), str(tmp_path / "x.h5")]) == CANNOT_TELL


def test_the_manifest_is_kept(tree: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden"
    golden.mkdir()
    update(golden / "other.h5", "net", {CPU: run_data()})
    manifest.rebuild(golden)
    assert main(["import", str(tree), str(golden / "x.h5")]) == HOLDS
    assert manifest.stale(golden) == []
    assert main(["import", str(tree), str(tmp_path / "x.h5")]) == HOLDS
    assert (tmp_path / manifest.path_of("x.h5")).exists(), "msdump verify reads it"


def test_progress_is_shown_to_a_terminal(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["import", str(tree), str(tmp_path / "x.h5")]) == HOLDS
    assert main(["check", str(tree), str(tmp_path / "x.h5")]) == HOLDS


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "x.h5"], "nothing"),
        (["EMPTY", "x.h5"], "no tensor"),
        (["TREE", "x.h5", "--run", "/tensor"], "BACKEND/MODE"),
        (["TREE", "x.h5", "--run", "cpu/"], "BACKEND/MODE"),
        (["TREE", "x.h5", "--network", "Other"], "no network 'Other'"),
        (["TREE", "no/such/x.h5"], "there is no directory"),
        (["TREE", "x.h5", "--rank", "3"], "no rank 3"),
        (["TREE", "junk.h5"], "junk.h5"),
    ],
)
def test_bad_arguments(
    arguments: list[str], says: str, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junk.h5").write_bytes(b"junk" * 100)
    (tmp_path / "empty" / "rank_0").mkdir(parents=True)
    given = [{"TREE": str(tree), "EMPTY": "empty"}.get(each, each) for each in arguments]
    assert main(["import", *given]) == CANNOT_TELL
    assert says in capsys.readouterr().err
    assert not (tmp_path / "x.h5").exists()
    assert (tmp_path / "junk.h5").read_bytes() == b"junk" * 100

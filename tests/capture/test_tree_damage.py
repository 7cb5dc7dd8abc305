"""Trees that are cut, damaged, copied, or meant to harm."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.capture import read_tree
from harness.errors import TreeError
from tests.real_trees import extract


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return extract("two_nets", tmp_path)


def directory(root: Path) -> Path:
    return root / "rank_0" / "Net" / "0" / "0"


def first(root: Path) -> Path:
    return sorted(directory(root).glob("*.npy"))[0]


def count(root: Path) -> tuple[int, list[tuple[str, str]]]:
    """How many records there are, and the names and kinds of problems."""
    capture = read_tree(root)
    records = list(capture.records())
    assert all(r.load() is not None for r in records)
    return len(records), [(os.path.basename(p.path), p.kind) for p in capture.problems]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cut", [0, 5, 100, 128, 135, -1])
def test_a_file_cut_by_a_kill_is_left_out_and_listed(cut: int, root: Path) -> None:
    whole, _ = count(root)
    path = first(root)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:cut])
    assert count(root) == (whole - 1, [(path.name, "incomplete")])


def test_a_whole_file_that_was_not_finished_is_listed(root: Path) -> None:
    whole, _ = count(root)
    first(root).chmod(0o644)
    assert count(root) == (whole - 1, [(first(root).name, "incomplete")])


def test_a_copy_without_modes_is_read_whole(root: Path) -> None:
    expected = count(root)
    for path in root.rglob("*"):
        if path.is_file():
            path.chmod(0o644)
    assert count(root) == expected
    (root / "rank_0" / ".dump_metadata").rename(root / "moved")
    assert count(root) == expected


def test_problems_are_those_of_the_last_reading(root: Path) -> None:
    path = first(root)
    data = path.read_bytes()
    path.write_bytes(data[:5])
    capture = read_tree(root)
    for _ in range(2):
        list(capture.records())
        assert len(capture.problems) == 1
    path.write_bytes(data)
    list(capture.records())
    assert capture.problems == []


def pickled() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([{}], object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("data", [b"junk" * 50, pickled()], ids=["junk", "pickle"])
def test_what_is_no_tensor_is_left_out_and_listed(data: bytes, root: Path) -> None:
    whole, _ = count(root)
    first(root).write_bytes(data)
    assert count(root) == (whole - 1, [(first(root).name, "damaged")])


def test_a_name_against_its_header_is_listed(root: Path) -> None:
    whole, _ = count(root)
    path = first(root)
    wrong = path.rename(path.with_name(path.name.replace(".Float32.", ".Int32.")))
    assert count(root) == (whole - 1, [(wrong.name, "damaged")])


def test_a_file_that_vanishes_is_an_error_when_asked_for(root: Path) -> None:
    record = next(iter(read_tree(root).records()))
    assert record.load() is not None
    for path in directory(root).glob("*.npy"):
        path.unlink()
    with pytest.raises(TreeError, match=r"\.npy: .*No such file"):
        record.load()


@pytest.mark.parametrize(("name", "kind"), [("12345.npy", "name"), ("odd.npy", "name"), (".77-1.part", "incomplete")])
def test_names_nobody_can_place_are_listed(name: str, kind: str, root: Path) -> None:
    whole, _ = count(root)
    (directory(root) / name).write_bytes(first(root).read_bytes())
    assert count(root) == (whole, [(name, kind)])


def test_a_mapping_that_leads_nowhere_is_listed(root: Path) -> None:
    whole, _ = count(root)
    (directory(root) / "12345.npy").write_bytes(first(root).read_bytes())
    (directory(root) / "mapping.csv").write_text("12345.npy,../../secret\nnot a row\n,,,\n99.npy,no.such\n")
    assert count(root) == (whole, [("12345.npy", "name")])


@pytest.mark.parametrize("name", ["statistics.csv", "README", "notes.json"])
def test_other_files_are_let_be(name: str, root: Path) -> None:
    expected = count(root)
    (directory(root) / name).write_text("a,b\n1,2\n")
    (root / "rank_0" / "Net" / "0" / "constants").mkdir()
    (root / "rank_0" / "Net" / "0" / "constants" / first(root).name).write_bytes(first(root).read_bytes())
    assert count(root) == expected


def link_file(root: Path, target: Path) -> None:
    path = first(root)
    path.unlink()
    path.symlink_to(target)


def link_iteration(root: Path, target: Path) -> None:
    (root / "rank_0" / "Net" / "0" / "77").symlink_to(target.parent)


def link_rank(root: Path, target: Path) -> None:
    (root / "rank_5").symlink_to(target.parent)


def link_graph(root: Path, target: Path) -> None:
    (root / "rank_0" / "graphs" / "ms_output_trace_code_graph_9.ir").symlink_to(target)


def link_graphs(root: Path, target: Path) -> None:
    (root / "rank_0" / "graphs").rename(target.parent / "graphs")
    (root / "rank_0" / "graphs").symlink_to(target.parent / "graphs")


def link_network(root: Path, target: Path) -> None:
    (root / "rank_0" / "Net").rename(target.parent / "Net")
    (root / "rank_0" / "Net").symlink_to(target.parent / "Net")


def link_mapping(root: Path, target: Path) -> None:
    (directory(root) / "12345.npy").write_bytes(first(root).read_bytes())
    (directory(root) / "mapping.csv").symlink_to(target)


@pytest.mark.parametrize(
    "link", [link_file, link_iteration, link_rank, link_graph, link_graphs, link_network, link_mapping]
)
def test_links_that_leave_the_tree_are_refused(link: Callable[[Path, Path], None], root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "secret.npy"
    target.write_bytes(first(root).read_bytes())
    link(root, target)
    with pytest.raises(TreeError, match=r"a link to .*outside.*, outside of the tree"):
        list(read_tree(root).records())


def test_links_inside_the_tree_are_followed(root: Path) -> None:
    expected = count(root)
    path = first(root)
    kept = path.rename(root / "rank_0" / "kept.bin")
    path.symlink_to(kept)
    assert count(root) == expected


def test_pipes_do_not_block(root: Path) -> None:
    whole, _ = count(root)
    path = first(root)
    path.unlink()
    os.mkfifo(path)
    assert count(root)[0] == whole - 1


def test_a_damaged_graph_is_an_error_that_names_it(root: Path) -> None:
    path = root / "rank_0" / "graphs" / "ms_output_trace_code_graph_1.ir"
    path.write_text(path.read_text()[:900])
    with pytest.raises(TreeError, match=r"ms_output_trace_code_graph_1\.ir"):
        read_tree(root)


def test_texts_are_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.capture.tree.MAX_TEXT", 100)
    with pytest.raises(TreeError, match="more than 100 bytes"):
        read_tree(root)


def test_damaged_metadata_is_told(root: Path) -> None:
    whole, _ = count(root)
    (root / "rank_0" / ".dump_metadata" / "config.json").write_text("{")
    assert read_tree(root).rules == {}
    assert count(root) == (whole, [("config.json", "damaged")])


def test_a_graph_that_was_not_finished_and_never_ran_is_left_out(root: Path) -> None:
    whole, _ = count(root)
    path = root / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.ir"
    (path.with_name("ms_output_trace_code_graph_9.ir")).write_text(path.read_text()[:900])
    capture = read_tree(root)
    assert [(problem.path, problem.kind) for problem in capture.problems] == [
        ("graphs/ms_output_trace_code_graph_9.ir", "incomplete")
    ]
    for _ in range(2):
        assert len(list(capture.records())) == whole
        assert len(capture.problems) == 1


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """A real tree of several iterations of one graph, each closed by parameters."""
    return extract("train", tmp_path)


def last(steps: Path) -> Path:
    """The iteration that was begun last."""
    order = steps / "rank_0" / "execution_order" / "ms_global_execution_order_graph_0.csv"
    return steps / "rank_0" / "Net" / "0" / order.read_text().split()[-1]


def test_a_last_iteration_without_its_parameters_is_named(steps: Path) -> None:
    whole, problems = count(steps)
    assert problems == []
    parameters = list(last(steps).glob("Parameter.*"))
    for path in parameters:
        path.unlink()
    assert parameters
    assert count(steps) == (whole - len(parameters), [(last(steps).name, "incomplete")])


@pytest.mark.parametrize("empty", [False, True])
def test_a_last_iteration_that_left_nothing_is_named(steps: Path, empty: bool) -> None:
    whole, _ = count(steps)
    lost = len(list(last(steps).iterdir()))
    for path in last(steps).iterdir():
        path.unlink()
    if not empty:
        last(steps).rmdir()
    assert count(steps) == (whole - lost, [(last(steps).name, "empty")])
    assert read_tree(steps).lost == []

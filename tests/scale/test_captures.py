"""The directory of a rank is found without a look at the other ranks, and is the one the reader of a tree finds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.capture import read_tree
from harness.capture.tree import rank_directories
from harness.errors import TreeError
from harness.scale import captures
from tests.scale.trees import write_tree


def test_a_rank_is_found_where_the_reader_finds_it(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", range(3), 1)
    (tree / "rank_2").rename(tree / "device_7")
    for _ in range(2):
        assert {rank: captures.root(str(tree), rank) for rank in (0, 1, 7)} == rank_directories(str(tree))
    assert captures.root(str(tree), 2) == ""
    one = read_tree(tree, 7, root=captures.root(str(tree), 7))
    assert [r.key for r in one.records()] == [r.key for r in read_tree(tree, 7).records()] != []
    write_tree(tree, [9], 1)
    assert captures.root(str(tree), 9) == os.path.realpath(tree / "rank_9")


@pytest.mark.parametrize("other", ["step0", "notes.txt", "debug_dump"])
def test_a_directory_that_may_be_of_another_kind_is_left_to_the_reader(tmp_path: Path, other: str) -> None:
    tree = write_tree(tmp_path / "tree", range(1), 1)
    (tree / other).mkdir()
    assert captures.root(str(tree), 0) == ""
    assert captures.root(str(tmp_path / "nowhere"), 0) == ""


def test_a_link_out_of_the_tree_is_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path / "other", range(1), 1)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "rank_0").symlink_to(tmp_path / "other" / "rank_0")
    with pytest.raises(TreeError):
        read_tree(tree, 0)
    with pytest.raises(TreeError):
        captures.root(str(tree), 0)

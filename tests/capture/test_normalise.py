"""Texts and source lines that do not depend on where they were made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.normalise import ir_text, source_of, source_path
from harness.graph import SourceLine, ir
from harness.graph.ir_parse import parse
from tests.graph.build import dense
from tests.real_trees import GRAPHS, graph_files


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/project/nets/mlp.py", "nets/mlp.py"),
        ("/home/me/project-two/mlp.py", "mlp.py"),
        ("/usr/lib/python3.11/site-packages/mindspore/nn/cell.py", "mindspore/nn/cell.py"),
        ("/home/me/project/.venv/lib/python3/site-packages/mindspore/nn/cell.py", "mindspore/nn/cell.py"),
        ("/usr/lib/python3/dist-packages/a.py", "a.py"),
        ("relative/net.py", "relative/net.py"),
        ("<stdin>", "<stdin>"),
        ("/a b/c:d.py", "c:d.py"),
    ],
)
def test_source_paths(path: str, expected: str) -> None:
    assert source_path(path, "/home/me/project") == expected
    assert source_path(path, "/home/me/project/") == expected


@given(st.text(max_size=20))
def test_source_paths_stay_as_they_are_the_second_time(path: str) -> None:
    once = source_path(path, "/home/me")
    assert source_path(once, "/home/me") == once


def lines(*places: tuple[str, int]) -> list[SourceLine]:
    return [SourceLine(path, line, line, None, None, "") for path, line in places]


def test_the_innermost_line_of_the_user() -> None:
    stack = lines(("/p/net.py", 3), ("/p/block.py", 5), ("/v/site-packages/mindspore/nn/basic.py", 9))
    assert source_of(stack, "/p") == "block.py:5"
    assert source_of([*stack, *lines(("/src/harness/framework/nn/basic.py", 1))], "/p") == "block.py:5"


def test_the_innermost_line_where_all_are_of_libraries() -> None:
    stack = lines(("/v/site-packages/a/net.py", 3), ("/v/site-packages/mindspore/nn/basic.py", 9))
    assert source_of(stack, "/p") == "mindspore/nn/basic.py:9"


def test_no_stack_no_line() -> None:
    assert source_of([], "/p") is None


@pytest.mark.parametrize(("name", "number"), GRAPHS)
def test_graphs_say_the_same_after_it(name: str, number: int) -> None:
    text = graph_files(name)[number]["ir"].decode()
    plain = ir_text(text, "/tmp/msdump-nets")
    assert ir_text(plain, "/elsewhere") == plain
    before, after = parse(text), parse(plain)
    assert [(n.name, n.args, n.outputs) for n in after.nodes] == [(n.name, n.args, n.outputs) for n in before.nodes]
    assert after.instance == ir.STABLE_POINTER != before.instance


def test_our_own_graphs_lose_their_paths_only() -> None:
    text = ir.write(dense())
    assert ir_text(text, "/home/me") == text.replace("/home/me/net.py", "net.py")

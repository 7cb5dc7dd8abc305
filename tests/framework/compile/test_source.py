"""Source lines of nodes: the user's and the layers', outermost call first."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from harness import nn, ops
from harness.framework.compile import source
from harness.framework.compile.source import stack, where
from harness.graph import ir
from tests.framework.compile.build import Net, compiled, floats, graph_of, only
from tests.real_trees import graph_files

HERE = Path(__file__).name


def texts(lines: Any) -> list[str]:
    """Texts of the calls; lines that only say which function was entered left out."""
    return [line.text.strip() for line in lines if not line.text.lstrip().startswith("def ")]


def helper(x: Any) -> Any:
    return ops.exp(x)


def test_the_users_calls_outermost_first() -> None:
    def outer(net: Any, x: Any) -> Any:
        return helper(x) + 1

    exp = only(graph_of(outer, floats(2, 3)), "Exp")
    assert texts(exp.source)[-2:] == ["return helper(x) + 1", "return ops.exp(x)"]
    assert all(Path(line.path).suffix == ".py" for line in exp.source)


def test_columns_and_lines_are_those_of_the_call() -> None:
    def outer(net: Any, x: Any) -> Any:
        # fmt: off
        return ops.tanh(x) + ops.exp(
            x
        )
        # fmt: on

    line = only(graph_of(outer, floats(2, 3)), "Exp").source[-1]
    assert line.line_end == line.line + 2
    assert line.text[line.column : line.column + len("ops.exp(")] == "ops.exp("  # type: ignore[operator]


def test_a_place_at_the_margin_has_no_columns() -> None:
    """As in the texts of real graphs."""

    def shown(text: str) -> set[tuple[bool, bool]]:
        places = re.findall(r"# In file [^:]*:[0-9~]+(, [0-9~]+)?/(\s?)", text)
        return {(bool(columns), bool(indented)) for columns, indented in places}

    real = "\n".join(graph_files("control")[number]["ir"].decode() for number in graph_files("control"))
    exp = only(graph_of(lambda net, x: helper(x) + 1, floats(2, 3)), "Exp")
    found = "\n".join(map(ir.source_line, exp.source))
    assert shown(found) == shown(real) == {(True, True), (False, False)}


def test_layers_are_shown_and_the_machinery_is_not() -> None:
    class Whole(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(3, 2)

        def construct(self, x: Any) -> Any:
            return self.fc(x)

    with compiled() as graphs:
        Whole()(floats(2, 3))
    files = [Path(line.path).parts[-2:] for line in only(graphs[0], "MatMul").source]
    assert files[0] == ("compile", HERE)
    assert ("nn", "basic.py") in files
    assert not [f for f in files if f[0] in ("tensor", "runtime") or f == ("nn", "cell.py")]


def test_what_called_the_network_is_not_part_of_it() -> None:
    def outer(net: Any, x: Any) -> Any:
        return ops.exp(x)

    def caller() -> Any:
        return graph_of(outer, floats(2, 3))

    assert "return graph_of(outer, floats(2, 3))" not in texts(only(caller(), "Exp").source)


def test_where_names_the_innermost_line_of_the_user() -> None:
    assert where().endswith('(assert where().endswith("x") is False)') is False
    text = where()  # this line
    assert HERE in text
    assert "text = where()  # this line" in text


def test_a_stack_ends_where_it_is_told() -> None:
    import sys

    def inner(stop: Any) -> Any:
        return stack(stop)

    def middle() -> Any:
        return inner(sys._getframe(1))

    assert texts(middle()) == ["return inner(sys._getframe(1))", "return stack(stop)"]


def test_code_without_a_file_has_lines_without_text() -> None:
    names: dict[str, Any] = {"ops": ops}
    exec(compile("def made(net, x):\n    return ops.exp(x)\n", "<made>", "exec"), names)
    exp = only(graph_of(names["made"], floats(2, 3)), "Exp")
    assert (exp.source[-1].path, exp.source[-1].line, exp.source[-1].text) == ("<made>", 2, "")


def test_equal_calls_in_a_loop_have_equal_lines() -> None:
    def loop(net: Any, x: Any) -> Any:
        for _ in range(2):
            x = ops.exp(x)
        return x

    first, second = [n for n in graph_of(loop, floats(2, 3)).nodes if n.op == "Exp"]
    assert first.source == second.source


def test_constants_of_a_net_do_not_change_lines() -> None:
    graph = graph_of(lambda net, x: x * net.c + net.w, floats(2, 3))
    assert len({node.source[-1].line for node in graph.nodes if node.kernel and node.source}) == 1
    assert isinstance(Net(helper).c.shape, tuple)


def test_equal_functions_of_two_files_have_their_own_lines(tmp_path: Path) -> None:
    text = "from harness.framework.compile.source import stack\n\n\ndef here():\n    return stack()\n"
    shown = []
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(text)
        module: dict[str, Any] = {}
        exec(compile(text, str(tmp_path / name), "exec"), module)
        shown.append({line.path for line in module["here"]()})
    assert str(tmp_path / "one.py") in shown[0]
    assert str(tmp_path / "two.py") in shown[1]
    assert str(tmp_path / "one.py") not in shown[1]


def test_one_thread_parses_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, parsing = ast.parse, []

    def seen(text: str) -> ast.Module:
        parsing.append(source._parsing.locked())
        return parse(text)

    monkeypatch.setattr("harness.framework.compile.source.ast.parse", seen)
    source.syntax_tree("x = 1")
    assert parsing == [True]
    assert not source._parsing.locked()

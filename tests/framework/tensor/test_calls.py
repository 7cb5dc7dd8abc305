"""Calls of graph functions are handed over while a graph is traced, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from harness.framework.tensor import Dispatcher, graph_function, graph_key, using
from harness.framework.tensor.calls import FunctionCall, innermost


def handed(call: FunctionCall | None) -> list[tuple[Any, bool, bool, tuple[Any, ...], dict[str, Any]]]:
    """What a call and those around it hand over, innermost first."""
    found = []
    while call is not None:
        found.append((call.key, call.shared, call.named, call.args, call.kwargs))
        call = call.around
    return found


def test_a_call_says_what_the_wrapper_knows() -> None:
    inner = graph_function("ops.inner", lambda *_args, **_words: innermost(), shared=False)
    outer = graph_function("Tensor.outer", lambda *_args, **_words: inner(3, word=4))
    with using(Dispatcher()):
        found = handed(outer(1, axis=2))
    assert found == [("ops.inner", False, False, (3,), {"word": 4}), ("Tensor.outer", True, True, (1,), {"axis": 2})]


def test_nothing_is_handed_over_outside_of_graphs() -> None:
    assert graph_function("ops.inner", innermost)() is None


def test_a_call_that_fails_is_over() -> None:
    def fail() -> None:
        raise ValueError

    with using(Dispatcher()):
        with pytest.raises(ValueError):
            graph_function("ops.fail", fail)()
        assert innermost() is None


def test_only_a_graph_function_has_a_key() -> None:
    assert graph_key(graph_function("ops.mine", len)) == "ops.mine"
    assert graph_key(len) is graph_key([]) is graph_key(lambda: None) is None

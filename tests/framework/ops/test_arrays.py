"""Operators on shapes, indices, matrices, windows, norms and losses: the nodes they emit and their results.

The facts are recorded from the real MindSpore by ``tests/interop/array_facts.py``.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness import Tensor, ops
from harness.errors import HarnessError
from harness.framework import jit
from tests.framework.ops.facts import WORDS, emitted, read, recorded
from tests.framework.ops.test_values import close
from tests.interop.array_facts import signature

WORDS["Tensor"] = Tensor
GRAPHS, VALUES, SIGNATURES = (recorded(f"array_{name}") for name in ("graphs", "values", "signatures"))
DONE = [case for case, found in VALUES.items() if not isinstance(found, str)]
REFUSED = [case for case, found in VALUES.items() if isinstance(found, str)]


#: attributes the compiler adds to what a call emits, and the seeds of drawn numbers
_ADDED = re.compile(
    r'(, )?(right_format: "\w+", dst_type: \w+, left_format: "\w+"|dyn_input_sizes: \([-\d, ]+\)|N: I64\(\d+\))'
    r"|(?<=\W)seed2?: I64\(-?\d+\)(, )?"
)


def emission(lines: list[str]) -> list[str]:
    """Kernels without what the compiler adds to their attributes."""
    return [_ADDED.sub("", line).replace(" {}", "") for line in lines]


@pytest.mark.parametrize("case", GRAPHS)
def test_emits_what_mindspore_does(case: str) -> None:
    assert emission(emitted(case)) == emission(GRAPHS[case])


def result(case: str) -> Any:
    """The result of a case, or the gradient it asks for."""
    function, inputs, sens = read(case)
    if sens is None:
        return function(*inputs)
    from harness.framework.nn import Cell

    class Net(Cell):
        def construct(self, *args: Any) -> Any:
            return function(*args)

    return ops.GradOperation(get_all=True, sens_param=True)(Net())(*inputs, sens)


@pytest.mark.parametrize("case", DONE)
def test_gives_what_mindspore_does(case: str) -> None:
    half = (2e-3, 1e-6) if "float16" in case else (1e-5, 1e-6)
    close(result(case), VALUES[case], *half)


#: what was recorded of graphs alone: outside of them two ints exchange axes
IN_GRAPHS = {"x.transpose(0,2) | grid(2,3,4)"}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_what_mindspore_does(case: str) -> None:
    function, inputs, _ = read(case)
    function = jit(function) if case in IN_GRAPHS else function
    with pytest.raises((HarnessError, IndexError)):
        function(*inputs)


#: the functions whose arguments MindSpore hides behind ``*args``
HIDDEN = {"tensor_scatter_update"}


@pytest.mark.parametrize("name", sorted(set(SIGNATURES) - HIDDEN))
def test_has_mindspores_arguments(name: str) -> None:
    ours = [row[0] for row in signature(getattr(ops, name))]
    theirs = [row[0] for row in SIGNATURES[name]]
    assert ours == theirs

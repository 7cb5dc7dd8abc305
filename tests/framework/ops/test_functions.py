"""Functions, Tensor methods and older primitives that scripts use less often: their graphs, results and refusals.

The facts are recorded from the real MindSpore by ``tests/interop/function_facts.py``.
"""

from __future__ import annotations

import builtins

import pytest

from harness.errors import HarnessError
from tests.framework.ops.facts import emitted, read, recorded
from tests.framework.ops.test_arrays import emission, result
from tests.framework.ops.test_values import close

GRAPHS, VALUES = (recorded(f"function_{name}") | recorded(f"later_{name}") for name in ("graphs", "values"))


@pytest.mark.parametrize("case", [case for case, found in GRAPHS.items() if not isinstance(found, str)])
def test_emits_what_mindspore_does(case: str) -> None:
    assert emission(emitted(case)) == emission(GRAPHS[case])


@pytest.mark.parametrize("case", [case for case, found in GRAPHS.items() if isinstance(found, str)])
def test_graphs_refuse_what_mindspores_do(case: str) -> None:
    with pytest.raises(getattr(builtins, GRAPHS[case])) as caught:
        emitted(case)
    assert isinstance(caught.value, HarnessError)


@pytest.mark.parametrize("case", [case for case, found in VALUES.items() if not isinstance(found, str)])
def test_gives_what_mindspore_does(case: str) -> None:
    found = result(case)
    if isinstance(found, (bool, int)) or case.startswith("x.stride("):
        assert found == (tuple(VALUES[case]) if isinstance(found, tuple) else VALUES[case])
    else:
        close(tuple(found) if isinstance(found, list) else found, VALUES[case], 2e-5, 2e-6)


@pytest.mark.parametrize("case", [case for case, found in VALUES.items() if isinstance(found, str)])
def test_refuses_what_mindspore_does(case: str) -> None:
    function, inputs, _ = read(case)
    with pytest.raises(getattr(builtins, VALUES[case])) as caught:
        function(*inputs)
    assert isinstance(caught.value, HarnessError)

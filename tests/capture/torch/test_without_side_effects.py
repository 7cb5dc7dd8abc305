"""Programs give the same bits captured and alone, at every granularity, and nothing of them goes unread."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from tests.capture.torch.alone import a_tripled_value_fails, ran, same_captured_and_alone
from tests.capture.torch.programs import CASES

#: PyTorch's own, of what it is about to drop
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("granularity", ["operators", "modules"])
@pytest.mark.parametrize("name", CASES)
def test_the_same_captured_and_alone(name: str, granularity: str) -> None:
    same_captured_and_alone(CASES[name], granularity)


#: Nothing of them has values that an operator computes below the capture.
WITHOUT_VALUES = frozenset({"meta"})


@pytest.mark.parametrize("name", sorted(CASES.keys() - WITHOUT_VALUES))
def test_a_tripled_value_fails(name: str) -> None:
    a_tripled_value_fails(CASES[name])


def test_a_region_of_compiled_code_has_its_inputs_and_outputs() -> None:
    _, capture = ran(CASES["inductor"], "operators")
    regions = [each for each in capture.records() if each.op_type == "compiled_region"]
    names = {each.key.operator for each in regions}
    assert {"Default/compiled_region-op0", "Gradients/Default/compiled_region-op0"} <= names
    assert {each.key.io for each in regions} == {"input", "output"}
    forward = [each for each in regions if each.key.operator == "Default/compiled_region-op0"]
    assert any(each.key.io == "output" and each.shape == (5, 3) for each in forward)
    assert not any(each.op_type == "addmm" for each in capture.records())


def test_regions_that_run_by_operators_are_recorded_so() -> None:
    _, capture = ran(CASES["aot_eager"], "operators")
    types = {each.op_type for each in capture.records()}
    assert {"addmm", "gelu", "gelu_backward"} <= types
    assert "compiled_region" not in types


#: PyTorch's compiler is not loaded before the first step.
FIRST = """
import torch
from harness.capture.torch import TorchCapture
from tests.capture.torch.programs import Net, given
module = Net()
watch, function = TorchCapture(module, paths=True), None
for _ in range(2):
    with watch.step():
        function = function or torch.compile(lambda x: module(x) * 2, backend="inductor")
        function(given()).sum().backward()
types = [[], []]
for record in watch.capture().records():
    types[record.key.iteration].append((record.key.operator, record.key.io)) if "_region" in record.op_type else None
print(types[0] == types[1], bool(types[0]), watch.capture().gaps)
"""


@pytest.mark.long
def test_code_that_is_first_compiled_inside_a_step() -> None:
    if shutil.which("g++") is None:
        pytest.skip("inductor needs a compiler")
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "True True []"

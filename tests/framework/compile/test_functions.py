"""The scopes in which functions of the library and of the user stand."""

from __future__ import annotations

from typing import Any

import pytest

from harness import nn, ops
from harness.framework.compile.functions import FunctionScopes
from harness.framework.tensor import OLD
from tests.framework.compile.build import compiled, floats


def test_a_function_stays_where_it_was_first_called() -> None:
    scopes = FunctionScopes(None)
    assert scopes.enter("ops.exp", "Default/a") == ("Default/a", "Default/a")
    assert scopes.enter("ops.exp", "Default/b") == ("Default/a", "Default/a")


def test_a_single_operator_first_called_in_default_moves() -> None:
    scopes = FunctionScopes(None)
    scopes.enter("Tensor.__add__", "Default")
    assert scopes.enter("Tensor.__add__", "Default/b") == ("Default", "Default/b")


@pytest.mark.parametrize("key", ["ops.softmax", "Tensor.mean", ("Tensor.__getitem__", "int")])
def test_one_in_a_function_further_in_does_not(key: Any) -> None:
    scopes = FunctionScopes(None)
    scopes.enter(key, "Default")
    assert scopes.enter(key, "Default/b") == ("Default", "Default")


@pytest.mark.parametrize("key", [f"Tensor.sum{OLD}", "ops.less", f"Tensor.mean{OLD}"])
def test_some_stand_in_default_from_wherever_they_are_called(key: str) -> None:
    assert FunctionScopes(None).enter(key, "Default/a") == ("Default", "Default")


class Reduced(nn.Cell):
    def __init__(self, keyword: str) -> None:
        super().__init__()
        self.arguments = {keyword: 1}

    def construct(self, x: Any) -> Any:
        return ops.tanh(x).mean(**self.arguments)


def test_the_older_keyword_of_a_method_leads_to_another_function() -> None:
    with compiled() as graphs:
        nn.SequentialCell(Reduced("axis"))(floats(2, 3))
    found = {node.op: node.scope for node in graphs[0].nodes if node.kernel}
    assert found == {"Tanh": "Default/0-Reduced", "ReduceMean": "Default"}


class Last(nn.Cell):
    """What users take of an LSTM: its last output, and its last state."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 6, batch_first=True)
        self.fc = nn.Dense(6, 2)

    def construct(self, x: Any) -> Any:
        outputs, (state, _) = self.lstm(x)
        return self.fc(outputs[:, -1]) + self.fc(state[0])


def test_an_index_of_a_library_layer_is_a_function_for_each_kind() -> None:
    """As MindSpore 2.10.0 has it: the layer takes ``h[0]`` first, and nobody a tuple."""
    network = Last()
    with compiled() as graphs:
        step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.SGD(network.trainable_params(), 0.1))
        step(floats(3, 4, 5), floats(3, 2))
    found = [node.scope.partition("_backbone-Last")[2] for node in graphs[0].nodes if node.op == "StridedSlice"]
    assert sorted(found) == ["", "/lstm-LSTM", "/lstm-LSTM"]

"""How modules are configured, and the state of generators: recorded, compared, told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from harness.capture import Capture  # noqa: E402
from harness.capture.torch import TorchCapture  # noqa: E402
from harness.gate.sides import party_of  # noqa: E402

pytestmark = pytest.mark.interop


class Root(nn.Module):
    """A norm of one's own, whose eps stays within every tolerance."""

    def __init__(self, eps: float = 1e-5, words: str = "short", _hidden: int = 3) -> None:
        super().__init__()
        self.eps, self.words, self._hidden = eps, words, _hidden
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def captured(make: Callable[[], nn.Module], seed: int = 1, granularity: str = "operators", steps: int = 1) -> Capture:
    torch.manual_seed(3)
    module, x = make(), torch.randn(4, 8)
    torch.manual_seed(seed)
    watch = TorchCapture(module, paths=True, granularity=granularity)
    for _ in range(steps):
        with watch.step():
            module(x)
    return watch.capture()


def altered(one: Capture, other: Capture) -> list[tuple[str, str, str, str]]:
    found = party_of(one).identities.altered(party_of(other).identities)
    return [(each.operator, each.name, each.expected, each.found) for each in found]


@pytest.mark.parametrize("granularity", ["operators", "modules", "sentinel"])
def test_settings_of_modules_are_compared(granularity: str) -> None:
    runs = [
        captured(lambda eps=eps: nn.Sequential(nn.Linear(8, 8), Root(eps)), granularity=granularity)
        for eps in (1e-5, 1e-6)
    ]
    assert altered(*runs) == [("Default/modules-op0", "1.eps", "1e-05", "1e-06")]
    assert altered(runs[0], runs[0]) == []


def test_what_is_a_setting() -> None:
    made = nn.Sequential(
        nn.Conv1d(8, 4, 3, stride=2, padding=1), nn.BatchNorm1d(4, momentum=0.2), nn.Dropout(0.3).eval(),
        nn.Dropout(0.4), nn.ReLU(inplace=True), nn.GELU("tanh"), Root(words="/a/path"),
    )  # fmt: skip
    watch = TorchCapture(made, paths=True)
    with watch.step():
        made[0](torch.ones(2, 8, 8))
    held = watch.capture().operators[0, 0, "Default/modules-op0"].attributes
    assert held["0"]["stride"] == (2,)
    assert "in_channels" not in held["0"]
    assert held["1"]["momentum"] == 0.2
    assert held["3"] == {"p": 0.4}
    assert held["5"] == {"approximate": "tanh"}
    assert held["6"] == {"eps": 1e-5}
    assert held.keys() == {"0", "1", "3", "5", "6"}


def test_what_one_side_lacks_is_not_compared() -> None:
    one = captured(lambda: nn.Sequential(Root(), nn.Dropout(0.0)))
    other = captured(lambda: nn.Sequential(Root(), nn.Identity(), nn.GELU()))
    assert altered(one, other) == []


def test_a_generator_in_another_state_is_told() -> None:
    runs = [captured(lambda: nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), seed=seed) for seed in (1, 2)]
    ((operator, attribute, one, other),) = altered(*runs)
    assert (operator, attribute) == ("1/bernoulli_-op0", "generator")
    assert one.startswith('"seed=1 state=')
    assert other.startswith('"seed=2 state=')


def test_a_generator_that_went_on_is_told() -> None:
    class Draws(nn.Module):
        def __init__(self, before: int) -> None:
            super().__init__()
            self.made = torch.Generator().manual_seed(7)
            for _ in range(before):
                torch.rand(1, generator=self.made)

        def forward(self, x: Any) -> Any:
            return x + torch.rand(8, generator=self.made)

    ((operator, name, one, other),) = altered(*(captured(lambda before=before: Draws(before)) for before in (1, 2)))
    assert (operator, name) == ("Default/rand-op0", "generator")
    assert one.startswith('"seed=7 ')
    assert other.startswith('"seed=7 ')


def test_each_step_has_its_state() -> None:
    run = captured(lambda: nn.Dropout(0.5), steps=2)
    states = [one.attributes["generator"] for one in run.operators.values() if one.type == "bernoulli_"]
    assert len(set(states)) == 2
    assert {name for _, _, name in run.operators if "bernoulli" in name} == {
        "Default/bernoulli_-op0", "Default/bernoulli_-op0@1",
    }  # fmt: skip


def test_what_draws_nothing_has_no_state() -> None:
    run = captured(lambda: nn.MultiheadAttention(8, 2).eval().requires_grad_(False) and nn.Dropout(0.0).eval())
    assert not [one for one in run.operators.values() if "generator" in one.attributes]


def test_modules_without_settings_are_described_as_well() -> None:
    """Else a module that comes with settings would be told as an operator more, in place of what it computes."""
    for act in (torch.nn.ReLU(), torch.nn.GELU()):
        module = torch.nn.Sequential(torch.nn.Linear(4, 3), act)
        watch = TorchCapture(module)
        with watch.step():
            module(torch.ones(2, 4))
        assert (0, 0, "Default/modules-op0") in watch.capture().operators

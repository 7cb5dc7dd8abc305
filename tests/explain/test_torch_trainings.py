"""Causes of trainings of PyTorch: every setting of an optimizer, steps and gradients that are left out, proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from collections import Counter  # noqa: E402

from harness.explain import side_of  # noqa: E402
from harness.explain.extracting import extract  # noqa: E402
from tests.interop.torch_faults import Way, captured, judged_and_told, stored  # noqa: E402
from tests.interop.torch_faults import run_extracted as run  # noqa: E402
from tests.interop.torch_kinds import LOOPS, MORE_KINDS, MORE_TRAININGS, TRAININGS  # noqa: E402

pytestmark = pytest.mark.interop
SETTINGS = {**TRAININGS, **MORE_TRAININGS}


class Added(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.norm, self.two = torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        y = self.norm(self.one(x))
        return self.two(torch.add(y, y.relu()))


def make() -> tuple[Any, tuple[Any, ...]]:
    torch.manual_seed(0)
    return Added(), (torch.linspace(-1, 1, 12).reshape(3, 4),)


@pytest.fixture(scope="module")
def golden() -> Any:
    return stored(captured(make, Way(train=True))[0])


def told(golden: Any, way: Way) -> tuple[Any, Any]:
    made = captured(make, way)[0]
    explanation = judged_and_told(golden, made)[1]
    assert explanation is not None
    assert explanation.cause is not None
    return explanation, made


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_setting_of_an_optimizer_is_proven(golden: Any, name: str) -> None:
    change, words = SETTINGS[name]
    cause = told(golden, Way(train=True, optimize=change))[0].cause
    assert cause.certainty.proven, cause
    assert any(word in cause.text for word in words), cause.text


def test_a_setting_without_effect_on_the_step_is_not_proven(golden: Any) -> None:
    def capturable(optimizer: Any) -> None:
        optimizer.param_groups[0]["differentiable_by_us"] = True

    explanation = judged_and_told(golden, captured(make, Way(train=True, optimize=capturable))[0])[1]
    assert explanation is None or explanation.cause is None or not explanation.cause.certainty.proven


@pytest.mark.parametrize("name", sorted(LOOPS.keys() - {"other seed"}))  # nothing here draws
def test_what_is_wrong_with_a_loop_is_proven(golden: Any, name: str) -> None:
    cause = told(golden, Way(train=True, loop=name))[0].cause
    assert cause.certainty.proven, cause
    assert any(word in cause.text for word in LOOPS[name]), cause.text
    if name == "no step":
        assert cause.text == "removed: optimizer-AdamW takes no step in iteration 1"


def test_a_parameter_that_the_optimizer_of_one_side_alone_has_is_named(golden: Any) -> None:
    less = captured(make, Way(train=True, loop="parameter left out"))[0]
    found = judged_and_told(golden, less)[1], judged_and_told(stored(less), captured(make, Way(train=True))[0])[1]
    texts = [each.cause.text for each in found if each is not None and each.cause is not None]
    assert texts == [
        "removed: optimizer-AdamW does not update norm.bias, of which there are gradients",
        "inserted: optimizer-AdamW updates norm.bias, unlike in the golden",
    ]
    assert all(each is not None and each.cause is not None and each.cause.certainty.proven for each in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [("detached", "a part of the gradient is cut off: none reaches one."), ("doubled residual", "add's alpha")],
)
def test_calls_that_change_gradients_or_defaults_are_proven(golden: Any, name: str, text: str) -> None:
    kind = next(each for each in MORE_KINDS if each.name == name)
    cause = told(golden, Way(train=True, kind=kind, target=1 if name == "detached" else 0))[0].cause
    assert cause.certainty.proven, cause
    assert cause.text.startswith(text), cause.text


def test_faults_without_an_operator_of_their_own_are_tests_of_the_next_one(golden: Any, tmp_path: Path) -> None:
    ways = [Way(train=True, optimize=SETTINGS["learning rate"][0]), Way(train=True, loop="loss summed")]
    for number, way in enumerate(ways):
        explanation, made = told(golden, way)
        written = extract(explanation, side_of(golden), side_of(made), "beside.npz")
        (tmp_path / f"test_{number}.py").write_text(written.text)
    seen: Counter[str] = Counter()
    run(tmp_path, seen)
    assert seen["tests as they should"] == len(ways)

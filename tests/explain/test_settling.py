"""What rounding accounts for between captures of PyTorch: other orders of sums pass, faults do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.compare.policy import Party, judge  # noqa: E402
from harness.dtypes import ARGUMENT_FORMAT  # noqa: E402
from harness.explain import Evidence, Subject, explained, settle, told  # noqa: E402
from harness.records import Record  # noqa: E402
from harness.stats import describe, digest  # noqa: E402

pytestmark = pytest.mark.interop


class Network(torch.nn.Module):
    def __init__(self, scale: float = 1.0, eps: float = 1e-5) -> None:
        super().__init__()
        self.one, self.norm, self.two = torch.nn.Linear(64, 32), torch.nn.LayerNorm(32, eps), torch.nn.Linear(32, 3)
        self.scale = scale

    def forward(self, x: Any) -> Any:
        x = x * 3.0
        y = self.norm(torch.tanh(self.one(x) * self.scale))
        return self.two(y * 2.0 + y)


def captured(network: Callable[[], Any], lr: float = 0.1, threads: int = 1) -> list[Record]:
    torch.manual_seed(0)
    made = network()
    optimizer, watch = torch.optim.SGD(made.parameters(), lr, momentum=0.9), TorchCapture(made)
    x = torch.linspace(-1, 1, 8 * 64).reshape(8, 64).sin()
    for _ in range(2):
        with watch.step():
            optimizer.zero_grad()
            made(x).square().mean().backward()
            optimizer.step()
    return list(watch.capture().records())


def judged(one: list[Record], other: list[Record], golden: dict[str, Any], run: dict[str, Any], **more: Any) -> Any:
    sides = (
        Party(one, "torch", stored=True, environment=lambda: golden, **more),
        Party(other, "torch", stored=True, environment=lambda: run),
    )
    return judge(*sides, lay=lambda _one, _other: None, settle=settle)


def rounded(records: list[Record], operator: str, ulps: int = 3) -> list[Record]:
    """A run in which an operator's results, and nothing else, have other last bits; a fault of nobody."""
    made = []
    for record in records:
        values = record.load()
        if record.key.operator == operator and record.key.io == "output" and values is not None:
            moved = (values.view(np.int32) + ulps).view(np.float32)
            made.append(replace(record, values=moved, digest=None))
        else:
            made.append(record)
    return made


def test_equal_bits_are_asked_where_two_runs_had_them() -> None:
    here = {"torch": "2.13", "torch threads": 1}
    one = captured(Network)
    other = rounded(one, "Default/two-Linear/addmm-op0", ulps=1)
    assert judged(one, one, here, here, repeated=lambda: True).holds
    assert judged(one, other, here, here).holds  # nobody knows whether bits are equal here
    found = judged(one, other, here, here, repeated=lambda: True)
    assert not found.holds
    assert "equal bits" in found.rule
    assert judged(one, other, here, {**here, "torch threads": 2}, repeated=lambda: True).holds


@pytest.mark.parametrize("change", [{"scale": 1.001}, {"eps": 1e-3}, {"lr": 0.1001}])
def test_a_fault_stays_one_in_another_environment(change: dict[str, float]) -> None:
    lr = change.pop("lr", 0.1)
    one, other = captured(Network), captured(lambda: Network(**change), lr)
    assert not judged(one, other, {"torch threads": 1}, {"torch threads": 2}).holds


def test_another_number_of_threads_passes() -> None:
    """Real rounding: the sums are shared among threads in another way."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = captured(Network)
        torch.set_num_threads(4)
        other = captured(Network)
    finally:
        torch.set_num_threads(before)
    assert judged(one, other, {"torch threads": 1}, {"torch threads": 4}).holds


def test_bits_beyond_the_noise_of_an_operator_do_not_pass() -> None:
    one = captured(Network)
    other = rounded(one, "Default/two-Linear/addmm-op0", ulps=2000)
    assert not judged(one, other, {"torch threads": 1}, {"torch threads": 2}).holds


def explanation(one: list[Record], other: list[Record]) -> str:
    found = judged(one, other, {"torch": "2.13"}, {"torch": "2.13"}, repeated=lambda: True)
    sides = Evidence(lambda: one, dict, "torch"), Evidence(lambda: other, dict, "torch")
    subject = Subject("run", "golden")
    return told(found, subject, explained(found, subject, *sides))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": 2.0}, "Cause, proven by replay: mul's other 1.0 -> 2.0"),
        ({"eps": 1e-6}, "Cause, proven by replay: eps 1e-05 -> 1e-06"),
        ({"lr": 0.2}, "Cause, proven by replay: lr 0.1 -> 0.2"),
    ],
)
def test_the_cause_is_proven(change: dict[str, float], words: str) -> None:
    lr = change.pop("lr", 0.1)
    assert words in explanation(captured(Network), captured(lambda: Network(**change), lr))


class Unscaled(Network):
    def forward(self, x: Any) -> Any:
        y = self.norm(torch.tanh(self.one(x) * self.scale))
        return self.two(y * 2.0 + y)


def test_one_that_is_removed_is_named_though_the_numbers_of_others_change() -> None:
    text = explanation(captured(Network), captured(Unscaled))
    assert "Cause, proven bit for bit: removed: Default/mul-op0" in text


class Walks(torch.nn.Module):
    """Runs equal operators in an order that a set decides."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.order, self.two = order, torch.nn.Linear(64, 3)

    def forward(self, x: Any) -> Any:
        made = {name: x * {"a": 2.0, "b": 3.0}[name] for name in self.order}
        return self.two(made["a"] - made["b"])


def test_another_order_alone_holds() -> None:
    found = judged(captured(lambda: Walks("ab")), captured(lambda: Walks("ba")), {}, {})
    assert found.holds
    assert any("PYTHONHASHSEED" in note for note in found.notes)


class Sparse(torch.nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by, self.w = by, torch.nn.Parameter(torch.ones(64, 2))

    def forward(self, x: Any) -> Any:
        return (x.detach().to_sparse() * self.by) @ self.w


def test_a_sparse_input_is_told_as_what_differs() -> None:
    text = explanation(captured(lambda: Sparse(1.0)), captured(lambda: Sparse(3.0)))
    assert "mul's other 1.0 -> 3.0" in text
    assert "its input agrees" not in text


def slim(records: list[Record], since: int = 1) -> list[Record]:
    """What a golden keeps of a long training: digests and statistics from the second step on."""
    made = []
    for record in records:
        values = record.load()
        if record.key.iteration >= since and values is not None and record.format != ARGUMENT_FORMAT:
            extra = replace(record.extra, statistics=describe(values, record.dtype), apart=True)
            made.append(replace(record, values=None, digest=digest(values, record.dtype), extra=extra))
        else:
            made.append(record)
    return made


def drawn_elsewhere(**how: float) -> Network:
    """A network whose weights have other last bits: as drawn by another processor."""
    made = Network(**how)
    signs = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for each in made.parameters():
            each.mul_(1 + 2.0**-22 * (torch.randint(0, 2, each.shape, generator=signs) * 2 - 1))
    return made


def stated(records: list[Record]) -> list[Record]:
    """What mode statistic keeps: no values."""
    return slim(records, 0)


Kept = Callable[[list[Record]], list[Record]]


@pytest.mark.parametrize(
    ("kept", "ran"), [(list, list), (slim, list), (stated, stated)], ids=["all values", "first step", "statistics"]
)
def test_weights_drawn_by_another_processor_pass_and_faults_beside_them_do_not(kept: Kept, ran: Kept) -> None:
    here, there = {"torch capability": "AVX512"}, {"torch capability": "AVX2"}
    golden = kept(captured(Network))
    found = judged(golden, ran(captured(drawn_elsewhere)), here, there)
    assert found.holds, [(each.key, each.reason) for each in found.comparison.slots if not each.verdict.holds][:3]
    assert any("rounding" in each.reason for each in found.comparison.slots)
    for fault in (captured(lambda: drawn_elsewhere(eps=1e-3)), captured(lambda: drawn_elsewhere(scale=1.001)),
                  captured(drawn_elsewhere, lr=0.1001)):  # fmt: skip
        assert not judged(golden, ran(fault), here, there).holds


@pytest.mark.parametrize("operator", ["Default/two-Linear/addmm-op0", "Default/norm-LayerNorm/native_layer_norm-op0"])
def test_statistics_alone_show_results_that_no_rounding_gives(operator: str) -> None:
    here, there = {"torch threads": 1}, {"torch threads": 2}
    one = captured(Network)
    assert judged(stated(one), stated(rounded(one, operator, ulps=1)), here, there).holds
    assert not judged(stated(one), stated(rounded(one, operator, ulps=1 << 20)), here, there).holds


class Masked(torch.nn.Module):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.one = torch.nn.Linear(8, 8)
        self.scale = scale

    def forward(self, x: Any) -> Any:
        y = self.one(x).softmax(-1)
        mask = torch.full((8, 8), -torch.inf).triu(1)
        return ((y @ y.t()) * self.scale + mask).softmax(-1)


def test_a_mask_of_infinities_hides_neither_rounding_nor_a_fault() -> None:
    def ran(moved: float = 0.0, **how: float) -> list[Record]:
        torch.manual_seed(0)
        made = Masked(**how)
        with torch.no_grad():
            made.one.weight.mul_(1 + moved)
        watch = TorchCapture(made, mode="statistic")
        with watch.step():
            made(torch.linspace(-1, 1, 64).reshape(8, 8).sin())
        return list(watch.capture().records())

    here, there = {"torch capability": "AVX512"}, {"torch capability": "AVX2"}
    assert judged(ran(), ran(2.0**-22), here, there, mode="statistic").holds
    assert not judged(ran(), ran(2.0**-22, scale=1.001), here, there, mode="statistic").holds
    assert not judged(ran(), ran(2.0**-7), here, there, mode="statistic").holds

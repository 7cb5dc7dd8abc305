"""A training step in PyTorch becomes a capture with PyTorch's own values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from harness.capture import Capture  # noqa: E402
from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.parts import DTYPES  # noqa: E402
from harness.capture.torch.scopes import scopes_of  # noqa: E402
from harness.capture.torch.values import host_array  # noqa: E402
from harness.compare import check, first_divergence  # noqa: E402
from harness.errors import SettingError, SettingTypeError, TraceError  # noqa: E402
from harness.stats import describe, digest  # noqa: E402
from harness.store import GoldenStore, RunData, RunId, update  # noqa: E402
from tests.capture.torch.runs import CASES, Mlp, Training, captured  # noqa: E402

pytestmark = pytest.mark.interop
every_case = pytest.mark.parametrize("name", CASES)


def digest_of(tensor: Any) -> bytes:
    return digest(host_array(tensor), DTYPES[tensor.dtype].name)


def outputs_in(capture: Capture, scope: str, iteration: int) -> set[bytes | None]:
    """Digests of what operators of ``scope`` itself gave."""
    return {
        r.digest
        for r in capture.records()
        if r.key.io == "output" and r.key.iteration == iteration and r.key.operator.rpartition("/")[0] == scope
    }


@every_case
def test_values_are_pytorchs_own_and_in_the_right_scope(name: str) -> None:
    """Beside an uncaptured run, looked at with PyTorch's own hooks."""
    capture = captured(name)
    other = Training(CASES[name])
    scopes = scopes_of(other.module)
    fused = (torch.nn.TransformerEncoderLayer, torch.nn.MultiheadAttention)
    for iteration, batch in enumerate(other.batches):
        seen: list[tuple[str, bytes]] = []

        def look(module: Any, _: Any, given: Any, seen: list[tuple[str, bytes]] = seen) -> None:
            seen.append((scopes[module], digest_of(given)))

        leaves = [module for module in scopes if not list(module.children()) and not isinstance(module, fused)]
        handles = [module.register_forward_hook(look) for module in leaves]
        other.step(batch)
        for handle in handles:
            handle.remove()
        assert len(seen) >= 2
        for scope, content in seen:
            # A module may return what it was given, as a flattened view for instance is an operator of its own.
            assert content in outputs_in(capture, scope, iteration), scope
        for module, scope in scopes.items():
            for parameter in module.parameters(recurse=False):
                # A module may compute with the parameters of one below it, as attention does.
                above = (scope, scope.rpartition("/")[0])
                found = [outputs_in(capture, f"Gradients/{each}", iteration) for each in above]
                assert any(digest_of(parameter.grad) in each for each in found), scope
        now = {r.key.operator: r.digest for r in capture.records()
               if r.op_type == "Parameter" and r.key.iteration == iteration}  # fmt: skip
        named = [*other.module.named_parameters(), *other.module.named_buffers()]
        assert now == {each: digest_of(tensor) for each, tensor in named}


@every_case
def test_a_capture_changes_nothing(name: str) -> None:
    plain = Training(CASES[name])
    plain.plain()
    watched = Training(CASES[name])  # seeds again: a dropout draws
    watched.captured(mode="statistic")
    for one, other in zip(plain.module.state_dict().values(), watched.module.state_dict().values(), strict=True):
        assert torch.equal(one, other)


@every_case
@pytest.mark.parametrize("mode", ["tensor", "statistic"])
def test_an_equal_run_is_identical_to_its_golden(name: str, mode: str, tmp_path: Path) -> None:
    first = captured(name, mode=mode)
    level = "tensors" if mode == "tensor" else "digest"
    path, run = tmp_path / "net.h5", RunId("torch", mode)
    update(path, "net", {run: RunData(first.records(), level=level)})
    with GoldenStore.open(path) as store:
        result = check(store.run(*run), captured(name, mode=mode))
    assert result.holds
    assert len(result.slots) == len(list(first.records())) > 50


@every_case
def test_statistics_are_those_of_the_tensors(name: str) -> None:
    tensors, statistics = list(captured(name).records()), list(captured(name, mode="statistic").records())
    assert [r.key for r in tensors] == [r.key for r in statistics]
    for whole, row in zip(tensors, statistics, strict=True):
        array = whole.load()
        assert array is not None
        assert row.load() is None
        assert row.digest == whole.digest == digest(array, whole.dtype)
        wanted, found = describe(array, whole.dtype), row.extra.statistics
        for field in wanted.__dataclass_fields__:
            one, other = getattr(wanted, field), getattr(found, field)
            scale = max(abs(wanted.max), abs(wanted.min)) if field == "avg" else abs(one)
            exact = field not in ("avg", "l2norm")
            assert one == other if exact else abs(one - other) <= 1e-6 * scale, (row.key, field)


def test_a_changed_weight_is_the_first_divergence() -> None:
    golden = captured("mlp-adam")
    training = Training(CASES["mlp-adam"])
    with torch.no_grad():
        training.module.fc2.weight[1, 2] += 1
    result = check(golden.records(), training.captured())
    assert not result.holds
    first = next(slot for slot in result.slots if slot.verdict.value == "differs")
    # The weight comes in through a transposition.
    assert (first.key.operator, first.key.slot_name) == ("Default/fc2-Linear/t-op0", "input.0")


def test_a_changed_operator_is_the_first_divergence() -> None:
    golden = captured("mlp-adam")
    training = Training(CASES["mlp-adam"])

    training.module.act = lambda x: torch.clamp_min(x, 0.001)
    result = check(golden.records(), training.captured())
    operators = {slot.key.operator: slot.verdict.value for slot in result.slots}
    assert operators["Default/relu-op0"] == "missing"
    assert operators["Default/clamp_min-op0"] == "unexpected"

    class Wrong(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            return torch.addmm(self.bias, x, self.weight.t(), alpha=1.001)

    training = Training(CASES["mlp-adam"])
    training.module.fc2.__class__ = type("Linear", (Wrong,), {})
    result = check(golden.records(), training.captured())
    divergence = first_divergence(result)
    assert divergence is not None
    assert (divergence.where.operator, divergence.where.iteration) == ("Default/fc2-Linear/addmm-op0", 0)
    assert divergence.kind.value == "takes other inputs"


def test_bfloat16() -> None:
    capture = Training(CASES["mlp-sgd"], torch.bfloat16).captured()
    records = [r for r in capture.records() if r.key.operator == "Default/fc1-Linear/addmm-op0" and not r.key.iteration]
    assert {r.dtype for r in records} == {"BFloat16"}
    other = Training(CASES["mlp-sgd"], torch.bfloat16)
    wanted = other.module.fc1(other.batches[0]).detach().to(torch.float32).numpy()
    found = records[-1].load()
    assert found is not None
    np.testing.assert_array_equal(found.astype(np.float32), wanted)
    again = Training(CASES["mlp-sgd"], torch.bfloat16).captured()
    assert check(capture.records(), again).holds


class Surprising(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """Fails in the middle, inside of a module inside of a module."""

    def __init__(self, fail: bool) -> None:
        super().__init__()
        self.inner = Mlp(self.act)
        self.fail = fail

    def act(self, x: Any) -> Any:
        if self.fail:
            raise ZeroDivisionError("on purpose")
        return torch.relu(x)

    def forward(self, x: Any) -> Any:
        return self.inner(x)


def traces() -> tuple[Any, ...]:
    """What a capture could leave behind in PyTorch."""
    from torch.optim import optimizer as optim

    return (
        torch._C._len_torch_dispatch_stack(), torch.autograd.backward, torch.autograd.grad,
        dict(optim._global_optimizer_pre_hooks), dict(optim._global_optimizer_post_hooks),
    )  # fmt: skip


def hooks(module: Any) -> int:
    return sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in module.modules())


@pytest.mark.parametrize("select", [None, "Default/inner*", "Gradients*", "Gradients/Default/inner-Mlp/fc1*"])
@pytest.mark.parametrize("where", ["module", "operator", "backward", "step", "interrupt"])
def test_what_fails_inside_a_step_leaves_pytorch_as_it_was(select: str | None, where: str) -> None:
    net = Surprising(where == "module")
    watch = TorchCapture(net, select=select)
    before = traces()
    x = torch.ones(2, 6)

    def interrupted(_: Any) -> None:
        raise KeyboardInterrupt

    def fail() -> None:
        with watch.step():
            out = net(x if where != "operator" else torch.ones(2, 5))
            if where == "backward":
                torch.autograd.grad(out.sum(), torch.ones(3, requires_grad=True))
            if where == "interrupt":
                out.register_hook(interrupted)
                out.sum().backward()
            raise ValueError

    with pytest.raises((ZeroDivisionError, RuntimeError, ValueError, KeyboardInterrupt)):
        fail()
    assert traces() == before
    assert not hooks(net)
    assert torch.equal(torch.ones(2) * 2, torch.full((2,), 2.0))
    net.fail = False
    with watch.step():
        net(x).sum().backward()
    assert traces() == before
    records = list(watch.capture().records())
    assert {r.key.iteration for r in records} >= {1}
    assert len({r.key for r in records}) == len(records)


def test_a_failing_operator_leaves_what_ran_before_it() -> None:
    net = Mlp()
    watch = TorchCapture(net)
    with pytest.raises(RuntimeError), watch.step():
        net.fc2(net.fc1(torch.ones(2, 6)) @ torch.ones(3, 3))
    names = {r.key.operator for r in watch.capture().records()}
    assert "Default/fc1-Linear/addmm-op0" in names
    assert not any("mm-op0" in each for each in names if "fc1" not in each)
    assert "fc1.weight" not in names


def test_steps_do_not_nest() -> None:
    watch = TorchCapture(Mlp())
    with watch.step(), pytest.raises(TraceError, match="iteration 0"), watch.step():
        raise AssertionError
    with watch.step():
        pass


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"module": 3}, SettingTypeError, "got int"),
        ({"mode": "sample"}, SettingError, "tensor, statistic"),
        ({"select": 3}, SettingTypeError, "3 is neither"),
        ({"select": ["a", 4]}, SettingTypeError, "got 4"),
        ({"select": ""}, SettingError, "empty glob"),
    ],
)
def test_bad_arguments(settings: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        TorchCapture(**{"module": Mlp(), **settings})


def test_rules_say_what_decides_about_bits() -> None:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(not before)
    try:
        capture = captured("mlp-sgd", network="Net")
    finally:
        torch.use_deterministic_algorithms(before)
    assert (capture.network, capture.backend, capture.emulated, capture.mode) == ("Net", "torch", False, "tensor")
    assert capture.rules["deterministic_algorithms"] is not before
    assert capture.rules["torch"] == torch.__version__
    assert capture.rules["seed"] == 7
    ran = list(dict.fromkeys(r.key.operator for r in capture.records() if r.op_type != "Parameter"))
    assert set(capture.execution_order[0]) <= set(ran)
    assert capture.execution_order[0][:2] == ("Default/fc1-Linear/t-op0", "Default/fc1-Linear/addmm-op0")


def test_sources_are_the_lines_of_the_model() -> None:
    capture = captured("mlp-sgd", rootdir=str(Path(__file__).parent))
    wanted = Path(__file__).with_name("runs.py").read_text().splitlines()
    by_name = {r.key.operator: r.source for r in capture.records()}
    source = by_name["Default/relu-op0"]
    assert source is not None
    path, _, line = source.partition(":")
    assert path == "runs.py"
    assert "self.act" in wanted[int(line) - 1]
    assert by_name["Gradients/Default/fc1-Linear/mm-op0"] is None


def test_a_compiled_module_says_so() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    watch = TorchCapture(module)
    with watch.step():
        module(torch.ones(1, 2))
    assert "compiled" not in watch.capture().rules
    module[0] = torch.compile(module[0], backend="eager")
    assert TorchCapture(module).capture().rules["compiled"] == ["0"]
    assert TorchCapture(torch.compile(module, backend="eager")).capture().rules["compiled"] == ["", "_orig_mod.0"]

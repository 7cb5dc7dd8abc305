"""A name filter keeps what it names, and nothing happens elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from harness.capture import Capture  # noqa: E402
from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.dispatching import Mode  # noqa: E402
from harness.capture.torch.selection import Selection  # noqa: E402
from tests.capture.torch.runs import CASES, Training, captured  # noqa: E402

pytestmark = pytest.mark.interop

PATTERNS = (
    "Default", "Default/1-BatchNorm2d", "*-Conv2d", "Gradients", "Gradients/*", "Gradients/Default/0-Conv2d",
    "Gradients/Default/5-*", "Default/optimizer-*", "Default/none",
)  # fmt: skip


def content(capture: Capture) -> dict[Any, bytes | None]:
    return {r.key: r.digest for r in capture.records() if r.op_type != "Parameter"}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("mode", ["tensor", "statistic"])
def test_what_is_kept_is_what_the_whole_capture_has_there(pattern: str, mode: str) -> None:
    whole, part = content(captured("conv-sgd", mode=mode)), content(captured("conv-sgd", mode=mode, select=pattern))
    ends = [f"{pattern}/*", pattern] if not pattern.endswith("*") else [pattern]
    wanted = {
        key: value
        for key, value in whole.items()
        if any(fnmatchcase(key.operator.rpartition("/")[0], each) for each in ends)
    }
    assert part == wanted
    assert bool(part) == (pattern != "Default/none")


def test_parameters_go_with_their_module() -> None:
    names = {r.key.operator for r in captured("conv-sgd", select="Default/1-*").records() if r.op_type == "Parameter"}
    assert names == {"1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"}


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the operators that came to the mode."""
    found: list[str] = []
    original: Callable[..., Any] = Mode.__torch_dispatch__

    def count(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found.append(func.overloadpacket.__name__)
        return original(self, func, types, args, kwargs)

    monkeypatch.setattr(Mode, "__torch_dispatch__", count)
    return found


@pytest.mark.parametrize("select", [(), "Default/none", "Gradients/Default/none"])
def test_nothing_selected_means_no_dispatch(select: Any, dispatched: list[str]) -> None:
    capture = captured("conv-sgd", select=select)
    assert dispatched == []
    assert list(capture.records()) == []


def test_a_selected_module_is_dispatched_alone(dispatched: list[str]) -> None:
    captured("conv-sgd", select="*-Conv2d")
    # The forward of two steps; a gradient that is selected has all of backward looked at.
    forward = [each for each in dispatched if each == "convolution"]
    assert len(forward) == 2
    assert not {"native_batch_norm", "addmm", "max_pool2d_with_indices"} & set(dispatched)


def test_no_hooks_where_nothing_is_selected() -> None:
    training = Training(CASES["conv-sgd"])
    watch = TorchCapture(training.module, select="Default/0-*")
    with watch.step():
        hooked = [name for name, each in training.module.named_modules() if each._forward_hooks]
    assert hooked == ["0"]
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in training.module.modules())


def test_a_pattern_selects_what_is_below() -> None:
    selection = Selection(("Default/a-B",))
    assert selection.has("Default/a-B")
    assert selection.has("Default/a-B/c-D")
    assert not selection.has("Default/a-Bc")
    assert not selection.has("Default")
    assert Selection(None).has("anything")
    assert not Selection(()).has("anything")

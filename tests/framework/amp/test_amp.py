"""Mixed precision and loss scaling: values are those of MindSpore 2.10.0 on the CPU (measured)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, amp, context, dtypes, nn, ops, set_seed
from harness.errors import KernelError, SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager

X = Tensor(np.arange(12).reshape(4, 3) / 7, dtypes.float32)
Y = Tensor(np.ones((4, 2)), dtypes.float32)


class Net(nn.Cell):
    """Two dense layers around a normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.d = nn.Dense(3, 4)
        self.bn = nn.BatchNorm1d(4)
        self.o = nn.Dense(4, 2)

    def construct(self, x: Any) -> Any:
        return self.o(self.bn(self.d(x)))


@pytest.fixture(autouse=True, params=[context.GRAPH_MODE, context.PYNATIVE_MODE])
def mode(request: pytest.FixtureRequest) -> Iterator[int]:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    set_seed(1)
    yield request.param
    context.set_context(mode=before)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("O0", [-0.0401, 0.2333]), ("O1", [-0.04, 0.2332]), ("O2", [-0.04, 0.2332]), ("O3", [-0.04, 0.2332])],
)
def test_levels_give_what_mindspore_gives(level: str, expected: list[float]) -> None:
    out = amp.auto_mixed_precision(Net(), level)(X)
    assert out.dtype is dtypes.float32
    assert out.asnumpy()[0].round(4).tolist() == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("level", "more", "expected"),
    [
        ("O0", {}, [1.533, 0.831, 0.568]),
        ("O2", {"loss_scale_manager": None}, [1.532, 0.831, 0.568]),
        ("O3", {}, [1.532, 0.831, 0.568]),
        ("O2", {"loss_scale_manager": None, "keep_batchnorm_fp32": False}, [1.532, 0.831, 0.568]),
    ],
)
def test_training_steps_give_what_mindspore_gives(
    level: str, more: dict[str, Any], expected: list[float], mode: int
) -> None:
    if mode == context.PYNATIVE_MODE:
        return
    net = Net()
    step = amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.1), nn.MSELoss(), level, **more)
    assert [round(float(step(X, Y).asnumpy()), 3) for _ in range(3)] == pytest.approx(expected, abs=1.1e-3)


def test_what_the_cpu_cannot_do_is_refused() -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    with pytest.raises(SettingError, match="no kernel that finds overflows"):
        amp.build_train_network(net, optimizer, nn.MSELoss(), "O2")
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, Tensor(8.0, dtypes.float32))
    with pytest.raises(KernelError, match="no kernel for FloatStatus"):
        step(X, Y)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: amp.auto_mixed_precision(Net(), "O9"), SettingError, "one of"),
        (lambda: amp.auto_mixed_precision(3, "O1"), SettingTypeError, "Cell"),
        (lambda: amp.auto_mixed_precision(Net(), "O1", dtypes.float32), SettingError, "float16 or bfloat16"),
        (lambda: amp.auto_mixed_precision(Net(), "auto"), UnsupportedError, "O1, O2 or O3"),
        (lambda: amp.custom_mixed_precision(Net()), SettingError, "one of white_list"),
        (lambda: amp.StaticLossScaler(0.5), SettingError, "at least 1"),
        (lambda: amp.DynamicLossScaler(2, 0, 1), SettingError, "above 0"),
        (lambda: amp.all_finite(()), SettingError, "no tensor"),
        (lambda: FixedLossScaleManager(0.1), SettingError, "at least 1"),
        (lambda: DynamicLossScaleManager(scale_window=0), SettingError, "above 0"),
    ],
    ids=range(10),
)
def test_bad_settings_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_white_list_lowers_its_cells_only() -> None:
    net = amp.custom_mixed_precision(Net(), white_list=[nn.Dense])
    assert net.d._float_dtype is dtypes.float16
    assert net.bn._float_dtype is None
    assert net(X).dtype is dtypes.float32


def test_scales_of_loops_written_by_hand() -> None:
    scaler = amp.DynamicLossScaler(1024, 2, 2)
    grads = (Tensor([1.0, 2.0]), Tensor([3.0]))
    assert float(scaler.scale(Tensor(2.0)).asnumpy()) == 2048
    assert scaler.unscale(grads)[0].asnumpy().tolist() == [1 / 1024, 2 / 1024]
    seen = []
    for finite in (True, True, False, True):
        assert scaler.adjust(Tensor(finite)) is True
        seen.append((float(scaler.scale_value.asnumpy()), int(scaler.counter.asnumpy())))
    assert seen == [(1024, 1), (2048, 0), (1024, 0), (1024, 1)]
    assert bool(amp.all_finite(grads).asnumpy())
    assert not bool(amp.all_finite((grads, Tensor([np.inf]))).asnumpy())
    assert amp.StaticLossScaler(2).adjust(Tensor(True)) is False


def test_managers_follow_overflows() -> None:
    manager = DynamicLossScaleManager(16, 2, 2)
    seen = []
    for overflow in (False, False, True, False, False, False):
        manager.update_loss_scale(overflow)
        seen.append(manager.get_loss_scale())
    assert seen == [16, 32, 16, 16, 32, 32]
    for _ in range(1000):
        manager.update_loss_scale(True)
    with pytest.raises(StateError, match="1001 times"):
        manager.update_loss_scale(True)
    assert FixedLossScaleManager(8.0, False).get_update_cell() is None
    assert FixedLossScaleManager(8.0).get_update_cell().get_loss_scale() == 8


def test_a_choice_by_kinds_and_a_map_over_tuples() -> None:
    scale = ops.MultitypeFuncGraph("scale")

    @scale.register("Number", "Tensor")
    def _(factor: Any, x: Any) -> Any:
        return x * factor

    @scale.register("Tensor", "Tensor")
    def _(x: Any, y: Any) -> Any:
        return x + y

    class Mapped(nn.Cell):
        """Maps over nested tuples."""

        def construct(self, x: Any, y: Any) -> Any:
            return ops.HyperMap()(ops.partial(scale, 2), (x, (y, x))), ops.Map()(scale, (x, y), (y, y))

    x, y = Tensor([1.0]), Tensor([3.0])
    (a, (b, c)), (d, e) = Mapped()(x, y)
    assert [float(v.asnumpy()[0]) for v in (a, b, c, d, e)] == [2, 6, 2, 4, 6]
    with pytest.raises(ValueError, match="no function for"):
        scale("word", x)
    with pytest.raises(ValueError, match="one length"):
        ops.HyperMap()(scale, (x, y), (x,))

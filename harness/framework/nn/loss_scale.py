"""Training steps whose loss is multiplied, so that small gradients survive float16; and cells that choose the factor.

Source: MindSpore 2.10.0, measured on its GPU and Ascend graphs' description; its CPU has no kernel for ``FloatStatus``,
which the step needs, so this step is refused on the CPU here too.
"""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import KernelError, SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import after
from harness.framework.nn.wrappers import TrainOneStepCell
from harness.framework.runtime import session
from harness.framework.tensor import Parameter, Tensor

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]


class DynamicLossScaleUpdateCell(Cell):
    """Divides the loss scale after an overflow, multiplies it after ``scale_window`` steps without one.

    Args:
        loss_scale_value: the scale it begins with, at least 1.
        scale_factor: what it is multiplied and divided by, at least 1.
        scale_window: steps without overflow before it grows.
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.scale_window = Tensor(checks.number(scale_window, "scale_window", self.cls_name, 1), dtypes.int32)
        self.scale_factor = Tensor(scale_factor, dtypes.float32)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, dtypes.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, dtypes.int32), name="last_overflow_iterator_step")
        self.minimum_loss_scale = Tensor(1.0, dtypes.float32)

    def get_loss_scale(self) -> float:
        """The scale it began with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        smaller = ops.maximum(loss_scale / self.scale_factor, self.minimum_loss_scale)
        changed = ops.select(overflow, smaller, loss_scale)
        last = ops.select(overflow, self.cur_iter, self.last_overflow_iter)
        grows = ops.logical_and(self.scale_window <= self.cur_iter - last, ops.logical_not(overflow))
        scale = ops.select(grows, changed * self.scale_factor, changed)
        last = ops.select(grows, self.cur_iter, last)
        updated = ops.assign(self.last_overflow_iter, last)
        scale = after(scale, updated)
        scale = after(scale, ops.assign(loss_scale, scale))
        return after(overflow, (scale, ops.assign(self.cur_iter, after(self.cur_iter, last) + 1)))


class FixedLossScaleUpdateCell(Cell):
    """Keeps the loss scale; returns whether there was an overflow."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Any) -> Any:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss; without an update if a gradient is not finite.

    Gives (loss, whether there was an overflow, the loss scale).

    Args:
        network: gives the loss.
        optimizer: takes the gradients, divided by the scale again.
        scale_sense: the scale as a tensor () or (1,), or a cell that updates it.
    """

    def __init__(self, network: Any, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer, sens=None)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale: Any = Tensor(scale_sense.get_loss_scale(), dtypes.float32)
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise SettingError(
                    f"{self.cls_name}: scale_sense must be of shape (1,) or (), got {list(scale_sense.shape)}"
                )
            scale = scale_sense
        else:
            raise SettingTypeError(
                f"{self.cls_name}: scale_sense must be a Cell or a Tensor, got {type(scale_sense).__name__}"
            )
        self.scale_sense = Parameter(scale, name="scale_sense")

    def set_sense_scale(self, sens: Any) -> None:
        """Sets the scale."""
        if not isinstance(sens, Tensor):
            raise SettingTypeError(f"{self.cls_name}: sens must be a Tensor, got {type(sens).__name__}")
        self.scale_sense.set_data(sens)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if session.current().device.name == "cpu":
            raise KernelError(f"{self.cls_name}: the CPU has no kernel for FloatStatus; use an emulated GPU or Ascend "
                              "(--backend gpu), or nn.TrainOneStepCell with sens")  # fmt: skip
        self.share()
        return super(TrainOneStepCell, self)._run(args, kwargs)

    def construct(self, *inputs: Any) -> Any:
        scale = self.scale_sense

        def start(loss: Any) -> Any:
            return ops.ones_like(loss) * ops.cast(scale, loss.dtype)

        loss, _, grads = self._value_and_grad(self.network, inputs, self.weights, (), start)
        grads = tuple(ops.mul(grad, ops.cast(ops.reciprocal(scale), grad.dtype)) for grad in grads)
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(None, grads)
        overflow = self.process_loss_scale(cond)
        done = ops.cond(overflow, lambda value: value, lambda value: after(value, self.optimizer(grads)), loss)
        return done, cond, scale

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Returns zeros: no status is kept between operators, because the gradients themselves show it."""
        return Tensor([0] * 8, dtypes.int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        """Whether a value of the gradients, on any rank, is not finite, as a 0-d Bool tensor."""
        flags = [ops.FloatStatus()(grad) for grad in compute_output]
        total = ops.reshape(ops.addn(flags) if len(flags) > 1 else flags[0], ())
        if self.reducer_flag:
            total = ops.AllReduce()(total)
        return ops.less_equal(Tensor(1.0, dtypes.float32), total)

    def process_loss_scale(self, overflow: Any) -> Any:
        """Updates the scale, if a cell does."""
        if self.loss_scaling_manager is None:
            return overflow
        return self.loss_scaling_manager(self.scale_sense, overflow)

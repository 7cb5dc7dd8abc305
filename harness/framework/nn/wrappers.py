"""Cells around a network: with its loss, with its gradient, with an optimizer."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, TraceError
from harness.framework import context
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.nn import checks, gradient_session
from harness.framework.nn.basic import Identity
from harness.framework.nn.cell import Cell
from harness.framework.nn.grad_reducer import DistributedGradReducer
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer, after
from harness.framework.nn.sharing import take_from_rank_0
from harness.framework.nn.transforms import GradOperation
from harness.framework.tensor import ParameterTuple, Tensor, is_tracing

__all__ = ["ForwardValueAndGrad", "TrainOneStepCell", "WithEvalCell", "WithGradCell", "WithLossCell"]


class WithLossCell(Cell):
    """``loss_fn(backbone(data), label)``."""

    def __init__(self, backbone: Any, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Any:
        """The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """(loss, outputs, label) of a network; ``add_cast_fp32`` casts outputs and label to float32 first."""

    def __init__(self, network: Any, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = checks.boolean(add_cast_fp32, "add_cast_fp32", self.cls_name)

    def construct(self, data: Any, label: Any) -> Any:
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = ops.cast(label, dtypes.float32) if label.dtype.is_floating else label
            outputs = ops.cast(outputs, dtypes.float32)
        return self._loss_fn(outputs, label), outputs, label


class _Gradient(Cell):
    """Base of cells that differentiate: outside a graph they run as one (a hidden one in PyNative mode)."""

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return gradient_session.session().run_cell(self, args, kwargs)

    def _value_and_grad(
        self, network: Any, inputs: tuple[Any, ...], weights: tuple[Any, ...], positions: tuple[int, ...], sens: Any
    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """(result, gradients of inputs, gradients of weights)."""
        if not is_tracing():
            raise TraceError(f"{self.cls_name}.construct differentiates, so it runs only as part of a graph; "
                             "call the cell itself")  # fmt: skip
        return value_and_grad_traced(network, inputs, positions, weights, sens)


class WithGradCell(_Gradient):
    """Gradients of a network's trainable parameters, in their order."""

    def __init__(self, network: Any, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        return self._value_and_grad(self.network_with_loss, inputs, self.weights, (), self.sens)[2]


class ForwardValueAndGrad(_Gradient):
    """(result, gradients) of a network.

    Args:
        weights: parameters differentiated for with ``get_by_list``.
        get_all: gradients of all inputs instead of the first one's.
        sens_param: the last argument of the call is the gradient of the result.
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise SettingTypeError(f"{self.cls_name}: network must be a Cell or function, got {type(network).__name__}")
        if get_by_list and not isinstance(weights, (tuple, list)):
            raise SettingTypeError(f"{self.cls_name}: get_by_list needs weights, got {type(weights).__name__}")
        self.network = network
        self.weights = ParameterTuple(weights) if weights is not None else None
        self.get_all = checks.boolean(get_all, "get_all", self.cls_name)
        self.get_by_list = checks.boolean(get_by_list, "get_by_list", self.cls_name)
        self.sens_param = checks.boolean(sens_param, "sens_param", self.cls_name)

    def construct(self, *inputs: Any) -> Any:
        sens = inputs[-1] if self.sens_param else None
        data = inputs[:-1] if self.sens_param else inputs
        positions = tuple(range(len(data))) if self.get_all else (0,) if not self.get_by_list else ()
        weights: tuple[Any, ...] = tuple(self.weights or ()) if self.get_by_list else ()
        value, found, of_weights = self._value_and_grad(self.network, data, weights, positions, sens)
        of_inputs = tuple(each for each in found if each is not None)
        if self.get_by_list:
            return value, ((of_inputs, of_weights) if self.get_all else of_weights)
        return value, (of_inputs if self.get_all or not of_inputs else of_inputs[0])


class TrainOneStepCell(_Gradient):
    """One training step: loss, gradients of the optimizer's parameters, update; gives the loss.

    Args:
        network: gives the loss (for instance ``WithLossCell``).
        optimizer: takes the gradients.
        sens: the gradient of the loss to start from; None for 1.
        return_grad: also give the gradients, by parameter name (within another graph: in order, as a tuple).
    """

    def __init__(self, network: Any, optimizer: Any, sens: Any = None, return_grad: bool = False) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise SettingTypeError(f"{self.cls_name}: optimizer must be an Optimizer, got {type(optimizer).__name__}")
        if isinstance(sens, (int, float)) and sens == 0:
            raise SettingError(f"{self.cls_name}: sens must not be 0")
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = self.optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        #: whether gradients are summed over ranks
        self.reducer_flag = context.get_auto_parallel_context("parallel_mode") == context.ParallelMode.DATA_PARALLEL
        self.grad_reducer = DistributedGradReducer(self.weights) if self.reducer_flag else Identity()
        self._is_shared = False
        self.return_grad = checks.boolean(return_grad, "return_grad", self.cls_name)

    def _start(self, loss: Tensor) -> Any:
        """The gradient of the loss."""
        return ops.fill(loss.dtype, loss.shape, self.sens) if self.sense_flag else None

    def _loss_and_grads(self, *inputs: Any) -> tuple[Any, tuple[Any, ...]]:
        loss, _, grads = self._value_and_grad(self.network, inputs, self.weights, (), self._start)
        return loss, grads

    def construct(self, *inputs: Any) -> Any:
        loss, grads = self._loss_and_grads(*inputs)
        grads = self.grad_reducer(grads)
        result = after(loss, self.optimizer(grads))
        return (result, grads) if self.return_grad else result

    def share(self) -> None:
        """Takes over the parameters of rank 0 before the first step, if the context says so."""
        if self.reducer_flag and not self._is_shared and context.get_auto_parallel_context("parameter_broadcast"):
            take_from_rank_0(self.get_parameters())
        self.__dict__["_is_shared"] = True

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.share()
        own = type(self).construct is TrainOneStepCell.construct
        if own and context.get_context("mode") == context.PYNATIVE_MODE:
            # Only the sums over ranks and the optimizer are graphs that show, as in MindSpore.
            flags = tuple((c.training, c._float_dtype) for _, c in self.network.cells_and_names())
            names = [f"inputs{at}" for at in range(len(args))]
            key = ("loss and gradients", id(self), flags)
            loss, grads = gradient_session.session().run(key, self._loss_and_grads, args, names, keep=self)
            grads = self.grad_reducer(grads)
            self.optimizer(grads)
            out = (loss, grads) if self.return_grad else loss
        else:
            out = super()._run(args, kwargs)
        if not self.return_grad:
            return out
        return out[0], {weight.name: grad for weight, grad in zip(self.weights, out[1], strict=True)}

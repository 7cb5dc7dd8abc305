"""The networks a model trains and evaluates: its own with a loss, an optimizer, metrics around it."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.nn.cell import Cell
from harness.framework.nn.wrappers import TrainOneStepCell, WithEvalCell, WithLossCell


def train_network(network: Any, loss_fn: Any, optimizer: Any) -> Any:
    """``network`` with its loss and one step of its optimizer, as far as they are given."""
    if not isinstance(network, Cell):
        raise SettingTypeError(f"Model: network must be a Cell, got {type(network).__name__} {network!r}")
    with_loss = WithLossCell(network, loss_fn) if loss_fn else network
    return TrainOneStepCell(with_loss, optimizer).set_train() if optimizer else with_loss


def eval_network(network: Any, loss_fn: Any) -> Any:
    """(loss, outputs, label) of ``network``; ``SettingError`` without a loss."""
    if loss_fn is None:
        raise SettingError("Model: metrics need an eval_network, or a loss_fn to make one of; got neither")
    return WithEvalCell(network, loss_fn)


def refuse_what_is_not_there(amp_level: str, boost_level: str, more: dict[str, Any]) -> None:
    """``UnsupportedError`` for mixed precision, boosting and loss scaling; ``SettingError`` for unknown arguments."""
    known = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")
    for name, value in more.items():
        if name not in known:
            raise SettingError(f"Model: {name!r} is no argument; there are {', '.join(known)} beside those with a name")
        if value is not None:
            raise UnsupportedError(f"Model({name}=...) is not supported")
    for name, level in (("amp_level", amp_level), ("boost_level", boost_level)):
        if level != "O0":
            raise UnsupportedError(f"Model({name}={level!r}) is not supported; use O0, and Cell.to_float for precision")

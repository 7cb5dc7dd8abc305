"""The networks that a model trains and evaluates: its own, with a loss, an optimizer and metrics around it."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.amp import build
from harness.framework.nn.cell import Cell
from harness.framework.nn.wrappers import TrainOneStepCell, WithEvalCell, WithLossCell

_KNOWN = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")


def train_network(network: Any, loss_fn: Any, optimizer: Any, amp_level: str, more: dict[str, Any]) -> Any:
    """``network`` with its loss and one step of its optimizer, as far as they are given, in mixed precision."""
    if not isinstance(network, Cell):
        raise SettingTypeError(f"Model: network must be a Cell, got {type(network).__name__} {network!r}")
    if optimizer and (amp_level != "O0" or more.get("loss_scale_manager") is not None):
        return build.build_train_network(network, optimizer, loss_fn, amp_level, **more)
    with_loss = WithLossCell(network, loss_fn) if loss_fn else network
    return TrainOneStepCell(with_loss, optimizer).set_train() if optimizer else with_loss


def eval_network(network: Any, loss_fn: Any, amp_level: str) -> Any:
    """(loss, outputs, label) of ``network``; ``SettingError`` without a loss."""
    if loss_fn is None:
        raise SettingError("Model: metrics need an eval_network, or a loss_fn to make one of; got neither")
    return WithEvalCell(network, loss_fn, amp_level in ("O2", "O3", "auto"))


def settings(amp_level: str, boost_level: Any, more: dict[str, Any], trained: bool) -> dict[str, Any]:
    """The further arguments the network is built with; ``SettingError`` for arguments that do not exist. A boost level
    matters to a network that is trained only (measured).

    Raises:
        UnsupportedError: boosting, levels of accuracy.
    """
    for name, value in more.items():
        if name not in _KNOWN:
            raise SettingError(
                f"Model: {name!r} is not an argument; there are {', '.join(_KNOWN)} besides those with a name"
            )
        if value is not None and name in ("boost_config_dict", "acc_level"):
            raise UnsupportedError(f"Model({name}=...) is not supported")
    if trained and boost_level not in ("O0", "O1", "O2"):
        raise SettingError(f"Model: boost_level must be 'O0', 'O1' or 'O2', got {boost_level!r}")
    if trained and boost_level != "O0":
        raise UnsupportedError(f"Model(boost_level={boost_level!r}) is not supported; use O0")
    given: dict[str, Any] = {name: more[name] for name in ("loss_scale_manager", "keep_batchnorm_fp32") if name in more}
    build.settings(amp_level, given)
    return given

"""``build_train_network``: a network with its loss, its optimizer, mixed precision and loss scaling.

Source of levels and order: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import nn
from harness.framework.amp import precision
from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager, LossScaleManager
from harness.framework.nn.cell import Cell
from harness.framework.runtime import session

_KNOWN = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")
LEVELS = ("O0", "O1", "O2", "O3", "auto")


def settings(level: str, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a level; given ones replace its own. Raises the errors that MindSpore raises."""
    if not isinstance(level, str):
        raise SettingTypeError(f"the level of mixed precision must be a str, got {type(level).__name__}")
    if level not in LEVELS:
        raise SettingError(f"the level of mixed precision must be one of {list(LEVELS)}, got {level!r}")
    for name in given:
        if name not in _KNOWN:
            raise SettingError(f"{name!r} is not a setting of mixed precision; there are {', '.join(_KNOWN)}")
    if given.get("cast_model_type", dtypes.float32) not in (dtypes.float16, dtypes.float32):
        raise SettingTypeError(f"cast_model_type must be float16 or float32, got {given['cast_model_type']}")
    if not isinstance(given.get("keep_batchnorm_fp32", True), bool):
        raise SettingTypeError(f"keep_batchnorm_fp32 must be a bool, got {given['keep_batchnorm_fp32']!r}")
    manager = given.get("loss_scale_manager")
    if manager is not None and not isinstance(manager, LossScaleManager):
        raise SettingTypeError(f"loss_scale_manager must be a LossScaleManager, got {type(manager).__name__}")
    half = level in ("O2", "O3")
    meant = {
        "cast_model_type": dtypes.float16 if half else dtypes.float32,
        "keep_batchnorm_fp32": level == "O2",
        "loss_scale_manager": DynamicLossScaleManager() if level == "O2" else None,
    }
    return meant | given


def _in_precision(network: Any, level: str, meant: dict[str, Any]) -> Any:
    if meant["cast_model_type"] is dtypes.float16:
        network.to_float(dtypes.float16)
        if meant["keep_batchnorm_fp32"]:
            precision.keep_float32(network, dtypes.float16)
        return network
    if level in ("O2", "O3"):
        return network
    return precision.auto_mixed_precision(network, level)


def build_train_network(
    network: Any, optimizer: Any, loss_fn: Any = None, level: str = "O0", boost_level: str = "O0", **kwargs: Any
) -> Any:
    """A cell that does one training step in mixed precision.

    Args:
        network: a cell. If ``loss_fn`` is None, its result is the loss.
        optimizer: over its parameters.
        loss_fn: a cell, called with the output and the label.
        level: see ``auto_mixed_precision``.
        boost_level: only ``O0`` is supported.
        kwargs: ``cast_model_type``, ``keep_batchnorm_fp32``, ``loss_scale_manager`` in place of the level's.

    Raises:
        SettingError: a loss scale looks for overflows on the CPU, which has no kernel for that.
    """
    if boost_level not in ("O0", "O1", "O2"):
        raise SettingError(f"boost_level must be 'O0', 'O1' or 'O2', got {boost_level!r}")
    if boost_level != "O0":
        raise UnsupportedError(f"boost_level={boost_level!r} is not supported; use O0")
    if not isinstance(optimizer, nn.Optimizer):
        raise SettingTypeError(f"build_train_network: optimizer must be an Optimizer, got {type(optimizer).__name__}")
    meant = settings(level, kwargs)
    network = _in_precision(network, level, meant)
    if loss_fn:
        if not isinstance(loss_fn, Cell):
            raise SettingTypeError(f"build_train_network: loss_fn must be a Cell, got {type(loss_fn).__name__}")
        half = meant["cast_model_type"] is dtypes.float16 or network.__dict__.get("_amp_level") in ("O2", "O3")
        network = (precision.WithLossCell if half else nn.WithLossCell)(network, loss_fn)
    manager = meant["loss_scale_manager"]
    update = manager.get_update_cell() if manager is not None else None
    if update is None:
        return nn.TrainOneStepCell(network, optimizer, manager and manager.get_loss_scale()).set_train()
    if session.current().device.name == "cpu":
        raise SettingError(
            "on the CPU loss_scale_manager must be None or FixedLossScaleManager(drop_overflow_update=False): "
            "it has no kernel that finds overflows"
        )
    return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()

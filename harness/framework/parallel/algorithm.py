"""Settings of the search for a split over devices: checked and kept without effect, because a run is one process.

Source of names, defaults and types: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError

_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False, "elementwise_op_strategy_follow": False, "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1, "tensor_slice_align_enable": False, "tensor_slice_align_size": 16,
}  # fmt: skip
_values = dict(_DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Changes settings; ``SettingError`` for one that does not exist, ``SettingTypeError`` for another type."""
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise SettingError(f"set_algo_parameters: {name!r} is not a setting; known are {sorted(_DEFAULTS)}")
        if type(value) is not type(_DEFAULTS[name]):
            raise SettingTypeError(f"set_algo_parameters: {name} must be a {type(_DEFAULTS[name]).__name__}, "
                                   f"got {type(value).__name__} {value!r}")  # fmt: skip
    _values.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """The value of a setting."""
    if attr_key not in _values:
        raise SettingError(f"get_algo_parameters: {attr_key!r} is not a setting; known are {sorted(_DEFAULTS)}")
    return _values[attr_key]


def reset_algo_parameters() -> None:
    """Resets every setting."""
    _values.update(_DEFAULTS)

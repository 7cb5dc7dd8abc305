"""Settings of a cell that change nothing on one process, with the kinds of values that MindSpore takes for them.

Source: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from harness.errors import SettingAttributeError, SettingError, SettingTypeError
from harness.framework.nn import naming
from harness.framework.tensor import Parameter
from harness.framework.tensor.devices import asked_by_to


class Setting:
    """An attribute that takes values of one kind; read-only if there is none."""

    def __init__(self, default: Callable[[], Any], accepted: type | None = None, least: int | None = None) -> None:
        self.default, self.accepted, self.least = default, accepted, least

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else instance.__dict__.setdefault(f"_of_{self.name}", self.default())

    def __set__(self, instance: Any, value: Any) -> None:
        place = f"{type(instance).__name__}.{self.name}"
        if self.accepted is None:
            raise SettingAttributeError(f"{place} is a property of MindSpore's cells that has no setter")
        if not isinstance(value, self.accepted) or (self.accepted is int and isinstance(value, bool)):
            kind = "string" if self.accepted is str else self.accepted.__name__
            raise SettingTypeError(f"For 'Cell', the property '{self.name}' must be {kind} type, but got type "
                                   f"{': ' if self.accepted is int else ''}{type(value)}.")  # fmt: skip
        if isinstance(value, int) and self.least is not None and value < self.least:
            raise SettingError(f"For 'Cell', the property '{self.name}' can not be less than {self.least}, but got "
                               f"{value}.")  # fmt: skip
        instance.__dict__[f"_of_{self.name}"] = value


class Settings:
    """Mixed into ``Cell``."""

    bprop_debug = Setting(bool, bool)
    cell_init_args = Setting(str, str)
    compile_phase = Setting(lambda: None, str)
    parameter_layout_dict = Setting(dict, dict)
    parallel_parameter_merge_net_dict = Setting(dict, dict)
    parallel_parameter_name_list = Setting(tuple, list)
    pipeline_stage = Setting(int, int, 0)
    pipeline_segment = Setting(int, int, 0)
    param_prefix = Setting(str)
    compiled = Setting(bool)
    create_time = Setting(lambda: int(time.time() * 1e9))
    compile_cache = Setting(set)
    exist_names = Setting(set)
    exist_objs = Setting(set)
    phase_cache = Setting(dict)
    jit_config_dict = Setting(dict)
    cell_type: Any = None

    def update_cell_prefix(self) -> None:
        """Sets ``param_prefix`` of each cell to its path."""
        cell: Any = self
        for place, each in naming.walk(cell, ""):
            each.__dict__["_of_param_prefix"] = place

    def update_cell_type(self, cell_type: Any) -> None:
        """Sets ``cell_type``."""
        self.cell_type = cell_type

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """Parameters by name, but those with ``layerwise_parallel``; None if there are none."""
        cell: Any = self
        found = OrderedDict((p.name, p) for p in cell.get_parameters(recurse) if not p.layerwise_parallel)
        return found or None

    def set_data_parallel(self) -> None:
        """Does nothing on one process."""

    def set_broadcast_flag(self, mode: bool = True) -> Any:
        """Sets the flag ``broadcast_flag`` here and below; returns self."""
        cell: Any = self
        return cell.add_flags_recursive(broadcast_flag=mode)

    def set_boost(self, boost_type: str) -> Any:
        """Sets the flag ``less_bn`` here and below; returns self. ``SettingError`` for another type."""
        if not isinstance(boost_type, str) or boost_type != "less_bn":
            raise SettingError(f"set_boost: boost_type must be 'less_bn', got {boost_type!r}")
        cell: Any = self
        return cell.add_flags_recursive(less_bn=True)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Any:
        """Numbers the trainable parameters' communication, which one process has none of; returns self."""
        if type(fusion_type) is not int:
            raise SettingTypeError(f"set_comm_fusion takes an int, got {type(fusion_type).__name__}")
        if fusion_type < 0:
            raise SettingError(f"set_comm_fusion takes an int of at least 0, got {fusion_type}")
        cell: Any = self
        for parameter in cell.trainable_params(recurse):
            parameter.comm_fusion = fusion_type
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Casts parameters and buffers of floating dtypes in place; returns self.

        ``to(dtype, non_blocking)``, ``to(device, dtype, non_blocking)`` or ``to(tensor, non_blocking)``, by position or
        name; the device is ``"CPU"``.
        """
        dtype = asked_by_to(type(self).__name__, args, kwargs)
        if dtype is not None and dtype.kind not in "fc":
            raise SettingTypeError(f"{type(self).__name__}.to takes a floating or complex dtype, got {dtype}")
        cell: Any = self
        if dtype is None:
            return self
        for _, each in naming.walk(cell, ""):
            for parameter in each._params.values():
                if parameter is not None and parameter.dtype.kind in "fc":
                    parameter.set_dtype(dtype)
            for name, tensor in each._buffers.items():
                if tensor is not None and tensor.dtype.kind in "fc":
                    each._buffers[name] = tensor.astype(dtype)
        return self

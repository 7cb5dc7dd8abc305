"""``mindspore.dataset.config``: the seed of orders and random transforms, and how many workers share a ``map``."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from functools import partial as _partial
from typing import Any as _Any

from harness.errors import SettingTypeError
from harness.framework import seed as _seed
from harness.framework.dataset.checks import whole as _whole
from harness.framework.names import lookup as _lookup
from harness.framework.outside import outside_graphs as _outside_graphs

__all__ = ["get_num_parallel_workers", "get_seed", "set_num_parallel_workers", "set_seed"]

#: MindSpore's number on a machine with as many processors; results of random transforms depend on it
WORKERS = 8
_settings = {"workers": WORKERS}
_in_python = _partial(_outside_graphs, kind=AttributeError)


@_partial(_in_python, first=_seed.check_dataset_seed)
def set_seed(seed: int) -> None:
    """Sets the seed of orders, and seeds Python's and numpy's global generators; an int in [0, 2**32)."""
    _seed.set_dataset_seed(seed)


@_in_python
def get_seed() -> int:
    """The seed set last, here or by ``set_seed`` of the top level, or MindSpore's default."""
    return _seed.get_dataset_seed()


def _check_workers(num: int) -> None:
    _whole(num, "num", "dataset.config.set_num_parallel_workers", 1)


@_partial(_in_python, first=_check_workers)
def set_num_parallel_workers(num: int) -> None:
    """How many workers share the rows of a ``map`` that names no number; at least 1."""
    _check_workers(num)
    _settings["workers"] = num


@_in_python
def get_num_parallel_workers() -> int:
    """See ``set_num_parallel_workers``; 8 at first, on every machine."""
    return _settings["workers"]


#: settings of how MindSpore's pipeline works, not of its results: kept, without an effect here
_KEPT: dict[str, bool | int | str] = {
    "auto_num_workers": False, "auto_offload": False, "autotune_interval": 0, "callback_timeout": 60,
    "dynamic_shape": False, "enable_autotune": False, "enable_shared_mem": True, "enable_watchdog": True,
    "fast_recovery": True, "monitor_sampling_interval": 1000, "multiprocessing_start_method": "fork",
    "multiprocessing_timeout_interval": 300, "numa_enable": False, "prefetch_size": 16,
}  # fmt: skip


def _setter(setting: str) -> _Callable[[_Any], None]:
    def check(value: _Any) -> None:
        wanted = type(_KEPT[setting])
        if type(value) is not wanted:
            raise SettingTypeError(f"dataset.config.set_{setting}: {wanted.__name__} is needed, got {value!r}")
        if wanted is int:
            _whole(value, setting, "dataset.config", 1)

    def set_(value: _Any) -> None:
        check(value)
        _KEPT[setting] = value

    return _in_python(set_, name=f"dataset.config.set_{setting}", first=check)


def __getattr__(name: str) -> _Any:
    kind, _, setting = name.partition("_")
    if setting in _KEPT and kind == "get":
        return _in_python(lambda: _KEPT[setting], name=f"dataset.config.{name}")
    if setting in _KEPT and kind == "set":
        return _setter(setting)
    return _lookup("dataset.config", name)

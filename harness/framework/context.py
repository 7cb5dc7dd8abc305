"""The process's context: execution mode, device and the settings ``set_context`` takes, as ``mindspore.context``.

Source of names, defaults and refusals: MindSpore 2.10.0 CPU, measured. Settings without an effect here are kept, so
that a script that sets and reads them works.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness import log
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import seed as _seed
from harness.framework.names import fallback as _fallback
from harness.framework.outside import outside_graphs
from harness.framework.seed import get_seed

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode", "get_auto_parallel_context",
    "get_context", "get_seed", "reset_auto_parallel_context", "set_auto_parallel_context", "set_context", "set_device",
    "set_recursion_limit", "set_seed",
]  # fmt: skip

set_seed = outside_graphs(_seed.set_seed)

GRAPH_MODE = 0
PYNATIVE_MODE = 1
#: levels of ``jit_syntax_level``
STRICT, COMPATIBLE, LAX = 0, 1, 2

TARGETS = ("CPU", "GPU", "Ascend")


@dataclass(frozen=True, slots=True)
class _Setting:
    """One key of ``set_context``: default, types it takes, and what else must hold (``accepted`` says it in words)."""

    default: Any
    types: tuple[type, ...]
    accepted: str = ""
    holds: Callable[[Any], bool] = lambda _: True


def _among(*values: Any) -> tuple[str, Callable[[Any], bool]]:
    return f"one of {list(values)}", lambda v: v in values


_POSITIVE: tuple[str, Callable[[Any], bool]] = ("greater than 0", lambda v: v > 0)
_SETTINGS: dict[str, _Setting] = {
    "mode": _Setting(PYNATIVE_MODE, (int,), "GRAPH_MODE (0) or PYNATIVE_MODE (1)", lambda v: v in (0, 1)),
    "device_target": _Setting("CPU", (str,), *_among(*TARGETS)),
    "device_id": _Setting(0, (int,), "in [0, 4095]", lambda v: 0 <= v <= 4095),
    "reserve_class_name_in_scope": _Setting(True, (bool,)),
    "max_call_depth": _Setting(1000, (int,), *_POSITIVE),
    "deterministic": _Setting("OFF", (str,), *_among("ON", "OFF")),
    "pynative_synchronize": _Setting(False, (bool,)),
    "save_graphs": _Setting(0, (bool, int), "in 0-3", lambda v: 0 <= v <= 3),
    "save_graphs_path": _Setting(".", (str,)),
    "jit_syntax_level": _Setting(LAX, (int,), *_among(STRICT, COMPATIBLE, LAX)),
    "jit_level": _Setting("", (str,)),
    "jit_config": _Setting({}, (dict,)),
    "memory_optimize_level": _Setting("O0", (str,), *_among("O0", "O1")),
    "enable_graph_kernel": _Setting(False, (bool,)),
    "graph_kernel_flags": _Setting("", (str,)),
    "enable_reduce_precision": _Setting(True, (bool,)),
    "enable_compile_cache": _Setting(None, (bool, str, int)),
    "compile_cache_path": _Setting("", (str,)),
    "runtime_num_threads": _Setting(0, (int,), "at least 0", lambda v: v >= 0),
    "inter_op_parallel_num": _Setting(0, (int,), "at least 0", lambda v: v >= 0),
    "max_device_memory": _Setting("1024GB", (str,)),
    "variable_memory_max_size": _Setting("0", (str,)),
    "mempool_block_size": _Setting("1GB", (str,)),
    "op_timeout": _Setting(900, (int,), "at least 0", lambda v: v >= 0),
    "check_bprop": _Setting(False, (bool,)),
    "print_file_path": _Setting("", (str,)),
    "env_config_path": _Setting("", (str,)),
    "aoe_tune_mode": _Setting("", (str,), *_among("online", "offline")),
    "aoe_config": _Setting({}, (dict,)),
    "ascend_config": _Setting({}, (dict,)),
    "gpu_config": _Setting({}, (dict,)),
    "support_binary": _Setting(False, (bool,)),
    "disable_format_transform": _Setting(False, (bool,)),
    "exec_order": _Setting("bfs", (str,), *_among("bfs", "dfs")),
    "debug_level": _Setting(0, (int,)),
}
#: settings that do something in MindSpore and nothing here, unless they have their defaults
_WITHOUT_EFFECT = {
    "save_graphs": "no files of graphs are written; a dump's tree has the graph that runs",
    "enable_graph_kernel": "kernels of a graph are not fused by this setting; backend ascend-o1 fuses them",
    "graph_kernel_flags": "kernels of a graph are not fused by this setting; backend ascend-o1 fuses them",
    "max_call_depth": "calls may nest as deep as Python lets them",
    "check_bprop": "what a bprop gives is always checked",
    "enable_compile_cache": "every process compiles its graphs",
}
#: what ``jit_config`` may hold
_JIT_CONFIG = {"jit_level": ("O0", "O1", "O2"), "infer_boost": ("on", "off")}
_values: dict[str, Any] = {}
_log = log.get("context")


def _unknown(function: str, key: str) -> SettingError:
    import difflib

    near = difflib.get_close_matches(key, _SETTINGS, n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return SettingError(f"{function}: {key!r} is not a setting{hint}")


def _check(key: str, value: Any) -> None:
    setting = _SETTINGS.get(key)
    if setting is None:
        raise _unknown("set_context", key)
    wrong_bool = isinstance(value, bool) and bool not in setting.types
    if not isinstance(value, setting.types) or wrong_bool:
        names = " or ".join(t.__name__ for t in setting.types)
        raise SettingTypeError(f"set_context: {key!r} must be {names}, got {type(value).__name__} {value!r}")
    if not setting.holds(value):
        raise SettingError(f"set_context: {key!r} must be {setting.accepted}, got {value!r}")
    for name, given in value.items() if isinstance(value, dict) and key == "jit_config" else ():
        if given not in _JIT_CONFIG.get(name, ()):
            raise SettingError(f"set_context: 'jit_config' may hold {_JIT_CONFIG}, got {name}={given!r}")


@outside_graphs
def set_context(**kwargs: Any) -> None:
    """Changes settings, as ``mindspore.set_context``.

    Raises ``SettingError`` for an unknown key or a value not accepted, ``SettingTypeError`` for a wrong type; then
    nothing is changed.
    """
    for key, value in kwargs.items():
        _check(key, value)
    for key in _WITHOUT_EFFECT.keys() & kwargs.keys():
        if kwargs[key] and kwargs[key] != _SETTINGS[key].default:
            _log.warning(f"set_context: {key}={kwargs[key]!r} has no effect here: {_WITHOUT_EFFECT[key]}")
    if "env_config_path" in kwargs:
        kwargs["env_config_path"] = _configuration_file(kwargs["env_config_path"])
    _values.update(kwargs)


def exchange_mode(mode: int) -> int:
    """Sets the mode; returns the one before."""
    before: int = _values.get("mode", _SETTINGS["mode"].default)
    _values["mode"] = mode
    return before


def _configuration_file(path: str) -> str:
    """The real path of an ``env_config_path``; ``SettingError`` unless it is a file of JSON, whatever it says."""
    _log.warning("set_context: the parameter 'env_config_path' is deprecated")
    real = os.path.realpath(path)
    if not path or not os.path.isfile(real):
        raise SettingError(f"set_context: the 'env_config_path' file {real!r} is not exists; accepted: a file of JSON")
    try:
        with open(real, encoding="utf-8") as stream:
            json.load(stream)
    except (OSError, ValueError, RecursionError) as error:
        raise SettingError(
            f"{error}\nset_context: open or load of the 'env_config_path' file {real!r} failed; accepted: JSON"
        ) from error
    return real


@outside_graphs
def get_context(attr_key: str) -> Any:
    """The value of a setting; ``SettingError`` if no setting has that name."""
    if attr_key not in _SETTINGS:
        raise _unknown("get_context", attr_key)
    value = _values.get(attr_key, _SETTINGS[attr_key].default)
    return dict(value) if isinstance(value, dict) else value


@outside_graphs
def set_device(device_target: str, device_id: int | None = None) -> None:
    """Chooses the device, as ``mindspore.set_device``: ``CPU``, ``GPU`` or ``Ascend``."""
    settings: dict[str, Any] = {"device_target": device_target}
    if device_id is not None:
        settings["device_id"] = device_id
    set_context(**settings)


@outside_graphs
def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep calls within a graph may nest, as ``mindspore.set_recursion_limit``: here as deep as Python lets them,
    which a warning says for another limit than 1000. ``get_context`` does not show it.

    Raises ``SettingTypeError`` for anything but an int, ``SettingError`` for one below 1.
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise SettingTypeError(f"set_recursion_limit: recursion_limit must be int, got {recursion_limit!r}")
    if recursion_limit < 1:
        raise SettingError(f"set_recursion_limit: recursion_limit must be greater than 0, got {recursion_limit}")
    if recursion_limit != _SETTINGS["max_call_depth"].default:
        _log.warning(f"set_recursion_limit: {recursion_limit} has no effect here: {_WITHOUT_EFFECT['max_call_depth']}")


class ParallelMode:
    """The ways to divide a training over devices."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


#: what holds unless it is set; other values are refused, but for those below
_ALONE: dict[str, Any] = {
    "parallel_mode": "stand_alone", "device_num": 1, "global_rank": 0, "gradients_mean": False,
    "gradient_fp32_sync": True, "parameter_broadcast": False, "enable_parallel_optimizer": False,
    "full_batch": False, "dataset_strategy": "data_parallel", "pipeline_stages": 1,
    "search_mode": "recursive_programming", "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "",
    "auto_parallel_search_mode": "recursive_programming", "all_reduce_fusion_config": [],
}  # fmt: skip
#: settings that may be anything of their type; they are kept
_FREE: dict[str, type] = {
    "gradients_mean": bool, "gradient_fp32_sync": bool, "parameter_broadcast": bool, "all_reduce_fusion_config": list,
    "search_mode": str, "auto_parallel_search_mode": str,
}  # fmt: skip
#: settings of one rank of several
_OF_RANKS = ("parallel_mode", "device_num", "global_rank")
_kept: dict[str, Any] = {}


def _is_one_of_several() -> bool:
    """Whether something started this process as a rank of several."""
    size = os.environ.get("MS_WORKER_NUM", "")
    return size.isascii() and size.isdigit() and int(size) > 1


def _check_parallel(key: str, value: Any) -> None:
    """Refuses a setting that a run here cannot have."""
    where = f"set_auto_parallel_context({key}={value!r})"
    if key not in _ALONE:
        raise SettingError(f"set_auto_parallel_context: {key!r} is not a setting; known are {sorted(_ALONE)}")
    if key in _FREE:
        if not isinstance(value, _FREE[key]):
            raise SettingTypeError(f"set_auto_parallel_context: {key} must be a {_FREE[key].__name__}, got {value!r}")
        return
    if key == "parallel_mode" and value not in ParallelMode.MODE_LIST:
        raise SettingError(f"{where}: accepted: {', '.join(ParallelMode.MODE_LIST)}")
    if value == _ALONE[key]:
        return
    if key not in _OF_RANKS or not _is_one_of_several():
        why = "this run is one process, not one of several ranks" if key in _OF_RANKS else "it is not supported"
        raise UnsupportedError(f"{where}: {why}, so only {key}={_ALONE[key]!r} is possible")
    if key == "parallel_mode" and value != ParallelMode.DATA_PARALLEL:
        raise UnsupportedError(f"{where} is not supported: nothing here divides a network among ranks; there are "
                               "stand_alone and data_parallel")  # fmt: skip
    if key != "parallel_mode" and (type(value) is not int or value < (key == "device_num")):
        raise SettingError(f"{where}: accepted: an int of at least {int(key == 'device_num')}")


@outside_graphs
def set_auto_parallel_context(**kwargs: Any) -> None:
    """Keeps what describes this rank of a data-parallel training.

    Raises:
        UnsupportedError: what divides a network over ranks, or several ranks where this process is alone.
        SettingError, SettingTypeError: an unknown setting, or a value that is not accepted; nothing is changed.
    """
    for key, value in kwargs.items():
        _check_parallel(key, value)
    _kept.update({key: value for key, value in kwargs.items() if key in _FREE or key in _OF_RANKS})


@outside_graphs
def get_auto_parallel_context(attr_key: str) -> Any:
    """What was set, or else holds for a single process; ``SettingError`` if there is no such setting."""
    if attr_key not in _ALONE:
        raise SettingError(f"get_auto_parallel_context: {attr_key!r} is not a setting; known are {sorted(_ALONE)}")
    return _kept.get(attr_key, _ALONE[attr_key])


@outside_graphs
def reset_auto_parallel_context() -> None:
    """Gives every setting its first value."""
    _kept.clear()


def is_set(attr_key: str) -> bool:
    """Whether ``set_auto_parallel_context`` set it."""
    return attr_key in _kept


__getattr__ = _fallback(__name__)

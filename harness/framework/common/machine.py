"""What a script asks of the machine, or sets for it: devices, memory, threads, precision of other devices.

On a CPU these settings change no number, here or there: they are checked, and kept where one may be set once only.
``tests/data/programs/machine.txt`` holds what is answered under MindSpore 2.10.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError

__all__: list[str] = []  # names of other modules

_TARGETS = ("CPU", "GPU", "Ascend")
_PRECISIONS = ("force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
               "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16")  # fmt: skip
#: settings that may be set once in a process
_once: set[str] = set()


def _answering(name: str, value: Any) -> Callable[[], Any]:
    def function() -> Any:
        return value

    function.__name__, function.__doc__ = name, f"{value!r}: a CPU has no other answer."
    return function


def _is_true(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise SettingTypeError(f"{name}: a bool is needed, got {type(value).__name__}")
    return value


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{name}: an int is needed, got {type(value).__name__}")
    if value <= 0:
        raise SettingError(f"{name}: it must be above 0, got {value}")
    return value


def _for_once(name: str) -> None:
    if name in _once:
        raise StateError(f"{name} was set before; it can be set once")
    _once.add(name)


def set_deterministic(deterministic: bool) -> None:
    """Asks for equal results of equal runs: here they always are."""
    _is_true(deterministic, "set_deterministic")
    _for_once("set_deterministic")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep functions may call each other in a graph: here Python's own limit holds."""
    _whole(recursion_limit, "set_recursion_limit")


def threads_num(num: int) -> None:
    """How many threads operators may use; they change no number."""
    _whole(num, "threads_num")
    _for_once("threads_num")


def precision_mode(mode: str) -> None:
    """How an Ascend would compute: there is none."""
    _one_of(mode, _PRECISIONS, "precision_mode")


def conv_allow_hf32(value: bool) -> None:
    """Whether convolutions of an Ascend may use HF32: there is none."""
    _is_true(value, "conv_allow_hf32")


def matmul_allow_hf32(value: bool) -> None:
    """Whether products of an Ascend may use HF32: there is none."""
    _is_true(value, "matmul_allow_hf32")


def is_available(device_target: str) -> bool:
    """Whether there is such a device: a CPU."""
    return _one_of(device_target, _TARGETS, "is_available") == "CPU"


def _one_of(value: Any, known: Sequence[str], name: str) -> str:
    if value not in known:
        raise SettingError(f"{name}: {' or '.join(known)} is needed, got {value!r}")
    return str(value)


cpu_is_available, no_device = _answering("is_available", True), _answering("is_available", False)
device_count = _answering("device_count", 1)
nothing_used, nothing = _answering("memory", 0), _answering("nothing", None)

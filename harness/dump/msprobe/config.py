"""msprobe's ``config.json`` as its MindSpore graph mode reads it: checked and frozen.

Fields, values and refused combinations are those of mindstudio-probe 26.2.0 (its public source): in graph mode only
level L2 (kernels) exists for every device, and it passes on what MindSpore's own dump configuration can express.
docs/differences.md lists what this project refuses in addition, because it would have no effect there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import log
from harness.dump.config import read_file
from harness.dump.msprobe import fields
from harness.dump.msprobe.fields import Fields, ProbeConfigError

TASKS = ("statistics", "tensor", "exception_dump")
"""Tasks of graph mode."""
OTHER_TASKS = ("acc_check", "structure", "diff_check", "nan_check")
LEVEL = "L2"
LEVELS = ("L0", "L1", "L2", "mix", "debug")
COMMON = frozenset(
    {
        "task", "dump_path", "rank", "step", "level", "dump_enable", "extra_info", "async_dump", "precision",
        "risk_level", "custom_op_namespaces", "load", *TASKS, *OTHER_TASKS,
    }
)  # fmt: skip
SECTION = frozenset(
    {
        "scope", "list", "data_mode", "slice", "request_id", "summary_mode", "diff_nums", "device", "precision",
        "tensor_list",
    }
)  # fmt: skip
_log = log.get("dump.msprobe")


@dataclass(frozen=True, slots=True)
class ProbeConfig:
    """A configuration after all checks.

    Attributes:
        task: ``statistics``, ``tensor`` or ``exception_dump``.
        dump_path: absolute directory for all files.
        ranks, steps: ranks and steps to dump, ascending; empty for all.
        enabled: whether ``dump_enable`` is not false.
        extra_info: whether to write ``stack.json`` and ``construct.json``.
        async_dump: whether tensors are written in parallel to the run.
        high_precision: whether statistics of float16 and bfloat16 stay unrounded.
        names: the entries of ``list``; empty for everything.
        data_mode: ``all``, ``input`` or ``output``.
        summary: items of statistics from ``fields.SUMMARY_ITEMS``; None for the task's default.
        on_device: whether the device computes the statistics.
        device_precision: ``high`` or ``low``, for statistics on the device.
        tensor_list: texts; a kernel whose name holds one keeps its tensors in task ``statistics`` too.
    """

    task: str
    dump_path: str
    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    enabled: bool
    extra_info: bool
    async_dump: bool
    high_precision: bool
    names: tuple[str, ...]
    data_mode: str
    summary: tuple[str, ...] | None
    on_device: bool
    device_precision: str
    tensor_list: tuple[str, ...]


def resolve(value: str) -> Path:
    """The file that a user named.

    Raises:
        ProbeConfigError: kind ``msprobe-file``; it is missing, or does not end in ``.json``.
    """
    path = Path(os.path.realpath(value))
    if not path.exists():
        raise ProbeConfigError("file", f"msprobe configuration: file {value!r} ({path}) does not exist")
    if path.suffix != ".json":
        raise ProbeConfigError("file", f"msprobe configuration: {str(path)!r} does not end in .json")
    return path


def parse(source: str | bytes | os.PathLike[str]) -> ProbeConfig:
    """Reads and checks a configuration.

    Args:
        source: JSON text (str or bytes), or the path of a file (any ``os.PathLike``).

    Raises:
        DumpConfigError: it cannot be read, or msprobe's graph mode (or this project) refuses it; the message names the
            field, what it holds and what is accepted.
    """
    if isinstance(source, (str, bytes)):
        raw, where = source, "text"
    else:
        where = os.fspath(source)
        raw = read_file(where)
    common = Fields(object_of(raw, where), where)
    common.warn_of_others(COMMON)
    task = _task(common)
    section = Fields(common.section(task), f"{where}, {task}")
    section.warn_of_others(SECTION)
    return _frozen(common, section, task)


def object_of(raw: str | bytes, where: str) -> Mapping[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ProbeConfigError("json", f"msprobe configuration: {where} is not JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict):
        raise ProbeConfigError("json", f"msprobe configuration: {where} holds no object, but {str(found)[:80]}")
    return found


def _task(common: Fields) -> str:
    task = common.choice("task", (*TASKS, *OTHER_TASKS), absent="statistics")
    if task not in TASKS:
        raise common.error("task", f"graph mode has {', '.join(TASKS)}")
    level = common.choice("level", LEVELS, absent="L1")
    if task != "exception_dump" and level != LEVEL:
        default = "" if common.given("level") else ", which is L1 where it is not given"
        raise common.error("level", f"graph mode has {LEVEL} (kernels) only{default}")
    return task


def _frozen(common: Fields, section: Fields, task: str) -> ProbeConfig:
    common.type("load", dict)
    common.refuse("load", "inputs are not replaced in graph mode")
    common.texts("custom_op_namespaces")
    common.choice("risk_level", ("CORE", "FOCUS", "ALL"), absent="FOCUS")
    path = common.text("dump_path")
    if not path:
        raise common.error("dump_path", "the directory to write to must be given")
    section.refuse("scope", "kernels are selected by list")
    section.refuse("slice", "graph mode keeps whole tensors")
    section.refuse("request_id", "graph mode has no requests")
    names = section.texts("list")
    tensor_list = section.texts("tensor_list") if task == "statistics" else ()
    asynchronous = common.flag("async_dump", absent=False)
    summary = fields.summary(section, task)
    if asynchronous and task == "tensor" and not names:
        raise common.error("async_dump", "in task tensor it needs a list of kernels")
    if asynchronous and summary and "md5" in summary:
        raise common.error("async_dump", "it cannot go with an md5 in summary_mode")
    enabled = common.flag("dump_enable", absent=True)
    if not enabled:
        _log.warning("dump: dump_enable is false in %s; nothing is dumped", common.where)
    return ProbeConfig(
        task=task,
        dump_path=os.path.abspath(path),
        ranks=fields.numbers(common, "rank"),
        steps=fields.numbers(common, "step"),
        enabled=enabled,
        extra_info=common.flag("extra_info", absent=True),
        async_dump=asynchronous,
        high_precision=common.choice("precision", ("low", "high"), absent="low") == "high",
        names=names,
        data_mode="all" if task == "exception_dump" else fields.data_mode(section),
        summary=summary,
        on_device=task == "statistics" and section.choice("device", ("host", "device"), absent="host") == "device",
        device_precision=section.choice("precision", ("high", "low"), absent="high"),
        tensor_list=tensor_list,
    )

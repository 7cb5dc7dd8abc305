"""msprobe's ``config.json`` for levels L0 (cells), L1 (functions) and mix (both), which see the calls of PyNative mode.

Fields and refusals are those of mindstudio-probe 26.2.0 (its public source, and its runs beside MindSpore 2.10.0).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from harness.dump.config import read_file
from harness.dump.msprobe import fields
from harness.dump.msprobe.config import COMMON, OTHER_TASKS, SECTION, TASKS, object_of
from harness.dump.msprobe.fields import BASIC, MD5, Fields

CALL_LEVELS = ("L0", "L1", "mix")
"""The levels that see calls."""
_TASKS = ("statistics", "tensor")
_MODES = ("forward", "backward", "input", "output")
_CELL = re.compile(r"Cell\..*\.(?:forward|backward)\.\d+")
_FUNCTION = re.compile(r"[A-Za-z]+\..*\.\d+\.(?:forward|backward)")


@dataclass(frozen=True, slots=True)
class CallConfig:
    """A configuration after all checks.

    Attributes:
        task: ``statistics`` or ``tensor``.
        level: one of ``CALL_LEVELS``.
        dump_path: absolute directory for all files.
        ranks, steps: to dump, ascending; empty for all.
        enabled: whether ``dump_enable`` is not false.
        extra_info: whether to write ``stack.json`` and ``construct.json``.
        scope: the first and the last entry to dump; empty for all.
        names: texts; an entry whose name holds one is dumped; empty for all.
        modes: what of ``forward``, ``backward``, ``input``, ``output`` is dumped.
        items: the statistics of a tensor, from ``fields.SUMMARY_ITEMS``.
        high_precision: whether statistics of float16 and bfloat16 stay unrounded.
        tensor_list: texts; an entry whose name holds one keeps its tensors in task ``statistics`` too.
    """

    task: str
    level: str
    dump_path: str
    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    enabled: bool
    extra_info: bool
    scope: tuple[str, ...]
    names: tuple[str, ...]
    modes: frozenset[str]
    items: tuple[str, ...]
    high_precision: bool
    tensor_list: tuple[str, ...]

    def keeps(self, entry: str) -> bool:
        """Whether the tensors of an entry are written."""
        return self.task == "tensor" or any(text in entry for text in self.tensor_list)


def read(path: os.PathLike[str], given: dict[str, Any]) -> dict[str, Any]:
    """The object of a configuration file, with the fields that a script gave in place of the file's."""
    return {**object_of(read_file(os.fspath(path)), os.fspath(path)), **given}


def level_of(values: dict[str, Any]) -> str:
    """The level asked for; L1 if there is none, as in msprobe."""
    return str(values.get("level") or "L1")


def parse(values: dict[str, Any], where: str) -> CallConfig:
    """Checks a configuration of level L0, L1 or mix.

    Args:
        values: the file's object.
        where: names the file in messages.

    Raises:
        DumpConfigError: msprobe refuses it, or asks for what is not done here; the message names the field.
    """
    common = Fields(values, where)
    common.warn_of_others(COMMON)
    task = common.choice("task", (*TASKS, *OTHER_TASKS), absent="statistics")
    if task not in _TASKS:
        raise common.error("task", f"levels {', '.join(CALL_LEVELS)} have {' and '.join(_TASKS)} here")
    level = common.choice("level", CALL_LEVELS, absent="L1")
    path = common.text("dump_path")
    if not path:
        raise common.error("dump_path", "the directory to write to must be given")
    common.type("load", dict)
    common.refuse("load", "inputs are not replaced")
    common.choice("risk_level", ("CORE", "FOCUS", "ALL"), absent="FOCUS")
    section = Fields(common.section(task), f"{where}, {task}")
    section.warn_of_others(SECTION)
    if section.choice("device", ("host", "device"), absent="host") == "device":
        raise section.error("device", "statistics of calls are made on the host")
    md5 = section.choice("summary_mode", ("statistics", "md5"), absent="statistics") == "md5"
    return CallConfig(
        task=task,
        level=level,
        dump_path=os.path.abspath(path),
        ranks=fields.numbers(common, "rank"),
        steps=fields.numbers(common, "step"),
        enabled=common.flag("dump_enable", absent=True),
        extra_info=common.flag("extra_info", absent=True),
        scope=_scope(section, level),
        names=section.texts("list"),
        modes=_modes(section),
        items=(*BASIC, MD5) if md5 else BASIC,
        high_precision=common.choice("precision", ("low", "high"), absent="low") == "high",
        tensor_list=section.texts("tensor_list") if task == "statistics" else (),
    )


def _scope(section: Fields, level: str) -> tuple[str, ...]:
    scope = section.texts("scope")
    if scope and len(scope) != 2:
        raise section.error("scope", "it must be a list of two entries, the first and the last")
    accepted = {"L0": (_CELL,), "L1": (_FUNCTION,), "mix": (_CELL, _FUNCTION)}[level]
    for name in scope:
        if not any(pattern.fullmatch(name) for pattern in accepted):
            raise section.error("scope", f"{name[:80]!r} is no full name of an entry of level {level}")
    return scope


def _modes(section: Fields) -> frozenset[str]:
    given = section.texts("data_mode") or ("all",)
    for mode in given:
        if mode not in (*_MODES, "all"):
            raise section.error("data_mode", f"{mode[:80]!r} is none of all, {', '.join(_MODES)}")
    if "all" in given:
        return frozenset(_MODES)
    found = set(given)
    for pair in (_MODES[:2], _MODES[2:]):
        if found.isdisjoint(pair):
            found.update(pair)
    return frozenset(found)

"""What each generation of the dump configuration accepts on each backend, as one row of data.

A row lists the checks in the order in which the original runs them (dump_config.md 1.5), which decides between two
errors, and the values they accept. Another generation or backend is another row, from public source and documents
(dump_config.md), but for the CPU of the newest generation (``generations``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.dump.selection import KINDS, RuleKind

Method = Literal["e2e", "async", "off"]
"""How tensors are dumped: kernel by kernel, in the asynchronous framing (Ascend), or not at all."""

Check = Callable[[Any], None]
"""A check: reads the ``draft.Draft`` and fills in its result."""

FIRST = "1.0-1.2"
NEWEST = "2.7-2.10"
GENERATIONS = (FIRST, "1.3-1.4", "1.5-1.7", "2.0-2.2", "2.4-2.6", NEWEST)
"""In order of time; 2.3 counts as 2.4-2.6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one generation and backend.

    Attributes:
        generation: releases they apply to (``2.7-2.10``).
        backend: ``cpu``, ``gpu``, ``ascend`` (kernel by kernel, or whatever the release had) or ``ascend-o2``.
        target: ``CPU``, ``GPU`` or ``Ascend``.
        checks: the checks, in this order.
        required: keys that the common section must have, in the order of the checks.
        op_debug_mode_required: whether ``op_debug_mode`` is required if the kernel-by-kernel dump is off.
        op_debug_mode_in_e2e: whether it counts in the kernel-by-kernel dump.
        op_debug_modes: the mode of each given number; ``ge_debug_modes`` the same with ``ENABLE_MS_GE_DUMP=1``.
        debug_modes_force: whether a mode changes conflicting fields.
        exception_dump: whether op_debug_mode 4 has an effect.
        dump_modes: numbers that the field accepts.
        marked_with: dumps that support dump_mode 2.
        path_from_environment: whether ``MS_DIAGNOSTIC_DATA_PATH`` replaces an absent path.
        net_name_may_be_empty: whether an empty name is accepted.
        iteration_grammar: key of ``iteration.GRAMMARS``.
        kernel_kinds: kinds of rules in ``kernels``.
        kernels_always_read: whether ``kernels`` is read in all dump modes.
        kernels_keep_blanks, kernels_keep_empty: whether blanks in entries, and empty entries, count.
        empty_kernels_select_all: whether dump_mode 1 without an entry dumps everything.
        without_e2e: the dump if the kernel-by-kernel one was not requested.
        off_is_warned: whether no dump at all is only a warning.
        alerts_without_e2e: whether a file without ``e2e_dump_settings`` gets an alert.
        statistics_need: requirement of ``saved_data`` statistic and full.
        statistic_items: items of ``statistic_category``; None if the field is unknown.
        device_statistics: whether ``stat_calc_mode`` ``device`` has an effect.
        pynative: behaviour of the dump in PyNative mode.
    """

    generation: str
    backend: str
    target: Literal["CPU", "GPU", "Ascend"]
    checks: tuple[Check, ...]
    required: tuple[str, ...] = ("dump_mode", "net_name", "iteration", "input_output", "kernels", "support_device")
    op_debug_mode_required: bool = True
    op_debug_mode_in_e2e: bool = True
    op_debug_modes: Mapping[int, int]
    ge_debug_modes: Mapping[int, int] | None = None
    debug_modes_force: bool = False
    exception_dump: bool = False
    dump_modes: tuple[int, ...] = (0, 1, 2)
    marked_with: frozenset[Method] = frozenset()
    path_from_environment: bool = True
    net_name_may_be_empty: bool = False
    iteration_grammar: str = "spaced"
    kernel_kinds: tuple[RuleKind, ...] = KINDS
    kernels_always_read: bool = False
    kernels_keep_blanks: bool = False
    kernels_keep_empty: bool = False
    empty_kernels_select_all: bool = False
    without_e2e: Method
    off_is_warned: bool = True
    alerts_without_e2e: bool = False
    statistics_need: Literal["nothing", "npy", "async npy", "another device"] = "nothing"
    statistic_items: Mapping[str, str] | None = None
    device_statistics: bool = False
    pynative: Literal["dumped", "refused", "off"] = "dumped"

"""What each generation of the dump configuration accepts on each backend: one row of data each.

A row lists the checks in the order in which the original runs them (dump_config.md 1.5), hence which of two errors
wins, and the values they accept. A further generation or backend is a further row. The CPU of the newest generation is
measured on 2.10.0; the other rows are from public source and documents (dump_config.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.dump.selection import KINDS, RuleKind

Method = Literal["e2e", "async", "off"]
"""How tensors are dumped: kernel by kernel, in the asynchronous framing (Ascend), or not at all."""

Check = Callable[[Any], None]
"""Takes the ``draft.Draft``, fills in what it found."""

FIRST = "1.0-1.1"
NEWEST = "2.7-2.10"
GENERATIONS = (FIRST, "1.2-1.4", "1.5-1.7", "2.0-2.2", "2.4-2.6", NEWEST)
"""In order of time; 2.3 counts as 2.4-2.6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One row.

    Attributes:
        generation: releases it holds for (``2.7-2.10``).
        backend: ``cpu``, ``gpu``, ``ascend`` (kernel by kernel, or whatever the release had) or ``ascend-o2``.
        target: ``CPU``, ``GPU`` or ``Ascend``.
        checks: run in this order.
        required: keys of the common section that must be there, in the order they are looked for.
        op_debug_mode_required: it is one of them where the kernel-by-kernel dump is off.
        op_debug_mode_always: and where it is on.
        op_debug_mode_in_e2e: it counts in the kernel-by-kernel dump.
        op_debug_modes: number given -> mode it means; ``ge_debug_modes`` the same with ``ENABLE_MS_GE_DUMP=1``.
        debug_modes_force: a mode changes fields it cannot go with.
        exception_dump: op_debug_mode 4 does something here.
        dump_modes: numbers the field takes at all.
        marked_with: dumps that have dump_mode 2.
        path_from_environment: ``MS_DIAGNOSTIC_DATA_PATH`` stands in for an absent path.
        net_name_may_be_empty: as it says.
        iteration_grammar: key of ``iteration.GRAMMARS``.
        kernel_kinds: kinds of rules ``kernels`` has.
        kernels_always_read: also in other dump modes than 1.
        kernels_keep_blanks, kernels_keep_empty: blanks in entries, and empty entries, count.
        empty_kernels_select_all: dump_mode 1 without an entry dumps everything, not nothing.
        without_e2e: the dump where the kernel-by-kernel one was not asked for.
        off_is_warned: no dump at all is no error.
        alerts_without_e2e: a file without ``e2e_dump_settings`` gets an alert.
        statistics_need: what ``saved_data`` statistic and full need.
        statistic_items: items of ``statistic_category``; None: the field is not known.
        device_statistics: ``stat_calc_mode`` ``device`` does something here.
        pynative: what the dump does in PyNative mode.
    """

    generation: str
    backend: str
    target: Literal["CPU", "GPU", "Ascend"]
    checks: tuple[Check, ...]
    required: tuple[str, ...] = ("dump_mode", "net_name", "iteration", "input_output", "kernels", "support_device")
    op_debug_mode_required: bool = True
    op_debug_mode_always: bool = False
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

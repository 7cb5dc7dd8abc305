"""The rows of the dump configuration's rules, generation by generation. See ``rules`` for what a column means."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

from harness.dump import check_common, check_debug, check_e2e, check_method, check_saved_data
from harness.dump.rules import GENERATIONS, NEWEST, Check, Rules
from harness.errors import UnsupportedError

_OLD_MODES = MappingProxyType({mode: mode for mode in range(4)})
_NEW_MODES = MappingProxyType({0: 0, 1: 3, 2: 3, 3: 3, 4: 4})
_FIRST_REQUIRED = ("dump_mode", "path", "net_name", "iteration", "input_output", "kernels", "support_device")

_COMMON: tuple[Check, ...] = (
    check_common.required,
    check_common.dump_mode,
    check_common.path,
    check_common.net_name,
    check_common.iterations,
    check_common.input_output,
    check_common.kernels,
    check_common.support_device,
)
_OLD_E2E: tuple[Check, ...] = (
    check_e2e.both_flags,
    check_e2e.enable,
    check_e2e.trans_flag,
    check_method.e2e_by_enable,
)

# --- 1.0 to 1.2: a section for each dump, one number for the iteration ---------------------------------------

_ASCEND_10 = Rules(
    generation="1.0-1.2",
    backend="ascend",
    target="Ascend",
    checks=(
        check_method.graph_mode,
        check_method.common_section,
        *(check_common.iteration_number if check is check_common.iterations else check for check in _COMMON),
        check_method.async_section,
        *_OLD_E2E,
        check_common.async_iteration,
        check_method.not_enabled,
        check_method.device_listed,
    ),
    required=_FIRST_REQUIRED,
    op_debug_mode_required=False,
    op_debug_modes=_OLD_MODES,
    dump_modes=(0, 1),
    path_from_environment=False,
    net_name_may_be_empty=True,
    kernel_kinds=("name",),
    kernels_always_read=True,
    kernels_keep_blanks=True,
    kernels_keep_empty=True,
    without_e2e="off",
    pynative="off",
)

# --- 1.3 and 1.4: iteration is a text, the asynchronous dump is what Ascend does otherwise ----------------------

_ASCEND_13 = replace(
    _ASCEND_10,
    generation="1.3-1.4",
    checks=(
        check_method.graph_mode,
        *_OLD_E2E,
        check_method.common_section,
        check_common.required,
        check_method.without_e2e,
        check_common.dump_mode,
        check_common.path,
        check_common.net_name,
        check_method.enabled,
        check_common.iterations,
        check_common.input_output,
        check_common.kernels,
        check_common.support_device,
        check_debug.op_debug_mode,
        check_method.not_enabled,
        check_method.device_listed,
    ),
    op_debug_mode_required=True,
    iteration_grammar="converted",
    without_e2e="async",
    off_is_warned=False,
)

# --- 1.5 to 1.7: file_format, saved_data, dump_mode 2 ----------------------------------------------------------

_ASCEND_15 = Rules(
    generation="1.5-1.7",
    backend="ascend",
    target="Ascend",
    checks=(
        check_method.task_sink,
        check_method.graph_mode,
        *_OLD_E2E,
        check_method.without_e2e,
        check_method.common_section,
        *_COMMON,
        check_debug.op_debug_mode,
        check_saved_data.file_format,
        check_saved_data.saved_data,
        check_saved_data.statistic_category,
        check_method.not_enabled,
        check_method.device_listed,
    ),
    op_debug_mode_in_e2e=False,
    op_debug_modes=_OLD_MODES,
    marked_with=frozenset({"async"}),
    iteration_grammar="strict",
    kernel_kinds=("name",),
    kernels_always_read=True,
    kernels_keep_blanks=True,
    kernels_keep_empty=True,
    without_e2e="async",
    statistics_need="another device",
    pynative="refused",
)

# --- 2.0 to 2.2: operator types, statistics in the asynchronous dump; CPU and GPU always dump ------------------

_ASCEND_20 = replace(
    _ASCEND_15,
    generation="2.0-2.2",
    checks=_ASCEND_15.checks[1:],
    iteration_grammar="spaced",
    kernel_kinds=("name", "type"),
    kernels_always_read=False,
    statistics_need="async npy",
)

# --- 2.3 to 2.6: patterns, statistic_category, samples, the new debug modes ------------------------------------

_NEW_E2E: tuple[Check, ...] = (
    check_method.e2e_by_presence,
    check_e2e.enable,
    check_e2e.trans_flag,
    check_e2e.save_kernel_args,
    check_e2e.stat_calc_mode,
    check_e2e.device_stat_precision_mode,
    check_e2e.sample_mode,
    check_e2e.sample_num,
    check_method.without_e2e,
)
_NEW_COMMON: tuple[Check, ...] = (
    check_method.common_section,
    *_COMMON,
    check_debug.op_debug_mode,
    check_saved_data.file_format,
    check_debug.overflow_number,
    check_saved_data.saved_data,
)
_ASCEND_24 = Rules(
    generation="2.4-2.6",
    backend="ascend",
    target="Ascend",
    checks=(
        *_NEW_E2E,
        *_NEW_COMMON,
        check_method.graph_mode_if_e2e,
        check_saved_data.stat_calc_device,
        check_method.device_listed,
        check_saved_data.statistic_category,
        check_saved_data.useless_output,
    ),
    op_debug_modes=_NEW_MODES,
    debug_modes_force=True,
    exception_dump=True,
    marked_with=frozenset({"e2e"}),
    without_e2e="async",
    statistics_need="npy",
    statistic_items=check_saved_data.ITEMS,
    device_statistics=True,
)
_SUNK_24 = replace(
    _ASCEND_24,
    backend="ascend-o2",
    checks=(
        check_method.no_e2e_section,
        check_method.without_e2e,
        *_NEW_COMMON,
        check_method.graph_mode_if_e2e,
        check_method.device_listed,
        check_saved_data.statistic_category,
    ),
    ge_debug_modes=_OLD_MODES,
    device_statistics=False,
)

# --- 2.7 to 2.10: initial_iteration, hashes; kernel by kernel only ---------------------------------------------

_ASCEND_27 = replace(
    _ASCEND_24,
    generation=NEWEST,
    checks=(
        *_NEW_E2E,
        *_NEW_COMMON,
        check_common.initial_iteration,
        check_saved_data.stat_calc_device,
        check_method.device_listed,
        check_saved_data.statistic_category,
        check_saved_data.useless_output,
    ),
    marked_with=frozenset({"e2e", "async"}),
    empty_kernels_select_all=True,
    alerts_without_e2e=True,
    statistic_items=check_saved_data.NEWEST_ITEMS,
)


def _gpu(row: Rules, **changes: object) -> Rules:
    """The GPU of a generation: tensors are written whole in host order; there is no asynchronous dump."""
    merged: dict[str, object] = {
        "backend": "gpu", "target": "GPU", "without_e2e": "e2e", "marked_with": frozenset(),
        "statistics_need": "nothing", "exception_dump": False, "device_statistics": False,
        "checks": (*row.checks, check_method.host_order, check_method.whole_tensors),
    }  # fmt: skip
    return replace(row, **(merged | changes))  # type: ignore[arg-type]


_NOT_ON_CPU = (check_method.device_listed, check_saved_data.useless_output)


def _cpu(row: Rules, **changes: object) -> Rules:
    """The CPU of a generation: statistics need another device; ``support_device`` has no effect since 1.5. That of the
    newest generation is measured on 2.10.0."""
    merged: dict[str, object] = {
        "backend": "cpu", "target": "CPU", "without_e2e": "e2e", "marked_with": frozenset(),
        "statistics_need": "another device", "exception_dump": False, "device_statistics": False,
        "checks": tuple(check for check in row.checks if check not in _NOT_ON_CPU),
    }  # fmt: skip
    return replace(row, **(merged | changes))  # type: ignore[arg-type]


_ROWS = (
    _ASCEND_10,
    _gpu(_ASCEND_10, without_e2e="off"),
    _cpu(_ASCEND_10, without_e2e="off", checks=_ASCEND_10.checks),
    _ASCEND_13,
    _gpu(_ASCEND_13),
    _cpu(_ASCEND_13, without_e2e="off", checks=_ASCEND_13.checks),
    _ASCEND_15,
    _gpu(_ASCEND_15),
    _cpu(_ASCEND_15, without_e2e="off"),
    _ASCEND_20,
    _gpu(_ASCEND_20),
    _cpu(_ASCEND_20),
    _ASCEND_24,
    _SUNK_24,
    _gpu(_ASCEND_24, pynative="refused", checks=(check_method.graph_mode, *_gpu(_ASCEND_24).checks)),
    _cpu(_ASCEND_24, pynative="refused", checks=(check_method.graph_mode, *_cpu(_ASCEND_24).checks)),
    _ASCEND_27,
    _gpu(_ASCEND_27),
    _cpu(_ASCEND_27),
)
TABLE: dict[tuple[str, str], Rules] = {(row.generation, row.backend): row for row in _ROWS}
"""Every row, by generation and backend."""


def generation_of(release: str) -> str:
    """The generation of a release (``2.3.1``), or of a generation's own name.

    Raises:
        UnsupportedError: there is none.
    """
    if release in GENERATIONS:
        return release
    match = re.match(r"(\d+)\.(\d+)(\.|$)", release)
    if match:
        version = int(match[1]), int(match[2])
        if version == (2, 3):
            return "2.4-2.6"
        for generation in GENERATIONS:
            first, last = (tuple(map(int, end.split("."))) for end in generation.split("-"))
            if first <= version <= last:
                return generation
    raise UnsupportedError(f"no dump configuration rules for release {release!r}; known: {', '.join(GENERATIONS)}")


def rules_for(backend: str, generation: str | None = None) -> Rules:
    """The row of a backend and a generation.

    Args:
        backend: ``cpu``, ``gpu``, ``ascend``, ``ascend-o0``, ``ascend-o1`` or ``ascend-o2``, in any case.
        generation: or a release; None is the newest that has the backend (2.4-2.6 for ``ascend-o2``).

    Raises:
        UnsupportedError: naming the rows there are.
    """
    name = {"ascend-o0": "ascend", "ascend-o1": "ascend"}.get(backend.lower(), backend.lower())
    wanted = [generation_of(generation)] if generation is not None else list(reversed(GENERATIONS))
    for each in wanted:
        row = TABLE.get((each, name))
        if row is not None:
            return row
    known = ", ".join(f"{b} {g}" for g, b in TABLE)
    raise UnsupportedError(f"no dump configuration rules for backend {backend!r} of {generation!r}; known: {known}")

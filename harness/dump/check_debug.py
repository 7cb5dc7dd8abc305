"""Checks of ``op_debug_mode`` and ``overflow_number``: overflow and exception dump.

Source: dump_config.md 2.7, 2.8; the CPU of 2.10.0 measured, the rest from public source.
"""

from __future__ import annotations

from harness.dump import iteration
from harness.dump.check_method import warn
from harness.dump.draft import Draft

OVERFLOW = 3
EXCEPTION = 4


def op_debug_mode(draft: Draft) -> None:
    """Reads the field and makes its forced changes."""
    if not is_read(draft):
        return
    given = draft.settings.uint("op_debug_mode")
    meant = draft.rules.op_debug_modes
    if draft.rules.ge_debug_modes is not None and draft.environ.get("ENABLE_MS_GE_DUMP") == "1":
        meant = draft.rules.ge_debug_modes
    if given not in meant:
        accepted = ", ".join(map(str, sorted(set(meant.values()))))
        raise draft.settings.error("value:op_debug_mode", "op_debug_mode", f"counts as {given}; accepted: {accepted}")
    draft.op_debug_mode = meant[given]
    if draft.rules.debug_modes_force:
        _force(draft)


def is_read(draft: Draft) -> bool:
    """Whether the field counts; in the kernel-by-kernel dump of releases up to 2.2 it does not."""
    return "op_debug_mode" in draft.settings and (draft.method != "e2e" or draft.rules.op_debug_mode_in_e2e)


def _force(draft: Draft) -> None:
    mode = draft.op_debug_mode
    if mode == EXCEPTION:
        _exception_changes(draft)
    if mode != 0 and draft.dump_mode != 0:
        warn(f"op_debug_mode {mode} forces dump_mode {draft.dump_mode} to 0")
        draft.dump_mode = 0
        draft.kernels = ()
    if mode != OVERFLOW:
        return
    if draft.input_output != 0:
        warn(f"op_debug_mode {mode} forces input_output {draft.input_output} to 0")
        draft.input_output = 0
    if draft.stat_calc_mode == "device" and not draft.synchronous:
        warn(f"op_debug_mode {mode} without enable forces stat_calc_mode to 'host'")
        draft.stat_calc_mode = "host"


def _exception_changes(draft: Draft) -> None:
    if not draft.rules.exception_dump:
        warn(f"op_debug_mode {EXCEPTION} (exception dump) is not supported on {draft.rules.backend}")
    if draft.method != "e2e":
        return
    if not draft.iteration.everything:
        warn(f"op_debug_mode {EXCEPTION} forces iteration {draft.iteration.text!r} to 'all'")
        draft.iteration = iteration.EVERYTHING
    if draft.sample_mode == 1:
        warn(f"op_debug_mode {EXCEPTION} forces sample_mode to 0")
        draft.sample_mode = 0
    draft.saved_data_forced = True


def overflow_number(draft: Draft) -> None:
    if "overflow_number" not in draft.settings:
        return
    if draft.op_debug_mode != OVERFLOW:  # judged before the field's type (measured)
        raise draft.settings.error(
            "overflow-not-3",
            "overflow_number",
            f"accepted only when op_debug_mode is {OVERFLOW}; here that is {draft.op_debug_mode}",
        )
    draft.overflow_number = draft.settings.uint("overflow_number")

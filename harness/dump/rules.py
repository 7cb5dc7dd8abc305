"""What each generation of the dump configuration accepts on each backend: one row of data each.

A row lists the checks in the order in which the original runs them (dump_config.md 1.5), hence which of two errors
wins, and the values they accept. A further generation or backend is a further row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.dump import checks
from harness.dump.draft import Draft
from harness.errors import UnsupportedError

Check = Callable[[Draft], None]

NEWEST = "2.7-2.10"


@dataclass(frozen=True, slots=True)
class Rules:
    """One row.

    Attributes:
        generation: releases it holds for (``2.7-2.10``).
        backend: ``cpu``, ...
        section_checks: run over ``e2e_dump_settings``, before anything is known of the common section.
        common_checks: run over ``common_dump_settings``.
        closing_checks: consistency between fields.
        required: keys of the common section that must be there, in the order they are looked for.
        dump_modes: numbers the field takes at all; ``dump_modes_here`` those the backend has.
        op_debug_modes: number given -> mode it means.
        exception_dump: op_debug_mode 4 does something here.
        saved_data_here: words of ``saved_data`` the backend has.
        device_statistics: ``stat_calc_mode`` ``device`` does something here.
        e2e_forced: a file without ``e2e_dump_settings`` dumps all the same, after an alert.
    """

    generation: str
    backend: str
    section_checks: tuple[Check, ...]
    common_checks: tuple[Check, ...]
    closing_checks: tuple[Check, ...]
    required: tuple[str, ...]
    dump_modes: tuple[int, ...]
    dump_modes_here: tuple[int, ...]
    op_debug_modes: dict[int, int]
    exception_dump: bool
    saved_data_here: frozenset[str]
    device_statistics: bool
    e2e_forced: bool


_NEWEST_CPU = Rules(
    generation=NEWEST,
    backend="cpu",
    section_checks=(
        checks.enable,
        checks.trans_flag,
        checks.save_kernel_args,
        checks.stat_calc_mode,
        checks.device_stat_precision_mode,
        checks.sample_mode,
        checks.sample_num,
    ),
    common_checks=(
        checks.required,
        checks.dump_mode,
        checks.path,
        checks.net_name,
        checks.iterations,
        checks.input_output,
        checks.kernels,
        checks.support_device,
        checks.op_debug_mode,
        checks.overflow_number,
        checks.saved_data,
        checks.initial_iteration,
    ),
    closing_checks=(checks.stat_calc_device,),
    required=("dump_mode", "net_name", "iteration", "input_output", "kernels", "support_device"),
    dump_modes=(0, 1, 2),
    dump_modes_here=(0, 1),
    op_debug_modes={0: 0, 1: 3, 2: 3, 3: 3, 4: 4},
    exception_dump=False,
    saved_data_here=frozenset({"tensor"}),
    device_statistics=False,
    e2e_forced=True,
)

TABLE: dict[tuple[str, str], Rules] = {(row.generation, row.backend): row for row in (_NEWEST_CPU,)}


def rules_for(backend: str, generation: str = NEWEST) -> Rules:
    """The row of ``backend`` (any case) and ``generation``; ``UnsupportedError`` naming the rows there are."""
    row = TABLE.get((generation, backend.lower()))
    if row is None:
        known = ", ".join(f"{b} {g}" for g, b in TABLE)
        raise UnsupportedError(f"no dump configuration rules for backend {backend!r} of {generation!r}; known: {known}")
    return row

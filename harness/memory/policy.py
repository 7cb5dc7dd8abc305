"""Decides whether memory is shared at all."""

from __future__ import annotations

from harness.errors import SettingError

LEVELS = ("O0", "O1")
#: dump_mode that dumps every kernel
EVERY_KERNEL = 0


def reuse_applies(
    memory_optimize_level: str = "O0",
    mem_reuse: bool = True,
    synchronous_dump: bool = False,
    dump_mode: int = EVERY_KERNEL,
) -> bool:
    """Whether tensors may share memory in this process.

    ``sys.mem_reuse`` defaults to true, and a synchronous dump of every kernel sets it to false for the process, as the
    public source and the documents up to 2.2 say. MindSpore 2.10.0 on a CPU differs: only the level counts there, and a
    dump does not turn reuse off (measured); a plan made with ``reuse=True`` shows that.

    Args:
        memory_optimize_level: ``O0`` or ``O1``; the solver runs at ``O1`` only. ``SettingError`` for anything else.
        mem_reuse: ``sys.mem_reuse`` of the environment's configuration.
        synchronous_dump: ``e2e_dump_settings.enable``.
        dump_mode: ``common_dump_settings.dump_mode``.
    """
    if memory_optimize_level not in LEVELS:
        raise SettingError(f"memory_optimize_level must be one of {list(LEVELS)}, got {memory_optimize_level!r}")
    dumped = synchronous_dump and dump_mode == EVERY_KERNEL
    return memory_optimize_level == "O1" and mem_reuse and not dumped

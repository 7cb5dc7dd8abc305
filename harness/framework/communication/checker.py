"""What checks the order of collectives on a device."""

from __future__ import annotations

from harness.errors import StateError


class CommExecOrderChecker:
    """What collects the order of collectives on a device; a CPU's backend has nothing to check at the end."""

    @classmethod
    def get_instance(cls) -> CommExecOrderChecker:
        """An object of it."""
        return cls()

    def start_collect_exec_order(self) -> None:
        """Nothing is collected on a CPU."""

    def stop_collect_exec_order(self) -> None:
        """``RuntimeError``: on a CPU no library of collectives was loaded."""
        raise StateError("the order of collectives can be checked on an Ascend device only")

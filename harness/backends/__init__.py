"""Backends: they run a program and give a capture."""

from typing import TYPE_CHECKING, Any

from harness.backends.base import BACKENDS, Backend, Process, get
from harness.errors import UnsupportedError

if TYPE_CHECKING:
    from harness.backends.recorded import RecordedBackend

__all__ = ["BACKENDS", "Backend", "Process", "RecordedBackend", "get", "stand_in"]


def stand_in(name: str) -> None:
    """Makes ``name`` the backend of this process, for running a script.

    Raises:
        UnknownNameError: there is no such backend.
        UnsupportedError: the backend does not run in this process, or not on this machine.
    """
    backend = get(name)
    reason = backend.stand_in()
    if reason is not None:
        raise UnsupportedError(f"backend {name} cannot run a script here: {reason}")


def __getattr__(name: str) -> Any:
    if name == "RecordedBackend":  # it brings the observers of every mode
        from harness.backends.recorded import RecordedBackend

        return RecordedBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)

"""Backends: what runs a program and gives a capture."""

from harness.backends.base import BACKENDS, Backend, Process, get
from harness.backends.emulated import Emulated
from harness.errors import UnsupportedError
from harness.framework.runtime import session

__all__ = ["BACKENDS", "Backend", "Process", "get", "stand_in"]


def stand_in(name: str) -> None:
    """Makes ``name`` the backend of this process, for a script that is run in it.

    Raises:
        UnknownNameError: there is no such backend.
        UnsupportedError: it does not run in this process, or not on this machine.
    """
    backend = get(name)
    if not backend.in_process:
        names = ", ".join(each for each in BACKENDS if get(each).in_process)
        raise UnsupportedError(f"backend {name} runs programs in a process of its own; a script can run on: {names}")
    reason = backend.available()
    if reason is not None:
        raise UnsupportedError(f"backend {name} cannot run here: {reason}")
    if isinstance(backend, Emulated):
        backend.stand_in(session.current())

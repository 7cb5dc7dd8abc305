"""Backends: what runs a program and gives a capture."""

from harness.backends.base import BACKENDS, Backend, Process, get
from harness.errors import UnsupportedError

__all__ = ["BACKENDS", "Backend", "Process", "get", "stand_in"]


def stand_in(name: str) -> None:
    """Makes ``name`` the backend of this process, for a script that is run in it.

    Raises:
        UnknownNameError: there is no such backend.
        UnsupportedError: it does not run in this process, or not on this machine.
    """
    backend = get(name)
    reason = backend.stand_in()
    if reason is not None:
        raise UnsupportedError(f"backend {name} cannot run a script here: {reason}")

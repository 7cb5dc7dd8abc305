"""pytest plugin: networks run, dump and are checked against golden stores.

Nothing here imports numpy, h5py or ``harness`` before a session asks for the gate (``--msdump``), nor pytest before a
name is used: the ``msdump`` command starts here, too.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_msdump.fixture import Msdump

__all__ = ["Msdump"]


def __getattr__(name: str) -> object:
    if name == "Msdump":
        from pytest_msdump.fixture import Msdump

        return Msdump
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

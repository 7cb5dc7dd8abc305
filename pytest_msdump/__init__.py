"""pytest plugin: networks run, dump and are checked against golden stores.

Nothing here imports numpy, h5py or ``harness`` before a session asks for the gate (``--msdump``).
"""

from pytest_msdump.fixture import Msdump

__all__ = ["Msdump"]

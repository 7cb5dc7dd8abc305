"""Golden stores: one HDF5 file per network, written whole or not at all, and never trusted when read."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.store.layout.index import Index, describe_key
from harness.store.layout.schema import Compression, Level, RunId
from harness.store.read import GoldenStore, StoredRun

if TYPE_CHECKING:
    from harness.store.bundle import accept, seal
    from harness.store.interrupted import recover_around
    from harness.store.journal import recover
    from harness.store.transaction import Transaction, change_one
    from harness.store.write import RunChange, RunData, UpdateResult, rewrite, update

__all__ = [
    "Compression", "GoldenStore", "Index", "Level", "RunChange", "RunData", "RunId", "StoredRun", "Transaction",
    "UpdateResult", "accept", "change_one", "describe_key", "recover", "recover_around", "rewrite", "seal", "update",
]  # fmt: skip

# Most sessions only read.
_WRITING = dict.fromkeys(("RunChange", "RunData", "UpdateResult", "rewrite", "update"), "harness.store.write")
_WRITING |= dict.fromkeys(("accept", "seal"), "harness.store.bundle")
_WRITING |= dict.fromkeys(("Transaction", "change_one"), "harness.store.transaction")
_WRITING |= {"recover": "harness.store.journal", "recover_around": "harness.store.interrupted"}
__getattr__, __dir__ = _lazy(__name__, _WRITING)

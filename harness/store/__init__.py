"""Golden stores: one HDF5 file per network, written whole or not at all, read with suspicion."""

from harness.store.bundle import accept
from harness.store.index import Index, describe_key
from harness.store.read import GoldenStore, StoredRun
from harness.store.schema import Compression, Level, RunId
from harness.store.write import RunChange, RunData, UpdateResult, rewrite, update

__all__ = [
    "Compression", "GoldenStore", "Index", "Level", "RunChange", "RunData", "RunId", "StoredRun", "UpdateResult",
    "accept", "describe_key", "rewrite", "update",
]  # fmt: skip

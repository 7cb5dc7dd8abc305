"""One-pass statistics and content digests of arrays."""

from harness.stats.digest import DIGEST_BYTES, Digester, digest, digest_of_bytes
from harness.stats.statistics import Description, Statistics, describe

__all__ = ["DIGEST_BYTES", "Description", "Digester", "Statistics", "describe", "digest", "digest_of_bytes"]

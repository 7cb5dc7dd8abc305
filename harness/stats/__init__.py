"""One-pass statistics and content digests of arrays."""

from harness.stats.digest import DIGEST_BYTES, digest
from harness.stats.statistics import Statistics, describe

__all__ = ["DIGEST_BYTES", "Statistics", "describe", "digest"]

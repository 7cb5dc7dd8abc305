"""Versions of the layout, and stores of older ones."""

from __future__ import annotations

from harness.errors import StoreError
from harness.store.schema import SCHEMA

#: Oldest layout this code reads. A change of layout raises ``schema.SCHEMA`` and teaches ``read`` the old one;
#: ``write.rewrite`` then brings a store up to date.
OLDEST = 1


def check_schema(version: int) -> int:
    """``version`` if this code reads it; ``StoreError`` saying what to do otherwise."""
    if version > SCHEMA:
        raise StoreError(
            f"schema version {version} was written by a newer pytest-msdump; this one reads {OLDEST} to {SCHEMA}: "
            "update it, or make the golden anew with --msdump-regen"
        )
    if version < OLDEST:
        raise StoreError(f"schema version {version} is not known; this pytest-msdump reads {OLDEST} to {SCHEMA}")
    return version

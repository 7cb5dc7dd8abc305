"""One digest over everything a run holds: whether it changed, and whether somebody altered it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import xxhash

from harness.errors import StoreError
from harness.store.index import Index
from harness.store.schema import Level


def attrs_text(attrs: Mapping[str, Any]) -> str:
    """A run's attributes as canonical JSON; ``StoreError`` for what JSON cannot hold."""
    try:
        return json.dumps(dict(attrs), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's attrs are no JSON: {error}") from None


def run_checksum(index: Index, level: Level, attrs: Mapping[str, Any] | str, artefacts: Mapping[str, bytes]) -> str:
    """32 hex digits of xxh3_128 over index, names, level, attributes (or their text) and artefacts."""
    hasher = xxhash.xxh3_128()

    def add(raw: bytes) -> None:
        # Lengths go in too, so that no two lists of parts look alike.
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)

    add(index.rows.tobytes())
    for name in index.names:
        add(name.encode("utf-8", "surrogateescape"))
    add(level.encode())
    add((attrs if isinstance(attrs, str) else attrs_text(attrs)).encode())
    for name in sorted(artefacts):
        add(name.encode("utf-8", "surrogateescape"))
        add(artefacts[name])
    return hasher.hexdigest()

"""Several captures of one test as one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.capture import Capture
    from harness.records import Record


def records(captures: Sequence[Capture]) -> Iterator[Record]:
    """The records of all captures, in order.

    Each capture counts its graphs from its own zero; those of later captures go on where the one before ended, so
    that no two slots share a key.
    """
    from dataclasses import replace

    offset = 0
    for capture in captures:
        last = offset - 1
        for record in capture.records():
            if offset:
                record = replace(record, key=record.key._replace(graph=record.key.graph + offset))
            last = max(last, record.key.graph)
            yield record
        offset = last + 1


def artefacts(captures: Sequence[Capture]) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all text artefacts; those of later captures stand under ``section_N/``."""
    for number, capture in enumerate(captures):
        prefix = f"section_{number}/" if number else ""
        for name, text in capture.artefacts.items():
            yield prefix + name, text

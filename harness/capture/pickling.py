"""A capture as a pickle holds it: everything is read, nothing refers to files or running programs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from harness.records import Record, RecordExtra

_FUNCTIONS = ("listed", "as_rows", "execution")


def state(capture: Any) -> dict[str, Any]:
    """What a pickle of a capture holds, by field."""
    records = tuple(map(_whole, capture.records()))
    found = {each.name: getattr(capture, each.name) for each in fields(capture) if each.name not in _FUNCTIONS}
    for name in ("artefacts", "execution_order", "operators", "results", "environment", "places"):
        found[name] = dict(found[name])
    others = dict(zip(_FUNCTIONS, (_none, _nothing, _nothing), strict=True))
    more = {"failed": tuple(map(_whole, capture.failed)), "problems": list(capture.problems)}
    return {**found, **others, **more, "source": records, "sources": ()}


def _whole(record: Record) -> Record:
    extra = record.extra
    plain = RecordExtra(**{each.name: getattr(extra, each.name) for each in fields(RecordExtra)})
    return Record(
        record.key, record.op_type, record.dtype, record.shape, record.format, record.load(), record.source,
        record.digest, plain,
    )  # fmt: skip


def _none() -> int:
    return 0


def _nothing(*_given: Any) -> None:
    return None

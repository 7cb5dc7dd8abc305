"""Captures and golden runs as sides of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from harness.capture import Capture
from harness.explain.evidence import Evidence
from harness.recording.described import Described
from harness.records import Record
from harness.replaying import engine_of
from harness.store import StoredRun

Records = Callable[[], Iterable[Record]]


def side_of(content: Capture | StoredRun, records: Records | None = None) -> Evidence:
    """A capture or a golden run as a side.

    Args:
        content: the capture or the run.
        records: gives its records as they were compared, if these are not its own.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.explain import side_of
        >>> side = side_of(read_tree("dump"))
        >>> side.backend, side.emulated, len(side.order)
        ('cpu', True, 6)
    """
    backend, emulated = _made_by(content)
    own = content if isinstance(content, Capture) and records is None else None
    return Evidence(
        records or content.records, lambda: _texts(content), backend, emulated,
        content.places if isinstance(content, Capture) else None,
        own.execution if own is not None else _unknown, own.stated if own is not None else False,
        partial(operators_of, content), engine_of(rules_of(content), backend) or getattr(content, "engine", ""),
    )  # fmt: skip


def operators_of(content: Any) -> Iterable[Described]:
    """The operators of a capture or a golden run, as its engine described them; empty if nobody did."""
    told: Any = getattr(content, "operators", ())
    told = told() if callable(told) else told
    return told.values() if isinstance(told, Mapping) else told


def rules_of(content: Any) -> Mapping[str, Any]:
    """Where the values of a capture or a golden run come from."""
    rules = content.attrs.get("rules") if isinstance(content, StoredRun) else getattr(content, "rules", None)
    return rules if isinstance(rules, Mapping) else {}


def _made_by(content: Capture | StoredRun) -> tuple[str, bool]:
    if isinstance(content, StoredRun):
        return content.id.backend, bool(content.attrs.get("emulated"))
    return content.backend, content.emulated


def _texts(content: Capture | StoredRun) -> Mapping[str, bytes]:
    return content.artefacts() if isinstance(content, StoredRun) else content.artefacts


def _unknown(_where: tuple[int, int, int, str, int]) -> None:
    """Says nothing of an execution alone."""

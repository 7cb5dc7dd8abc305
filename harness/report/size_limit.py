"""Limits a page about many runs to a size that a browser opens at once; the page says what is left out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness.report.network import NOTHING

#: Characters of all runs together.
LIMIT = 16 << 20


def only_counts(run: dict[str, Any]) -> dict[str, Any]:
    """A run that holds, reduced to counts and artefacts, because the rest would be long and say nothing."""
    listed = ("name", "kind", "recorder", "counts", "normalised", "state", "bytes")
    texts = [{name: each[name] for name in listed} for each in run["artefacts"]]
    empty = {name: type(run[name])() for name in ("slots", "steps", "details", "drift", "ir")}
    cut = "This run holds: the page of a session keeps the counts of its slots and the list of its artefacts."
    return run | empty | {"first": None, "network": NOTHING, "artefacts": texts, "cut": [cut] if run["slots"] else []}


def limited(runs: Iterable[dict[str, Any]], limit: int = LIMIT) -> list[dict[str, Any]]:
    """The runs in their order, in at most ``limit`` characters of JSON if possible.

    The first ones stay whole; the others lose first pictures and differences of texts, then the list of slots.
    """
    kept = []
    left = limit
    for run in runs:
        for smaller in (lambda each: each, _without_pictures, _without_slots):
            fitted = smaller(run)
            size = len(json.dumps(fitted, allow_nan=False, separators=(",", ":")))
            if size <= left:
                break
        left -= size
        kept.append(fitted)
    return kept


def _without_pictures(run: dict[str, Any]) -> dict[str, Any]:
    texts = [
        each | ({"hunks": [], "cut": "left out: the page is full"} if each.get("hunks") else {})
        for each in run["artefacts"]
    ]
    cut = "Pictures, the network, statistics over iterations and differences of texts are left out: the page is full."
    empty = {"details": {}, "drift": [], "ir": {}, "network": NOTHING}
    return run | empty | {"artefacts": texts, "cut": [*run["cut"], cut]}


def _without_slots(run: dict[str, Any]) -> dict[str, Any]:
    if not run["slots"]:
        return run
    bulky = ("slots", "steps", "details", "drift", "ir", "artefacts")
    empty = {name: type(run[name])() for name in bulky} | {"first": None, "network": NOTHING}
    cut = "Everything but the counts and the text is left out: the page is full; run this test alone to see it."
    return run | empty | {"cut": [*run["cut"], cut]}

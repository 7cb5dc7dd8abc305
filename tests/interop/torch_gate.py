"""Judges and explains runs of PyTorch as the gate does: the golden is what a store keeps of a capture."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.capture import Capture
from harness.capture.keeping import declared_by
from harness.compare.policy import Judgement, Party, judge
from harness.explain import Explanation, Subject, explained, grafting, settle, side_of
from harness.gate.sides import party_of
from harness.store import GoldenStore, RunData, RunId, StoredRun, update

HERE = {"torch": "here"}
_ROUNDS = 4
#: runs again with tensors of the golden
Again = Callable[[Mapping[Any, Any]], Capture]


def stored(capture: Capture) -> StoredRun:
    """A capture as a golden has it: what a store keeps of it."""
    with tempfile.TemporaryDirectory() as folder:
        path, run = Path(folder) / "golden.h5", RunId("torch", "tensor")
        attrs = {"emulated": capture.emulated, "rules": dict(capture.rules)}
        update(path, "Net", {run: RunData(capture.records(), capture.artefacts, attrs, declared=declared_by(capture))})
        return GoldenStore.open(path).run(*run)


def judged_and_told(golden: StoredRun, run: Capture) -> tuple[Judgement, Explanation | None]:
    """The judgement and the explanation as the gate gives them, in the golden's environment."""
    one = replace(Party.of_run(golden), environment=lambda: HERE, repeated=lambda: True)
    judged = judge(one, replace(party_of(run), environment=lambda: HERE), lay=lambda _one, _other: None, settle=settle)
    return judged, explained(judged, Subject("run", "golden"), side_of(golden), side_of(run))


def grafted(golden: StoredRun, again: Again, judged: Judgement, told: Explanation) -> Explanation:
    """The explanation after runs with the golden's tensors."""
    side = side_of(golden)
    grafts, left = grafting.proposed(judged.comparison), None
    for _ in range(_ROUNDS):
        values = grafts.values(side) if grafts is not None else None
        if grafts is None or values is None:
            return told
        left = grafting.rest(judged_and_told(golden, again(values))[0], grafts)
        if left is None:
            return grafting.proven(told, grafts)
        more = grafting.further(left, grafts)
        if more is None:
            break
        grafts = more
    return grafting.refuted(told, grafts, left) if left is not None else told

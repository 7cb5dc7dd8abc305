"""Captures and stored runs as sides of a judgement."""

from __future__ import annotations

from collections.abc import Sequence

from harness.capture import Capture
from harness.compare import HasRecords
from harness.compare.identities import Identities
from harness.compare.policy import Party, is_of_calls
from harness.errors import StoreError
from harness.gate.variants import are_of
from harness.store import GoldenStore, RunId, StoredRun
from harness.words import counted


def party_of(capture: Capture, content: HasRecords | None = None) -> Party:
    """A dump tree as a side of a judgement; ``content`` gives its records instead of ``capture``."""
    release = capture.rules.get("ms_version")
    compiled = tuple(capture.rules.get("compiled", ()))
    return Party(
        content or capture, capture.backend, capture.mode, capture.emulated, release, compiled=compiled,
        called=is_of_calls(capture.rules), lost=lambda: len(capture.lost), gaps=lambda: capture.gaps,
        identities=Identities.of(capture.operators),
    )  # fmt: skip


def choose_run(store: GoldenStore, run: str, backend: str = "", mode: str = "") -> StoredRun:
    """The run called ``run``; without a name the only run, or the one of ``backend`` (and ``mode``). A variant is
    chosen by its whole name alone.

    Args:
        run: ``BACKEND/MODE`` (and further parts of the key, see ``RunId``), or a backend alone; then ``mode`` decides
            between several modes.

    Raises ``StoreError`` with the names of the runs if this leaves several or none.
    """
    there = store.runs()
    if run:
        exact = [each for each in there if str(each) == run]
        if exact or "/" in run:
            return store.run(*(exact[0] if exact else run.rpartition("/")[::2]))
        backend = run
    bases = [each for each in there if not each.variant] or there
    candidates = bases if len(bases) == 1 and not run else [each for each in bases if each.backend == backend]
    if len(candidates) > 1:
        candidates = [each for each in candidates if each.mode == mode]
    if len(candidates) != 1:
        which = f"none of them is {run!r} alone; " if run else ""
        raise StoreError(f"{store.path} holds {_listed(there)}; {which}say which with --run BACKEND/MODE")
    return store.run(*candidates[0])


def left_aside(run: StoredRun, store: GoldenStore, named: str) -> list[str]:
    """A line about a run that was chosen while its golden has variants of it; none if the user named it."""
    others = [each for each in store.runs() if are_of(each, run.id)]
    if named or not others:
        return []
    has = f"its golden has {counted(len(others), 'variant')}"
    return [f"Compared with the base, run {run.id}; {has}: {_listed(others)}"]


def _listed(runs: Sequence[RunId]) -> str:
    return ", ".join(map(str, runs)) or "no run"

"""One page about two runs, made from Python: stores, dumps, captures, or values at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import explain
from harness.capture import Capture, read_tree
from harness.capture.directory_kinds import is_single_file
from harness.compare import Tolerances
from harness.compare.policy import Party, judge, texts_count
from harness.compare.spread import spread
from harness.errors import StoreError
from harness.gate.checking import RUN
from harness.gate.given import of_values
from harness.gate.lazily import lay_beside, settle
from harness.gate.sides import choose_run, party_of
from harness.records import Record
from harness.report.content import Run, content
from harness.report.rendering import render
from harness.store import GoldenStore, StoredRun

#: A file is this to us, if it does not end in ``.h5``, once nothing else can be.
_STORE = ".h5"


@dataclass(frozen=True)
class _Side:
    name: str
    network: str
    party: Party
    records: Callable[[], Iterable[Record]]
    artefacts: Callable[[], Mapping[str, bytes]]

    evidence: explain.Evidence


def page(a: Any, b: Any, *, tolerance: Any = None, title: str = "") -> str:
    """A page that compares two runs, as ``msdump diff --report`` writes it: one HTML text that fetches nothing.

    Args:
        a: the expected side: a path as ``msdump diff`` takes it (``golden/x.h5``, ``golden/x.h5::cpu/tensor``, a dump,
            a file of tensors), a ``Capture``, a ``StoredRun``, or values as ``harness.check`` takes them.
        b: the found side, likewise.
        tolerance: what ``Tolerances.parse`` takes; None for the one that rules between such sides.
        title: of the page; by default the network's name.

    Returns:
        The text of the page; write it to a file as UTF-8.

    Raises:
        StoreError: a store is damaged, does not exist, or has several runs and none is chosen.
        TreeError: a dump cannot be read.
        SettingError: a side is empty.
        SettingTypeError: a side is of another kind.
        ToleranceError: the tolerance cannot be read.

    Examples:
        >>> import numpy as np
        >>> from harness.report import page
        >>> text = page({"loss": 0.25, "grad": np.float32([1, 2])}, {"loss": 0.25, "grad": np.float32([1, 3])})
        >>> text.startswith("<!doctype html>"), "check/grad" in text
        (True, True)
    """
    asked = None if tolerance is None else Tolerances.parse(tolerance)
    with ExitStack() as stack:
        one, other = (stack.enter_context(_side(each)) for each in (a, b))
        judged = judge(one.party, other.party, asked, lay=lay_beside, settle=settle, by="the caller")
        name = f"{other.network} [{other.party.backend}-{other.party.mode}]"
        subject = explain.Subject(f"{name} of {other.name}" if other.name else name, one.name or "what was expected")
        explanation = explain.explained(judged, subject, one.evidence, other.evidence)
        text = explain.told(judged, subject, explanation)
        texts = (one.artefacts(), other.artefacts()) if texts_count(one.party, other.party) else ({}, {})
        run = Run(
            name, one.name or "expected", other.name or "found", judged.comparison, spread(judged.comparison),
            explanation, text, texts, records=one.records, graphs=(one.evidence.graphs, other.evidence.graphs),
            verdict=judged.verdict,
        )  # fmt: skip
        return render([content(run)], title or f"msdump: {other.network}")


@contextmanager
def _side(given: Any) -> Iterator[_Side]:
    if isinstance(given, StoredRun):
        yield _of_run("", given)
    elif isinstance(given, Capture):
        yield _of_capture("", given)
    elif not isinstance(given, str | os.PathLike):
        values = of_values(given, "values", RUN.backend, RUN.mode, "harness.report.page")
        yield _of_capture("", values)
    else:
        path, _, run = os.fspath(given).partition("::")
        if not path.endswith(_STORE) and (os.path.isdir(path) or is_single_file(path)):
            yield _of_capture(path, read_tree(path))
            return
        try:
            store = GoldenStore.open(Path(path))
        except FileNotFoundError:
            raise StoreError(f"{path}: there is neither a golden store nor a dump of that name") from None
        with store:
            yield _of_run(os.fspath(given), choose_run(store, run))


def _of_run(name: str, run: StoredRun) -> _Side:
    return _Side(
        name or str(run.path), run.network, Party.of_run(run), run.records, run.artefacts, explain.side_of(run)
    )


def _of_capture(name: str, capture: Capture) -> _Side:
    side = explain.side_of(capture)
    return _Side(name, capture.network, party_of(capture), capture.records, lambda: capture.artefacts, side)

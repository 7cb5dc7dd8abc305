"""A record of an operator, read in the way that gives its results; and the operators that made an input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.compare.divergence import Execution
from harness.explain.evidence import Evidence, loaded
from harness.explain.recorded import recorded
from harness.explain.replay import Setting
from harness.records import Record

Array = np.ndarray[Any, np.dtype[Any]]


def read(given: Setting, wanted: list[Array]) -> Setting | None:
    """The first reading of a record that gives its results bit for bit; else None."""
    if given.replayer is None:
        return None
    solved = given.replayer.solve(given.call(), wanted)
    for each in (given if solved is None else given.changed(attrs=solved)).readings():
        made = given.replayer.replay(each.call())
        if made is not None and len(made.outputs) == len(wanted) and all(map(same, made.outputs, wanted)):
            return each
    return None


def same(one: Array, other: Array) -> bool:
    """Whether two arrays have one dtype, one shape and equal bits."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def results_of(run: Evidence, where: Execution) -> list[Array] | None:
    """The results of an execution by slot, empty arrays for those without elements, which have no record; None if one
    is not known."""
    found = {slot: loaded(each) for slot, each in run.slots(where, "output").items()}
    known = {slot: each for slot, each in found.items() if each is not None}
    if len(known) < len(found) or 0 not in known:
        return None
    return [known.get(slot, np.empty(0, known[0].dtype)) for slot in range(max(known) + 1)]


def gives_its_results(run: Evidence, where: Execution) -> bool:
    """Whether an operator of records alone, run again on what it was given, gives its results bit for bit."""
    given, wanted = recorded(run, where), results_of(run, where)
    return given is not None and wanted is not None and read(given, wanted) is not None


def makers(run: Evidence, record: Record, where: Execution) -> Iterator[Execution]:
    """The executions before ``where`` in its step that gave a tensor with the content of ``record``."""
    content = run.content(record)
    for each in run.order:
        if each == where:
            return
        if each[:3] == where[:3] and any(run.content(made) == content for made in run.slots(each, "output").values()):
            yield each

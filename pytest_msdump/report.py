"""The texts people read: the header line and the closing table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypedDict

import pytest

MAX_ROWS = 12

COUNTS = ("slots", "identical", "within", "differing", "missing", "unexpected", "new", "unsure")
HEADINGS = ("network", "backend", "mode", *COUNTS[:-1], "cannot tell")
DETAILS = ("verdict", "max abs", "first divergence", "would pass with")
#: its column, which is left out where there is none
_UNSURE = len(HEADINGS) - 1
#: What of a result may hold names from goldens.
SHOWN = (
    "where",
    "cause",
    "source",
    "passes",
    "learned",
    "unwritten",
    "unread",
    "environment",
    "shares",
    "variant",
    "chosen",
)
#: of a test that is known to be wrong: its golden stays as it is
LEFT_OUT = "left out"
CALM = ("identical", "new", "updated")


class Result(TypedDict):
    """One comparison of one run of one test; travels from worker to controller as JSON.

    Attributes:
        network: the test's id without backend and mode.
        golden: its store, relative to the golden directory.
        backend, mode: backend and dump mode of the run that was judged.
        against: backend of the run it was compared with; ``backend`` for the test's own golden.
        against_mode: that run's mode.
        variant: name of the golden's variant that it was held against, or written as; empty for the base.
        keys: who stated which key of a table of tolerances, and what to say if it applies to nothing (see ``idle``).
        chosen: which facts chose that run, in words; empty where no facts are declared.
        key, against_key: keys of the run that was judged, and of the one it was compared with (see ``RunId``).
        verdict: ``identical``, ``within tolerance``, ``differs``, ``missing`` (no golden), ``new`` or ``updated``
            (regenerated), ``left out`` (marked xfail), ``not compared`` (it ended too early, or cannot be judged).
        slots, identical, within, differing, missing, unexpected, new, unsure: numbers of slots; ``unsure`` counts
            those that could be neither confirmed nor refuted.
        gaps, accepted_gaps: numbers of slots that could not be read, and are not or are accepted so.
        altered: operators that are not what they were, each in words; at most some.
        texts: number of the recorder's artefacts compared with the golden.
        max_abs: largest absolute error; None if nothing was measured.
        where: the first difference in one line; empty if nothing differs.
        cause: its cause and how certain that is (``likely: scaled by 0.5``); empty if unknown.
        source: its source line (``file.py:17``), if known.
        filed: ``fault``, ``environment`` or ``cannot tell``: what a difference is filed as; empty if nothing differs.
        environment: what changed of the environment since the golden was made, in one line.
        explained: the explanation of a difference and what to run next, as JSON text (see ``as_json``); else empty.
        shares: what other failures of the session may share with it, in one line: the cause or the first place.
        passes: tolerances, each of which alone would admit every difference; empty if none would.
        candidate: the bundle for ``msdump accept``, relative to rootdir; empty if there is none.
        checksum: checksum of the golden run, as its manifest should state it; empty if there is none.
        compiled, unread: see ``unseen``; empty if there are none.
        learned: the result of ``--msdump-learn`` in words; empty otherwise.
        unwritten: why the operating system refused its new golden; no golden of the session changes then.
        facts: facts about the run's origin beyond those of the session: a real device, versions.
        place: file and line of the test (``tests/test_a.py:12``), from the root directory.
        used_runs: runs of the store (``backend/mode``) its test may use; None if this is not judged.
    """

    network: str
    golden: str
    backend: str
    mode: str
    against: str
    against_mode: str
    variant: str
    chosen: str
    keys: list[list[str]]
    key: list[Any]
    against_key: list[Any]
    verdict: str
    slots: int
    identical: int
    within: int
    differing: int
    unsure: int
    gaps: int
    accepted_gaps: int
    altered: list[str]
    missing: int
    unexpected: int
    new: int
    texts: int
    max_abs: float | None
    where: str
    cause: str
    source: str
    filed: str
    environment: str
    shares: str
    explained: str
    passes: str
    candidate: str
    checksum: str
    facts: dict[str, Any]
    used_runs: list[str] | None
    compiled: str
    unread: str
    learned: str
    unwritten: str
    place: str


def empty_result(network: str, golden: str, backend: str, mode: str, verdict: str) -> Result:
    """A result with all counts at zero."""
    return Result(
        network=network, golden=golden, backend=backend, mode=mode, against=backend, against_mode=mode,
        key=[backend, mode], against_key=[backend, mode], verdict=verdict,
        slots=0, identical=0, within=0, differing=0, missing=0, unexpected=0, new=0, unsure=0, texts=0, gaps=0,
        accepted_gaps=0, altered=[],
        max_abs=None, where="", cause="", source="", passes="", candidate="", checksum="", facts={}, used_runs=None,
        compiled="", unread="", learned="", unwritten="", place="", filed="", environment="", shares="", explained="",
        variant="", chosen="", keys=[],
    )  # fmt: skip


def shortly(result: Result) -> str:
    """A difference in as few words as there are: its cause if that is known, else where it is."""
    certainty, _, cause = result["cause"].partition(": ")
    if not cause:
        return f"msdump: {result['where']}"
    return cause if certainty.startswith("proven") else f"{certainty}: {cause}"


def header(act: str, backends: Sequence[str], modes: Sequence[str], golden: str, stores: int) -> str:
    """The line under pytest's own header."""
    from harness.escape import line
    from harness.words import counted

    where = f"{line(golden)} ({counted(stores, 'store')})"
    return f"msdump: {act}, backends {', '.join(backends)}, modes {', '.join(modes)}, goldens in {where}"


class Row(NamedTuple):
    """A row of the closing table.

    Attributes:
        counts: as ``COUNTS`` names them.
        verdicts: verdicts of the comparisons summed up in this row.
        names: network, backend, mode.
        details: as ``DETAILS`` names them; shown by ``-v``.
    """

    counts: list[int]
    verdicts: list[str]
    names: tuple[str, ...] = ()
    details: tuple[str, ...] = ("",) * len(DETAILS)

    @property
    def calm(self) -> bool:
        """Whether the row needs no attention."""
        return all(verdict in CALM for verdict in self.verdicts)


def row_of(result: Result) -> tuple[str, str, str]:
    """The names of the row in which a result is counted."""
    other = "" if result["against"] == result["backend"] else f" ~ {result['against']}"
    return result["network"], result["backend"] + other, result["mode"]


def _details(result: Result) -> tuple[str, ...]:
    most = "" if result["max_abs"] is None else f"{result['max_abs']:.3g}"
    where = result["where"] + (f" ({result['source']})" if result["source"] else "")
    return result["verdict"], most, where or "-", result["passes"] or "-"


def natural(text: str) -> list[str | int]:
    """Sorts ``x[2]`` before ``x[10]``."""
    return [int(part) if at % 2 else part for at, part in enumerate(re.split(r"([0-9]+)", text))]


class Summary:
    """The content of the closing section. It is filled from test reports, so it is the same under xdist.

    Attributes:
        results: the results of each test's last run, by test id.
        skipped: the reason of each skipped test, by test id.
        unused: golden files no test owns; None where that could not be judged.
        unused_runs: ``store: backend/mode`` of runs in a store that its tests do not use.
        undescribed: runs that differ from their manifests.
        problems: what went wrong at the end of the session.
        notes: further lines for the closing section.
        groups: failures by what they share, as ``sharing.groups`` gives them.
    """

    def __init__(self) -> None:
        self.results: dict[str, list[Result]] = {}
        self.skipped: dict[str, str] = {}
        self.unused: list[str] | None = None
        self.unused_runs: list[str] = []
        self.undescribed: list[str] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.groups: Sequence[Any] = ()

    def add(self, report: pytest.TestReport) -> None:
        """Adds the report of one phase of a test."""
        given = getattr(report, "msdump", None)
        if given is None:
            return
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped[report.nodeid] = reason.removeprefix("Skipped: ")
        # A rerun of a test replaces its earlier results.
        if given:
            self.results[report.nodeid] = given

    def rows(self) -> list[Row]:
        """One row per network, backend, mode and reference, in natural order."""
        rows: dict[tuple[str, str, str], Row] = {}
        for result in (each for results in self.results.values() for each in results):
            if result["verdict"] == LEFT_OUT:
                continue
            row = rows.setdefault(row_of(result), Row([0] * len(COUNTS), []))
            for at, name in enumerate(COUNTS):
                row.counts[at] += result[name]  # type: ignore[literal-required]
            row.verdicts.append(result["verdict"])
            if not row.details[0] or result["where"]:
                rows[row_of(result)] = row._replace(details=_details(result))
        ordered = sorted(rows.items(), key=lambda pair: [natural(text) for text in pair[0]])
        return [row._replace(names=names) for names, row in ordered]

    def total(self, name: str) -> int:
        """Sum of one count over all results."""
        counts = [each[name] for results in self.results.values() for each in results]  # type: ignore[literal-required]
        return sum(map(int, counts))

    def count(self, *verdicts: str) -> int:
        """How many comparisons ended with one of these verdicts."""
        return sum(each["verdict"] in verdicts for results in self.results.values() for each in results)

    @property
    def stale(self) -> list[str]:
        """Unused golden files and unused runs."""
        return [*(self.unused or []), *self.unused_runs]


def table(rows: Sequence[Row], verbose: bool) -> Iterator[str]:
    """Aligned text of the closing table. Without ``verbose`` a long table omits rows that need no attention."""
    left_out = 0
    if len(rows) > MAX_ROWS and not verbose:
        calm = [at for at, row in enumerate(rows) if row.calm]
        dropped = set(calm[-(len(rows) - MAX_ROWS) :])
        left_out = len(dropped)
        rows = [row for at, row in enumerate(rows) if at not in dropped]
    more = DETAILS if verbose else ()
    cells = [(*HEADINGS, *more), *((*row.names, *map(str, row.counts), *row.details[: len(more)]) for row in rows)]
    if not any(row.counts[-1] for row in rows):
        cells = [each[:_UNSURE] + each[_UNSURE + 1 :] for each in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield from (_line(each, widths) for each in cells)
    if left_out:
        yield f"... and {left_out} more where all is identical (-v lists them)"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = enumerate(zip(cells, widths, strict=True))
    left = (*range(3), *range(len(cells) - len(DETAILS), len(cells))) if len(cells) > len(HEADINGS) else range(3)
    return "  ".join(cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in pairs).rstrip()

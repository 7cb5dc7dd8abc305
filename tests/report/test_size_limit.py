"""Pages about many runs stay small; what is left out is said, and the first runs stay whole."""

from __future__ import annotations

import json

from harness.report import limited, only_counts
from tests.report.made import made


def size(value: object) -> int:
    return len(json.dumps(value))


def test_the_first_runs_stay_whole() -> None:
    run = made()
    runs = [run] * 12
    whole = size(run)
    kept = limited(runs, limit=5 * whole)
    assert len(kept) == 12
    assert kept[0] == run
    assert size(kept) < 8 * whole
    cut = [each["cut"] for each in kept]
    assert cut[0] == []
    assert "Pictures" in " ".join(map(str, cut))
    assert "Everything but the counts" in cut[-1][-1]
    assert all(each["counts"] == run["counts"] and each["text"] == run["text"] for each in kept)


def test_a_run_that_holds_keeps_counts_and_artefacts() -> None:
    run = only_counts(made(scale=1.0))
    assert run["slots"] == []
    assert run["counts"]["identical"] == 12
    assert [each["name"] for each in run["artefacts"]] == [each["name"] for each in made()["artefacts"]]
    assert run["cut"]

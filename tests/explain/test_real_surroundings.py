"""Facts of this process, and real changes of them mixed with faults of code: named first, filed as what they are."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from harness import environment
from tests.examples import FRESH
from tests.explain.real_surroundings import CHANGES, PROGRAMS, drawn, judged, wrong

#: an interpreter with another numpy, if there is one
OTHER = os.environ.get("MSDUMP_OTHER_PYTHON", "")


def test_each_fact_is_there_and_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in environment.FLAGS:
        monkeypatch.setenv(name, "3")
    found = environment.facts(seed=1)
    wanted = {"python", "numpy", "blas", "blas kernel", "blas threads", "threads", "features", "processor", "machine",
              "subnormals", "libc", "system", "seed", "hash seed", *environment.FLAGS}  # fmt: skip
    assert wanted - set(found) <= {"blas", "blas kernel", "blas threads", "libc"}, "a fact that every Linux has"
    assert set(found) <= set(environment.ORDER)
    assert environment.changes(found, dict(found)) == []
    for name in found:
        (one,) = environment.changes(found, found | {name: "another"})
        assert (one.name, environment.told([one]).startswith(name)) == (name, True)
        (gone,) = environment.changes(found, {each: value for each, value in found.items() if each != name})
        assert gone.name == name


def _held(folder: Path, programs: int, changes: int, seed: int) -> None:
    there = [each._replace(python=OTHER) if each.python else each for each in CHANGES if OTHER or not each.python]
    r = random.Random(seed)
    found = judged(folder, drawn(programs, seed), r.sample(there, min(changes, len(there))), seed)
    said = wrong(found)
    assert not said, said
    assert found
    unsure = [each for each in found if each.filed == "cannot tell"]
    # Another hash seed may give any order, and of few pairs one is many.
    assert len(unsure) <= max(len(found) / 10, 3)


@pytest.mark.long
def test_drifts_and_faults_of_real_environments(tmp_path: Path) -> None:
    _held(tmp_path, len(PROGRAMS), 2, 3)


@pytest.mark.deep
def test_hundreds_of_drifts_and_faults(tmp_path: Path) -> None:
    _held(tmp_path, 44, len(CHANGES), random.randrange(2**32) if FRESH else 0)

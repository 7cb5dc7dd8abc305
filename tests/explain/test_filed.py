"""Changes of the environment and faults, drawn and mixed: each change is named first, and neither is filed as the
other."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from harness import environment
from harness.compare.policy import Party, judge
from harness.compare.tolerances import NOISE
from harness.explain import Evidence, Explanation, Subject, block, explained, settle
from harness.records import Record
from harness.testing.faults.networks import draw
from harness.testing.faults.roads import captured
from tests.compare.helpers import operator
from tests.examples import DEPTH

FACTS: dict[str, Any] = {
    "python": "CPython 3.11.7", "numpy": "2.4.6", "torch": "2.13.0", "blas": "scipy-openblas 0.3.29",
    "blas kernel": "Haswell", "blas threads": 8, "threads": 8, "features": "AVX AVX2 FMA3", "processor": "one",
    "hash seed": "0", "seed": 1, "subnormals": "kept", "container": "a:1", "machine": "x86_64", "libc": "glibc 2.36",
}  # fmt: skip
OTHERS: dict[str, Any] = {
    "python": "CPython 3.12.1", "numpy": "2.5.5", "torch": "2.14.0", "blas": "mkl 2025", "blas kernel": "SkylakeX",
    "blas threads": 1, "threads": 2, "features": "AVX AVX2 AVX512F FMA3", "processor": "another", "hash seed": "7",
    "seed": 2, "subnormals": "flushed to zero", "container": "a:2", "machine": "aarch64", "libc": "glibc 2.40",
    "OMP_NUM_THREADS": "1", "MKL_CBWR": "COMPATIBLE", "NPY_DISABLE_CPU_FEATURES": "AVX2",
}  # fmt: skip
Values = dict[str, Any]


def values(rng: np.random.Generator) -> Values:
    """What a test gives: arrays of several sizes and dtypes."""
    kinds = [np.float32, np.float32, np.float64, np.float16]
    found = {}
    for name in "abcd"[: rng.integers(2, 5)]:
        shape = tuple(rng.integers(4, 9, size=rng.integers(1, 3)))
        found[name] = (rng.standard_normal(shape) * rng.choice([0.1, 1, 100]) + 0.5).astype(kinds[rng.integers(4)])
    return found


def drifted(given: Values, rng: np.random.Generator) -> Values:
    """The values as another order of sums gives them: some of their last bits are others."""
    found = {}
    for name, value in given.items():
        step = np.spacing(np.abs(value)) * rng.integers(-1, 2, size=value.shape).astype(value.dtype)
        found[name] = (value + step).astype(value.dtype)
    if all(np.array_equal(found[name], given[name]) for name in given):
        found["a"] = np.nextafter(found["a"], np.float32(np.inf)).astype(found["a"].dtype)
    return found


def _changed(edit: Any) -> Any:
    def changed(given: Values, rng: np.random.Generator) -> Values:
        name = str(rng.choice(sorted(given)))
        return {**given, name: np.ascontiguousarray(edit(given[name])).astype(given[name].dtype)}

    return changed


def _renamed(given: Values, rng: np.random.Generator) -> Values:
    name = str(rng.choice(sorted(given)))
    return {("z" if each == name else each): value for each, value in given.items()}


FAULTS = {
    "factor": _changed(lambda x: x * x.dtype.type(1.5)),
    "sign": _changed(np.negative),
    "offset": _changed(lambda x: x + x.dtype.type(2)),
    "reversed": _changed(lambda x: x[::-1]),
    "zero": _changed(np.zeros_like),
    "clipped": _changed(lambda x: np.clip(x, np.median(x), None)),
    "rolled": _changed(lambda x: np.roll(x, 1, 0)),
    "half precision": _changed(lambda x: x.astype(np.float16) if x.itemsize > 2 else x * x.dtype.type(2)),
    "renamed": _renamed,
}  # fmt: skip


def told(golden: Values, run: Values, changed: list[environment.Changed]) -> Explanation | None:
    """The explanation as the gate makes it, of values that the same test gave twice."""
    sides: list[list[Record]] = [
        [record for name, value in each.items() for record in operator(f"check/{name}", [], [value], name)]
        for each in (golden, run)
    ]
    parties = [Party(side, "cpu", stored=True) for side in sides]
    how: dict[str, Any] = {"lay": lambda *_: None, "settle": settle}
    judged = judge(*parties, "exact", **how)
    evidence = [Evidence(lambda side=side: side, dict, "cpu") for side in sides]  # type: ignore[misc]
    subject = Subject("run", "golden")
    return explained(judged, subject, *evidence, changed=changed, again=lambda: judge(*parties, NOISE, **how))


def change(rng: random.Random) -> tuple[dict[str, Any], set[str]]:
    """Facts of which one to three are others, and their names."""
    names = rng.sample(sorted(OTHERS), rng.choice([1, 1, 2, 3]))
    return FACTS | {name: OTHERS[name] for name in names}, set(names)


@pytest.mark.parametrize("seed", range(3 if DEPTH else 1))
def test_neither_is_filed_as_the_other(seed: int) -> None:
    filed: Counter[tuple[str, str]] = Counter()
    for number in range(40):
        draws, rng = random.Random(f"{seed} {number}"), np.random.default_rng([seed, number])
        golden, (facts, names) = values(rng), change(draws)
        changed = environment.changes(FACTS, facts)
        assert {each.name for each in changed} == names
        fault = FAULTS[draws.choice(sorted(FAULTS))]
        runs = {
            "drift": drifted(golden, rng), "fault": fault(golden, rng), "both": fault(drifted(golden, rng), rng),
        }  # fmt: skip
        for kind, run in runs.items():
            found = told(golden, run, changed)
            assert found is not None
            filed[kind, found.filed] += 1
            lines = block(found).split("\n")
            assert lines[1].startswith("Environment: ")
            assert str(changed[0]) in lines[1]
            alone = told(golden, run, [])
            assert alone is not None
            assert (alone.filed, list(alone.environment)) == ("fault", [])
            assert not any(line.startswith("Environment") for line in block(alone).split("\n"))
    assert set(filed) <= {
        ("drift", "environment"), ("drift", "cannot tell"), ("fault", "fault"), ("fault", "cannot tell"),
        ("both", "fault"), ("both", "cannot tell"),
    }, filed  # fmt: skip
    unsure = sum(count for (_, kind), count in filed.items() if kind == "cannot tell")
    assert unsure <= filed.total() / 8, filed


def test_emulated_operators_are_out_of_reach() -> None:
    network = draw(5)
    golden, run = captured(network), captured(network.having(rate=network.settings["rate"] * 2))
    parties = [Party(each, "cpu", emulated=True) for each in (golden, run)]
    judged = judge(*parties, lay=lambda *_: None, settle=settle)
    sides = [Evidence(each.records, lambda each=each: each.artefacts, "cpu", True) for each in (golden, run)]  # type: ignore[misc]
    changed = environment.changes(FACTS, FACTS | {"numpy": "2.5.5"})
    found = explained(judged, Subject("run", "golden"), *sides, changed=changed, again=lambda: judged)
    assert found is not None
    assert found.filed == "fault"
    assert "numpy 2.4.6 -> 2.5.5" in block(found)

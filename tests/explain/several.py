"""Asks for explanations of drawn faults, and checks all that is said by another hand.

``python -m tests.explain.several programs COUNT SEED`` (or ``networks``, or ``faults``, those of the fault suite)
prints what does not hold, and counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from harness.capture import Capture
from harness.errors import HarnessError
from harness.testing.faults import faults
from harness.testing.faults.networks import Network, draw
from harness.testing.faults.roads import Pair, by_diff, by_gate, captured
from tests.explain.computed_again import holds, watched
from tests.explain.drawn_programs import Failing, changed, changed_network, drawn
from tests.explain.said import false_of_elements, false_of_inputs


class Outcome(NamedTuple):
    """What was said of one fault.

    Attributes:
        name: which one it is.
        told: the explanation as JSON; None if the run holds.
        held: whether a proven cause gives the run's bits; None if nothing is called proven.
        false: statements that do not hold, in words.
    """

    name: str
    told: dict[str, Any] | None
    held: bool | None
    false: list[str]


def _programs(count: int, seed: int) -> Iterator[tuple[str, Capture, Pair]]:
    for number in range(seed * 1000, seed * 1000 + count):
        random = np.random.default_rng([number, 2])
        program: Any = drawn(number)
        golden = captured(program)
        made, fails = changed(random, program)
        names = _operators(golden)
        some = random.permutation(names)[: int(random.integers(1, 4))] if fails else []
        strike: Any = Failing([str(each) for each in some], int(random.integers(2)), number) if len(some) else None
        yield from _run(f"program {number}", golden, program, made, strike)


def _networks(count: int, seed: int) -> Iterator[tuple[str, Capture, Pair]]:
    for number in range(seed * 1000, seed * 1000 + count):
        network = draw(number)
        golden = captured(network)
        made, strike = changed_network(np.random.default_rng([number, 2]), network, _operators(golden))
        yield from _run(f"network {number}", golden, network, made, strike)


def _operators(golden: Capture) -> list[str]:
    return sorted({r.key.operator for r in golden.records() if r.key.io == "output" and "/" in r.key.operator})


def _run(
    name: str, golden: Capture, right: Network, wrong: Network, strike: Any
) -> Iterator[tuple[str, Capture, Pair]]:
    try:
        run = captured(wrong, strike and strike.fresh())
    except (HarnessError, ValueError, TypeError, IndexError):
        return  # changes that do not fit together
    yield name, golden, Pair(right, wrong, strike, run)


def _suite(count: int, seed: int) -> Iterator[tuple[str, Capture, Pair]]:
    for fault in faults(count, seed):
        yield f"{fault.number} {fault.kind}", captured(fault.network), fault.pair


PAIRS: dict[str, Callable[[int, int], Iterator[tuple[str, Capture, Pair]]]] = {
    "programs": _programs, "networks": _networks, "faults": _suite,
}  # fmt: skip


def outcomes(kind: str, count: int, seed: int) -> Iterator[Outcome]:
    """Draws faults and asks the gate and ``msdump diff`` in turns."""
    for number, (name, golden, pair) in enumerate(PAIRS[kind](count, seed)):
        explanation = (by_gate, by_diff)[number % 2](golden, pair)[1]
        if explanation is None:
            yield Outcome(name, None, None, [])
            continue
        told = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
        sides = watched(pair.network), watched(pair.changed, pair.strike and pair.strike.fresh())
        cause = told["cause"]
        held = holds(told, *sides) if cause is not None and cause["proven"] else None
        yield Outcome(name, told, held, [*false_of_inputs(told, *sides), *false_of_elements(told, *sides)])


def main(kind: str, count: int, seed: int) -> int:
    """Prints what does not hold, and counts; 1 if anything does not."""
    counts: Counter[str] = Counter()
    for each in outcomes(kind, count, seed):
        counts["not proven" if each.held is None else "holds" if each.held else "DOES NOT HOLD"] += (
            each.told is not None
        )
        counts["no difference"] += each.told is None
        counts["with a FALSE statement"] += bool(each.false)
        if each.false or each.held is False:
            print(each.name, each.held, each.false, json.dumps(each.told)[:1500], flush=True)
    print(dict(counts))
    return int(counts["DOES NOT HOLD"] + counts["with a FALSE statement"] > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

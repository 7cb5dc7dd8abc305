"""Pairing of operators under other names: ``python -m benchmarks pairing``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks._pages import put
from harness.compare.pairing import Pairing, pair
from harness.records import Record, SlotKey

#: CPU seconds for 10,000 operators
GOAL = 0.5
ROUNDS = 3


class Operator(NamedTuple):
    """An operator, what made its inputs, and the cell that it is in."""

    op_type: str
    inputs: tuple[str, ...]
    output: str
    cell: str


def chain(count: int) -> Iterator[Operator]:
    """Products and ReLUs in turn, each with a weight, each in a cell of its own."""
    last = "x"
    for at in range(count):
        yield Operator(("MatMul", "ReLU")[at % 2], (last, f"w{at}"), f"y{at}", str(at))
        last = f"y{at}"


def layers(count: int) -> Iterator[Operator]:
    """Equal layers of a product, a bias and a ReLU, each in a cell of its own."""
    last = "x"
    for at in range(count):
        for op_type, inputs in (("MatMul", ("w",)), ("BiasAdd", ("b",)), ("ReLU", ())):
            given = tuple(f"{each}{at}" for each in inputs)
            yield Operator(op_type, (last, *given), f"{op_type}{at}", str(at))
            last = f"{op_type}{at}"


def run(operators: list[Operator], scope: str, held_by: str) -> list[Record]:
    """The records of operators in cells named after ``scope``, which hold something else on each side."""
    records = []
    for at, each in enumerate(operators):
        name = f"Default/{scope}{each.cell}-Cell/{each.op_type}-op{at}"
        slots = [("input", slot, held) for slot, held in enumerate(each.inputs)]
        for io, slot, held in (*slots, ("output", 0, each.output)):
            key = SlotKey(0, 0, 0, name, 0, io, slot)
            records.append(Record(key, each.op_type, "Float32", (2, 3), digest=f"{held_by}{held}".encode().ljust(16)))
    return records


def without(operators: list[Operator], every: int) -> list[Operator]:
    """Operators, but for each of a number: what takes its output takes its input instead."""
    out, instead = [], {}
    for at, each in enumerate(operators):
        inputs = tuple(instead.get(name, name) for name in each.inputs)
        if at % every == every // 2:
            instead[each.output] = inputs[0]
        else:
            out.append(each._replace(inputs=inputs))
    return out


def measured(one: list[Record], other: list[Record]) -> tuple[float, Pairing]:
    """The least CPU seconds of some rounds, and the pairing."""
    best, pairing = float("inf"), None
    for _ in range(ROUNDS):
        start = time.process_time()
        pairing = pair(one, other)
        best = min(best, time.process_time() - start)
    assert pairing is not None
    return best, pairing


def main() -> int:
    whole, equal = list(chain(10_000)), list(layers(500))
    cases = (
        ("10,000 operators, all cells renamed", "b", whole, whole, GOAL),
        ("every 500th is on one side only, cells as they were, other numbers", "a", whole, without(whole, 500), GOAL),
        ("500 equal layers of three operators, all cells renamed", "b", equal, equal, None),
    )
    lines = ["| operators | CPU s | paired | goal, CPU s |", "|---|---|---|---|"]
    for told, scope, one, other, goal in cases:
        seconds, pairing = measured(run(one, "a", "one"), run(other, scope, "other"))
        said = "" if goal is None else f"{goal} {'ok' if seconds <= goal else 'MISSED'}"
        lines.append(f"| {told} | {seconds:.2f} | {sum(pairing.counts().values()):,} of {len(other):,} | {said} |")
    return 0 if put("performance.md", "pairing", "\n".join(lines) + "\n") else 1


if __name__ == "__main__":
    sys.exit(main())

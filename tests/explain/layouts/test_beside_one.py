"""Several ranks beside one: parts are joined as recorded or declared, and a fault has its place, rank and cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT, from_numpy
from harness.errors import ScaleError
from harness.explain.layouts import beside_one, table_of
from harness.explain.ranks import RanksReport, Run
from harness.records import Record, SlotKey
from harness.stats.digest import digest
from harness.store import RunData, RunId, update

Array = np.ndarray[Any, np.dtype[Any]]
#: a step on one rank: a layer's call, its gradient, its parameter
CALL, GRADIENT, WEIGHT = "0/forward-op0", "0.weight.grad", "0.weight"
STEPS = 3


class Made:
    """A training of one layer whose values are drawn: each slot of each step, whole."""

    def __init__(self, seed: int, dropout: bool = False) -> None:
        draw = np.random.default_rng(seed)
        self.values: list[dict[tuple[str, str], Array]] = []
        weight = draw.normal(size=(6, 4)).astype(np.float32)
        for _ in range(STEPS):
            given, gradient = (draw.normal(size=size).astype(np.float32) for size in ((8, 6), (6, 4)))
            weight = (weight - np.float32(0.1) * gradient).astype(np.float32)
            made = given * 2 * (draw.random(given.shape) < 0.5) if dropout else given @ weight
            self.values.append({
                (CALL, "input"): given, (CALL, "output"): made.astype(np.float32),
                (GRADIENT, "output"): gradient, (WEIGHT, "output"): weight,
            })  # fmt: skip


def record(rank: int, step: int, name: str, io: str, array: Array, text: bool = False) -> Record:
    kind = "Settings" if text else {CALL: "Module", GRADIENT: "Gradient", WEIGHT: "Parameter"}.get(name, "Module")
    dtype = from_numpy(array.dtype).name
    key = SlotKey(rank, 0, step, name, 0, io, 0)
    layout = ARGUMENT_FORMAT if text else TORCH_FORMAT
    return Record(key, kind, dtype, array.shape, layout, np.ascontiguousarray(array), digest=digest(array, dtype))


def records(parts: list[list[dict[tuple[str, str], Array]]], placed: str = "") -> list[Record]:
    """Each rank's slots; ``placed``: what tensors state of themselves."""
    found = []
    for rank, steps in enumerate(parts):
        for step, slots in enumerate(steps):
            found += [record(rank, step, name, io, array) for (name, io), array in slots.items()]
            if placed:
                text = np.frombuffer(placed.encode(), np.uint8)
                found.append(record(rank, step, "Default/placements-op0", "input", text, text=True))
    return found


def cut(made: Made, ranks: int, axes: dict[str, int]) -> list[list[dict[tuple[str, str], Array]]]:
    """Each rank's part; a slot of which no axis is given is whole on all."""
    return [
        [
            {
                slot: np.array_split(array, ranks, axes[slot[0]])[rank].copy() if slot[0] in axes else array.copy()
                for slot, array in step.items()
            }
            for step in made.values
        ]
        for rank in range(ranks)
    ]


def told(made: Made, parts: Any, table: list[str], placed: str = "") -> RanksReport:
    return beside_one(Run(records(parts, placed)), Run(records([made.values])), table_of(table))


def cause(report: RanksReport) -> str:
    assert report.first is not None
    return report.first.cause.name if report.first.cause is not None else ""


@pytest.mark.parametrize("ranks", [2, 4])
def test_right_layouts_hold(ranks: int) -> None:
    made = Made(ranks)
    rows = [f"{CALL}:* = Shard(0)"]
    data = told(made, cut(made, ranks, {CALL: 0}), rows)
    assert (data.first, data.compared, data.unread, data.notes) == (None, 4 * STEPS, 0, [])
    stated = "\n".join(f"{name}:output.0 = Shard(1)" for name in (GRADIENT, WEIGHT))
    tensor = told(made, cut(made, ranks, {GRADIENT: 1, WEIGHT: 1}), [], stated)
    assert (tensor.first, tensor.notes) == (None, [])
    guessed = told(made, cut(made, ranks, {GRADIENT: 1, WEIGHT: 1}), [])
    assert guessed.first is None
    assert "their shapes say" in guessed.notes[0]
    wrong = told(made, cut(made, ranks, {WEIGHT: 1}), [f"{WEIGHT}:* = Partial(sum)"])
    assert (wrong.first, wrong.unread) == (None, STEPS)
    assert f"{WEIGHT} output.0" in wrong.notes[-1]


def test_two_axes_of_ranks_names_and_micro_batches() -> None:
    made = Made(9)
    quarters = cut(made, 4, {})
    for rank, steps in enumerate(quarters):
        for step, slots in enumerate(steps):
            whole = made.values[step]
            for slot in ((GRADIENT, "output"), (WEIGHT, "output")):  # ranks 0,1 and 2,3 cut columns; 0,2 and 1,3 rows
                slots[slot] = np.split(np.split(whole[slot], 2, 1)[rank % 2], 2, 0)[rank // 2]
    both = "0.weight*:* = Shard(0)@0,2|1,3 Shard(1)@0,1|2,3"
    assert told(made, quarters, [both]).first is None
    assert told(made, quarters, [both.replace("0,2|1,3", "0,1|2,3", 1)]).first is not None
    stage = []
    for steps in cut(made, 2, {}):
        stage.append(
            [{(name.replace("0", "7", 1), io): array for (name, io), array in slots.items()} for slots in steps]
        )
    assert told(made, stage, ["7 -> 0"]).first is None
    halves = [
        record(0, step, f"0/forward-op{at}", io, part)
        for step in range(STEPS) for at in range(2) for io in ("input", "output")
        for part in [np.split(made.values[step][CALL, io], 2)[at]]
    ]  # fmt: skip
    others = [each for each in records(cut(made, 2, {})) if each.key.operator != CALL]
    report = beside_one(Run([*halves, *others]), Run(records([made.values])))
    assert (report.first, report.unread) == (None, 0)
    fewer = [each for each in halves if (each.key.iteration, each.key.operator) != (1, "0/forward-op1")]
    report = beside_one(Run([*fewer, *others]), Run(records([made.values])))
    assert (cause(report), report.first and report.first.execution.place[1:3]) == ("micro-batch", (1, CALL))


def fault(kind: str, made: Made, draw: np.random.Generator) -> tuple[Any, list[str], int | None, tuple[int, str]]:
    """Parts of 4 ranks with a fault, the table, the rank at fault (None: all) and the place."""
    rank, step = int(draw.integers(4)), int(draw.integers(1, STEPS))
    parts, table, place = cut(made, 4, {CALL: 0}), [f"{CALL}:* = Shard(0)"], (step, GRADIENT)
    slots = parts[rank][step]
    whole = made.values[step][GRADIENT, "output"]
    if kind in ("not-reduced", "group"):
        shares = draw.normal(size=(4, *whole.shape)).astype(np.float32)
        shares[3] = 4 * whole - shares[:3].sum(0)
        for at in range(4):
            pair = shares[:2] if at < 2 else shares[2:]
            parts[at][step][GRADIENT, "output"] = shares[at] if kind == "not-reduced" else pair.mean(0)
        return parts, table, None, place
    if kind == "scale":
        for each in parts:
            each[step][GRADIENT, "output"] = whole * np.float32(4)
        return parts, table, None, place
    if kind == "stale":
        slots[WEIGHT, "output"] = parts[rank][step - 1][WEIGHT, "output"]
        return parts, table, rank, (step, WEIGHT)
    if kind == "shard":
        slots[CALL, "input"] = parts[(rank + 1) % 4][step][CALL, "input"]
        return parts, table, rank, (step, CALL)
    if kind == "seed":
        parts = cut(made, 4, {})
        given = parts[rank][step][CALL, "input"]
        parts[rank][step][CALL, "output"] = (given * 2 * (draw.random(given.shape) < 0.5)).astype(np.float32)
        return parts, [], rank, (step, CALL)
    slots[GRADIENT, "output"] = whole + draw.normal(size=whole.shape).astype(np.float32)
    return parts, table, rank, place


@pytest.mark.parametrize("kind", ["not-reduced", "group", "scale", "stale", "shard", "seed", "replicated"])
def test_faults_have_their_place_rank_and_cause(kind: str) -> None:
    for seed in range(5):
        draw = np.random.default_rng([seed, len(kind)])
        made = Made(100 + seed, dropout=kind == "seed")
        parts, table, rank, place = fault(kind, made, draw)
        report = told(made, parts, table)
        assert report.first is not None, (kind, seed)
        assert report.first.execution.place[1:3] == place
        assert cause(report) == kind, (kind, seed)
        assert rank is None or report.first.ranks == (rank,)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Made(5)
    one, several = str(tmp_path / "one.h5"), str(tmp_path / "several.h5")
    run = RunId("torch", "tensor")
    update(tmp_path / "one.h5", "net", {run: RunData(records([made.values]))})
    parts = cut(made, 2, {CALL: 0, WEIGHT: 1})
    parts[1][2][WEIGHT, "output"] *= np.float32(0.5)
    update(tmp_path / "several.h5", "net", {run: RunData(records(parts))})
    table = tmp_path / "layout.txt"
    table.write_text(f"{CALL}:* = Shard(0)  # rows\n{WEIGHT}:* = Shard(1)\n")
    assert main(["ranks", several, one, "--shard", f"@{table}"]) == 1
    said = capsys.readouterr().out
    assert "First: rank 1, iteration 2, 0.weight output.0" in said
    assert "rank 1's part divided by 1/2 is the one rank's" in said
    assert main(["ranks", several, "--shard", f"@{table}"]) == 2
    assert main(["ranks", several, several, "--shard", f"@{table}"]) == 2


@pytest.mark.parametrize("line", ["a b -> c", "w:o = Shard(0) Rows(1)", "w:o =", "w = Shard(0) Shard(1)", "-> x y"])
def test_lines_that_are_no_placement(line: str) -> None:
    with pytest.raises(ScaleError, match="--shard"):
        table_of([line])

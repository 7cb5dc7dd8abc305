"""Pairs of runs of the real MindSpore, one with a planted fault, and whether what is called proven of them holds.

``python -m tests.interop.real_pairs PYTHON COUNT SEED`` draws them; PYTHON is an interpreter with MindSpore 2.10.0.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import harness
from harness.capture import read_tree
from harness.cli import main as msdump
from harness.compare.unwritten import UNWRITTEN
from tests.differential.side import Side
from tests.explain.computed_again import Array, Watched, holds, watched
from tests.explain.said import false_of_inputs
from tests.interop.nets import drawn_pair
from tests.interop.trees import NETS, dump_environment

#: so many faults share a right run
EACH = 5


class Told(NamedTuple):
    """What ``msdump diff`` said of a pair.

    Attributes:
        fault: its name.
        cause: the cause, as JSON; None if none was told.
        held: whether a proven cause gives the run's bits; None if nothing is called proven.
        false: what was said of inputs and does not hold.
        code: the exit code.
    """

    fault: str
    cause: dict[str, Any] | None
    held: bool | None
    false: list[str]
    code: int


@dataclass(frozen=True)
class _Program:
    """The same network under the emulator, which says what its operators are."""

    seed: int
    fault: int

    def train(self) -> None:
        mode = harness.get_context("mode")
        harness.set_context(mode=harness.GRAPH_MODE)
        try:
            drawn_pair.train(harness, self.seed, self.fault)
        finally:
            harness.set_context(mode=mode)


def _tree(side: Side, out: Path, seed: int, fault: int) -> Path:
    environment = dump_environment(out)
    given = {name: environment[name] for name in ("PYTHONPATH", "MINDSPORE_DUMP_CONFIG")}
    side.printed(NETS / "drawn_pair.py", out, seed, fault, limit=300, **given)
    return out / "tree"


def _of_tree(tree: Path, program: _Program) -> Watched:
    """The real run: its values, and what the emulator knows of operators and of states before the first step."""
    known, made = watched(program), Watched()
    made.operators, made.counts = known.operators, known.counts
    for record in read_tree(tree).records():
        values = record.load()
        assert values is not None
        key, at = record.key, (record.key.iteration, record.key.operator)
        if record.op_type == "Parameter":
            made.kept.setdefault(key.iteration, {})[key.operator] = values
        elif key.io == "output":
            made.outputs.setdefault(at, {})[key.slot] = values
        elif key.slot in (known.operators[key.operator].mutates or ()):
            made.after.setdefault(at, {})[key.slot] = values
        else:
            made.taken.setdefault(at, {})[key.slot] = values
    for at in made.outputs:
        made.after.setdefault(at, {})
        taken = made.taken.setdefault(at, {})
        for slot in made.operators[at[1]].mutates or ():
            name = made.operators[at[1]].inputs[slot].name
            taken[slot] = made.kept.get(at[0] - 1, {}).get(name, known.taken[at][slot])
    return made


def _near(one: Array, other: Array) -> bool:
    """Within the table by dtype, roughly."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    a, b = (np.asarray(each, np.float64) for each in (one, other))
    return bool(np.allclose(a, b, 1e-5, 1e-5 * np.abs(a[np.isfinite(a)]).max(initial=0.0), equal_nan=True))


def outcomes(python: str, count: int, seed: int) -> Iterator[Told]:
    """Draws pairs and asks ``msdump diff``."""
    side = Side(python, own=False)
    try:
        with tempfile.TemporaryDirectory(prefix="real-pairs-") as folder:
            for number in range(count):
                right = seed * 1000 + number // EACH
                golden = Path(folder, f"golden-{right}")
                if not golden.exists():
                    _tree(side, golden, right, -1)
                fault = (seed * 7 + number) % len(drawn_pair.FAULTS)
                yield _told(golden / "tree", _tree(side, Path(folder, f"run-{number}"), right, fault), right, fault)
    finally:
        side.close()


def _told(golden: Path, run: Path, seed: int, fault: int) -> Told:
    name, out = list(drawn_pair.FAULTS)[fault], run.parent / "diff.json"
    code = msdump(["diff", str(golden), str(run), f"--json={out}"])
    told = json.loads(out.read_text())["explanation"]
    if told is None:
        return Told(name, None, None, [], code)
    sides = _of_tree(golden, _Program(seed, -1)), _of_tree(run, _Program(seed, fault))
    cause = told["cause"]
    held = holds(told, *sides) if cause is not None and cause["proven"] else None
    false = [each for each in false_of_inputs(told, *sides, _near) if not _is_of_old_memory(each, told, sides[1])]
    return Told(name, cause, held, false, code)


def _is_of_old_memory(statement: str, told: Mapping[str, Any], run: Watched) -> bool:
    """Whether an input that was not compared holds what a kernel of MindSpore's left unwritten."""
    if not statement.endswith("was not compared"):
        return False
    slot, origin = int(statement.partition(" ")[0].partition(".")[2]), told["origin"]
    taken = run.taken[origin["slot"][2], origin["found_as"] or origin["operator"]][slot]
    made = (slots for at, slots in run.outputs.items() if run.operators[at[1]].type in UNWRITTEN)
    return any(each.tobytes() == taken.tobytes() for slots in made for each in slots.values())


def main(python: str, count: int, seed: int) -> int:
    """Prints what does not hold, and counts; 1 if anything does not."""
    counts: Counter[str] = Counter()
    for told in outcomes(python, count, seed):
        state = "not proven" if told.cause is not None else "no cause" if told.code else "no difference"
        counts[state if told.held is None else "holds" if told.held else "DOES NOT HOLD"] += 1
        counts["false of inputs"] += bool(told.false)
        print(
            told.fault,
            state if told.held is None else told.held,
            told.false,
            (told.cause or {}).get("text"),
            flush=True,
        )
        if told.held is False:
            print(json.dumps(told.cause)[:1500])
    print(dict(counts))
    return int(counts["DOES NOT HOLD"] + counts["false of inputs"] > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

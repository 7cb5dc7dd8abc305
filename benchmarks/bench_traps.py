"""The traps of ``harness.testing.traps`` through comparison tools, side by side: ``python -m benchmarks traps``.

Prints a row for each trap, and writes the totals into ``docs/comparison.md``.

Each tool is used as its documentation says: NaN equal to NaN where that can be said, tolerances by its own defaults
(``assert_allclose`` with ``allclose``'s). A verdict is right, ``WRONG``, ``none`` (no verdict given) or ``crash``.
bfloat16 is given to tools that lack it as dumps hold it: as float32. msprobe (tensor mode, a dump tree; where
``MSDUMP_INTEROP_MSPROBE`` names a Python that has it) compares all traps in one run, and where that fails, halves of
them, down to the one that makes it fail.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from benchmarks import _peers
from benchmarks._pages import put
from harness import dtypes
from harness.compare import check
from harness.records import Record, SlotKey
from harness.testing.traps import Trap, traps

Array = np.ndarray[Any, np.dtype[Any]]
Tensors = Mapping[str, Array]
#: Says whether two sets of tensors agree; None for no verdict; raises where it crashes.
Tool = Callable[[Tensors, Tensors], bool | None]
RIGHT, WRONG, NONE, CRASH = "right", "WRONG", "none", "crash"
_NAMES = {kind.numpy: kind.name for kind in dtypes.ALL}


def ours(expected: Tensors, found: Tensors) -> bool | None:
    """``check`` under the table by dtype."""
    return check(_records(expected), _records(found), "default").holds


def _records(tensors: Tensors) -> list[Record]:
    return [
        Record(SlotKey(0, 0, 0, name, 0, "output", 0), "Add", _NAMES[array.dtype], array.shape, values=array)
        for name, array in tensors.items()
    ]


def dumped(array: Array) -> Array:
    """As a dump holds it."""
    return array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array


def with_allclose(expected: Tensors, found: Tensors) -> bool | None:
    """``numpy.allclose`` of each; it has no notion of a tensor that one side lacks."""
    if expected.keys() != found.keys():
        return None
    return all(np.allclose(dumped(found[name]), dumped(expected[name]), equal_nan=True) for name in expected)


def with_testing(expected: Tensors, found: Tensors) -> bool | None:
    """``numpy.testing.assert_allclose`` of each, likewise."""
    if expected.keys() != found.keys():
        return None
    for name in expected:
        try:
            np.testing.assert_allclose(dumped(found[name]), dumped(expected[name]), rtol=1e-5, atol=1e-8)
        except AssertionError:
            return False
    return True


def torch_tool(torch: Any) -> Tool:
    """``torch.testing.assert_close`` of both dicts."""

    def tensor(array: Array) -> Any:
        array = np.ascontiguousarray(array).reshape(array.shape)
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def run(expected: Tensors, found: Tensors) -> bool | None:
        sides = ({name: tensor(array) for name, array in side.items()} for side in (found, expected))
        try:
            torch.testing.assert_close(*sides, equal_nan=True)
        except AssertionError:
            return False
        return True

    return run


def polygraphy_tool(comparator: Any) -> Tool:
    """``Comparator.compare_accuracy`` of both as the outputs of one iteration."""
    logger = _peers.find("polygraphy.logger").G_LOGGER
    logger.module_severity = logger.CRITICAL

    def run(expected: Tensors, found: Tensors) -> bool | None:
        results = comparator.RunResults()
        for runner, side in (("found", found), ("expected", expected)):
            outputs = {name: dumped(array) for name, array in side.items()}
            results.append((runner, [comparator.IterationResult(outputs=outputs, runner_name=runner)]))
        return bool(comparator.Comparator.compare_accuracy(results, compare_func=comparator.CompareFunc.simple()))

    return run


def outcome(tool: Tool, trap: Trap) -> str:
    """What a tool makes of a trap."""
    try:
        with np.errstate(all="ignore"):
            verdict = tool(trap.expected, trap.found)
    except Exception:  # whatever a tool fails with
        return CRASH
    return judged(verdict, trap)


def judged(verdict: bool | None, trap: Trap) -> str:
    """A verdict beside the right one."""
    return NONE if verdict is None else RIGHT if verdict == trap.holds else WRONG


def with_msprobe(tool: Path, cases: Sequence[Trap]) -> list[str]:
    """What msprobe makes of each trap."""
    with tempfile.TemporaryDirectory() as name:
        golden, found = Path(name) / "golden", Path(name) / "found"
        for at, trap in enumerate(cases):
            _write(golden, at, trap.expected)
            _write(found, at, trap.found)
        status, rows, _ = _peers.msprobe_compare(tool, golden, found)
    if not status:
        return [judged(_said(rows, at), trap) for at, trap in enumerate(cases)]
    if len(cases) == 1:
        return [CRASH]
    half = len(cases) // 2
    return with_msprobe(tool, cases[:half]) + with_msprobe(tool, cases[half:])


def _write(tree: Path, at: int, tensors: Tensors) -> None:
    directory = tree / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True, exist_ok=True)
    for number, (name, array) in enumerate(tensors.items()):
        kind, time = _NAMES[array.dtype], 1_700_000_000_000_000 + 100 * at + number
        file = f"Add.Default_trap{at}-op{name}.0.0.{time}.output.0.DefaultFormat.{kind}.npy"
        np.save(directory / file, dumped(array))


def _said(rows: Sequence[Mapping[str, str]], at: int) -> bool | None:
    """Whether every tensor of a trap reached its accuracy; None where one has no verdict, and none did not."""
    said = [row["Accuracy Reached or Not"] for row in rows if f"_trap{at}-op" in row["NPU Name"] + row["Bench Name"]]
    if "No" in said:
        return False
    return True if said and set(said) == {"Yes"} else None


def table(cases: Sequence[Trap], columns: Mapping[str, Sequence[str]]) -> None:
    """Prints a row for each trap, and totals."""
    width = max(len(trap.name) for trap in cases)
    print(f"\n{'':{width}}  right is " + "".join(f"{name:>16}" for name in columns))
    for at, trap in enumerate(cases):
        cells = "".join(f"{column[at]:>16}" for column in columns.values())
        print(f"{trap.name:{width}}  {'holds' if trap.holds else 'differs':8} {cells}")
    print()
    counted = [Counter(column) for column in columns.values()]
    for kind in (RIGHT, WRONG, NONE, CRASH):
        print(f"{kind + f', of {len(cases)}':{width}}  {'':8} " + "".join(f"{each[kind]:16}" for each in counted))


def section(cases: Sequence[Trap], columns: Mapping[str, Sequence[str]]) -> str:
    """The totals as they stand in the page."""
    words = {RIGHT: "right", WRONG: "wrong", NONE: "no verdict", CRASH: "crash"}
    lines = [f"{len(cases)} pairs:", "", "| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    counted = [Counter(column) for column in columns.values()]
    lines += [f"| {word} | " + " | ".join(str(each[kind]) for each in counted) + " |" for kind, word in words.items()]
    return "\n".join([*lines, ""])


def main() -> int:
    """Asks each tool that is there, prints and writes; 1 if one of our own verdicts is wrong."""
    cases = list(traps())
    tools: dict[str, Tool] = {"pytest-msdump": ours, "numpy.allclose": with_allclose, "numpy.testing": with_testing}
    if (torch := _peers.find("torch")) is not None:
        tools["torch"] = torch_tool(torch)
    if (comparator := _peers.find("polygraphy.comparator")) is not None:
        tools["polygraphy"] = polygraphy_tool(comparator)
    columns: dict[str, Sequence[str]] = {
        name: [outcome(tool, trap) for trap in cases] for name, tool in tools.items()
    }  # fmt: skip
    if (tool := _peers.msprobe()) is not None:
        columns["msprobe"] = with_msprobe(tool, cases)
    table(cases, columns)
    if not put("comparison.md", "traps", section(cases, columns)):
        return 2
    return 0 if set(columns["pytest-msdump"]) == {RIGHT} else 1


if __name__ == "__main__":
    sys.exit(main())

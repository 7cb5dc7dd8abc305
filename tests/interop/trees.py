"""Dump trees of one script from both sides, and how far they agree."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.capture import Capture, read_tree
from harness.records import Record
from tests.gate.never_written import NEVER_WRITTEN

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NETS = HERE / "nets"
WRAPPER = NETS / "equal_weights.py"
# A slot's error is the largest absolute difference over the largest absolute value: elementwise relative errors say
# nothing where terms cancel. float16 and bfloat16: two units in the last place.
LIMITS = {"Float64": 1e-5, "Float32": 1e-5, "Float16": 2.0**-9, "BFloat16": 2.0**-6}


def dump_environment(out: Path) -> dict[str, str]:
    """Environment of a process that dumps everything below ``out`` (made here)."""
    out.mkdir(parents=True)
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(out / "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    }  # fmt: skip
    config = out / "data_dump.json"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    return {**os.environ, "PYTHONPATH": str(ROOT), "MINDSPORE_DUMP_CONFIG": str(config), "GLOG_v": "3"}


@dataclass
class Agreement:
    """How far two captures of one program agree.

    Attributes:
        operators: executed kernels, parameters left out.
        slots, identical: compared slots, and those with equal bits.
        differing: those that are not within the limit, or of another dtype, type or size.
        one_sided: slots that one side alone has.
        unwritten: slots MindSpore's kernels do not write (``NEVER_WRITTEN``): only dtypes and counts were compared.
        worst: largest error of a floating slot (see ``LIMITS``), and where.
        faults: what does not agree, one line each.
        known: reasons of differences that are meant to be there (``known.py``).
    """

    operators: int = 0
    slots: int = 0
    identical: int = 0
    differing: int = 0
    one_sided: int = 0
    unwritten: int = 0
    worst: float = 0.0
    where: str = ""
    faults: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)

    def cells(self) -> dict[str, object]:
        """What a row of ``docs/interop.md`` says, by the heads of its columns."""
        return {
            "operators": self.operators,
            "slots": self.slots,
            "identical": self.identical,
            "within the limit": self.slots - self.identical - self.unwritten - self.differing,
            "not written": self.unwritten,
            "differing": self.differing,
            "on one side": self.one_sided,
            "worst error": f"{self.worst:.1e}",
            "where": f"`{self.where}`" if self.where else "-",
        }


def error(own: np.ndarray, real: np.ndarray) -> float:
    """Largest difference over largest value of ``real``.

    Infinite where that value is 0, and where NaN or infinities stand elsewhere.
    """
    a, b = own.astype(np.float64).ravel(), real.astype(np.float64).ravel()
    finite = np.isfinite(b)
    if (
        not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True)
        or not np.isfinite(a[finite]).all()
    ):
        return float("inf")
    apart = float(np.abs(a[finite] - b[finite]).max(initial=0))
    size = float(np.abs(b[finite]).max(initial=0))
    return (apart / size if size else float("inf")) if apart else 0.0


def compare_slot(
    own: Record, real: Record, agreement: Agreement, never_written: Mapping[str, Container[str]] = NEVER_WRITTEN
) -> None:
    """Adds one slot to ``agreement``; shapes may differ (a view keeps its base's in real files), counts may not."""
    name = f"{own.key.operator} {own.key.slot_name}, graph {own.key.graph}, iteration {own.key.iteration}"
    agreement.slots += 1
    a, b = own.load(), real.load()
    if own.dtype != real.dtype or a.size != b.size or own.op_type != real.op_type:
        here = f"{own.op_type} {own.dtype} {a.shape}, real {real.op_type} {real.dtype} {b.shape}"
        agreement.faults.append(f"{name}: {here}")
        agreement.differing += 1
    elif own.key.slot_name in never_written.get(own.op_type, ()):
        agreement.unwritten += 1
    elif a.tobytes() == b.tobytes():
        agreement.identical += 1
    else:
        apart = error(a, b)
        if apart > agreement.worst:
            agreement.worst, agreement.where = apart, f"{own.key.operator} {own.key.slot_name}"
        if apart > LIMITS.get(own.dtype, 0):
            agreement.faults.append(f"{name}: {own.dtype} error {apart:.2e}")
            agreement.differing += 1


def keyed(capture: Capture) -> Mapping[tuple[object, ...], Record]:
    """Records by key, in the order they were executed."""
    return {tuple(record.key): record for record in capture.records()}


def missing(left: Iterable[object], right: Iterable[object], text: str) -> Iterator[str]:
    """One line for each of ``left`` that ``right`` lacks."""
    there = set(right)
    yield from (f"{text}: {thing}" for thing in left if thing not in there)


def agreement(own: Capture, real: Capture, never_written: Mapping[str, Container[str]] = NEVER_WRITTEN) -> Agreement:
    """Compares slot by slot: the same operators and slots, in the same planned order, dtypes, counts and values."""
    result = Agreement()
    result.faults += [
        f"{side}: {problem}" for side, seen in (("own", own), ("real", real)) for problem in seen.problems
    ]
    ours, theirs = keyed(own), keyed(real)
    result.operators = len({key[:5] for key, record in theirs.items() if record.op_type != "Parameter"})
    alone = [*missing(theirs, ours, "only in the real tree"), *missing(ours, theirs, "only in our tree")]
    result.faults += alone
    result.one_sided = len(alone)
    for key, record in theirs.items():
        if key in ours:
            compare_slot(ours[key], record, result, never_written)
    for graph in sorted({*own.execution_order, *real.execution_order}):
        mine, real_order = own.execution_order.get(graph), real.execution_order.get(graph)
        if mine != real_order:
            result.faults.append(f"graph {graph}: execution order {mine} instead of {real_order}")
    return result


def compared(own: Path, real: Path) -> Agreement:
    """``agreement`` of two trees on disk."""
    return agreement(read_tree(own), read_tree(real))

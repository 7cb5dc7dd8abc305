"""Runs programs here and under the real MindSpore, and says how they differ."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from harness.capture import Capture, read_tree
from harness.records import Record
from tests.gate.never_written import NEVER_WRITTEN
from tests.interop.trees import LIMITS, ROOT, error

HERE = Path(__file__).parent
NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)")
_ORDINAL = re.compile(r"-op\d+$")


class Side:
    """One interpreter with MindSpore in it, that runs scripts in forks."""

    def __init__(self, python: str, own: bool) -> None:
        command = [python, str(HERE / "forking.py"), *([str(ROOT)] if own else [])]
        environment = {**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"}
        environment.pop("MINDSPORE_DUMP_CONFIG", None)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )

    def begin(self, script: Path, out: Path, limit: int) -> None:
        """Asks for a run of ``script`` into ``out``."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"script": str(script), "out": str(out), "limit": limit}) + "\n")
        self._process.stdin.flush()

    def end(self) -> int:
        """Waits for the run; gives its exit code, negative for a signal."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that runs scripts is gone"
        code: int = json.loads(line)["code"]
        return code

    def close(self) -> None:
        """Ends the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(20)


@dataclass(frozen=True)
class Difference:
    """What differs first, by kind.

    Attributes:
        kind: ``agree``, ``exit``, ``names``, ``graph``, ``order``, ``slots``, ``dtypes``, ``values`` or ``text``.
        details: what differs, one line each; ``-`` is there alone, ``+`` here alone.
    """

    kind: str
    details: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.kind != "agree"


class Pair:
    """Both sides; a context."""

    def __init__(self, real: str, limit: int = 60) -> None:
        self._own, self._real = Side(sys.executable, own=True), Side(real, own=False)
        self._limit = limit
        self.folder = Path(tempfile.mkdtemp(prefix="differential-"))

    def __enter__(self) -> Pair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._own.close()
        self._real.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, source: str) -> tuple[Path, int, Path, int]:
        """Runs a program on both sides at once; gives own directory and code, real directory and code."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        outs = [self.folder / "run" / name for name in ("own", "real")]
        for out in outs:
            out.mkdir(parents=True)
        script = self.folder / "run" / "program.py"
        script.write_text(source)
        for side, out in zip((self._own, self._real), outs, strict=True):
            side.begin(script, out, self._limit)
        codes = self._own.end(), self._real.end()
        return outs[0], codes[0], outs[1], codes[1]

    def difference(self, source: str) -> Difference:
        """How ``source`` differs between the sides."""
        own, own_code, real, real_code = self.run(source)
        if own_code or real_code:
            if bool(own_code) == bool(real_code):
                return Difference("agree")
            out, side = (own, "here") if own_code else (real, "there")
            lines = (out / "stderr").read_text(errors="replace").strip().splitlines()[-4:]
            return Difference("exit", (f"fails {side} only, code {own_code or real_code}", *lines))
        return compare(own, real)


def compare(own: Path, real: Path) -> Difference:
    """Compares what two runs left behind: their trees, then what they printed."""
    dumped = [(out / "tree" / "rank_0" / "execution_order").exists() for out in (own, real)]
    if all(dumped):
        found = compare_captures(read_tree(own / "tree"), read_tree(real / "tree"))
        if found:
            return found
    elif any(dumped):
        return Difference("graph", ("dumps graphs here only" if dumped[0] else "dumps graphs there only",))
    return compare_texts((own / "stdout").read_text(), (real / "stdout").read_text())


def compare_captures(own: Capture, real: Capture) -> Difference:
    """Compares operators, names, order, slots, dtypes and values."""
    mine, theirs = _operators(own), _operators(real)
    if mine != theirs:
        types = _types(mine), _types(theirs)
        kind = "names" if types[0] == types[1] else "graph"
        return Difference(kind, _apart(mine, theirs))
    for graph in sorted({*own.execution_order, *real.execution_order}):
        if own.execution_order.get(graph) != real.execution_order.get(graph):
            return Difference("order", _order(own.execution_order.get(graph), real.execution_order.get(graph)))
    ours = {tuple(r.key): r for r in own.records()}
    known = {tuple(r.key): r for r in real.records()}
    alone = [f"- {k}" for k in known if k not in ours] + [f"+ {k}" for k in ours if k not in known]
    if alone:
        return Difference("slots", tuple(alone))
    kinds: dict[str, list[str]] = {"dtypes": [], "values": []}
    for key, record in known.items():
        fault = slot_fault(ours[key], record)
        if fault is not None:
            kinds[fault[0]].append(f"{record.key.operator} {record.key.slot_name}: {fault[1]}")
    for kind, details in kinds.items():
        if details:
            return Difference(kind, tuple(details))
    return Difference("agree")


def slot_fault(own: Record, real: Record, limits: Mapping[str, float] = LIMITS) -> tuple[str, str] | None:
    """What differs in one slot, or None."""
    a, b = own.load(), real.load()
    if own.dtype != real.dtype or a.size != b.size:
        return "dtypes", f"{own.dtype} {a.shape}, there {real.dtype} {b.shape}"
    if real.key.slot_name in NEVER_WRITTEN.get(real.op_type, ()) or a.tobytes() == b.tobytes():
        return None
    apart = error(a, b)
    if apart > limits.get(own.dtype, 0) and not _noise(a, b, own.dtype):
        with np.printoptions(threshold=8, precision=8):
            return "values", f"{own.dtype} error {apart:.2e}: {a.ravel()[:8]}, there {b.ravel()[:8]}"
    return None


def _noise(a: np.ndarray, b: np.ndarray, dtype: str) -> bool:
    """Whether two floating tensors differ by less than rounding makes of sums that cancel."""
    if not dtype.startswith(("Float", "BFloat")):
        return False
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    finite = np.isfinite(x) & np.isfinite(y)
    floor = {"Float16": 2e-3, "BFloat16": 1.6e-2}.get(dtype, 1e-6)
    return bool(np.array_equal(np.isfinite(x), np.isfinite(y)) and (np.abs(x - y)[finite] <= floor).all())


def compare_texts(own: str, real: str) -> Difference:
    """Compares printed lines: the same words, numbers to 1e-4."""
    mine, theirs = own.splitlines(), real.splitlines()
    if [NUMBER.sub("#", line) for line in mine] != [NUMBER.sub("#", line) for line in theirs]:
        return Difference("text", _apart(Counter(mine), Counter(theirs)))
    for line, other in zip(mine, theirs, strict=True):
        a, b = (np.array([float(n) for n in NUMBER.findall(text)]) for text in (line, other))
        if not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            return Difference("text", (f"+ {line}", f"- {other}"))
    return Difference("agree")


def _operators(capture: Capture) -> Counter[str]:
    return Counter(f"{graph} {name}" for graph, order in capture.execution_order.items() for name in order)


def _types(operators: Counter[str]) -> Counter[str]:
    types: Counter[str] = Counter()
    for name, count in operators.items():
        types[_ORDINAL.sub("", name).rpartition("/")[2]] += count
    return types


def _apart(mine: Counter[str], theirs: Counter[str]) -> tuple[str, ...]:
    return (*(f"- {n}" for n in (theirs - mine)), *(f"+ {n}" for n in (mine - theirs)))


def _order(mine: object, theirs: object) -> tuple[str, ...]:
    a, b = list(mine or ()), list(theirs or ())  # type: ignore[call-overload]
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return (f"at {first}: {a[first : first + 3]}, there {b[first : first + 3]}",)

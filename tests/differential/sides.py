"""Runs programs here and under the real MindSpore, and says how they differ."""

from __future__ import annotations

import math
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

from harness.capture import Capture, read_tree
from harness.records import Record
from tests.differential.listed import ROUNDING, TURNED, VIEW, reason
from tests.differential.moved import PART, TRIES, moved
from tests.differential.side import Side
from tests.gate.never_written import NEVER_WRITTEN
from tests.interop.trees import LIMITS, error

NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)")
#: kinds of what does not count as a difference
AGREE = ("agree", "refused", "listed")
_ORDINAL = re.compile(r"-op\d+$")


@dataclass(frozen=True)
class Difference:
    """What differs first, by kind.

    Attributes:
        kind: ``agree``, ``refused`` (by both), ``listed`` (in docs/differences.md, ``listed.py``), ``exit``, ``names``,
            ``graph``, ``order``, ``slots``, ``dtypes``, ``values`` or ``text``.
        details: what differs, one line each; ``-`` is there alone, ``+`` here alone.
        noise: lines that the real side prints of values that are noise.
        apart: if values alone differ, each of inputs that differ too: key of the slot -> by how much.
    """

    kind: str
    details: tuple[str, ...] = ()
    noise: frozenset[str] = frozenset()
    apart: Mapping[tuple[object, ...], float] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return self.kind not in AGREE


class Pair:
    """Both sides; a context.

    Args:
        real: the interpreter with the real MindSpore; or both sides, which others go on to use.
        limit: seconds that a program may take.
    """

    def __init__(self, real: str | tuple[Side, Side], limit: int = 600) -> None:
        self._begun = (Side(sys.executable, own=True), Side(real, own=False)) if isinstance(real, str) else ()
        self._own, self._real = real if isinstance(real, tuple) else self._begun
        self._limit = limit
        self.folder = Path(tempfile.mkdtemp(prefix="differential-"))

    def __enter__(self) -> Pair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for side in self._begun:
            side.close()
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
                return Difference("refused")
            out, side = (own, "here") if own_code else (real, "there")
            lines = (out / "stderr").read_text(errors="replace").strip().splitlines()[-4:]
            return Difference("exit", (f"fails {side} only, code {own_code or real_code}", *lines))
        found = compare(own, real)
        if found.apart and self._is_rounding(source, read_tree(own / "tree"), found.apart):
            return Difference("listed", (ROUNDING,))
        return found

    def _is_rounding(self, source: str, own: Capture, apart: Mapping[tuple[object, ...], float]) -> bool:
        """Whether a unit in the last place of each kernel moves each value as far as the sides lie apart, in a program
        that gives the same values each time."""
        before = {tuple(r.key): r.load() for r in own.records() if tuple(r.key) in apart}
        same = self._again(source)
        if same is None or any(
            r.load().tobytes() != before[key].tobytes() for r in same.records() if (key := tuple(r.key)) in apart
        ):
            return False
        most = dict.fromkeys(apart, 0.0)
        for seed in range(TRIES):
            after = self._again(moved(source, seed))
            if after is None:
                return False
            for record in after.records():
                if (key := tuple(record.key)) in most and record.load().shape == before[key].shape:
                    most[key] = max(most[key], distance_of(record.load(), before[key]))
        return all(most[key] >= PART * distance for key, distance in apart.items())

    def _again(self, source: str) -> Capture | None:
        """What a program leaves here; None if it fails."""
        out = self.folder / "again"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        (script := self.folder / "again.py").write_text(source)
        self._own.begin(script, out, self._limit)
        return None if self._own.end() else read_tree(out / "tree")


def compare(own: Path, real: Path) -> Difference:
    """Compares what two runs left behind: their trees, then what they printed."""
    dumped = [(out / "tree" / "rank_0" / "execution_order").exists() for out in (own, real)]
    if all(dumped):
        found = compare_captures(read_tree(own / "tree"), read_tree(real / "tree"))
        if found:
            return found
        text = compare_texts((own / "stdout").read_text(), (real / "stdout").read_text(), found.noise)
        return text or found
    elif any(dumped):
        if dumped[1] and not _operators(read_tree(real / "tree")):
            return Difference("listed", ("a network whose result is a constant is a graph without operators",))
        return Difference("graph", ("dumps graphs here only" if dumped[0] else "dumps graphs there only",))
    return compare_texts((own / "stdout").read_text(), (real / "stdout").read_text())


def compare_captures(own: Capture, real: Capture) -> Difference:
    """Compares operators, names, order, slots, dtypes and values."""
    mine, theirs = _operators(own), _operators(real)
    if mine != theirs:
        why = reason(mine, theirs)
        if why is not None:
            return Difference("listed", (why,))
        types = _types(mine), _types(theirs)
        kind = "names" if types[0] == types[1] else "graph"
        return Difference(kind, _apart(mine, theirs))
    for graph in sorted({*own.execution_order, *real.execution_order}):
        if own.execution_order.get(graph) != real.execution_order.get(graph):
            return Difference("order", _order(own.execution_order.get(graph), real.execution_order.get(graph)))
    ours = {tuple(r.key): r for r in own.records()}
    known = {tuple(r.key): r for r in real.records()}
    unread = [k for k in ours if k not in known]
    views = bool(unread) and len(unread) == sum(p.kind == "incomplete" for p in real.problems)
    alone = [f"- {k}" for k in known if k not in ours] + [f"+ {k}" for k in (() if views else unread)]
    if alone:
        return Difference("slots", tuple(alone))
    found = Values([r for k, r in ours.items() if k in known], known).difference()
    return Difference("listed", (VIEW,), noise=found.noise) if views and not found else found


#: operators MindSpore's CPU kernels approximate (docs/differences.md)
APPROXIMATED = frozenset({"Tanh", "TanhGrad", "GeLU", "GeLUGrad"})
#: the same, with a bound: 2.5e-5 at most, of 100,000 values between -85 and 85 (measured)
BOUNDED = {"Exp": 3e-5}
#: optimizers that divide a gradient by its own size: where it is rounding noise, so is the step
DIVIDING = ("Adam", "AdaMax")
#: where they are given the learning rate, which no step exceeds
RATES = {"Adam": "input.5", "ApplyAdaMax": "input.4"}


class Values:
    """Compares slot by slot, in the order they were written.

    An operator whose inputs have equal bits must give equal results within the limit of its dtype; what follows from
    rounding further up may be further off, and a choice (an index, a condition) that rounding decided may be another.
    What was almost one value is noise once it is normalized: it, and what is computed from it, is not judged, nor what
    a later step computes with the weights that were trained with it.
    """

    CARRIED = 5e-3
    #: where an optimizer is one of ``DIVIDING``
    CARRIED_BY_ADAM = 0.2

    def __init__(self, own: Iterable[Record], real: Mapping[tuple[object, ...], Record]) -> None:
        self._own, self._real = own, real
        self._carried = self.CARRIED
        if any(word in r.op_type for r in real.values() for word in DIVIDING):
            self._carried = self.CARRIED_BY_ADAM
        if any(r.dtype in ("Float16", "BFloat16") for r in real.values()):
            self._carried = max(self._carried, 0.05)
        if any(r.op_type == "Tanh" for r in real.values()):
            self._carried = max(self._carried, 0.05)
        #: what a step of such an optimizer may be off: once its learning rate on either side
        rates = [r.load() for r in real.values() if RATES.get(r.op_type) == r.key.slot_name]
        self._step = 2 * max((float(rate.max()) for rate in rates), default=0.0)
        self._steps = 1 + max((r.key.iteration for r in real.values()), default=0)
        self._chosen = False
        #: values that are noise, by their bits, and the step the first was in
        self._noise: set[int] = set()
        self._shown: set[str] = set()
        self._noisy_step: object = None

    def difference(self) -> Difference:
        """What differs."""
        kinds: dict[str, list[str]] = {"dtypes": [], "values": []}
        equal: dict[object, bool] = {}
        scale: dict[object, float] = {}
        spread: dict[object, float] = {}
        carried: dict[int, float] = {}
        noisy: set[object] = set()
        apart: dict[tuple[object, ...], float] = {}
        listed: Difference | None = None
        for own in self._own:
            real = self._real[tuple(own.key)]
            a, b = own.load(), real.load()
            place = own.key.graph, own.key.iteration, own.key.operator
            where = f"{own.key.operator} {own.key.slot_name}"
            if own.dtype != real.dtype or a.size != b.size:
                kinds["dtypes"].append(f"{where}: {own.dtype} {a.shape}, there {real.dtype} {b.shape}")
                continue
            same = a.tobytes() == b.tobytes()
            if "input" in own.key.slot_name:
                equal[place] = equal.get(place, True) and same
                scale[place] = max(scale.get(place, 0.0), _size(b), carried.get(hash(b.tobytes()), 0.0))
                if own.op_type in NORMALIZING and own.key.slot_name == "input.0":
                    spread[place] = spread_of(b, own.op_type)
                if self._is_noise(own, b, spread.get(place, 0.0)):
                    noisy.add(place)
                    self._noisy_step = own.key.iteration if self._noisy_step is None else self._noisy_step
            else:  # what takes a difference of large values is as far off as they are
                carried[hash(b.tobytes())] = scale.get(place, 0.0)
                if place in noisy:
                    self._noise.add(hash(b.tobytes()))
                    self._shown.add(line_of(b))
            if place in noisy or same or own.key.slot_name in NEVER_WRITTEN.get(own.op_type, ()) or _unwritten(own, a):
                continue
            strict = equal.get(place, False) and "output" in own.key.slot_name and own.op_type != "Parameter"
            size = scale.get(place, 0.0) * max(1.0, spread.get(place, 0.0))
            if own.op_type == "Parameter":  # an optimizer's sum of gradients is as far off as they are
                size = max(size, carried.get(hash(b.tobytes()), 0.0))
            if own.op_type == "Mish" and np.isnan(b).any() and not np.isnan(a).any():
                return Difference("listed", ("`mish` of a float32 above 44.3 is NaN",))
            if self._within(a, b, own.dtype, own.op_type, strict, size):
                continue
            if "input" in own.key.slot_name and _in_order_of_memory(a, b):
                listed = Difference("listed", (TURNED,))
            else:
                with np.printoptions(threshold=8, precision=8):
                    kinds["values"].append(
                        f"{where}: {own.dtype} error {error(a, b):.2e}: {a.ravel()[:8]}, there {b.ravel()[:8]}"
                    )
                apart[tuple(own.key)] = math.inf if strict else distance_of(a, b)
        for kind, details in kinds.items():
            if details:
                return Difference(kind, tuple(details), apart=apart if kind == "values" else {})
        return Difference("agree", noise=frozenset(self._shown)) if listed is None else listed

    def _is_noise(self, own: Record, array: np.ndarray, spread: float) -> bool:
        """Whether an input makes noise of what is computed from it."""
        later = self._noisy_step is not None and own.key.iteration != self._noisy_step
        return (
            later
            or spread * LIMITS["Float32"] > self.CARRIED
            or (array.dtype.kind == "f" and bool(array.any()) and hash(array.tobytes()) in self._noise)
        )

    def _within(self, a: np.ndarray, b: np.ndarray, dtype: str, op_type: str, strict: bool, scale: float) -> bool:
        if dtype not in LIMITS:
            # An index or condition of what was rounded otherwise; from here on others may be, too.
            self._chosen = self._chosen or (not strict and dtype in ("Bool", "Int32"))
            return not strict and self._chosen
        x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
        if not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return self._chosen
        finite = np.isfinite(x)
        apart = float(np.abs(x - y)[finite].max(initial=0))
        if strict and op_type not in APPROXIMATED:
            limit = max(LIMITS[dtype], BOUNDED.get(op_type, 0.0))
            return apart <= max(limit * float(np.abs(y[finite]).max(initial=0)), limit * scale)
        within = self._carried * max(float(np.abs(y[finite]).max(initial=0)), scale, 1e-3)
        if op_type == "Parameter" or op_type in RATES:
            within = max(within, self._step * self._steps)
        return self._chosen or apart <= within


def _in_order_of_memory(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether ``b`` shows a transposed matrix as its memory lies."""
    if a.ndim != 2 or a.dtype.kind != "f":
        return False
    wide = np.ascontiguousarray(a.T).ravel().astype(np.float64)
    return bool(np.allclose(wide, b.ravel().astype(np.float64), rtol=1e-3, atol=1e-4 * np.abs(wide).max(initial=0)))


def _unwritten(own: Record, array: np.ndarray) -> bool:
    """Whether the real kernel leaves an output as the memory was: the statistics of a BatchNorm that does not train,
    which are zeros here (docs/differences.md)."""
    return own.op_type == "BatchNorm" and own.key.slot_name in ("output.3", "output.4") and not array.any()


#: operators that divide by how far values lie apart (docs/differences.md)
NORMALIZING = frozenset({"LayerNorm", "BatchNorm"})


def spread_of(x: np.ndarray, op_type: str) -> float:
    """By how much a normalization may magnify the rounding of its input: size over deviation, of what is normalized
    together (the last axis; for BatchNorm, what shares a channel), where that is largest."""
    wide = x.astype(np.float64)
    rows = np.moveaxis(wide, 1, 0).reshape(x.shape[1], -1) if op_type == "BatchNorm" else wide.reshape(-1, x.shape[-1])
    deviation = np.maximum(rows.std(axis=1), 1e-6)
    return float((np.abs(rows).max(axis=1) / deviation).max(initial=0))


def distance_of(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two arrays of one size; infinite where one alone is finite."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)):
        return math.inf
    return float(np.abs(x - y)[finite].max(initial=0))


def _size(array: np.ndarray) -> float:
    if array.dtype.kind not in "fV":
        return 0.0
    wide = np.abs(array.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0))


def line_of(array: np.ndarray) -> str:
    """The line a program prints of a value (``program.HEAD``)."""
    wide = np.abs(array.astype(np.float64))
    return f"{array.dtype} {list(array.shape)} {wide.sum():.4g} {wide.max(initial=0):.4g}"


def compare_texts(own: str, real: str, noise: frozenset[str] = frozenset()) -> Difference:
    """Compares printed lines: the same words, numbers to 2e-3 but in lines that the real side prints of ``noise``."""
    mine, theirs = own.splitlines(), real.splitlines()
    if [NUMBER.sub("#", line) for line in mine] != [NUMBER.sub("#", line) for line in theirs]:
        return Difference("text", _apart(Counter(mine), Counter(theirs)))
    for line, other in zip(mine, theirs, strict=True):
        a, b = (np.array([float(n) for n in NUMBER.findall(text)]) for text in (line, other))
        if other in noise:
            a, b = a[:-2], b[:-2]
        if not np.allclose(a, b, rtol=2e-3, atol=1e-4, equal_nan=True):
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

"""Why an operator made NaN or infinity of finite inputs, and the elements that did it.

A reason is proven if computing the operator again, from the inputs that were kept, gives NaN and infinity at the same
places; overflow is proven if the same operator in float64 gives finite numbers there. From statistics alone a reason
is shown where only one is possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.explain import replay
from harness.inspect.finding import Certainty
from harness.inspect.numbers import Numbers, limit
from harness.inspect.roles import LOSSES, family
from harness.inspect.run import Op, Run, Slot

Array = np.ndarray[Any, np.dtype[Any]]
Wide = Any
#: operators that only add, multiply and move: of finite numbers they make others only by overflow
ARITHMETIC = frozenset(
    {"matmul", "conv", "mul", "add", "sub", "square", "sum", "mean", "cumsum", "cumprod", "prod", "cast"}
)
_ONE: dict[str, Callable[[Wide], Wide]] = {
    "log": np.log, "exp": np.exp, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x, "cast": lambda x: x, "root_grad": lambda x: 1 / x,
}  # fmt: skip
_TWO: dict[str, Callable[[Wide, Wide], Wide]] = {
    "div": lambda x, y: x / y, "mul": lambda x, y: x * y, "add": lambda x, y: x + y, "sub": lambda x, y: x - y,
    "pow": lambda x, y: x**y, "matmul": lambda x, y: x @ y,
}  # fmt: skip
_SHOWN = 4


@dataclass(frozen=True)
class Reason:
    """A reason in words.

    Attributes:
        kind: in a few words that a program can compare (``log of zero``).
        text: with the numbers.
        certainty: how it is known.
        elements: the inputs' elements that did it.
        index: index of the first element of the result that is not finite.
    """

    kind: str
    text: str
    certainty: Certainty
    elements: tuple[str, ...] = ()
    index: tuple[int, ...] = ()


def reason_of(run: Run, op: Op) -> Reason:
    """The reason why ``op`` made what is not finite."""
    out = next((slot for slot in op.results if slot.numbers is not None and slot.numbers.bad), None)
    dtype = out.record.dtype if out is not None else "Float32"
    given = _by_elements(run, op, out) if out is not None else None
    if given is not None:
        return given
    return by_numbers(op, dtype)


def _by_elements(run: Run, op: Op, out: Slot) -> Reason | None:
    result = out.load()
    inputs = {at: slot.load() for at, slot in op.inputs.items() if slot.is_floating}
    if result is None or not result.size or any(each is None for each in inputs.values()) or not inputs:
        return None
    bad = ~np.isfinite(_wide(result))
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    arrays = {at: np.asarray(each) for at, each in inputs.items()}
    found = _elementwise(op, arrays, result, bad, index, out.record.dtype)
    again = _computed(run, op, wide=False)
    if again is not None and again.size == result.size and np.isfinite(_wide(again)).all():
        return Reason(
            "wrong result", "computed again from the same inputs, the result is finite", Certainty.PROVEN, (), index
        )
    proven = again is not None and replayed(again, bad)
    if found is not None:
        kind, text, elements, held = found
        return Reason(kind, text, Certainty.PROVEN if held or proven else Certainty.SHOWN, elements, index)
    wide = widened(run, op, bad)
    if wide is not None:
        dtype, top = out.record.dtype, limit(out.record.dtype)
        if wide < top * 0.99 and proven:
            kind = "log of zero" if op.family in LOSSES else "intermediate overflow"
            what = "a probability is 0" if op.family in LOSSES else "a number within it leaves the range"
            text = f"in float64 the result is {wide:.3g}; in {dtype} {what}"
            return Reason(kind, text, Certainty.PROVEN, (), index)
        if wide < top * 0.99:
            text = f"in float64 the result is at most {wide:.3g}; kernel, memory or transfer made it"
            return Reason("wrong result", text, Certainty.SHOWN, (), index)
        text = f"in float64 the result is finite, and beyond {top:.6g}, the largest {dtype}"
        return Reason(f"overflow of {dtype}", text, Certainty.PROVEN, (), index)
    told = by_numbers(op, out.record.dtype)
    return Reason(
        told.kind, told.text, Certainty.PROVEN if proven and told.kind != "unknown" else told.certainty, (), index
    )


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def replayed(again: Array, bad: Array) -> bool:
    """Whether what the harness's own operator gave is not finite at the same places."""
    return again.size == bad.size and bool(np.array_equal(~np.isfinite(_wide(again)).reshape(bad.shape), bad))


def widened(run: Run, op: Op, bad: Array) -> float | None:
    """The smallest result in float64 at the places that are not finite; None if one is not finite there either."""
    made = _computed(run, op, wide=True)
    if made is None:
        made = _product(op)
    if made is None or made.size != bad.size:
        return None
    sizes = np.abs(made.reshape(bad.shape)[bad])
    return float(sizes.min()) if np.isfinite(sizes).all() else None


def _product(op: Op) -> Array | None:
    """A product of two matrices in float64, for operators of other frameworks."""
    floats = [slot.load() for slot in op.inputs.values() if slot.is_floating]
    if op.family != "matmul" or len(floats) < 2 or any(each is None for each in floats):
        return None
    one, other = (np.asarray(each, np.float64) for each in floats[-2:])
    with np.errstate(all="ignore"):
        try:
            made = one @ other
            return made + np.asarray(floats[0], np.float64) if len(floats) == 3 else made
        except ValueError:
            return None


def _computed(run: Run, op: Op, wide: bool) -> Array | None:
    given = replay.setting(run.evidence, op.where)
    if given is None:
        return None
    made = replay.widened(given) if wide else replay.computed(given)
    return made[0] if made else None


def _elementwise(
    op: Op, inputs: dict[int, Array], result: Array, bad: Array, index: tuple[int, ...], dtype: str
) -> tuple[str, str, tuple[str, ...], bool] | None:
    """Kind, text, elements and whether computing the elements again gives the same; None if it is no such operator."""
    arrays = list(inputs.values())
    one, two = _ONE.get(op.family), _TWO.get(op.family) if op.family != "matmul" else None
    if two is not None and len(arrays) == 1:
        arrays = [arrays[0], arrays[0]] if op.family == "mul" else arrays
    names = list(inputs)
    what = op.family
    if what == "addcdiv" and len(arrays) >= 3:  # a quotient that is added to something
        what, two, operands, names = "div", _TWO["div"], arrays[1:3], names[1:]
    elif one is not None and arrays:
        operands = arrays[:1]
    elif two is not None and len(arrays) >= 2:
        operands = arrays[:2]
    elif op.family == "pow" and arrays:  # the exponent is a number of the call
        operands = arrays
    else:
        return None
    try:
        spread = [np.broadcast_to(each, result.shape) for each in operands]
    except ValueError:
        return None
    values = [float(each[index]) for each in spread]
    alone = op.family == "pow" and len(spread) == 1
    kind, text = _power(values[0], float(result[index]), dtype) if alone else judged(what, values, dtype)
    if not kind:
        return None
    elements = tuple(
        f"input.{names[at] if at < len(names) else 0}{list(index) if index else ''} = {value:.9g}"
        for at, value in enumerate(values)
    )
    if alone:
        return kind, text, elements, False
    with np.errstate(all="ignore"):
        compute: Callable[..., Any] = one if len(spread) == 1 and one is not None else two  # type: ignore[assignment]
        again = np.asarray(compute(*(each.astype(np.float64)[bad] for each in spread))).astype(result.dtype)
    held = not np.isfinite(again.astype(np.float64)).any()
    return kind, text, elements, held


def _power(x: float, result: float, dtype: str) -> tuple[str, str]:
    """What a power of unknown exponent did to one element."""
    if math.isnan(result):
        return ("root of a negative number", f"a power of {x:g} that is no whole number") if x < 0 else ("", "")
    if x == 0:
        return "division by zero", "a negative power of 0"
    return f"overflow of {dtype}", f"a power of {x:g} is beyond {limit(dtype):.6g}, the largest {dtype}"


def judged(family: str, values: list[float], dtype: str) -> tuple[str, str]:
    """Kind and text of what an elementwise operator did to one element; empty if the values tell nothing."""
    x, y = values[0], values[-1]
    top = limit(dtype)
    if family == "log":
        return (
            ("log of zero", "the logarithm of 0") if x == 0 else ("log of a negative number", f"the logarithm of {x:g}")
        )
    if family in ("sqrt", "rsqrt") and x < 0:
        return "root of a negative number", f"the square root of {x:g}"
    if family in ("rsqrt", "reciprocal") and x == 0:
        return "division by zero", "1 divided by 0"
    if family == "root_grad" and x == 0:
        return "division by zero", "the gradient of a root or quotient at 0"
    if family == "div" and y == 0:
        return ("zero divided by zero", "0 divided by 0") if x == 0 else ("division by zero", f"{x:g} divided by 0")
    if family == "exp":
        return "exponential overflow", f"exp({x:g}) is beyond {top:.6g}, the largest {dtype}"
    if family == "pow":
        if x == 0 and y < 0:
            return "division by zero", f"0 to the power of {y:g}"
        if x < 0 and y != round(y):
            return "root of a negative number", f"{x:g} to the power of {y:g}"
    if family == "mul" and {0.0} & {x, y} and math.inf in (abs(x), abs(y)):
        return "infinity times zero", f"{x:g} times {y:g}"
    if family in ("add", "sub") and math.isinf(x) and math.isinf(y):
        return "infinity minus infinity", f"{x:g} and {y:g}"
    signs = {"mul": "*", "add": "+", "sub": "-", "div": "/", "pow": "**"}
    if family in signs:
        return f"overflow of {dtype}", f"{x:g} {signs[family]} {y:g} is beyond {top:.6g}, the largest {dtype}"
    if family in ("square", "cast"):
        return (
            f"overflow of {dtype}",
            f"{x:g}{' squared' * (family == 'square')} is beyond {top:.6g}, the largest {dtype}",
        )
    return "", ""


def by_numbers(op: Op, dtype: str) -> Reason:
    """A reason from the numbers of the inputs alone."""
    known = [slot.numbers for _, slot in sorted(op.inputs.items()) if slot.numbers is not None and slot.is_floating]
    shown = _from_extremes(op.family, known, dtype) if known else None
    if shown is not None:
        return Reason(*shown, Certainty.SHOWN)
    if op.family == "collective":
        return Reason(
            "made by a collective", "a value of another rank, or a sum of the ranks' values", Certainty.LIKELY
        )
    if op.family == "unfilled" or not (op.inputs or op.makers or op.updated):
        return Reason("memory never written", "nothing was written there before", Certainty.LIKELY)
    finite = bool(known) and all(each.bad is False for each in known)
    most = bound(op, known) if finite else math.inf
    if most < limit(dtype):
        text = f"of these inputs no result can be larger than {most:.3g}; kernel, memory or transfer made it"
        return Reason("wrong result", text, Certainty.SHOWN)
    if op.family in ARITHMETIC and finite:
        return Reason(
            f"overflow of {dtype}", f"a sum or product of finite numbers beyond {limit(dtype):.6g}", Certainty.SHOWN
        )
    if finite and _fused(op.kind) and _fused(op.kind) <= ARITHMETIC:
        return Reason("intermediate overflow", "a sum, product or cast within it leaves its range", Certainty.SHOWN)
    return Reason("unknown", "the reason cannot be told from what was kept", Certainty.LIKELY)


def _fused(kind: str) -> frozenset[str]:
    """The families of what a fused kernel holds (``GraphKernel_Cast_Mul_fusion``); empty for any other kind."""
    if not kind.startswith("GraphKernel_"):
        return frozenset()
    return frozenset(family(each) for each in kind.removeprefix("GraphKernel_").removesuffix("_fusion").split("_"))


def bound(op: Op, known: list[Numbers]) -> float:
    """No result of a sum or product can be larger; infinity if nothing bounds it."""
    if any(math.isnan(each.rms) or math.isnan(each.peak) for each in known) or len(known) != len(op.inputs_of_numbers):
        return math.inf
    norms = [each.rms * math.sqrt(each.count) for each in known]
    peaks = [each.peak for each in known]
    if op.family in ("matmul", "conv") and len(known) >= 2:
        return sum(peaks) + sum(a * b for i, a in enumerate(norms) for b in norms[i + 1 :])
    if op.family in ("add", "sub"):
        return sum(peaks) if len(known) >= 2 else math.inf
    if op.family in ("sum", "mean", "cumsum"):
        return sum(each.peak * each.count for each in known)
    if op.family == "mul" and len(known) == 2:
        return peaks[0] * peaks[1]
    return peaks[0] ** 2 if op.family == "square" else math.inf


def _from_extremes(family: str, known: list[Numbers], dtype: str) -> tuple[str, str] | None:
    x, y = known[0], known[-1]
    top = limit(dtype)
    if family == "log" and not x.bad:
        if x.low < 0:
            return "log of a negative number", f"the smallest input is {x.low:g}"
        return ("log of zero", "the smallest input is 0") if x.low == 0 else None
    if family in ("sqrt", "rsqrt") and x.low < 0:
        return "root of a negative number", f"the smallest input is {x.low:g}"
    if family in ("rsqrt", "reciprocal") and (x.zero or x.low == 0):
        return "division by zero", "an input is 0"
    if family == "div" and len(known) > 1 and (y.zero or y.low == 0 or y.high == 0):
        return "division by zero", "a divisor is 0"
    if family == "exp" and x.high > math.log(top):
        return "exponential overflow", f"exp({x.high:g}) is beyond {top:.6g}, the largest {dtype}"
    if family == "cast" and x.peak > top:
        return f"overflow of {dtype}", f"{x.peak:g} is beyond {top:.6g}, the largest {dtype}"
    return None

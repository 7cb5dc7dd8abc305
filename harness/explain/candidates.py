"""Candidates for what an operator with equal inputs may have done differently: each can be computed and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

from harness.devices.operators import CONVOLUTION, FACTORS, MATMUL
from harness.devices.rounding import rounding
from harness.explain.case import Case
from harness.explain.evidence import loaded
from harness.explain.numbers import setting_text
from harness.explain.replay import Setting, computed, read_during
from harness.explain.sums import narrow_sums

Array = np.ndarray[Any, np.dtype[Any]]

#: operators with the same arguments that are easily confused
KIN: tuple[tuple[str, ...], ...] = (
    ("ReLU", "ReLU6", "Tanh", "Sigmoid", "GeLU", "SiLU", "Elu", "HSwish", "HSigmoid", "Mish", "Softplus"),
    ("Exp", "Log", "Sqrt", "Rsqrt", "Square", "Abs", "Neg", "Sign", "Reciprocal", "Sin", "Cos", "Erf"),
    ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"),
    ("Add", "Sub", "Mul", "Div", "RealDiv", "Maximum", "Minimum"),
    ("MaxPool", "AvgPool"),
    ("Softmax", "LogSoftmax"),
)
NARROW: tuple[tuple[str, Any], ...] = (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16))
_MOST_EACH = 8


@dataclass(frozen=True, eq=False)
class Candidate:
    """Something that the operator may have done.

    Attributes:
        kind, text, slot: see ``Cause``.
        results: computes it.
        how: what it does to the operator, as a check's arguments have it.
        rounded: the type that values were rounded to; empty if none were.
        rivals: the same with other types: two types may give the same bits.
    """

    kind: str
    text: str
    results: Callable[[], tuple[Array, ...] | None]
    slot: str = ""
    how: Mapping[str, Any] = field(default_factory=dict)
    rounded: str = ""
    rivals: tuple[Candidate, ...] = ()


def candidates(case: Case, base: Setting) -> Iterator[Candidate]:
    """All candidates, likely and cheap ones first."""
    yield from _narrower(base)
    yield from _other_inputs(case, base)
    yield from _settings(base)
    yield from _kin(base)
    yield from _runs(base)
    yield from narrow(base)


def _again(changed: Setting) -> Callable[[], tuple[Array, ...] | None]:
    return lambda: computed(changed)


def _floats(base: Setting) -> list[tuple[int, str, Array]]:
    names = [a.name for a in base.statement.arguments]
    return [
        (slot, names[slot], each)
        for slot, each in sorted(base.values.items())
        if isinstance(each, np.ndarray) and each.dtype in (np.float32, np.float64) and each.size
    ]


def _narrower(base: Setting) -> Iterator[Candidate]:
    """Inputs in a narrower type, all together and one by one; then with the output as well. Each has those of later
    types beside it that say the same of the same input."""
    made = [list(_rounded_to(name, through, base)) for name, through in _roundings(base)]
    for at, every in enumerate(made):
        others = [other for later in made[at + 1 :] for other in later]
        for each in every:
            yield replace(each, rivals=tuple(other for other in others if _said(other) == _said(each)))


def _said(candidate: Candidate) -> tuple[str, str]:
    """What is said to be rounded."""
    return candidate.kind, candidate.text.removesuffix(candidate.rounded)


def _roundings(base: Setting) -> list[tuple[str, Callable[[Array], Array]]]:
    tf32 = [(TF32, rounding("tf32").apply)] if _factors(base) else []
    return [*((name, _through(kind)) for name, kind in NARROW), *tf32]


def _rounded_to(name: str, through: Callable[[Array], Array], base: Setting) -> Iterator[Candidate]:
    """What one type does to the inputs; TensorFloat-32 to factors of float32 alone."""
    tensors = _floats(base)
    if name == TF32:
        tensors = [each for each in tensors if each[0] in _factors(base) and each[2].dtype == np.float32]
    every = {slot: through(array) for slot, _, array in tensors}
    if not every:
        return
    told = {"inputs": [f"input.{slot}" for slot in every], "rounded to": name}
    changed = base.changed(every)
    if name != TF32:
        either = f"its inputs or its output are rounded to {name}"
        yield Candidate("narrower type", either, _alike(base, changed, through), how=told, rounded=name)
    text = f"its inputs are rounded to {name}"
    yield Candidate("narrower input", text, _again(changed), how=told, rounded=name)
    if name != TF32:
        text, how = f"its inputs and its output are rounded to {name}", {**told, "outputs too": True}
        yield Candidate("narrower input", text, _rounded(changed, through), how=how, rounded=name)
    for slot, label, _ in tensors if len(tensors) > 1 else ():
        text = f"its input.{slot} ({label}) is rounded to {name}"
        how, one = {"inputs": [f"input.{slot}"], "rounded to": name}, base.changed({slot: every[slot]})
        yield Candidate("narrower input", text, _again(one), f"input.{slot}", how, name)


#: a matrix unit's type; it has the mantissa of float16 and the exponents of float32
TF32 = "TensorFloat-32"
#: PyTorch's products, by whether a bias comes first
_PRODUCTS = MATMUL | CONVOLUTION | {"mm", "bmm", "mv", "matmul", "linear", "convolution"}
_AFTER_BIAS = frozenset({"addmm", "addbmm", "baddbmm", "addmv"})


def _factors(base: Setting) -> tuple[int, ...]:
    """The inputs that a matrix unit multiplies; none of any other operator."""
    name = base.statement.op.removeprefix("aten.").partition(".")[0]
    return (1, 2) if name in _AFTER_BIAS else FACTORS if name in _PRODUCTS else ()


def _through(kind: Any) -> Callable[[Array], Array]:
    def through(array: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(array.astype(kind).astype(array.dtype))

    return through


def _rounded(changed: Setting, through: Callable[[Array], Array]) -> Callable[[], tuple[Array, ...] | None]:
    def results() -> tuple[Array, ...] | None:
        made = computed(changed)
        return None if made is None else tuple(through(each) if each.dtype.kind == "f" else each for each in made)

    return results


def _alike(
    base: Setting, changed: Setting, through: Callable[[Array], Array]
) -> Callable[[], tuple[Array, ...] | None]:
    """The results of rounded inputs, if the rounded results are the same: then nothing tells which was rounded."""

    def results() -> tuple[Array, ...] | None:
        made, rounded = computed(changed), _rounded(base, through)()
        if made is None or rounded is None or len(made) != len(rounded):
            return None
        return made if all(a.tobytes() == b.tobytes() for a, b in zip(made, rounded, strict=True)) else None

    return results


def _other_inputs(case: Case, base: Setting) -> Iterator[Candidate]:
    """An input of another iteration, or another parameter instead of the right one."""
    own = case.expected.slots(case.where, "input")
    for slot, argument in enumerate(base.statement.arguments):
        record = own.get(slot)
        array = base.values.get(slot)
        if record is None or not isinstance(array, np.ndarray) or array.dtype.kind not in "fVi":
            continue
        iterations = {e.iteration for e in case.expected.order if e.operator == case.where.operator}
        for iteration in sorted(iterations - {case.where.iteration}, key=lambda i: abs(i - case.where.iteration))[:4]:
            other = loaded(case.expected.by_key.get(record.key._replace(iteration=iteration)))
            if other is not None and other.shape == array.shape and other.tobytes() != array.tobytes():
                text = f"it took input.{slot} ({argument.name}) of iteration {iteration}: a stale value"
                how = {"inputs": [f"input.{slot}"], "of iteration": iteration}
                yield Candidate("stale input", text, _again(base.changed({slot: other})), f"input.{slot}", how)
        if argument.parameter is None:
            continue
        others = [p for p in case.expected.parameters if p.shape == record.shape and p.dtype == record.dtype]
        names = dict.fromkeys(p.key.operator for p in others if p.key.operator != argument.parameter)
        for name in list(names)[:_MOST_EACH]:
            values = read_during(case.expected, name, case.where)
            # Equal elements are no sign of one parameter: any other one of zeros gives the same.
            if values is not None and values.shape == array.shape and (values != values.reshape(-1)[:1]).any():
                text = f"it took parameter {name} in place of {argument.parameter}"
                how = {"inputs": [f"input.{slot}"], "parameter": name}
                yield Candidate("another parameter", text, _again(base.changed({slot: values})), f"input.{slot}", how)


def _settings(base: Setting) -> Iterator[Candidate]:
    """Other settings: an inverted flag, another axis, an attribute's usual other values."""
    for slot, argument in enumerate(base.statement.arguments):
        for value in _other_values(argument.name, base.values.get(slot), base):
            one, other = (setting_text(argument.name, each) for each in (base.values[slot], value))
            text = f"as with {argument.name} {other} in place of {one}"
            how = {"values": {f"input.{slot}": value}}
            yield Candidate("another setting", text, _again(base.changed({slot: value})), f"input.{slot}", how)
    for name, before in base.attrs.items():
        for value in _other_values(name, before, base):
            text = f"as with {name} {setting_text(name, value)} in place of {setting_text(name, before)}"
            how = {"attributes": {name: value}}
            yield Candidate("another setting", text, _again(base.changed(attrs={name: value})), how=how)


def _other_values(name: str, value: Any, base: Setting) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    rank = next((a.ndim for a in base.values.values() if isinstance(a, np.ndarray)), 0)
    if "axis" in name and isinstance(value, int):
        return [a for a in range(rank) if a != value % max(rank, 1)]
    if "axis" in name and isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], int):
        return [(a,) for a in range(rank) if a != value[0] % max(rank, 1)]
    if name == "reduction" and isinstance(value, int):
        return [other for other in (0, 1) if other != value]
    if "epsilon" in name and isinstance(value, float):
        return [other for other in (0.0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12) if abs(other - value) > 0.01 * value]
    return []


def _kin(base: Setting) -> Iterator[Candidate]:
    """Another operator with the same arguments."""
    for group in KIN:
        for name in group if base.statement.op in group else ():
            if name == base.statement.op:
                continue
            other = replace(base, statement=replace(base.statement, op=name))
            text = f"computed as {name}, not as {base.statement.op}"
            yield Candidate("another operator", text, _again(other), how={"type": name})


def _runs(base: Setting) -> Iterator[Candidate]:
    """A random operator that drew from another position of its stream."""
    if base.statement.facts is None or not base.statement.facts.random:
        return
    for runs in range(max(0, base.runs - 2), base.runs + 4):
        if runs != base.runs:
            text = f"another dropout mask: that of its execution number {runs}, not {base.runs}"
            yield Candidate("another mask", text, _again(replace(base, runs=runs)), how={"execution number": runs})


def narrow(base: Setting) -> Iterator[Candidate]:
    """Sums accumulated in a narrower type."""
    for name, results in narrow_sums(base):
        yield Candidate("narrower sum", f"its sums are kept in {name}", results, how={"sums in": name})

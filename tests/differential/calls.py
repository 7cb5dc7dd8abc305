"""Calls with drawn arguments: a valid one of ``mistakes.txt`` with tensors of other dtypes, shapes and values.

``python -m tests.differential.calls REAL --seed S --count N [--part PART OF A NAME]`` makes each call here and under
the real MindSpore (REAL is its Python), at once, in a graph and under ``ms.grad``, and prints what differs.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential.mistakes import FORMS, PRELUDE, spine
from tests.differential.sides import Pair

OWN_PRELUDE = (Path(__file__).parent / "calls_prelude.py").read_text(encoding="utf-8")
CELL = """class Cell{n}(nn.Cell):
    def __init__(self):
        super().__init__()
        self.made = make{n}()
    def construct(self, {names}):
        return {text}"""
MODES = ("eager", "graph", "grad")
#: names of the prelude that are tensors, with their dtype, shape and range of values (of quarters, if they are floats)
TENSORS: dict[str, tuple[str, tuple[int, ...], int, int]] = {
    "f": ("float32", (2, 3), -12, 13), "g": ("float32", (2, 3), -12, 13), "p": ("float32", (2, 3), 1, 4),
    "h": ("float16", (2, 3), -12, 13), "i": ("int32", (2, 3), 0, 2), "i2": ("int32", (2, 2), 0, 2),
    "c": ("int32", (2,), 0, 2), "c2": ("float32", (2,), -12, 13), "b": ("bool_", (2, 3), -12, 13),
    "s": ("float32", (), 1, 9), "o": ("float32", (1, 2, 3), -12, 13), "q": ("float32", (2, 2, 3), -12, 13),
    "a": ("float32", (2, 2, 4), -12, 13), "v": ("float32", (1, 2, 8), -12, 13),
    "im": ("float32", (1, 2, 4, 4), -12, 13), "w": ("float32", (3, 2, 2, 2), -12, 13),
    "far": ("float32", (5, 7), -12, 13),
}  # fmt: skip
DTYPES = ("float32", "float32", "float16", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64", "bool_", "complex64", "complex128")  # fmt: skip
INDEX_DTYPES = ("int32", "int32", "int64", "int8", "uint8")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (0,), (2, 3), (1, 3), (2, 0), (2, 1, 3), (2, 3, 2), (1, 2, 2, 2),
                                       (2, 1, 2, 1, 2))  # fmt: skip
#: relative error that a dtype may have, of the largest value
LIMITS = {"Float16": 4e-3, "Bfloat16": 3e-2, "Float32": 2e-5, "Float64": 2e-5, "Complex64": 2e-5, "Complex128": 2e-5}
#: what the dump cannot write (docs/differences.md): graphs with complex tensors
LISTED = "Unexpected type Complex"
_AXES = frozenset({"axis", "dim", "start_dim", "end_dim"})


@dataclass(frozen=True)
class Drawn:
    """A call: the text of a layer made beforehand (or empty), the call's text, its tensors by name."""

    made: str
    text: str
    tensors: dict[str, str]

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {text.removeprefix('drawn')}" for name, text in self.tensors.items())
        return f"{self.text.replace('MADE', self.made)}   with {told}"


def usable(forms: Sequence[str]) -> list[str]:
    """The forms that make something of tensors, and of nothing but tensors and plain values."""
    kept = []
    for form in forms:
        tree = ast.parse(form, mode="eval").body
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        if names & TENSORS.keys() and names <= TENSORS.keys() | {"ops", "nn", "ms", "Tensor", "mnp"}:
            kept.append(form)
    return kept


def draw(form: str, chooser: random.Random) -> Drawn:
    """A call like ``form``."""
    tree = copy.deepcopy(ast.parse(form, mode="eval").body)
    made = _layer(tree)
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in TENSORS]
    names = list(dict.fromkeys(n.id for n in uses))
    _change_settings(tree, made, chooser)
    tensors = {}
    dtype = chooser.choice(DTYPES)
    shape = chooser.choice(SHAPES) if chooser.random() < 0.6 else None
    special = chooser.random() < 0.25
    for name in names:
        own, given, low, high = TENSORS[name]
        kind = dtype
        if own == "int32":
            kind = chooser.choice(INDEX_DTYPES)
        elif own == "bool_":
            kind = chooser.choice(("bool_", "bool_", "bool_", dtype))
        if chooser.random() < 0.15:
            kind = chooser.choice(DTYPES)
        size = given if shape is None or len(given) != 2 else shape
        if shape is not None and chooser.random() < 0.2:
            size = chooser.choice(SHAPES)
        if kind.startswith("u") or (low, high) == (1, 4):
            low = max(low, 1) if own != "int32" else low
        seed = chooser.randrange(10**6)
        tensors[name] = f"drawn({size}, {kind!r}, {seed}, {special}, {low}, {high})"
    text = ast.unparse(tree)
    return Drawn(ast.unparse(made) if made is not None else "", text, tensors)


def _layer(tree: ast.expr) -> ast.expr | None:
    """Takes the call that makes a layer out of ``tree``, if it calls one."""
    for call in spine(tree):
        if isinstance(call.func, ast.Call):
            made = call.func
            call.func = ast.Name("MADE", ast.Load())
            return made
    return None


def _change_settings(tree: ast.expr, made: ast.expr | None, chooser: random.Random) -> None:
    for root in (tree, made):
        for call in () if root is None else list(spine(root)):
            for at, value in enumerate(call.args):
                if isinstance(value, ast.Constant) and chooser.random() < 0.4:
                    call.args[at] = _other(value, False, chooser)
            for keyword in list(call.keywords):
                axis = keyword.arg in _AXES
                if chooser.random() < 0.2:
                    call.keywords.remove(keyword)
                elif isinstance(keyword.value, ast.Constant) and chooser.random() < 0.5:
                    keyword.value = _other(keyword.value, axis, chooser)


def _other(value: ast.Constant, axis: bool, chooser: random.Random) -> ast.expr:
    known: Any = value.value
    if isinstance(known, bool):
        found: Any = chooser.choice((True, False))
    elif isinstance(known, int):
        found = chooser.choice((0, 1, -1, 2, -2, 3) if not axis else (0, 1, -1, -2, 2, None, (0, 1), (-1,), ()))
    elif isinstance(known, float):
        found = chooser.choice((0.0, 1.0, 0.5, 2.0, -1.0, known))
    elif known is None and axis:
        found = chooser.choice((None, 0, 1, -1, (0, 1)))
    elif known in ("mean", "sum", "none"):
        found = chooser.choice(("mean", "sum", "none"))
    elif known in ("same", "valid"):
        found = chooser.choice(("same", "valid"))
    else:
        found = known
    return ast.parse(repr(found), mode="eval").body


def draws(number: int, seed: int, part: str = "") -> list[Drawn]:
    """``number`` calls, of forms in turn."""
    chooser = random.Random(seed)
    forms = [form for form in usable(FORMS) if part in form]
    chooser.shuffle(forms)
    return [draw(forms[at % len(forms)], chooser) for at in range(number)]


def in_each_dtype() -> list[Drawn]:
    """Every form with its floating tensors (its only tensor) in each dtype."""
    found = []
    for form in usable(FORMS):
        for dtype in dict.fromkeys(DTYPES):
            tree = ast.parse(form, mode="eval").body
            made = _layer(tree)
            names = list(dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in TENSORS))
            tensors = {}
            for at, name in enumerate(names):
                own, shape, low, high = TENSORS[name]
                kind = dtype if own in ("float32", "float16") or len(names) == 1 else own
                low = max(low, 1) if kind.startswith("u") else low
                tensors[name] = f"drawn({shape}, {kind!r}, {17 + at}, False, {low}, {high})"
            found.append(Drawn(ast.unparse(made) if made is not None else "", ast.unparse(tree), tensors))
    return found


def program(calls: Sequence[Drawn], modes: Sequence[str] = MODES) -> str:
    """A program that makes each call in each mode and prints a line of JSON about each."""
    lines = [PRELUDE, OWN_PRELUDE]
    for n, call in enumerate(calls):
        names = ", ".join(call.tensors)
        lines.append(f"def make{n}():\n    return {call.made or None}")
        lines.append(f"def call{n}({names}):\n    return {call.text.replace('MADE', f'make{n}()')}")
        lines.append(CELL.format(n=n, names=names, text=call.text.replace("MADE", "self.made")))
        lines.append(f"def args{n}():\n    return [{', '.join(call.tensors.values())}]")
        places = tuple(at for at, text in enumerate(call.tensors.values()) if "float" in text)
        told = {"eager": f"call{n}(*args{n}())", "graph": f"Cell{n}()(*args{n}())"}
        if places:
            told["grad"] = f"ms.grad(Cell{n}(), {places})(*args{n}())"
        lines += [f"say({n}, {mode!r}, lambda: {told[mode]})" for mode in modes if mode in told]
    return "\n".join(lines) + "\n"


Outcome = dict[str, Any]


def outcomes(out: Path) -> dict[tuple[int, str], Outcome]:
    """What a run of ``program`` printed."""
    told: dict[tuple[int, str], Outcome] = {}
    for line in (out / "stdout").read_text(errors="replace").splitlines():
        if line.startswith('{"call": '):
            row = json.loads(line)
            told[row["call"], row["mode"]] = row
    return told


def compared(
    pair: Pair, calls: Sequence[Drawn], batch: int = 25, modes: Sequence[str] = MODES
) -> Iterator[tuple[Drawn, str, Outcome | None, Outcome | None]]:
    """Makes the calls on both sides, some in one process; None for one that ended the process."""
    for start in range(0, len(calls), batch):
        part = calls[start : start + batch]
        own, code, real, real_code = pair.run(program(part, modes))
        ours, theirs = outcomes(own), outcomes(real)
        if batch > 1 and (code or real_code):
            yield from compared(pair, part, max(1, batch // 8), modes)
            continue
        for n, call in enumerate(part):
            for mode in modes:
                if (n, mode) in ours or (n, mode) in theirs:
                    yield call, mode, ours.get((n, mode)), theirs.get((n, mode))


def difference(own: Outcome | None, real: Outcome | None) -> tuple[str, str]:
    """How two outcomes differ, as a kind and a text; empty if they do not."""
    if real is None or not real["same"] or LISTED in real["out"][1]:
        return "", ""
    if own is None:
        return "ends", f"ends the process; there {real['out']}"
    (mine, text, error), (theirs, real_text, real_error) = own["out"], real["out"]
    if bool(error) != bool(real_error):
        kind = "fails here" if error else "fails there"
        return kind, f"{text or mine} || {real_text or theirs}"
    if error:
        return ("", "") if set(error) & set(real_error) else ("class", f"{text} || {real_text}")
    why = apart(mine, theirs, 1.0 if own["mode"] == "grad" else 0.0)
    return ("value" if why == "values" else "type", f"{mine} || {theirs}") if why else ("", "")


def apart(own: Any, real: Any, size: float = 0.0) -> str:
    """What of two results differs: ``structure``, ``shape``, ``values``, or nothing; ``size`` is that of the terms that
    values are sums of."""
    if isinstance(own, str) or isinstance(real, str) or own is None or real is None:
        return "" if own == real else "values"
    if len(own) != len(real) or own[0] != real[0]:
        return "structure"
    if len(own) == 2:
        if len(own[1]) != len(real[1]):
            return "structure"
        return next(filter(None, (apart(a, b, size) for a, b in zip(own[1], real[1], strict=True))), "")
    if own[1] != real[1]:
        return "shape"
    if own[2] == real[2]:
        return ""
    limit = LIMITS.get(own[0].removeprefix("numpy ").capitalize(), 0.0) if own[0] != "float" else 1e-6
    return "" if limit and close(own[2], real[2], limit, size) else "values"


def close(own: Sequence[str], real: Sequence[str], limit: float, size: float = 0.0) -> bool:
    """Whether two lists of numbers agree within ``limit`` of the largest, of at least ``size``."""
    mine, theirs = ([complex(x) for x in side] for side in (own, real))
    parts = [(a, b) for x, y in zip(mine, theirs, strict=True) for a, b in ((x.real, y.real), (x.imag, y.imag))]
    scale = max((abs(b) for _, b in parts if math.isfinite(b)), default=0.0)
    scale = max(scale, size)
    for a, b in parts:
        if not (math.isfinite(a) and math.isfinite(b)):
            if not (a == b or (math.isnan(a) and math.isnan(b))):
                return False
        elif abs(a - b) > limit * max(scale, abs(b)):
            return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the calls and prints what differs; gives how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--part", default="")
    given = parser.parse_args(argv)
    kinds: Counter[str] = Counter()
    raw = 0
    with Pair(given.real) as pair:
        for call, mode, own, real in compared(pair, draws(given.count, given.seed, given.part)):
            kind, text = difference(own, real)
            kinds[f"{mode} {kind or 'agree'}"] += 1
            raw += bool(own and own["out"][1] and hasattr(builtins, own["out"][1].partition(":")[0]))
            if kind:
                print(f"{kind} [{mode}] {call}\n    {text[:600]}", flush=True)
    print(dict(sorted(kinds.items())), f"{raw} of our errors are Python's own")
    return sum(n for kind, n in kinds.items() if not kind.endswith("agree"))


if __name__ == "__main__":
    main()

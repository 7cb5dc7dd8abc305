"""Calls of what ``calls.py`` does not draw: `numpy`, `mint`, metrics, learning rates, initializers, losses, transforms,
chains of datasets.

``python -m tests.differential.library REAL --seed S --count N [--family NAME]`` makes each call here and under the real
MindSpore (REAL is its Python), and prints what differs. A call is a line of ``library.txt`` in which each ``<name>`` is
drawn by the rule of that name, or what a function of ``FAMILIES`` writes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.differential.calls import DTYPES, OWN_PRELUDE, Outcome, apart, difference, outcomes
from tests.differential.library_chains import chain
from tests.differential.library_metrics import metric
from tests.differential.mistakes import PRELUDE
from tests.differential.sides import Pair

HERE = Path(__file__).parent
BEGIN = "\n".join([PRELUDE, OWN_PRELUDE, (HERE / "library_prelude.py").read_text(encoding="utf-8")])
_PLACE = re.compile(r"<(\w+)>")
#: what a place is drawn from, where that is a list
WORDS: dict[str, str] = {
    "one": "abs absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_not ceil cos cosh deg2rad exp exp2 expm1 "
           "fabs fix floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg "
           "radians reciprocal rint sign sin sinh sqrt square tan tanh trunc",
    "two": "add arctan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide fmod greater greater_equal "
           "heaviside hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum mod multiply "
           "not_equal power remainder subtract true_divide",
    "reduce": "sum mean amax amin max min std var nanmax nanmin nansum nanmean ptp count_nonzero",
    "extreme": "amax amin max min", "spread": "std var", "cumulative": "cumsum cumprod", "arg": "argmax argmin",
    "stacked": "hstack vstack dstack column_stack concatenate", "split": "hsplit vsplit split array_split",
    "flip": "flip fliplr flipud", "atleast": "atleast_1d atleast_2d atleast_3d", "triangle": "tril triu",
    "make": "array asarray asfarray", "filled": "zeros ones", "mfilled": "zeros ones", "bool": "True False",
    "mode": "'clip' 'wrap' 'raise'", "indexing": "'xy' 'ij'",
    "padding": "'constant' 'edge' 'reflect' 'symmetric' 'wrap' 'maximum' 'minimum' 'mean' 'linear_ramp' 'empty'",
    "order": "None 1 2 -1 3 'fro' mnp.inf -mnp.inf 0", "rounding": "None 'floor' 'trunc'",
    "mone": "fix isfinite isnan real imag sqrt all any max min prod sum mean nansum",
    "mtwo": "add sub mul div eq ge greater_equal not_equal fmod remainder floor_divide float_power pow xlogy "
            "bitwise_and",
    "scaled": "add sub", "mreduce": "sum mean prod amax amin all any nansum", "typed": "sum mean prod nansum",
    "mextreme": "max min", "decay": "exponential_decay natural_exp_decay inverse_decay",
    "Decay": "ExponentialDecay NaturalExpDecay InverseDecay", "optimizer": "SGD Momentum,0.9 Adam",
    "reduction": "'mean' 'sum' 'none' 'mean' 'sum' 'none' 'foo'", "loss": "MSELoss L1Loss SmoothL1Loss HuberLoss",
    "celoss": "CrossEntropyLoss NLLLoss", "fceloss": "cross_entropy", "activation": "'softmax' 'sigmoid' 'relu' None",
    "initname": "'ones' 'zeros' 'normal' 'uniform' 'he_uniform' 'he_normal' 'xavier_uniform' 'xavier_normal' "
                "'truncated_normal' 'truncatedNormal' 'lecun_uniform' 'identity' 'dirac' 'HeUniform' 'XavierUniform' "
                "'foo'",
    "initdtype": "ms.float32 ms.float32 ms.float32 ms.float16 ms.float64 ms.int32 ms.bfloat16",
    "fixed": "(0.5,0.5) (1.5,1.5) (0.0,0.0) (2.0,2.0) (1.0,1.0)", "turn": "(0.1,0.1) (-0.3,-0.3) (0.5,0.5) (0.0,0.0)",
    "relation": "EQ NE LT GT LE GE", "border": "CONSTANT EDGE REFLECT SYMMETRIC",
    "inter": "NEAREST BILINEAR LINEAR BICUBIC CUBIC AREA", "random": "RandomApply RandomChoice RandomOrder",
}  # fmt: skip
LAYERS = (
    "Embedding(4, 3)", "Embedding(4, 3, embedding_table='xavier_uniform')", "LSTM(2, 3)", "GRU(2, 3)", "BatchNorm2d(2)",
    "LayerNorm((3,))", "PReLU(2)", "Conv2dTranspose(2, 3, 2)", "Conv3d(1, 2, 2)", "LSTMCell(2, 3)", "RNN(2, 2)",
    "MultiheadAttention(4, 2)", "GroupNorm(1, 2)", "BiDense(2, 3, 2)",
)  # fmt: skip
FAST = ("float32", "float32", "float16", "float64", "int8", "int32", "int64", "uint8", "bool")
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3), (2, 3), (2, 3), (1, 3), (2, 1), (2, 1, 3), (0, 3), (2, 2, 3))


class Drawer:
    """Draws what stands in the places of one call."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser
        self.shape = chooser.choice(SHAPES)
        self.dtype = chooser.choice((*DTYPES[:-3], "float32", "int32", "bool_"))
        self.rows = (chooser.choice((1, 2, 4)), 3)

    def place(self, name: str) -> str:
        """The text in a place."""
        if name in WORDS:
            return self.chooser.choice(WORDS[name].split())
        return str(getattr(self, f"_{name}")())

    def filled(self, line: str) -> str:
        """A line with its places filled; settings after a class's name go to its call's end."""
        text = _PLACE.sub(lambda found: self.place(found[1]), line)
        return re.sub(r"Momentum,0\.9\((.*)\)\)$", r"Momentum(\1, momentum=0.9))", text)

    def _tensor(self, kind: str, low: int = -12) -> str:
        shape = self.shape if self.chooser.random() < 0.8 else self.chooser.choice(SHAPES)
        special = self.chooser.random() < 0.15
        low = max(low, 0) if kind.startswith("u") else low
        return f"drawn({shape}, {kind!r}, {self.chooser.randrange(10**5)}, {special}, {low}, 13)"

    def _x(self) -> str:
        kind = self.dtype if self.chooser.random() < 0.8 else self.chooser.choice(DTYPES[:-2])
        what = self.chooser.random()
        if what < 0.72:
            return self._tensor(kind)
        if what < 0.84:
            return self._number()
        return self.chooser.choice(("[[1, 2, 3], [4, 5, 6]]", "[1.5, -2.0, 0.5]", "(1, 2, 3)", "[True, False, True]",
                                    "[[1], [2]]", "True", "[1, 2.5, True]", "np.array([1, 2, 3])"))  # fmt: skip

    _y = _x

    def _t(self) -> str:
        return self._tensor(self.dtype if self.chooser.random() < 0.8 else self.chooser.choice(DTYPES[:-2]))

    def _real(self) -> str:
        kind = self.chooser.choice(("float32",) * 6 + ("float16", "float64"))
        return f"drawn({self.rows}, {kind!r}, {self.chooser.randrange(10**5)}, False, -12, 13)"

    def _unit(self) -> str:
        return f"unit({self.rows}, {self.chooser.randrange(10**5)})"

    def _labels(self) -> str:
        kind = self.chooser.choice(("int32",) * 5 + ("int64", "int8"))
        return f"drawn(({self.rows[0]},), {kind!r}, {self.chooser.randrange(10**5)}, False, 0, 3)"

    def _columns(self) -> str:
        return f"drawn(({self.rows[0]}, 1), 'int32', {self.chooser.randrange(10**5)}, False, 0, 3)"

    def _signs(self) -> str:
        return f"(drawn(({self.rows[0]},), 'int32', {self.chooser.randrange(10**5)}, False, 0, 2) * 2 - 1)"

    def _weights(self) -> str:
        return self.chooser.choice(("None", f"unit((3,), {self.chooser.randrange(10**5)})"))

    def _mask(self) -> str:
        return self._tensor("bool_")

    def _index(self) -> str:
        shape = self.chooser.choice((self.shape, (2,), (), (1, 2)))
        kind = self.chooser.choice(("int32", "int64"))
        return f"drawn({shape}, {kind!r}, {self.chooser.randrange(10**5)}, False, {self.chooser.choice((0, -2))}, 3)"

    def _np(self) -> str:
        shape = self.chooser.choice(((), (3,), (4,), (2, 3), (2, 2, 3)))
        low, high = self.chooser.choice(((-12, 13), (0, 3)))
        kind = self.chooser.choice(FAST)
        return (
            f"np.random.RandomState({self.chooser.randrange(10**5)}).randint({low}, {high}, {shape}).astype({kind!r})"
        )

    def _npindex(self) -> str:
        shape = self.chooser.choice(((), (1,), (3,), (2, 2)))
        return f"np.random.RandomState({self.chooser.randrange(10**5)}).randint(0, 3, {shape})"

    def _image(self) -> str:
        height, width, channels = (self.chooser.choice(n) for n in ((3, 4, 6), (3, 5, 8), (3, 3, 3, 1, 4, 0)))
        kind = self.chooser.choice(("uint8",) * 6 + ("float32", "float32", "int32"))
        return f"image({height}, {width}, {channels}, {self.chooser.randrange(10**5)}, {kind!r})"

    def _init(self) -> str:
        draw = self.chooser.choice
        number = lambda: draw((0.0, 0.01, 1.0, -0.5, 2.0))  # noqa: E731
        return str(draw((
            f"init.Normal({number()}, {number()})", f"init.Uniform({number()})", f"init.TruncatedNormal({number()})",
            f"init.TruncatedNormal({number()}, {number()}, -1.0, 1.5)", "init.HeNormal()", "init.XavierNormal()",
            f"init.HeUniform({number()}, {draw(('fan_in', 'fan_out'))!r}, {draw(('relu', 'leaky_relu', 'tanh'))!r})",
            f"init.HeNormal({number()}, {draw(('fan_in', 'fan_out'))!r})", f"init.XavierUniform({number()})",
            f"init.XavierNormal({number()})", f"init.Constant({number()})", "init.One()", "init.Zero()",
            "init.Identity()", "init.Dirac()", f"init.Dirac({draw((1, 2))})", f"init.Sparse({draw((0.1, 0.5))})",
            f"init.Orthogonal({number()})",
            f"init.VarianceScaling({number()}, {draw(('fan_in', 'fan_out', 'fan_avg'))!r}, "
            f"{draw(('uniform', 'normal', 'truncated_normal', 'untruncated_normal'))!r})",
        )))  # fmt: skip

    def _axis(self) -> object:
        return self.chooser.choice((None, 0, 1, -1, -1, -2, 2, (0, 1), (0, -1), (-1,), ()))

    def _dim(self) -> object:
        return self.chooser.choice((0, 1, -1, -1, -2, (0, 1), (-1,), None))

    def _pair(self) -> object:
        return self.chooser.choice(((0, 1), (1, 0), (0, -1), (1, 2), (-1, -2)))

    def _number(self) -> str:
        return self.chooser.choice(("0", "1", "2", "3", "-1", "0.5", "1.0", "2.5", "-1.5", "0.0"))

    def _small(self) -> int:
        return self.chooser.choice((0, 1, 1, -1, 2, -2, 3))

    def _count(self) -> int:
        return self.chooser.choice((1, 2, 3, 4, 5))

    def _many(self) -> int:
        return self.chooser.choice((5, 7, 12))

    def _rate(self) -> str:
        return self.chooser.choice(("0.1", "0.5", "0.01", "0.9", "0.3", "1.0", "1", "0.0", "0.001"))

    def _power(self) -> str:
        return self.chooser.choice(("0.5", "1.0", "2.0", "2", "0.9"))

    def _part(self) -> str:
        return self.chooser.choice(("0.0", "0.1", "0.5", "1.0"))

    def _step(self) -> str:
        return f"Tensor({self.chooser.randrange(9)}, ms.int32)"

    def _shape(self) -> object:
        return self.chooser.choice(((2, 3), (3, 2), (6,), (2, 2, 3), (4, 3), (), 3, (-1,), (1, 6), (0, 3)))

    def _full(self) -> object:
        return self.chooser.choice(([4, 3], (8, 8), [2, 3, 3, 3], (5,), [3, 4, 2], (16, 4), (2, 2, 2, 2, 2), [], 4))

    def _dtype(self) -> str:
        return self.chooser.choice(("mnp.float32", "mnp.float16", "mnp.int32", "mnp.float64", "mnp.int64", "mnp.bool_",
                                    "'float32'", "'int32'", "int", "float", "bool", "None", "mnp.uint8"))  # fmt: skip

    def _ms(self) -> str:
        return "ms." + self.chooser.choice(("float32", "float16", "int32", "float64", "int64", "bool_", "uint8"))

    def _npd(self) -> str:
        return "np." + self.chooser.choice(("float32", "float16", "int32", "float64", "int64", "bool_", "uint8"))

    def _seed(self) -> int:
        return self.chooser.randrange(1, 100)

    def _size(self) -> object:
        return self.chooser.choice((2, 3, 5, (2, 3), (4, 4), (3, 5), [6, 2], (7, 9)))

    def _three(self) -> str:
        return str(
            [self.chooser.choice((0.5, 1.0, 2.0, 127.5, 0.25)) for _ in range(self.chooser.choice((3, 3, 3, 1)))]
        )

    def _fill(self) -> object:
        return self.chooser.choice((0, 7, (1, 2, 3), 255))

    def _layer(self) -> str:
        return self.chooser.choice(LAYERS)


def _lines() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (HERE / "library.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        else:
            lines.append(line)
    return found


LINES = _lines()
FAMILIES: dict[str, Callable[[random.Random], str]] = {"metrics": metric, "chains": chain}


def draws(number: int, seed: int, families: Sequence[str] = ()) -> list[str]:
    """``number`` calls, of the families in turn."""
    chooser = random.Random(seed)
    kinds = list(families or (*LINES, *FAMILIES))
    order = {name: chooser.sample(lines, len(lines)) for name, lines in LINES.items()}
    found = []
    for at in range(number):
        kind, turn = kinds[at % len(kinds)], at // len(kinds)
        if kind in FAMILIES:
            found.append(FAMILIES[kind](chooser))
        else:
            found.append(Drawer(chooser).filled(order[kind][turn % len(order[kind])]))
    return found


def program(calls: Sequence[str]) -> str:
    """A program that makes each call and prints a line of JSON about each."""
    return "\n".join([BEGIN, *(f"say({n}, 'eager', lambda:\n    {call})" for n, call in enumerate(calls))]) + "\n"


def compared(
    pair: Pair, calls: Sequence[str], batch: int = 100
) -> Iterator[tuple[str, Outcome | None, Outcome | None]]:
    """Makes the calls on both sides, some in one process; None for one that ended the process."""
    for start in range(0, len(calls), batch):
        part = calls[start : start + batch]
        own, code, real, real_code = pair.run(program(part))
        ours, theirs = outcomes(own), outcomes(real)
        if batch > 1 and (code or real_code):
            yield from compared(pair, part, max(1, batch // 8))
            continue
        for n, call in enumerate(part):
            yield call, ours.get((n, "eager")), theirs.get((n, "eager"))


#: uses that docs/differences.md lists
_LISTED = re.compile(r"ROC\(class_num|CosineSimilarity\(|(?:Surface|Square|Hausdorff)Distance\(|OneHot\(.*, 0|"
                     r"complex|bfloat16|BleuScore")  # fmt: skip


def listed(call: str) -> bool:
    """Whether a call is one that may give something else (docs/differences.md)."""
    return bool(_LISTED.search(call))


def parts(own: Any, real: Any) -> tuple[Any, Any]:
    """The first parts of two results that differ."""
    if len(own) == len(real) == 2 and own[0] == real[0] and len(own[1]) == len(real[1]):
        return next((parts(a, b) for a, b in zip(own[1], real[1], strict=True) if apart(a, b)), (own, real))
    return own, real


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the calls and prints what differs; gives how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--family", action="append", default=[])
    given = parser.parse_args(argv)
    kinds: Counter[str] = Counter()
    with Pair(given.real) as pair:
        for call, own, real in compared(pair, draws(given.count, given.seed, given.family)):
            kind, text = difference(own, real)
            kinds[kind or "agree"] += 1
            if own and real and kind in ("value", "type"):
                mine, theirs = parts(own["out"][0], real["out"][0])
                text = f"{mine} || {theirs}"
            if kind:
                print(f"{kind}: {call}\n    {text[:600]}", flush=True)
    print(f"seed {given.seed}: {dict(sorted(kinds.items()))}")
    return sum(n for kind, n in kinds.items() if kind != "agree")


if __name__ == "__main__":
    main()

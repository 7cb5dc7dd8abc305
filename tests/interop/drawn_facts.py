"""What random operators draw from given seeds, case by case: ``drawn_facts.py OUT`` writes it (JSON).

The same file runs under the real MindSpore and under ``msdump run``.
"""

import json
import sys

import mindspore as ms
import mindspore.numpy as mnp
import numpy as np
from mindspore import nn, ops

SEEDS = ((1, 0), (0, 1), (3, 4), (2**31 - 2, 12345))
WEIGHTS = ms.Tensor(np.array([[1.0, 2, 3, 4], [5, 1, 1, 1]], np.float32))
TRUE = ms.Tensor(np.array([[1], [2]], np.int64))


def whole(value):
    return ms.Tensor(np.asarray(value, np.int32))


def listed(value):
    """As JSON: floats by 6 digits, for a rounding of the logarithm may differ."""
    if isinstance(value, (list, tuple)):
        return [listed(each) for each in value]
    array = value.asnumpy()
    if array.dtype.kind == "f":
        return [float(f"{each:.6g}") for each in array.astype(np.float64).reshape(-1)]
    return array.astype(int).reshape(-1).tolist()


def primitives():
    """Primitives called several times: they draw on, for each shape on its own."""
    for seeds in SEEDS:
        for name in ("StandardNormal", "UniformReal"):
            made = getattr(ops, name)(*seeds)
            yield f"{name} {seeds}", [made((5,)), made((5,)), made((2, 3)), made((5,))]
        for keep in (0.3, 0.9):
            made = ops.Dropout(keep, *seeds)
            for kind in (np.float32, np.float64, np.float16):
                x = ms.Tensor((np.arange(12) / 7 - 1).astype(kind))
                yield f"Dropout {keep} {kind.__name__} {seeds}", [made(x)[0], made(x)[1], made(x[:5])[1]]
        made = ops.UniformInt(*seeds)
        for low, high in ((0, 10), (-5, 1000), (0, 2**31 - 1)):
            yield f"UniformInt {low} {high} {seeds}", [made((9,), whole(low), whole(high)) for _ in range(2)]
        made = ops.StandardLaplace(*seeds)
        yield f"StandardLaplace {seeds}", [made((9,)), made((9,))]
        made = ops.Multinomial(*seeds)
        yield f"Multinomial {seeds}", [made(WEIGHTS, 9), made(WEIGHTS, 9)]
        made = ops.RandomChoiceWithMask(5, *seeds)
        yield f"RandomChoiceWithMask {seeds}", [made(ms.Tensor(np.arange(12) % 5 > 0)) for _ in range(2)]
        made = ops.RandomShuffle(*seeds)
        for count in (1, 8, 9):
            x = ms.Tensor(np.arange(count))
            yield f"RandomShuffle {count} {seeds}", [made(x), made(x)]
    for unique in (True, False):
        for removes in (True, False):
            made = ops.UniformCandidateSampler(1, 5, unique, 8, 3, removes)
            yield f"UniformCandidateSampler {unique} {removes}", [made(TRUE), made(TRUE)]


def functions():
    """Functions, whose seeds the global one gives."""
    ms.set_seed(7)
    x, one = ms.Tensor(np.ones(12, np.float32)), ms.Tensor(1.0, ms.float32)
    yield "randn", [ops.randn(5), ops.randn(5), ops.randn(5, seed=3)]
    yield "rand", [ops.rand(5), ops.rand_like(x), ops.uniform((5,), -one, one)]
    yield "normal", [ops.normal((5,), 1.0, 2.0), ops.standard_normal((5,)), ops.randn_like(x)]
    yield "randint", [ops.randint(0, 9, (12,)), ops.randint_like(x.astype(ms.int32), 0, 9)]
    yield "dropout", [ops.dropout(x), ops.dropout(x), ops.dropout(x, 0.2, seed=3)]
    yield "laplace", [ops.laplace((5,), one, one), ops.standard_laplace((5,))]
    yield "shuffle", [ops.shuffle(whole(range(9))), ops.shuffle(whole(range(9)), seed=4)]
    yield "randperm", [ops.randperm(9), ops.randperm(9), ops.randperm(9, seed=3), ops.randperm(9, seed=3, offset=4)]
    yield "numpy", [*(mnp.rand(5) for _ in range(2)), mnp.randn(5), mnp.randint(9, shape=(5,)), mnp.randint(2, 9)]
    yield "multinomial", [ops.multinomial(WEIGHTS, 9), ops.multinomial(WEIGHTS[0], 3, False)]
    for seed in (0, 1, 5):
        yield f"bernoulli {seed}", [ops.bernoulli(x, seed=seed), ops.bernoulli(x, ms.Tensor(np.full(12, 0.3)), seed)]


class Twice(nn.Cell):
    """Dropout twice, and functions."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        return self.drop(x), self.drop(x + 1), ops.dropout(x), ops.randn(3), ops.randint(0, 99, (3,))


def gradient(drop):
    """The gradient of a function that drops."""

    def total(x):
        return drop(x).sum()

    return ms.grad(total)


def networks():
    """A network, and a gradient, in both modes."""
    x = ms.Tensor(np.ones(12, np.float32))
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(3)
        net, drop = Twice(), nn.Dropout(p=0.3)
        net.set_train()
        drop.set_train()
        yield f"network {mode}", [net(x), net(x)]
        slope = gradient(drop)
        yield f"gradient {mode}", [drop(x), slope(x), slope(x), drop(x)]


def main(out):
    cases = {}
    for group in (primitives, functions, networks):
        cases |= {name: listed(values) for name, values in group()}
    with open(out, "w") as file:
        json.dump(cases, file, indent=0, sort_keys=True)


if __name__ == "__main__":
    main(sys.argv[1])

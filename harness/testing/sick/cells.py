"""Cells of drawn trainings: healthy ones, and ones that do harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.dtypes import float16, float32
from harness.framework import nn
from harness.framework import ops as _ops
from harness.framework.tensor import Tensor

#: operators by MindSpore's names; what they take is checked when they are called
ops: Any = _ops


class Do(nn.Cell):
    """Applies one function.

    Args:
        what: name of one of its methods.
        amount: a number that the method uses.
    """

    def __init__(self, what: str, amount: float = 1.0) -> None:
        super().__init__()
        self.what, self.amount = what, amount

    def construct(self, x: Any) -> Any:
        return getattr(self, self.what)(x)

    def log_of_relu(self, x: Any) -> Any:
        return ops.log(ops.relu(x))

    def log(self, x: Any) -> Any:
        return ops.log(x)

    def divide(self, x: Any) -> Any:
        return ops.div(x, ops.relu(x))

    def root(self, x: Any) -> Any:
        return ops.sqrt(x)

    def inverse_root(self, x: Any) -> Any:
        return ops.rsqrt(ops.relu(x))

    def exponential(self, x: Any) -> Any:
        return ops.exp(x * self.amount)

    def square_in_half(self, x: Any) -> Any:
        return ops.cast(ops.square(ops.cast(x * self.amount, float16)), float32)

    def cast_to_half(self, x: Any) -> Any:
        return ops.cast(ops.cast(x * self.amount, float16), float32)

    def scale(self, x: Any) -> Any:
        return x * self.amount

    def shift(self, x: Any) -> Any:
        return x + self.amount

    def softmax(self, x: Any) -> Any:
        return ops.softmax(x, -1)

    def softmax_over_batch(self, x: Any) -> Any:
        return ops.softmax(x, 0)


class Recurrent(nn.Cell):
    """An unrolled recurrence.

    Args:
        features, width: of one step, and of the state.
        steps: number of steps.
        activation: of the state; None for a linear one.
    """

    def __init__(self, features: int, width: int, steps: int, activation: str | None) -> None:
        super().__init__()
        self.into, self.again = nn.Dense(features, width), nn.Dense(width, width)
        self.act = nn.get_activation(activation) if activation else None
        self.steps = steps

    def construct(self, x: Any) -> Any:
        state = self.into(x[:, 0])
        for at in range(1, self.steps):
            state = self.into(x[:, at]) + self.again(state)
            if self.act is not None:
                state = self.act(state)
        return state


class Attention(nn.Cell):
    """One head of attention, its mean over places.

    Args:
        features, width: of a place, and of the head.
        axis: axis of the softmax.
        mask: what is added to the scores of later places; None for no mask.
        places: number of places.
    """

    def __init__(self, features: int, width: int, axis: int, mask: float | None, places: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(features, width) for _ in range(3))
        self.axis, self.scale = axis, width**-0.5
        rows = [[0.0 if other <= at else float(mask or 0) for other in range(places)] for at in range(places)]
        self.mask = Tensor(rows) if mask is not None else None

    def construct(self, x: Any) -> Any:
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(-1, -2)) * self.scale
        if self.mask is not None:
            scores = scores + self.mask
        return ops.matmul(ops.softmax(scores, self.axis), self.value(x)).mean(1)


class Words(nn.Cell):
    """Mean of embedded words.

    Args:
        words, width: rows and columns of the table.
    """

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, width)

    def construct(self, x: Any) -> Any:
        return self.table(x).mean(1)


class Tied(nn.Cell):
    """Words in and words out by one table."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.inner = nn.Dense(width, width, activation="tanh")

    def construct(self, x: Any) -> Any:
        return ops.matmul(self.inner(self.table(x).mean(1)), self.table.embedding_table.swapaxes(0, 1))


class Residual(nn.Cell):
    """A block around which its input goes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.one, self.two = nn.LayerNorm((width,)), nn.Dense(width, width), nn.Dense(width, width)

    def construct(self, x: Any) -> Any:
        return x + self.two(ops.relu(self.one(self.norm(x))))


def sequence(cells: Sequence[Any]) -> Any:
    """Cells one after the other."""
    return nn.SequentialCell(*cells)

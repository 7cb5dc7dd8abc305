"""Records a training's log as one text: losses, metrics, checkpoints, printed lines.

The text is exact: floats are given with all their digits, so that equal texts mean equal bits.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np
import xxhash

from harness.errors import SettingError
from harness.framework.train.callback.base import Callback, RunContext
from harness.framework.train.callback.manager import as_list
from harness.framework.train.checkpoint import ckpt
from harness.framework.train.checkpoint.save import contents_of
from harness.framework.train.metrics import get_metric_fn
from harness.framework.train.model import Model

#: durations differ from run to run
_DURATION = re.compile(r"\d+\.\d{3} ms")
#: numpy 2 writes the type around a number, numpy 1 does not
_NUMPY = re.compile(r"np\.\w+\(([^()]*)\)")


class Batches:
    """A dataset of given batches.

    Args:
        batches: rows of tensors; at least one (``SettingError``).
    """

    def __init__(self, batches: Sequence[Sequence[Any]]) -> None:
        if not batches:
            raise SettingError("a training needs at least one batch, got none")
        self._batches = [tuple(batch) for batch in batches]

    def get_dataset_size(self) -> int:
        """Number of batches."""
        return len(self._batches)

    def create_tuple_iterator(self, num_epochs: int = -1) -> Iterator[tuple[Any, ...]]:
        """The batches, once."""
        return iter(self._batches)


class TrainingLog(Callback):
    """Notes the loss of each step; the metrics and a digest of the checkpoint of each epoch.

    Attributes:
        lines: what was noted.
        outputs: the result of each step.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.outputs: list[Any] = []

    def on_train_step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        self.outputs.append(run.net_outputs)
        self.lines.append(f"step {run.cur_step_num}: loss {exact(run.net_outputs)}")

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        head = f"epoch {run.cur_epoch_num}:"
        for name, value in sorted((run.get("metrics") or {}).items()):
            self.lines.append(f"{head} {name} {exact(value)}")
        content = b"".join(ckpt.encode(contents_of(run.train_network)))
        self.lines.append(f"{head} checkpoint {xxhash.xxh3_128_hexdigest(content)}")


def exact(value: Any) -> str:
    """A value with all its digits, dtype first; several between brackets."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(exact, value))}]"
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return f"{array.dtype.name} {array.tolist()!r}"


class _Tee(io.StringIO):
    """Keeps the printed text and passes it on."""

    def __init__(self, to: Any) -> None:
        super().__init__()
        self._to = to

    def write(self, text: str) -> int:
        self._to.write(text)
        return super().write(text)


@contextmanager
def printed() -> Iterator[list[str]]:
    """The lines printed within the block, durations and numpy's types left out; filled at its end."""
    lines: list[str] = []
    tee = _Tee(sys.stdout)
    try:
        with redirect_stdout(tee):
            yield lines
    finally:
        lines.extend(_NUMPY.sub(r"\1", _DURATION.sub("# ms", line)) for line in tee.getvalue().splitlines())


def train(
    network: Any,
    loss: Any,
    optimizer: Any,
    batches: Sequence[Sequence[Any]],
    epochs: int,
    callbacks: Any,
    metrics: Any,
) -> tuple[list[Any], str]:
    """Trains with ``Model.fit`` (with metrics: evaluated on the same batches after each epoch).

    Returns:
        The result of each step, and the text of the training's log.
    """
    recorder, data = TrainingLog(), Batches(batches)
    if isinstance(metrics, set):  # whose order, and so the printed text, differs between processes
        metrics = {name: get_metric_fn(name) for name in sorted(metrics)}
    model = Model(network, loss, optimizer, metrics=metrics)
    valid = Batches(batches) if metrics else None
    with printed() as lines:
        model.fit(epochs, data, valid, callbacks=[recorder, *as_list(callbacks)])
    return recorder.outputs, "".join(f"{line}\n" for line in (*recorder.lines, *(f"printed: {line}" for line in lines)))

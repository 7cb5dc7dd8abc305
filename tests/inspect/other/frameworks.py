"""The same functions and layers in the emulator and in PyTorch, and one training of either."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness import backends
from harness.capture import Capture
from harness.errors import HarnessError

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Job:
    """A training of another hand.

    Attributes:
        layers: name -> (kind, sizes) of the network's layers.
        forward: of (framework, layers by name, input, the point function).
        loss: of (framework, output, target).
        data: step -> input and target.
        steps, rate, optimizer, scale: how it is trained; ``scale`` is a factor on the loss.
        points: what is done at a point of the network, by its name.
        weights: changes a parameter after initialisation.
        without: endings of names that the optimizer does not get.
        never: the optimizer is never run; ``keep``: gradients are never set to zero (PyTorch).
        predict: only predict, in training mode.
    """

    layers: Mapping[str, tuple[str, tuple[int, ...]]]
    forward: Callable[..., Any]
    loss: Callable[..., Any]
    data: Callable[[int], tuple[Array, Array]]
    steps: int = 10
    rate: float = 0.01
    optimizer: str = "adam"
    scale: float = 1.0
    points: dict[str, Callable[..., Any]] = field(default_factory=dict)
    weights: Callable[[str, Array], Array | None] | None = None
    without: tuple[str, ...] = ()
    never: bool = False
    keep: bool = False
    predict: bool = False
    seed: int = 0

    def first(self, name: str, shape: tuple[int, ...]) -> Array | None:
        """First values of a matrix: uniform, by fan-in and fan-out."""
        if len(shape) < 2:
            return None
        rng = np.random.default_rng((self.seed, *name.encode()))
        inside, outside = int(np.prod(shape[1:])), int(shape[0] * np.prod(shape[2:]))
        bound = (6 / (inside + outside)) ** 0.5 if "table" not in name else 0.8
        return rng.uniform(-bound, bound, shape)

    def capture(self, framework: str) -> Capture:
        """Runs it, everything captured."""
        return _in_torch(self) if framework == "torch" else _in_emulator(self)

    def point(self, framework: Any, name: str, value: Any) -> Any:
        """Applies what is done at a point."""
        return self.points[name](framework, value) if name in self.points else value


class Torch:
    """PyTorch's functions."""

    def __init__(self) -> None:
        import torch

        self.t: Any = torch

    def layer(self, kind: str, sizes: tuple[int, ...]) -> Any:
        nn = self.t.nn
        made: Any = {
            "linear": lambda: nn.Linear(*sizes), "plain": lambda: nn.Linear(*sizes, bias=False),
            "conv": lambda: nn.Conv2d(*sizes), "same": lambda: nn.Conv2d(*sizes, padding="same"),
            "batch1": lambda: nn.BatchNorm1d(*sizes), "batch2": lambda: nn.BatchNorm2d(*sizes),
            "layer": lambda: nn.LayerNorm(*sizes), "table": lambda: nn.Embedding(*sizes),
            "drop": lambda: nn.Dropout(sizes[0] / 100), "pool": lambda: nn.MaxPool2d(2),
        }[kind]()  # fmt: skip
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.t, name)

    def softmax(self, x: Any, axis: int) -> Any:
        return self.t.softmax(x, axis)

    def log_softmax(self, x: Any, axis: int) -> Any:
        return self.t.log_softmax(x, axis)

    def half(self, x: Any) -> Any:
        return x.half()

    def single(self, x: Any) -> Any:
        return x.float()

    def turned(self, x: Any) -> Any:
        return x.transpose(-1, -2)

    def stop(self, x: Any) -> Any:
        return x.detach()

    def join(self, xs: Any, axis: int) -> Any:
        return self.t.cat(xs, axis)

    def gelu(self, x: Any) -> Any:
        return self.t.nn.functional.gelu(x)

    def total(self, x: Any, axis: int) -> Any:
        return x.sum(axis, keepdim=True)

    def average(self, x: Any, axis: int) -> Any:
        return x.mean(axis, keepdim=True)

    def flat(self, x: Any) -> Any:
        return x.flatten(1)

    def constant(self, array: Any) -> Any:
        return self.t.from_numpy(np.asarray(array, np.float32))

    def floor_at(self, x: Any, low: float) -> Any:
        return x.clamp(min=low)

    def ce(self, x: Any, y: Any) -> Any:
        return self.t.nn.functional.cross_entropy(x, y.long())

    def nll(self, x: Any, y: Any) -> Any:
        return self.t.nn.functional.nll_loss(x, y.long())

    def mse(self, x: Any, y: Any) -> Any:
        return self.t.nn.functional.mse_loss(x, y)

    def huber(self, x: Any, y: Any) -> Any:
        return self.t.nn.functional.smooth_l1_loss(x, y)

    def bce_logits(self, x: Any, y: Any) -> Any:
        return self.t.nn.functional.binary_cross_entropy_with_logits(x, y)

    def ints(self, x: Any) -> Any:
        return x.long()


class Emulator:
    """The same of the emulator."""

    def __init__(self) -> None:
        from harness import nn, ops
        from harness.framework.tensor import Tensor

        self.nn: Any = nn
        self.o: Any = ops
        self.tensor: Any = Tensor

    def layer(self, kind: str, sizes: tuple[int, ...]) -> Any:
        nn = self.nn
        made: Any = {
            "linear": lambda: nn.Dense(*sizes), "plain": lambda: nn.Dense(*sizes, has_bias=False),
            "conv": lambda: nn.Conv2d(*sizes, pad_mode="valid", has_bias=True),
            "same": lambda: nn.Conv2d(*sizes, has_bias=True),
            "batch1": lambda: nn.BatchNorm1d(*sizes), "batch2": lambda: nn.BatchNorm2d(*sizes),
            "layer": lambda: nn.LayerNorm(tuple(sizes)), "table": lambda: nn.Embedding(*sizes),
            "drop": lambda: nn.Dropout(p=sizes[0] / 100), "pool": lambda: nn.MaxPool2d(2, 2),
        }[kind]()  # fmt: skip
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.o, name)

    def softmax(self, x: Any, axis: int) -> Any:
        return self.o.softmax(x, axis)

    def log_softmax(self, x: Any, axis: int) -> Any:
        return self.o.log_softmax(x, axis)

    def half(self, x: Any) -> Any:
        return self.o.cast(x, _dtype("float16"))

    def single(self, x: Any) -> Any:
        return self.o.cast(x, _dtype("float32"))

    def turned(self, x: Any) -> Any:
        return x.swapaxes(-1, -2)

    def stop(self, x: Any) -> Any:
        return self.o.stop_gradient(x)

    def join(self, xs: Any, axis: int) -> Any:
        return self.o.cat(xs, axis)

    def gelu(self, x: Any) -> Any:
        return self.o.gelu(x)

    def total(self, x: Any, axis: int) -> Any:
        return x.sum(axis, keepdims=True)

    def average(self, x: Any, axis: int) -> Any:
        return x.mean(axis, keep_dims=True)

    def flat(self, x: Any) -> Any:
        return x.reshape(x.shape[0], -1)

    def constant(self, array: Any) -> Any:
        return self.tensor(np.asarray(array, np.float32))

    def floor_at(self, x: Any, low: float) -> Any:
        return self.o.maximum(x, self.constant(low))

    def ce(self, x: Any, y: Any) -> Any:
        return self.o.cross_entropy(x, y)

    def nll(self, x: Any, y: Any) -> Any:
        return self.o.nll_loss(x, y)

    def mse(self, x: Any, y: Any) -> Any:
        return self.o.mse_loss(x, y)

    def huber(self, x: Any, y: Any) -> Any:
        return self.o.smooth_l1_loss(x, y, reduction="mean")

    def bce_logits(self, x: Any, y: Any) -> Any:
        return self.o.binary_cross_entropy_with_logits(x, y)

    def ints(self, x: Any) -> Any:
        return x


def _dtype(name: str) -> Any:
    from harness import dtypes

    return getattr(dtypes, name)


def _in_torch(job: Job) -> Capture:
    import torch

    from harness.capture.torch import TorchCapture

    f = Torch()

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.names = list(job.layers)
            for name, each in job.layers.items():
                setattr(self, name, f.layer(*each))

        def forward(self, x: Any) -> Any:
            layers = {name: getattr(self, name) for name in self.names}
            return job.forward(f, layers, x, lambda name, value: job.point(f, name, value))

    torch.manual_seed(job.seed)
    net = Net()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            values = job.first(name, tuple(parameter.shape))
            values = parameter.numpy().copy() if values is None else values
            changed = job.weights(name, values) if job.weights is not None else None
            values = values if changed is None else changed
            parameter.copy_(torch.from_numpy(np.asarray(values, np.float32)))
    given = [each for name, each in net.named_parameters() if not name.endswith(job.without or ("\0",))]
    makers: Any = {"adam": torch.optim.AdamW, "sgd": torch.optim.SGD, "ada": torch.optim.Adagrad}
    optimizer = makers[job.optimizer](given, job.rate)
    watch = TorchCapture(net, gradients=not job.predict)
    with suppress(RuntimeError, IndexError, ValueError):
        for step in range(job.steps):
            x, y = (torch.from_numpy(each) for each in job.data(step))
            with watch.step():
                if job.predict:
                    with torch.no_grad():
                        net(x)
                    continue
                if not job.keep:
                    optimizer.zero_grad()
                loss = job.loss(f, net(x), y)
                (loss * job.scale if job.scale != 1 else loss).backward()
                if not job.never:
                    optimizer.step()
    return watch.capture()


def _in_emulator(job: Job) -> Capture:
    def program() -> None:
        from harness import GRAPH_MODE, nn, set_context, set_seed
        from harness.framework.tensor import Tensor

        f = Emulator()

        class Net(nn.Cell):
            def __init__(self) -> None:
                super().__init__()
                self.names = list(job.layers)
                for name, each in job.layers.items():
                    setattr(self, name, f.layer(*each))

            def construct(self, x: Any) -> Any:
                layers = {name: getattr(self, name) for name in self.names}
                return job.forward(f, layers, x, lambda name, value: job.point(f, name, value))

        class Loss(nn.Cell):
            def construct(self, x: Any, y: Any) -> Any:
                return job.loss(f, x, y)

        set_context(mode=GRAPH_MODE)
        set_seed(job.seed)
        net = Net()
        for parameter in net.get_parameters():
            values = job.first(parameter.name, parameter.shape)
            values = parameter.asnumpy().copy() if values is None else values
            changed = job.weights(parameter.name, values) if job.weights is not None else None
            values = values if changed is None else changed
            parameter.set_data(Tensor(np.asarray(values, np.float32)))
        if job.predict:
            net.set_train(True)
            for step in range(job.steps):
                net(Tensor(job.data(step)[0]))
            return
        given = [each for each in net.trainable_params() if not each.name.endswith(job.without or ("\0",))]
        makers: Any = {"adam": nn.AdamWeightDecay, "sgd": nn.SGD, "ada": nn.Adagrad}
        one = nn.TrainOneStepCell(
            nn.WithLossCell(net, Loss()), makers[job.optimizer](given, learning_rate=job.rate), sens=job.scale
        )
        one.set_train()
        for step in range(job.steps):
            x, y = job.data(step)
            one(Tensor(x), Tensor(y))

    with backends.get("cpu").open(network="Other") as process:
        with suppress(HarnessError, RuntimeError, IndexError, ValueError):
            process.execute(program)
        return process.capture()

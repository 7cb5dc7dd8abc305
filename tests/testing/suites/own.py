"""The suites over what is ours, as small as they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness import Tensor, nn
from harness.recording import Call, Described, Edge, Recording, Replayer
from harness.replaying import MINDSPORE, replayer_of
from harness.testing import BackendSuite, EngineSuite, FormatSuite, Known, ReplayerSuite
from tests.testing.suites.example import module


class Engine(EngineSuite):
    """The engine of the example, which declares as it runs and uses its buffers again."""

    engine = "tinyrt 1.0"

    def program(self, recording: Recording) -> Any:
        return module("engine").Chain(recording)


class Emulated(BackendSuite):
    """A layer on an emulated backend."""

    backend = "cpu"

    def program(self, seed: int = 0) -> Callable[[], Any]:
        net = nn.Dense(3, 2, weight_init="ones")
        x = Tensor(np.random.default_rng(seed).standard_normal((4, 3)).astype(np.float32))
        return lambda: net(x)


class Nz(FormatSuite):
    """A format of blocks."""

    format = "FRACTAL_NZ"
    shapes = ((3, 5), (16, 32), (2, 17, 33))


class Emulator(ReplayerSuite):
    """Operators of MindSpore."""

    def replayer(self) -> Replayer:
        found = replayer_of(MINDSPORE)
        assert found is not None
        return found

    def known(self) -> Sequence[Known]:
        x, edge = np.float32([1, -2]), Edge("argument", "x")
        abs_, add = (Described(f"Default/{op}-op0", op, inputs=(edge,) * n) for op, n in (("Abs", 1), ("Add", 2)))
        assign = Described("Default/Assign-op0", "Assign", inputs=(Edge("parameter", "w"), edge))
        return [
            Known(Call(abs_, {0: x}, ("Float32",)), [np.abs(x)]),
            Known(Call(add, {0: x, 1: x}, ("Float32",)), [x + x]),
            Known(Call(assign, {0: x, 1: 2 * x}, ("Float32",)), [2 * x]),
        ]

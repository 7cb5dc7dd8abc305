"""The suites of pytest-msdump prove what this package adds."""

import numpy as np
from tiny_extension.backend import chain
from tiny_extension.engine import KERNELS, NAME, Chain
from tiny_extension.replayer import TinyReplayer

from harness.recording import Call, Described, Edge
from harness.testing import BackendSuite, EngineSuite, FormatSuite, Known, ReplayerSuite


class TestEngine(EngineSuite):
    engine = NAME

    def program(self, recording):
        return Chain(recording)


class TestBackend(BackendSuite):
    backend = "tinyrt"

    def program(self, seed=0):
        x = np.random.default_rng(seed).standard_normal((2, 3)).astype(np.float32)
        return lambda: chain(x)


class TestFormat(FormatSuite):
    format = "TILED_4X4"
    shapes = ((4, 8), (3, 5), (1, 1))


class TestReplayer(ReplayerSuite):
    def replayer(self):
        return TinyReplayer()

    def known(self):
        x, y = np.float32([1, -2]), np.float32([0.5, 4])
        scale = Described(
            "Default/first/Scale-op0", "Scale", attributes={"factor": 3.0}, inputs=(Edge("argument", "x"),)
        )
        add = Described("Default/sum/Add-op0", "Add", inputs=(Edge("argument", "x"),) * 2)
        return [
            Known(Call(scale, {0: x}, ("Float32",)), [KERNELS["Scale"](None, x, 3.0)]),
            Known(Call(add, {0: x, 1: y}, ("Float32",)), [KERNELS["Add"](None, x, y)]),
        ]

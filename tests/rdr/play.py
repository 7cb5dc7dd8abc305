"""One process in one situation: ``python tests/rdr/play.py NETWORK SITUATION``.

The source runs under the harness and, with ``harness`` resolved to ``mindspore`` (``tests/interop/rdr_real.py``), under
the real package. Index 9 makes ``GatherD`` fail.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import harness
from harness import Tensor, nn, ops


class Plain(nn.Cell):
    """Three operators."""

    def construct(self, x, index):
        return ops.sin(ops.gather_d(ops.exp(x), 0, index))


class Layers(nn.Cell):
    """Parameters, several results of one kernel, constants."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 6, activation="relu")
        self.norm = nn.LayerNorm((6,))
        self.fc2 = nn.Dense(6, 4)

    def construct(self, x, index):
        y = self.fc2(self.norm(self.fc1(x)))
        return ops.reduce_sum(ops.gather_d(y, 0, index) * 2.0, 1)


class Control(nn.Cell):
    """Several kernel graphs."""

    def construct(self, x, index):
        y = ops.gather_d(ops.exp(x), 0, index)
        z = ops.cond(ops.reduce_sum(y) > 0, lambda v: ops.sin(v), lambda v: ops.cos(v), y)
        return ops.tanh(z)


class Wrong(nn.Cell):
    """Shapes that no compilation takes."""

    def construct(self, x, index):
        return ops.matmul(x, x)


NETWORKS = {"plain": Plain, "layers": Layers, "control": Control}


def good():
    return Tensor(np.ones((2, 4), np.float32)), Tensor(np.zeros((2, 4), np.int32))


def bad():
    return good()[0], Tensor(np.full((2, 4), 9, np.int32))


def run(network):
    net = NETWORKS[network]()
    for _ in range(2):
        net(*good()).asnumpy()
    return net


def kernel_error(network):
    net = run(network)
    net(*bad()).asnumpy()


def kernel_error_caught(network):
    try:
        kernel_error(network)
    except Exception as error:
        print("caught", type(error).__name__)


def three_errors(network):
    for _ in range(3):
        try:
            NETWORKS[network]()(*bad()).asnumpy()
        except Exception as error:
            print("caught", type(error).__name__)


def compile_error(_network):
    Wrong()(*good())


def user_exception(network):
    run(network)
    raise ValueError("of the user")


def exit_code(network):
    run(network)
    sys.exit(3)


def os_exit(network):
    run(network)
    os._exit(4)


def killed(number: signal.Signals) -> Callable[[str], None]:
    def situation(network: str) -> None:
        run(network)
        os.kill(os.getpid(), number)

    return situation


def eager(network):
    harness.set_context(mode=harness.PYNATIVE_MODE)
    x, _ = good()
    ops.exp(x).asnumpy()


def eager_jit(network):
    harness.set_context(mode=harness.PYNATIVE_MODE)

    @harness.jit
    def function(x, index):
        return ops.sin(ops.gather_d(ops.exp(x), 0, index))

    function(*good()).asnumpy()


SITUATIONS: dict[str, Callable[[str], Any]] = {
    "normal": run,
    "exit_code": exit_code,
    "user_exception": user_exception,
    "kernel_error": kernel_error,
    "kernel_error_caught": kernel_error_caught,
    "three_errors": three_errors,
    "compile_error": compile_error,
    "os_exit": os_exit,
    "eager": eager,
    "eager_jit": eager_jit,
    **{
        name.lower(): killed(getattr(signal, name))
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGABRT", "SIGSEGV", "SIGKILL")
    },
}


def main(network: str, situation: str) -> None:
    """Plays ``situation`` with ``network``; ``PLAY_MEMORY`` is the level of memory optimisation."""
    harness.set_context(mode=harness.GRAPH_MODE, memory_optimize_level=os.environ.get("PLAY_MEMORY", "O0"))
    SITUATIONS[situation](network)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What ``Print`` writes: ``print_facts.py MODE`` prints every case under a line ``## NAME``.

The same file runs under the real MindSpore and under ``msdump run``; ``print_facts.py record PYTHON`` writes what the
MindSpore of that interpreter gives to ``tests/data/ops/printed.json``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data" / "ops" / "printed.json"
MARK = "## "
FLOATS = (np.float16, np.float32, np.float64)
INTS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def arrays():
    """Tensors that are inputs of the graph."""
    found = {}
    for dtype in (*FLOATS, *INTS, np.bool_):
        name = np.dtype(dtype).name
        # One number of 8 bits is written as a raw byte.
        if np.dtype(dtype).itemsize > 1 or dtype is np.bool_:
            found[f"number {name}"] = np.array(7, dtype)
        for size in (1, 3, 12, 13, 24, 25, 48):
            found[f"line {name} {size}"] = np.arange(size).astype(dtype)
        found[f"matrix {name}"] = np.arange(6).reshape(2, 3).astype(dtype)
        found[f"cut {name}"] = np.arange(56).reshape(7, 8).astype(dtype)
        found[f"long {name}"] = (np.arange(1001) % 100).astype(dtype)
    for dtype in FLOATS:
        name = np.dtype(dtype).name
        found[f"special {name}"] = np.array([np.nan, np.inf, -np.inf, -0.0, 0.1, -1e4], dtype)
        found[f"special matrix {name}"] = found[f"special {name}"].reshape(3, 2)
        for at, value in enumerate((1 / 3, 1234567, 1e10, -0.0, np.nan, np.inf, 1e-5, 100000)):
            if not float(np.finfo(dtype).max) < abs(value) < np.inf:
                found[f"number {name} {at}"] = np.array(value, dtype)
    wide = np.zeros(1001, np.int32)
    wide[500] = 99999
    found |= {
        "hidden": wide, "signs": np.array([-1, 20, 300]), "far": np.array([2**62, -(2**62)]),
        "exponents": np.array([1e100, -1e-100]), "cube": np.arange(24).reshape(2, 3, 4),
        "cut cube": np.arange(112).reshape(8, 7, 2), "four": np.arange(16).reshape(2, 2, 2, 2),
        "ones": np.zeros((1, 1, 1, 1, 1), np.int32), "thin": np.zeros((7, 1, 7), np.int32),
        "complex": np.array([1 + 2j, 0.123456789 - 1e10j], np.complex64),
        "complex matrix": np.array([[1 + 2j], [3]], np.complex128), "complex number": np.array(1 - 2j, np.complex64),
        "thousand": np.arange(1000), "bools": np.array([[[True]]]),
    }  # fmt: skip
    return found


def values(ms):
    """What a cell holds: constants of the graph."""
    one = ms.Tensor(np.array([1.5, 2], np.float32))
    return {
        "text": "hello", "empty text": "", "two lines": "a\nb", "letters": "naïve ☃", "int": 3, "minus": -2,
        "float": 0.1, "third": 1 / 3, "large": 1e10, "whole": 1.0, "true": True, "none": None, "ints": (1, 2),
        "one int": (1,), "list": [1, 2], "floats": (1.5, 2.5), "one float": (0.1,), "signs": (-1, 100),
        "texts": ("a", "b"),
        "nested": ((1, 2), (3, 4)), "nested floats": ((1.5, 2.5), (3.5,)), "int and tuple": (1, (2, 3)),
        "text and tuple": ("a", (1, 2)), "nested texts": (("a", "b"), "c"), "lists": [[1, 2], [3, 4]],
        "text between": (1, "a", 2), "none between": (None, 1), "dict": {"a": 1, "b": 2}, "dict of floats": {"k": 1.5},
        "special floats": (1e10, -0.5, float("nan")), "long": tuple(range(1001)), "line": tuple(range(24)),
        "more than a line": tuple(range(25)), "line of floats": tuple(float(at) for at in range(13)),
        "int and float": (1, 2.5), "bools": (True, False), "constant": one, "constants": (one, one),
        "constant number": ms.Tensor(np.array(3.5, np.float32)),
        "constant matrix": ms.Tensor(np.ones((2, 2), np.int32)),
        "constant half": ms.Tensor(np.ones((2, 1), np.float16)),
        "tensor and tuple": ((1, 2), one), "dict of both": {"a": one, "b": "x"},
    }  # fmt: skip


def main(mode):
    import mindspore as ms
    from mindspore import nn, ops

    class One(nn.Cell):
        def __init__(self, value=None):
            super().__init__()
            self.print = ops.Print()
            self.value = value

    class Input(One):
        def construct(self, x):
            self.print(x)
            return ops.reshape(x, (-1,))

    class Held(One):
        def construct(self, x):
            self.print(self.value)
            return x + 1

    class Mixed(One):
        def construct(self, x):
            self.print("TensorA:", x, "and", x, 3, 2.5)
            y = x * 2
            self.print("y:", y, y.sum(), y.shape, y.shape[0], y.dtype, (x, y), (x, 1), (1.5, x))
            return y

    class Python(One):
        def construct(self, x):
            print("hi", x, 2)
            print(x.shape)
            print()
            print("done")
            return x + 1

    def run(name, make, x):
        print(MARK + name, flush=True)
        try:
            make()(x).asnumpy()
        except RuntimeError:
            print("RuntimeError")
        sys.stdout.flush()

    ms.set_context(mode=mode)
    for name, array in arrays().items():
        run(name, Input, ms.Tensor(array))
    small = ms.Tensor(np.array([1.0], np.float32))
    run("bfloat16", Input, ms.Tensor(np.array([1.5, 2], np.float32), ms.bfloat16))
    for name, value in values(ms).items():
        if not (mode == 1 and isinstance(value, (tuple, dict)) and "Tensor" in repr(value)):
            run("held " + name, lambda value=value: Held(value), small)
    run("mixed", Mixed, small)
    if mode == 0:
        run("python", Python, small)


def parsed(output):
    """What each case wrote."""
    parts = ("\n" + output).split("\n" + MARK)[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def results(command, mode):
    """What each case writes under ``command``."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "GLOG_v": "4"}
    done = subprocess.run(
        [*command, __file__, str(mode)], capture_output=True, text=True, check=False, env=environment, errors="replace"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return parsed(done.stdout)


if __name__ == "__main__":
    if sys.argv[1] == "record":
        found = {name: results([sys.argv[2]], mode) for mode, name in enumerate(("graph", "pynative"))}
        DATA.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        main(int(sys.argv[1]))

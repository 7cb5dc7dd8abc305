"""Writes the same tensors by the real onnx and safetensors: run by a Python that has both, with a directory, a seed and
the names of dtypes, one tensor each."""

from __future__ import annotations

import os
import sys

import ml_dtypes
import numpy as np
import onnx  # type: ignore[import-not-found]
from onnx import numpy_helper
from safetensors.numpy import save_file  # type: ignore[import-not-found]


def main(root: str, seed: int, kinds: list[str]) -> None:
    """``NAME.npy`` beside ``all.safetensors`` and ``test_data_set_0/input_N.pb``."""
    drawn = np.random.default_rng(seed)
    made = {}
    for kind in kinds:
        shape = tuple(drawn.integers(0, 4, drawn.integers(0, 4)))
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        raw = drawn.integers(0, 2 if kind == "bool" else 256, size).astype(np.uint8)
        made[kind] = raw.view(kind).reshape(shape)
    folder = os.path.join(root, "test_data_set_0")
    os.makedirs(folder)
    for at, (kind, array) in enumerate(made.items()):
        np.save(os.path.join(root, f"{kind}.npy"), array)
        with open(os.path.join(folder, f"input_{at}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(array, kind).SerializeToString())
    # Not by raw data: each type in the field that ONNX has for it.
    with open(os.path.join(folder, "output_0.pb"), "wb") as file:
        half = onnx.helper.make_tensor("half", onnx.TensorProto.BFLOAT16, [2], [1.5, -2.0])
        file.write(half.SerializeToString())
    save_file({k: v for k, v in made.items() if k != "complex64"} | {"bf16": np.ones(3, ml_dtypes.bfloat16)},
              os.path.join(root, "all.safetensors"))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])

"""Files of named tensors by the real onnx and safetensors are read bit for bit."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from harness.capture import read_tree
from harness.capture.named_tensors import safetensors
from harness.capture.torch_files import StoredTensor
from tests.examples import FRESH

pytestmark = pytest.mark.interop
KINDS = (
    "float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool",
    "complex64",
)  # fmt: skip


@pytest.mark.parametrize("round_", range(3))
def test_values_are_those_that_were_written(round_: int, tmp_path: Path, msprobe_python: str) -> None:
    program = Path(__file__).with_name("named_tensors.py")
    seed = random.SystemRandom().randrange(2**32) if FRESH else round_
    subprocess.run([msprobe_python, str(program), str(tmp_path), str(seed), *KINDS], check=True)
    wanted = {path.stem: np.load(path) for path in tmp_path.glob("*.npy")}
    held = {item.name: item.value for item in safetensors.items(str(tmp_path / "all.safetensors"))}
    assert held.keys() == wanted.keys() - {"complex64"} | {"bf16"}
    for name, value in held.items():
        assert isinstance(value, StoredTensor)
        array = wanted.get(name, np.ones(3, ml_dtypes.bfloat16))
        found = value()
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes()), (seed, name)
    records = list(read_tree(tmp_path / "test_data_set_0").records())
    for at, (record, array) in enumerate(zip(records, (wanted[kind] for kind in KINDS), strict=False)):
        loaded = record.load()
        assert loaded is not None
        assert (record.key.slot, loaded.shape, loaded.tobytes()) == (at, array.shape, array.tobytes()), (seed, at)
    last = records[-1].load()
    assert last is not None
    assert (records[-1].dtype, last.astype(np.float32).tolist()) == ("BFloat16", [1.5, -2.0])

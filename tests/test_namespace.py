"""The public names: MindSpore's spellings, found lazily."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness


def test_importing_the_facade_is_light() -> None:
    heavy = [
        "h5py",
        "harness.dtypes",
        "harness.framework.nn",
        "harness.framework.ops",
        "harness.framework.runtime",
        "harness.framework.tensor",
        "numpy",
    ]
    code = f"import sys, harness; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_name_resolves() -> None:
    names = [name for name in dir(harness) if not name.startswith("__")]
    assert {"Tensor", "Parameter", "nn", "ops", "float32", "bfloat16", "set_context", "jit", "grad"} <= set(names)
    for name in names:
        assert getattr(harness, name) is not None


def test_aliases_scripts_import() -> None:
    code = """
from harness import Tensor, Parameter, context, dtype as mstype, nn, ops, set_seed, jit, value_and_grad
import harness.framework.common.dtype
from harness.framework.common import set_seed
from harness.framework.common.api import jit
from harness.framework.common.initializer import Normal, TruncatedNormal, initializer
from harness.framework.common.parameter import Parameter, ParameterTuple
from harness.framework.common.tensor import Tensor
from harness.framework.ops import composite as C, functional as F, operations as P
from harness.framework.tools import set_dump
assert mstype.float32 is harness.float32 and mstype.half is mstype.float16
assert P.MatMul is ops.MatMul and F.relu is ops.relu
assert mstype.dtype_to_nptype(mstype.int8)(3).dtype == "int8"
assert mstype.pytype_to_dtype(float) is mstype.float32 and mstype.dtype_to_pytype(mstype.uint8) is int
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'Tensro', here or in .*; did you mean .*Tensor"):
        harness.Tensro  # noqa: B018
    assert not hasattr(harness, "completely_else")


def test_a_layer_that_does_not_exist_is_named() -> None:
    with pytest.raises(AttributeError, match=r"nn' has no attribute 'Conv2D', .* did you mean Conv2d") as caught:
        harness.framework.nn.Conv2D  # noqa: B018
    assert isinstance(caught.value, NotImplementedError)
    assert not hasattr(harness.framework.nn, "FocalLossOfMine")

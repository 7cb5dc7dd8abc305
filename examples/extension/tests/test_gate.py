"""The gate on the backend that this package adds, and an operator of its own on the emulator's."""

import numpy as np
import pytest
from tiny_extension.backend import chain

from harness import Tensor, float32, nn
from harness.framework.tensor import call


@pytest.mark.msdump(backends=("tinyrt",), tolerance="tiny-npu")
def test_chain(msdump):
    made = msdump.run(chain, np.float32([1, 2, 3]))
    assert made.tolist() == [6.0, 12.0, 18.0]


class Cubed(nn.Cell):
    def construct(self, x):
        return call("Cube", x)


@pytest.mark.msdump
def test_cube(msdump):
    assert msdump.run(Cubed(), Tensor([1, 2, 3], float32)).asnumpy().tolist() == [1.0, 8.0, 27.0]

# Written by `python -m tests.stubs`.
from harness.framework.nn.transforms import GradOperation as GradOperation
from harness.framework.numpy.create import zeros_like as zeros_like
from harness.framework.numpy.maths import dot as dot
from harness.framework.numpy.maths import greater as greater
from harness.framework.numpy.shapes import where as where
from harness.framework.tensor.tensor import Tensor as Tensor

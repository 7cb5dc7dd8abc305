# Written by `python -m tests.stubs`.
from harness.framework.ops.primitives.matrices import Cholesky as Cholesky

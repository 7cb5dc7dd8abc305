# Written by `python -m tests.stubs`.
from harness.framework.ops.primitive import Primitive as Primitive

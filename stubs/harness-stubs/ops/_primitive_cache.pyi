# Written by `python -m tests.stubs`.
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.composition import constexpr as constexpr

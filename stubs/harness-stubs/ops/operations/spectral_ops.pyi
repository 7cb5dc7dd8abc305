# Written by `python -m tests.stubs`.
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.later import BartlettWindow as BartlettWindow
from harness.framework.ops.primitives.later import BlackmanWindow as BlackmanWindow

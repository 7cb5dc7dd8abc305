# Written by `python -m tests.stubs`.
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.signals import BartlettWindow as BartlettWindow
from harness.framework.ops.primitives.signals import BlackmanWindow as BlackmanWindow

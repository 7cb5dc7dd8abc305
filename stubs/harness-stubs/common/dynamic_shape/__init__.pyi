# Written by `python -m tests.stubs`.
from harness.common.dynamic_shape import auto_dynamic_shape as auto_dynamic_shape
from harness.common.dynamic_shape import enable_dynamic as enable_dynamic

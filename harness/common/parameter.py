"""``mindspore.common.parameter``."""

import harness.ops  # noqa: F401 - the methods and operators of parameters
from harness.tensor import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]

"""``mindspore.common.parameter``."""

import harness.framework.ops  # noqa: F401 - the methods and operators of parameters
from harness.framework.tensor import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]

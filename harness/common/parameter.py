"""``mindspore.common.parameter``."""

from harness.tensor import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]

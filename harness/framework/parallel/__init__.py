"""``mindspore.parallel``: settings of a training on many devices, as far as they apply to one process."""

from harness.framework.names import fallback as _fallback
from harness.framework.parallel.algorithm import get_algo_parameters, reset_algo_parameters, set_algo_parameters

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]

__getattr__ = _fallback(__name__)

"""``mindspore.nn.metrics``, the older place of the metrics, which live in a package above this one."""

from harness._namespace import lazy as _lazy
from harness.framework.nn import METRICS as _METRICS

__all__ = sorted(_METRICS)

__getattr__, __dir__ = _lazy(__name__, dict.fromkeys(_METRICS, "harness.framework.train.metrics"))

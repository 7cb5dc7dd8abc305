"""MindSpore's ``mint.nn``: layers and, in ``functional``, functions that its CPU computes; the others raise on use."""

from harness.framework.mint.nn import layers as _layers
from harness.framework.mint.nn.functional import cross_entropy as cross_entropy
from harness.framework.names import fallback as _fallback

__all__ = list(_layers.__all__)
for _name in __all__:
    globals()[_name] = getattr(_layers, _name)

__getattr__ = _fallback(__name__)

"""MindSpore's ``mint`` namespace, as far as its CPU computes it; the other names raise when they are used."""

from harness.framework.mint import functions as _functions
from harness.framework.mint import within as _within
from harness.framework.names import fallback as _fallback

__all__ = [*_functions.__all__, *_within.__all__]
for _name in __all__:
    globals()[_name] = getattr(_functions if _name in _functions.__all__ else _within, _name)

__getattr__ = _fallback(__name__)

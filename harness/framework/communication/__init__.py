"""``mindspore.communication``: the ranks of a run, and what brings them together."""

from harness.framework.communication.management import *  # noqa: F403
from harness.framework.communication.management import __all__ as _names
from harness.framework.names import fallback as _fallback

__all__ = [*_names]

__getattr__ = _fallback(__name__)

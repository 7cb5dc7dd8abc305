"""Looks at one run alone: where it went wrong, why, and on which line.

The module can be called: ``harness.inspect(capture)`` is ``harness.inspect.inspect(capture)``.
"""

import sys as _sys
import types as _types
from typing import Any as _Any

from harness._namespace import lazy as _lazy
from harness.inspect.finding import Certainty, Finding, Report, Severity
from harness.inspect.inspecting import inspect
from harness.inspect.rule import RULES, Context, Parameter, Rule, rule
from harness.inspect.text import lines

__all__ = [
    "RULES", "Certainty", "Context", "Finding", "Parameter", "Report", "Rule", "Severity", "inspect", "lines", "rule",
]  # fmt: skip


# What watches a training needs the framework, or PyTorch: imported when it is asked for.
_PLACES = {
    "Health": "harness.inspect.live", "Sentinel": "harness.inspect.live", "StoppedError": "harness.inspect.live",
    "watch": "harness.inspect.torch_watch",
}  # fmt: skip
__getattr__, __dir__ = _lazy(__name__, _PLACES)


class _Callable(_types.ModuleType):
    def __call__(self, *args: _Any, **named: _Any) -> Report:
        return inspect(*args, **named)


_sys.modules[__name__].__class__ = _Callable

"""MindSpore's ``ops`` namespace as layers use it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import harness.framework.ops
from harness.errors import UnsupportedError


class _Namespace(ModuleType):
    """Members of ``harness.framework.ops``, found at its import, so a type checker cannot know them. A missing one
    raises ``UnsupportedError`` with its name. A module, so that functions named in layers are found as a user's are."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(harness.framework.ops, name)
        except AttributeError:
            raise UnsupportedError(f"ops.{name} is not supported, and a layer in use needs it") from None


ops: Any = _Namespace("ops")

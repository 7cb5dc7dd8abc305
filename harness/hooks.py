"""Callbacks by which upper rooms wire themselves to lower ones without being imported by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: called with the session before its first graph is compiled; what it raises is raised by the compile, and it is
#: called again at the next one
first_compile: list[Callable[[Any], None]] = []

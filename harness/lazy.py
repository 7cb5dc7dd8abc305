"""Attributes that are made when they are first asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["lazy"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as lazy
else:

    class lazy:
        """``functools.cached_property`` as it is from Python 3.12 on: before, a lock took most of its time."""

        def __init__(self, make: Any) -> None:
            self._make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._make(instance)
            return found

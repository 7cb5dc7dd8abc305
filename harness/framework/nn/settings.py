"""Kinds of settings that MindSpore's layers, losses, optimizers, schedules and initializers refuse, checked when one is
made, before anything else.

Source: ``settings.json``, measured with MindSpore 2.10.0 CPU: for each class and
setting the kinds of Python values for which every value that was tried is a ``TypeError``, at once or when called.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.errors import SettingTypeError

#: the words of ``settings.json``, and the exact types they stand for
_KINDS: dict[type, str] = {type(None): "None", bool: "bool", int: "int", float: "float", str: "str", tuple: "tuple",
                           list: "list", type: "type"}  # fmt: skip
_SHOWN = ("bool", "int", "float", "str", "tuple", "list", "None")


@functools.cache
def refused_kinds() -> dict[str, dict[str, str]]:
    """For each class its settings, each with the kinds of values it does not take, separated by blanks."""
    text = (Path(__file__).parent / "settings.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = json.loads(text)
    return table


def guard(cls: type) -> None:
    """Lets a class of this package that has a row in the table check its settings."""
    home, _, _ = __name__.rpartition(".")
    row = refused_kinds().get(cls.__name__) if cls.__module__.startswith(home) else None
    if row is None:
        return
    made: Any = cls.__init__  # type: ignore[misc]
    kinds = {name: frozenset(refused.split()) for name, refused in row.items()}
    positions = [name for name in inspect.signature(made).parameters if name != "self"]

    @functools.wraps(made)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        for name, value in (*zip(positions, args, strict=False), *kwargs.items()):
            kind = _KINDS.get(type(value))
            if kind is not None and kind in kinds.get(name, ()):
                raise _refused(lambda: made(self, *args, **kwargs), type(self).__name__, name, value, kinds[name])
        made(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[misc]


def _refused(make: Callable[[], None], owner: str, name: str, value: Any, refused: frozenset[str]) -> SettingTypeError:
    """The error for a kind that is refused, in the class's own words where it has some."""
    try:
        make()
    except ValueError as error:
        return SettingTypeError(str(error))
    except SettingTypeError as error:
        return error
    except Exception:  # a value of this kind was not foreseen: whatever it led to is not the cause
        pass
    accepted = [kind for kind in _SHOWN if kind not in refused]
    return SettingTypeError(
        f"{owner}: {name} must be of another type ({' or '.join(accepted) or 'none of Python'}), "
        f"got {type(value).__name__} {value!r}"
    )

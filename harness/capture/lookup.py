"""Values that are kept already, such as a golden's: a capture need not copy them."""

from __future__ import annotations

from collections.abc import Callable

from harness.records import Array, SlotKey

#: Bytes of an array that is looked for before it is copied.
_LARGE = 1 << 16
#: Gives what loads the values of a slot with this digest from where they are kept; None if they are not.
Lookup = Callable[[SlotKey, bytes], Callable[[], Array] | None]


def nowhere(key: SlotKey, content: bytes) -> None:
    """The lookup that finds nothing."""


def looked_up(array: Array, key: SlotKey, content: bytes, lookup: Lookup) -> Callable[[], Array] | None:
    """What loads ``array``, the value of slot ``key`` with digest ``content``; None if it is to be copied. Only a large
    array is looked for."""
    return lookup(key, content) if array.nbytes >= _LARGE else None

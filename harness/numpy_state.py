"""The state of numpy's global generator, taken and given back in microseconds.

``np.random.get_state`` and ``set_state`` copy 624 words one by one as Python objects: 0.2 ms together, a third of what
a gate test's check takes. The words themselves are copied at once, through the address that the generator gives.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

#: 624 words of 32 bits and the position among them, an int.
_BYTES = 624 * 4 + ctypes.sizeof(ctypes.c_int)
#: What the last full looks saw: the words, and the state they belong to; of two blocks, one in the other.
_last: list[tuple[bytes, Any]] = []
#: The words that belong to the number of the last seed.
_seeded: dict[int, bytes] = {}


def taken() -> Any:
    """The state; give it to ``restore``."""
    raw = _words()
    # A pending second number of a pair is not in the words. Without one, equal words are the same state: it takes new
    # words to make one.
    for words, known in _last:
        if words == raw:
            return known
    state = np.random.get_state()
    if raw is not None and _is_whole(raw, state):
        _last[:] = [(raw, state), *_last[:1]]
    return state


def restore(state: Any) -> None:
    """Gives the generator back a state that ``taken`` returned."""
    raw = next((raw for raw, known in _last if known is state), None)
    address = _address() if raw is not None else None
    if raw is None or address is None:
        np.random.set_state(state)
        return
    _put(address, raw)


def seed(number: int) -> None:
    """``np.random.seed(number)``; the words of the last number are kept, because making them takes longer than a test
    of one value."""
    address = _address()
    raw = _seeded.get(number) if address is not None else None
    if raw is not None and address is not None:
        _put(address, raw)
        return
    np.random.seed(number)
    if address is not None:
        _seeded.clear()
        _seeded[number] = ctypes.string_at(address, _BYTES)


def _put(address: int, raw: bytes) -> None:
    generator = np.random.mtrand.get_bit_generator()
    np.random.mtrand.set_bit_generator(generator)  # forgets a pending number
    ctypes.memmove(address, raw, _BYTES)


def _is_whole(raw: bytes, state: Any) -> bool:
    """Whether the words are all of a state: they lie as expected, and no number is pending."""
    if not isinstance(state, tuple) or state[3]:
        return False
    return raw == np.asarray(state[1], np.uint32).tobytes() + bytes(ctypes.c_int(state[2]))


def _words() -> bytes | None:
    address = _address()
    return None if address is None else ctypes.string_at(address, _BYTES)


def _address() -> int | None:
    """Where the words lie; None where the global generator is of another kind."""
    generator = np.random.mtrand.get_bit_generator()
    return int(generator.ctypes.state_address) if type(generator) is np.random.MT19937 else None

"""Turns the values that a test gives by name into records: arrays of any library, and containers of them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.lookup import Lookup, looked_up, nowhere
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.records import GIVEN_SCOPE, Array, Record, SlotKey
from harness.stats import digest

ACCEPTED = (
    "numpy arrays, tensors of PyTorch and MindSpore, anything with __array__ or DLPack, numbers, texts, and dicts, "
    "lists, tuples and dataclasses of them"
)
_DEEPEST = 32


class Leaf(NamedTuple):
    """One array or text.

    Attributes:
        name: name of the value, and the path inside it: ``out.hidden[0]``.
        content: numpy array (any layout) or text.
        format: see ``Record.format``; says whose array it is.
    """

    name: str
    content: Array | str
    format: str = "DefaultFormat"


def leaves(name: str, value: Any) -> Iterator[Leaf]:
    """The arrays and texts in ``value``, in order; those of a mapping by name. None and empty containers give nothing.

    Raises:
        SettingTypeError: a part is none of ``ACCEPTED``; the message says where.
        SettingError: containers are nested too deeply, or contain themselves.
    """
    return _walk(name, value, 0)


def _walk(name: str, value: Any, depth: int) -> Iterator[Leaf]:
    if value is None:
        return
    if depth > _DEEPEST:
        raise SettingError(f"msdump.check: {_short(name)}: containers are nested deeper than {_DEEPEST}")
    inside = _inside(value)
    if inside is None:
        if isinstance(value, str):
            yield Leaf(name, _text(name, value))
        elif is_tensor(value):
            yield Leaf(name, array_of(name, value), dtypes.TORCH_FORMAT)
        else:
            yield Leaf(name, array_of(name, value))
        return
    for part, each in inside:
        yield from _walk(name + part, each, depth + 1)


def _inside(value: Any) -> list[tuple[str, Any]] | None:
    """The items of a container, each with its part of the name; None if ``value`` is not a container."""
    if type(value) is np.ndarray:  # most values
        return None
    if isinstance(value, Mapping):
        named = [(_key(key), each) for key, each in value.items()]
        return sorted(named, key=lambda pair: pair[0])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{each.name}", getattr(value, each.name)) for each in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{field}", each) for field, each in zip(value._fields, value, strict=True)]
    if isinstance(value, (list, tuple)):
        return [(f"[{at}]", each) for at, each in enumerate(value)]
    return None


def _key(key: Any) -> str:
    return f".{key}" if isinstance(key, str) and key and key.isprintable() else f"[{key!r}]"


def _text(name: str, value: str) -> str:
    """``value``, if UTF-8 can hold it; the bytes that Python reads as lone surrogates (``os.fsdecode``) are kept."""
    try:
        value.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        found = ascii(value[error.start])
        raise SettingError(
            f"msdump.check: {_short(name)} is a text with half a character ({found} at {error.start}), "
            "which no file can hold"
        ) from None
    return value


def array_of(name: str, value: Any) -> Array:
    """``value`` as a numpy array of one of the dtypes of ``harness.dtypes``; a view if possible.

    Raises:
        SettingTypeError: it is not an array, or no store can keep its dtype.
    """
    found = _numpy(name, value)
    try:
        dtypes.from_numpy(found.dtype, stored=True)
    except DtypeError:
        kept = ", ".join(sorted(each.lower for each in dtypes.STORED))
        raise SettingTypeError(
            f"msdump.check: {_short(name)} is an array of dtype {found.dtype}; dtypes that can be kept are {kept}"
        ) from None
    return found


def _numpy(name: str, value: Any) -> Array:
    if is_masked(value):
        raise SettingTypeError(
            f"msdump.check: {_short(name)} is a masked array; hand over what counts of it, such as "
            "{'data': x.filled(0), 'mask': x.mask}"
        )
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        found = np.asarray(value)
        if isinstance(value, int) and found.dtype == object:
            raise SettingTypeError(
                f"msdump.check: {_short(name)} is a number of {value.bit_length()} bits; whole numbers of up to 64 "
                "bits can be kept, larger ones as texts"
            )
        return found
    ways: list[Callable[[Any], Any]] = []
    if is_tensor(value):
        ways = [_of_torch]
    elif hasattr(value, "asnumpy"):
        ways = [lambda given: given.asnumpy()]
    elif hasattr(value, "__array__"):
        ways = [np.asarray]
    if hasattr(value, "__dlpack__") and not is_tensor(value):
        ways.append(np.from_dlpack)
    why = ""
    for way in ways:
        try:
            return np.asarray(way(value))
        except Exception as error:  # another library may raise anything if it cannot give its numbers
            why = f": {type(error).__name__}: {error}".partition("\n")[0][:200]
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if ways:
        raise SettingTypeError(f"msdump.check: the values of {_short(name)} (a {kind}) cannot be read{why}")
    raise SettingTypeError(f"msdump.check: {_short(name)} is of type {kind}; accepted are {ACCEPTED}")


def is_masked(value: Any) -> bool:
    """Whether it is a masked array. Its class tells: ``numpy.ma`` may have been imported twice."""
    return type(value) is not np.ndarray and any(
        each.__name__ == "MaskedArray" and each.__module__.startswith("numpy.") for each in type(value).__mro__
    )


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch; nobody has one without having imported PyTorch."""
    torch = sys.modules.get("torch")
    return hasattr(torch, "Tensor") and isinstance(value, torch.Tensor)  # type: ignore[union-attr]


def _of_torch(tensor: Any) -> Array:
    """The values of a PyTorch tensor, copied to the host; types that numpy lacks come from ``ml_dtypes``."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    name = str(plain.dtype).removeprefix("torch.")
    known = next((each for each in dtypes.STORED if each.lower == name and each.numpy.isbuiltin != 1), None)
    if known is None:
        found: Array = plain.numpy()
        return found
    torch = sys.modules["torch"]
    words = plain.contiguous().view(getattr(torch, "int16" if known.itemsize == 2 else "uint8")).numpy()
    return np.asarray(words).view(known.numpy)


def record_of(leaf: Leaf, type_name: str, source: str | None, stored: Lookup = nowhere) -> Record:
    """Makes an array's record, with its current values: what loads them from a golden, or a copy.

    Args:
        leaf: leaf that holds an array.
        type_name: name of the value it belongs to; a tolerance may be stated for it.
        source: line of the test that gave it.
        stored: see ``looked_up``.
    """
    assert not isinstance(leaf.content, str)
    array = leaf.content
    dtype = dtypes.from_numpy(array.dtype, stored=True).name
    key = SlotKey(0, 0, 0, f"{GIVEN_SCOPE}/{leaf.name}", 0, "output", 0)
    known = digest(array, dtype)
    kept = looked_up(array, key, known, stored)
    values = np.array(array, dtypes.by_name(dtype).numpy, order="C", copy=True) if kept is None else kept
    return Record(key, type_name, dtype, array.shape, leaf.format, values, source, known)


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:40]}...{name[-36:]}")

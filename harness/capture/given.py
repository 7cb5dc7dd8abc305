"""Turns the values that a test gives by name into records: arrays of any library, and containers of them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.labelled import Parts, parts_of
from harness.capture.lookup import Lookup, looked_up, nowhere
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.records import GIVEN_SCOPE, Array, Record, SlotKey
from harness.stats.digest import digest

ACCEPTED = (
    "numpy arrays, tensors of PyTorch and MindSpore, tables and labelled arrays of pandas, polars and xarray, "
    "anything with __array__ or DLPack, numbers, texts, and dicts, "
    "lists, tuples, sets and dataclasses of them"
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


#: whether a golden has a slot of this name: lists of numbers had one for each number
Kept = Callable[[str], bool]


def leaves(name: str, value: Any, kept: Kept = lambda _name: False) -> Iterator[Leaf]:
    """The arrays and texts in ``value``, in order; those of a mapping and the members of a set by name. None and empty
    containers give nothing. A list of numbers of one type is one array, unless ``kept`` knows its first number by name;
    a set of such numbers is one, too, in ascending order.

    Raises:
        SettingTypeError: a part is none of ``ACCEPTED``; the message says where.
        SettingError: containers are nested too deeply, or contain themselves.
    """
    return _walk(name, value, 0, kept)


def _walk(name: str, value: Any, depth: int, kept: Kept) -> Iterator[Leaf]:
    if value is None:
        return
    if depth > _DEEPEST:
        raise SettingError(f"msdump.check: {_short(name)}: containers are nested deeper than {_DEEPEST}")
    if isinstance(value, (set, frozenset)):
        value = _of_set(name, value)
    if is_list_of_numbers(value) and not kept(f"{name}[0]"):
        value = _of_numbers(value)
    inside = _inside(name, value)
    if inside is None:
        if isinstance(value, str):
            yield Leaf(name, _text(name, value))
        elif is_tensor(value):
            yield Leaf(name, array_of(name, value), dtypes.TORCH_FORMAT)
        else:
            yield Leaf(name, array_of(name, value))
        return
    for part, each in inside:
        yield from _walk(name + part, each, depth + 1, kept)


def _of_set(name: str, value: set[Any] | frozenset[Any]) -> Any:
    """The members of a set, whose order depends on PYTHONHASHSEED: numbers in ascending order, any other by name."""
    members = list(value)
    if is_list_of_numbers(members) and type(members[0]) is not complex:
        return sorted(members, key=lambda each: (each != each, each))  # NaN comes last
    odd = next((each for each in members if not _is_a_name(each)), ...)
    if odd is not ...:
        raise SettingTypeError(
            f"msdump.check: {_short(name)} is a set with a member of type {type(odd).__qualname__}, which has no name "
            "that is the same in every run; hand over a dict or a sorted list"
        )
    return Parts(sorted((_key(each), each) for each in members))


def _is_a_name(member: Any) -> bool:
    """Whether its ``repr`` is the same in every process."""
    if type(member) is tuple:
        return all(map(_is_a_name, member))
    return isinstance(member, (str, int, float, complex, np.generic))


def is_list_of_numbers(value: Any) -> bool:
    """Whether it is a list or tuple of Python numbers that are all of one type."""
    if type(value) not in (list, tuple) or not value or type(value[0]) not in (float, int, bool, complex):
        return False
    return len(set(map(type, value))) == 1


def _of_numbers(value: Any) -> Any:
    """The numbers as an array; as they are where no dtype holds all of them: then each is a part."""
    kinds: dict[type, tuple[Any, ...]] = {
        int: (np.int64, np.uint64), float: (np.float64,), bool: (np.bool_,), complex: (np.complex128,)
    }  # fmt: skip
    for kind in kinds[type(value[0])]:
        try:
            return np.array(value, kind)
        except OverflowError:
            continue
    return value


def _inside(name: str, value: Any) -> list[tuple[str, Any]] | None:
    """The items of a container, each with its part of the name; None if ``value`` is not a container."""
    if type(value) is np.ndarray:  # most values
        return None
    if isinstance(value, Parts):
        return value
    try:
        labelled = parts_of(value)
    except SettingTypeError as error:
        raise SettingTypeError(f"msdump.check: {_short(name)}: {error}") from None
    if labelled is not None:
        return labelled
    if isinstance(value, Mapping):
        named = [(_key(key), each) for key, each in value.items()]
        return sorted(named, key=lambda pair: pair[0])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{each.name}", getattr(value, each.name)) for each in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{field}", each) for field, each in zip(value._fields, value, strict=True)]
    if isinstance(value, (list, tuple)):
        return [(f"[{at}]", each) for at, each in enumerate(value)]
    return _of_torchs(value)


def _of_torchs(value: Any) -> list[tuple[str, Any]] | None:
    """The tensors of an object that holds some in its attributes, such as a cache; a dtype or device of PyTorch as a
    text; None for anything else."""
    torch = sys.modules.get("torch")
    if not hasattr(torch, "Tensor") or type(value).__module__ in ("builtins", "numpy") or is_tensor(value):
        return None
    if isinstance(value, (torch.dtype, torch.device)):  # type: ignore[union-attr]
        return [("", str(value))]
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__") or hasattr(value, "asnumpy"):
        return None
    from harness.capture.torch.returned import leaves

    found = list(leaves(value))
    return found if any(is_tensor(each) for _, each in found) and found[0][1] is not value else None


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
        instead = f"; {_instead(found.dtype)}" if _instead(found.dtype) else ""
        raise SettingTypeError(
            f"msdump.check: {_short(name)} is an array of dtype {found.dtype}; dtypes that can be kept are "
            f"{kept}{instead}"
        ) from None
    return found


def _instead(dtype: np.dtype[Any]) -> str:
    """What to hand over in place of an array that no store can keep."""
    if dtype.names:
        return "hand over its fields: {name: x[name] for name in x.dtype.names}"
    ways = {
        "M": "hand over whole numbers and their unit: {'data': x.view('int64'), 'dtype': str(x.dtype)}",
        "U": "hand over texts: x.tolist()", "S": "hand over texts: x.astype(str).tolist()",
        "O": "hand over its elements: x.tolist(), or arrays of numbers",
    }  # fmt: skip
    return ways.get("M" if dtype.kind == "m" else dtype.kind, "")


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

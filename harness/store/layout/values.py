"""Values of attributes and constants as JSON, and back: one text for equal values, so that texts are compared.

Numbers, texts, truth values and None are themselves, but for what JSON has not: an object with one member whose name
begins with ``$`` stands for it. Lists and tuples are one: they are read as tuples. An array of more than ``WHOLE``
bytes is told by its digest alone.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xxhash

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.recording.described import Described, Edge
from harness.stats import digest

#: Bytes of the largest array whose elements stand in a text.
WHOLE = 4096
_DEEPEST = 32
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


class Withheld(NamedTuple):
    """An array that a text tells by its digest alone.

    Attributes:
        dtype: its name (``Float32``).
        shape: of the array.
        digest: 16-byte content digest.
    """

    dtype: str
    shape: tuple[int, ...]
    digest: bytes


def text_of(value: Any) -> str:
    """A value as canonical JSON.

    Args:
        value: a number, text, bytes, dtype, array, None, or a list, tuple or dict of these.

    Raises:
        TypeError, ValueError: it is, or holds, something else.
    """
    return json.dumps(as_json(value), separators=(",", ":"), allow_nan=False)


def as_json(value: Any, depth: int = 0) -> Any:
    """A value as what ``json`` writes; see ``text_of`` for what is accepted and raised."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if depth > _DEEPEST:
        raise ValueError(f"values lie deeper in one another than {_DEEPEST}")
    if kind is Withheld:  # it is a tuple, too
        return {"$array": [value.dtype, list(value.shape), value.digest.hex()]}
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _AS_THEY_ARE else as_json(each, depth + 1) for each in value]
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError(f"{value!r:.60} has a name that is no text")
        # Most are plain: each call that is spared counts, as a gate digests every attribute of every operator.
        members = sorted(value.items())
        return {"$dict": [[n, each if type(each) in _AS_THEY_ARE else as_json(each, depth + 1)] for n, each in members]}
    return _other(value)


def _other(value: Any) -> Any:
    if isinstance(value, DType):
        return {"$dtype": value.name}
    if isinstance(value, np.ndarray):
        return {"$array": _array(value)}
    if isinstance(value, np.generic):
        return {"$number": _array(np.asarray(value))}
    if isinstance(value, (bool, int, float, str)):  # of a class of their own, such as an enumeration
        return as_json(next(base(value) for base in (bool, int, float, str) if isinstance(value, base)))
    if isinstance(value, complex):
        return {"$complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": b64encode(value).decode()}
    raise TypeError(f"{value!r:.60} ({type(value).__name__}) is no number, text, dtype, array, list, tuple or dict")


def _array(array: np.ndarray[Any, np.dtype[Any]]) -> list[Any]:
    name = dtypes.from_numpy(array.dtype, stored=True).name
    array = np.ascontiguousarray(array, dtypes.by_name(name).numpy).reshape(array.shape)
    if array.nbytes > WHOLE:
        return [name, list(array.shape), digest(array, name).hex()]
    return [name, list(array.shape), "=" + b64encode(array.tobytes()).decode()]


def identity(operators: Iterable[Described]) -> str:
    """32 hex digits of a digest over what each operator is: name, type, attributes and constants that are no tensors.
    Operators with equal ones compute the same of equal inputs.

    Raises:
        TypeError, ValueError: see ``text_of``.
    """
    rows = [
        [
            one.rank, one.graph, one.name, one.type, as_json(one.attributes),
            [[at, as_json(edge.value)] for at, edge in enumerate(one.inputs) if is_setting(edge)],
        ]
        for one in operators
    ]  # fmt: skip
    return xxhash.xxh3_128_hexdigest(json.dumps(rows, separators=(",", ":"), allow_nan=False).encode())


def is_setting(edge: Edge) -> bool:
    """Whether an input is a constant that no slot shows: no tensor."""
    return edge.kind == "constant" and not isinstance(edge.value, (np.ndarray, Withheld))


def value_of(text: str) -> Any:
    """The value of which ``text_of`` made a text; ``ValueError`` for any other text."""
    try:
        return _value(json.loads(text), 0)
    except (AttributeError, KeyError, TypeError, RecursionError, DtypeError) as error:
        raise ValueError(f"{text[:80]!r} is no value of an attribute ({type(error).__name__})") from None


def _value(found: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"values lie deeper in one another than {_DEEPEST}")
    if isinstance(found, list):
        return tuple(_value(each, depth + 1) for each in found)
    if not isinstance(found, dict):
        if isinstance(found, float) and not math.isfinite(found):
            raise ValueError("a number is not finite")
        return found
    ((kind, given),) = found.items()
    return _KINDS[kind](given, depth)


def _dict(given: Any, depth: int) -> dict[str, Any]:
    made = {name: _value(each, depth + 1) for name, each in given}
    if len(made) != len(given) or not all(type(name) is str for name in made):
        raise ValueError("a name is there twice, or is no text")
    return made


def _float(given: Any, depth: int) -> float:
    if given not in ("nan", "inf", "-inf"):
        raise ValueError(given)
    return float(given)


def _stored(given: Any, depth: int) -> Any:
    name, shape, content = given
    dtype = dtypes.by_name(name)
    if not all(type(size) is int and size >= 0 for size in shape) or dtype.name != name or len(shape) > 32:
        raise ValueError(shape)
    if not content.startswith("="):
        raw = bytes.fromhex(content)
        if len(raw) != 16:
            raise ValueError(content)
        return Withheld(name, tuple(shape), raw)
    raw = b64decode(content[1:], validate=True)
    if len(raw) > WHOLE or len(raw) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{len(raw)} bytes are no {name}{shape}")
    array = np.frombuffer(raw, dtype.numpy).reshape(shape)
    return array


def _number(given: Any, depth: int) -> Any:
    array = _stored(given, depth)
    if array.shape != ():
        raise ValueError("a number has axes")
    return array[()]


def _complex(given: Any, depth: int) -> complex:
    real, imaginary = given
    return complex(float(real), float(imaginary))


_KINDS: dict[str, Any] = {
    "$dict": _dict, "$float": _float, "$array": _stored, "$number": _number, "$complex": _complex,
    "$dtype": lambda given, depth: dtypes.by_name(given),
    "$bytes": lambda given, depth: b64decode(given, validate=True),
}  # fmt: skip

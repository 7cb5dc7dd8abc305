"""What two ways of a condition on a tensor give together: which kinds join, and numbers that stay numbers.

Source: MindSpore 2.10.0, measured with all pairs of 18 kinds of results: a number joins a number of its kind, and is
one behind the condition; a tensor joins one of its dtype; a tuple a tuple, a list a list, a dict a dict. Anything else
is an error, but for None. What joins there and has no form in a graph here (other shapes, lengths, None) is decided by
the values at each call (tests/framework/compile/test_joins.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.errors import DecidedLateError, JoinError
from harness.framework.compile.source import where
from harness.framework.compile.structure import Structure, put_together, taken_apart
from harness.framework.compile.traced import Traced, has_tensor
from harness.framework.ops.eager import is_number
from harness.framework.tensor import Tensor

_KINDS = {"Bool": bool, "Int64": int, "Float32": float}
_SIGNS = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
    "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__", "__lt__", "__le__", "__gt__",
    "__ge__", "__eq__", "__ne__", "__neg__", "__pos__",
)  # fmt: skip


class TracedNumber(Traced):
    """A number that a condition decides: what is computed of it and of numbers alone is a number, too."""

    __hash__ = Traced.__hash__

    def number(self) -> type:
        """Its Python type."""
        return _KINDS[self.dtype.name]


def _as_number(name: str) -> Callable[..., Any]:
    inner = getattr(Traced, name)

    def compute(self: Any, *others: Any) -> Any:
        return number(inner(self, *others), *others)

    return compute


for _name in _SIGNS:
    if hasattr(Traced, _name):
        setattr(TracedNumber, _name, _as_number(_name))


def number(value: Any, *others: Any) -> Any:
    """``value`` as a number of the graph, if it is one tensor and ``others`` are numbers; else itself."""
    plain = type(value) is Traced and value.shape == () and value.dtype.name in _KINDS
    if plain and all(is_number(each) or isinstance(each, TracedNumber) for each in others):
        return TracedNumber(value.operand, value.spec)
    return value


def kind_of(value: Any) -> type | None:
    """The kind of a number, known or of the graph; None of anything else."""
    if isinstance(value, TracedNumber):
        return _KINDS.get(value.dtype.name)
    if not is_number(value):
        return None
    return bool if isinstance(value, bool) else int if isinstance(value, int) else float


def check(one: Any, other: Any) -> None:
    """Checks that what two ways give can be joined.

    Raises:
        JoinError: MindSpore refuses it, too.
        DecidedLateError: no graph here gives both; the values decide.
    """
    numbers = kind_of(one), kind_of(other)
    if numbers != (None, None):
        if numbers[0] is not numbers[1] and None not in (one, other):
            raise _refused(one, other)
        if None in (one, other):
            raise _late("a number or None")
        return
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.dtype is not other.dtype:
            raise _refused(one, other)
        if one.shape != other.shape:
            raise _late("tensors of several shapes")
        return
    if (one is None) != (other is None):
        raise _late("None or a value")
    if one is None or (isinstance(one, str) and isinstance(other, str)):
        if one != other:
            raise _late("several texts")
        return
    _members(one, other)


def _members(one: Any, other: Any) -> None:
    kinds = [dict if isinstance(each, dict) else type(each) for each in (one, other)]
    if kinds[0] is not kinds[1]:
        if any(isinstance(each, (Tensor, tuple, list, dict, str)) for each in (one, other)):
            raise _refused(one, other)
        return
    if kinds[0] is dict:
        if list(one) != list(other):
            raise _late("dicts of several keys")
        one, other = tuple(one.values()), tuple(other.values())
    if isinstance(one, (tuple, list)):
        if len(one) != len(other):
            for member in (*one, *other):  # of one kind then, all of them
                check((*one, *other)[0], member)
            raise _late(f"{kinds[0].__name__}s of several lengths")
        for pair in zip(one, other, strict=True):
            check(*pair)


def _refused(one: Any, other: Any) -> JoinError:
    shown = " and ".join(_shown(each) for each in (one, other))
    return JoinError(
        "Cannot join the return values of different branches, perhaps you need to make them equal: "
        f"{shown}, at {where()}; accepted: tensors of one dtype, or numbers of one kind"
    )


def _late(what: str) -> DecidedLateError:
    return DecidedLateError(f"a condition on a tensor decides between {what}, at {where()}")


def _shown(value: Any) -> str:
    if (kind := kind_of(value)) is not None:
        return f"a number ({kind.__name__})"
    return f"a tensor of {value.dtype}" if isinstance(value, Tensor) else f"a {type(value).__name__}"


def plain(value: Any) -> Any:
    """A result as a graph takes it: a number as a tensor."""
    return Tensor(value) if is_number(value) else value


def apart(value: Any) -> tuple[Any, Structure | None]:
    """A way's result as a graph takes it: tuples in place of lists and dicts, a tensor in place of a number."""
    members = tuple(value.values()) if isinstance(value, dict) else value
    if isinstance(members, (tuple, list)) and has_tensor(members):
        return taken_apart(value)
    return plain(value), None


def together(joined: Any, one: Any, structure: Structure | None) -> Any:
    """What stands for both ways behind the condition.

    Args:
        joined: what the graph gives.
        one: what one way gave.
        structure: its structure.
    """
    return number(joined) if kind_of(one) is not None else put_together(joined, structure)


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers of a result, numbers as tensors."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for member in value for leaf in leaves(member)]
    return [plain(value)]


def rebuilt(value: Any, joined: Iterator[Any]) -> Any:
    """``value`` with what the graph gives in place of its leaves."""
    if isinstance(value, dict):
        return {key: rebuilt(member, joined) for key, member in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(rebuilt(member, joined) for member in value)
    found = next(joined)
    return number(found) if kind_of(value) is not None else found


def is_container(value: Any) -> bool:
    """Whether a value is a tuple, list or dict."""
    return type(value) in (tuple, list, dict)


def is_carried(value: Any, inside: bool = False) -> bool:
    """Whether a graph can give a value behind a branch: a tensor, a number, or a container that has one."""
    if isinstance(value, Tensor) or is_number(value):
        return True
    if not is_container(value):
        return False
    members = tuple(value.values()) if type(value) is dict else value
    return all(is_carried(each, True) for each in members) and (inside or has_tensor(members))

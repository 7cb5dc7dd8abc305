"""Arguments that are brought to what a primitive takes, or refused, before a function looks at them.

Source: MindSpore 2.10.0, measured (``tests/data/misuse/graph_calls.json``): in a graph a primitive takes a constant
tensor for a tuple of ints, or for one int, in three ways, at once or where the function says nothing of its own;
outside graphs the same functions take the same tensors. Elsewhere such a tensor is refused. What a primitive takes as
a float is refused as an int, in a graph and outside.
``refused_in_graphs.json`` (made by ``tests/interop/graph_misuse.py``): where a class or an empty dict in place of an
argument is another error in a graph than a ``TypeError``.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness import dtypes
from harness.errors import (
    CallError,
    ForeignKeyError,
    ForeignNameError,
    HarnessError,
    KernelError,
    SettingAttributeError,
    SettingError,
    SettingTypeError,
    TraceError,
)
from harness.framework import kinds
from harness.framework.tensor.dispatch import is_eager

F = TypeVar("F", bound=Callable[..., Any])
#: what is made of an argument; it is given the name of what is called
Way = Callable[[str, Any], Any]


def _is_tensor(value: Any) -> bool:
    """Whether a value is a tensor itself, no parameter and nothing traced."""
    return type(value) in kinds.TYPES["Tensor"]


def _several(name: str, value: Any) -> Any:
    """A tensor of one axis for a tuple; outside graphs the function itself refuses any other."""
    if not _is_tensor(value) or (is_eager() and (len(value.shape) != 1 or value.dtype.kind not in "iu")):
        return value
    if len(value.shape) > 1:
        raise SettingError(f"{name}: a tensor in place of a tuple has one axis, got shape {value.shape}")
    if not value.shape or value.dtype.kind not in "iu":
        raise SettingTypeError(f"{name}: a tensor in place of a tuple has one axis of ints, got {_words(value)}")
    return tuple(value.asnumpy().tolist())


def _one(name: str, value: Any) -> Any:
    """A tensor of one element and any dtype for an int; outside graphs the function itself refuses any but ints."""
    if not _is_tensor(value) or (is_eager() and (value.shape not in ((), (1,)) or value.dtype.kind not in "iu")):
        return value
    if value.shape not in ((), (1,)):
        raise SettingError(f"{name}: a tensor in place of an int has shape () or (1,), got {value.shape}")
    return int(value.asnumpy().ravel()[0])


def _setting(name: str, value: Any) -> Any:
    """A tensor without axes, of ints, for an int; outside graphs the function itself refuses any other."""
    refused = _is_tensor(value) and is_eager() and (value.shape or value.dtype.kind not in "iu")
    return value if refused else _axis(name, value)


def _axis(name: str, value: Any) -> Any:
    """The same, and refused outside graphs, too."""
    if not _is_tensor(value):
        return value
    if value.shape:
        raise SettingError(f"{name}: a tensor in place of a setting has no axes, got shape {value.shape}")
    if value.dtype.kind not in "iu":
        raise SettingTypeError(f"{name}: a tensor in place of a setting is an int, got {_words(value)}")
    return int(value.asnumpy())


def _outside(name: str, value: Any) -> Any:
    """A tensor without axes, of ints, for an int outside graphs; one of one element for a member of a tuple or list."""
    if isinstance(value, (tuple, list)) and any(map(_is_tensor, value)):
        if any(_is_tensor(each) and (each.size != 1 or each.dtype.kind not in "iu") for each in value):
            raise (SettingTypeError if is_eager() else SettingError)(f"{name}: ints are needed, got {value!r}")
        return type(value)(int(each.asnumpy().ravel()[0]) if _is_tensor(each) else each for each in value)
    if is_eager() and _is_tensor(value) and not value.shape and value.dtype.kind in "iu":
        return int(value.asnumpy())
    return value


def _bool_outside(_name: str, value: Any) -> Any:
    """The class bool for its dtype outside graphs, which takes no other class of Python's there."""
    return dtypes.bool_ if value is bool and is_eager() else value


def _rate(name: str, value: Any) -> Any:
    """A float, or a tensor without axes of one."""
    if not _is_tensor(value):
        return _fraction(name, value)
    if value.shape:
        raise SettingError(f"{name}: a tensor in place of a float has no axes, got shape {value.shape}")
    if value.dtype.kind != "f":
        raise SettingTypeError(f"{name}: a tensor in place of a float is one, got {_words(value)}")
    return float(value.asnumpy())


def _fraction(name: str, value: Any) -> Any:
    """A float, not an int."""
    if type(value) is int:
        raise SettingTypeError(f"{name}: a float is needed, got the int {value}")
    return value


def _cast_fraction(name: str, value: Any) -> Any:
    """A float, not an int, which fails where it is used."""
    if type(value) is int:
        raise KernelError(f"{name}: a float is needed, got the int {value}")
    return value


def _no_number(name: str, value: Any) -> Any:
    """No number in a graph: there is no kernel."""
    return value if is_eager() else _never_a_number(name, value)


def _never_a_number(name: str, value: Any) -> Any:
    """No number: there is no kernel."""
    if isinstance(value, (bool, int, float)):
        raise KernelError(f"{name} of a number has no CPU kernel, got {value}")
    return value


def _no_bool(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        raise SettingTypeError(f"{name}: an int is needed, got {value}")
    return value


def _tensor_in_graphs(name: str, value: Any) -> Any:
    """A tensor in a graph."""
    if not is_eager() and not hasattr(value, "asnumpy"):
        raise SettingTypeError(f"{name}: a tensor is needed, got {type(value).__name__}")
    return value


def _differentiable(name: str, value: Any) -> Any:
    """Something to call: at once in a graph, outside where what is made of it is called (measured)."""
    if callable(value) or isinstance(value, (tuple, list, dict)):
        return value
    if not is_eager():
        raise TraceError(f"{name}: a function or cell is needed, got {type(value).__name__}")

    def refused(*_args: Any, **_kwargs: Any) -> None:
        raise SettingTypeError(f"{name}: a function or cell is needed, got {type(value).__name__}")

    return refused


def _weights(name: str, value: Any) -> Any:
    """Parameters, not a number or text, which a graph refuses as a value; no dict outside of graphs."""
    if not is_eager() and isinstance(value, (bool, int, float, str)):
        raise SettingError(f"{name}: weights are Parameters, got {value!r}")
    if is_eager() and isinstance(value, dict):
        raise SettingTypeError(f"{name}: weights are Parameters, got {value!r}")
    return value


def _zipped(name: str, value: Any) -> Any:
    """Datasets: in a graph in a list, too, where what has no length lacks an attribute."""
    if is_eager() or isinstance(value, (tuple, str)) or hasattr(value, "asnumpy"):
        return value
    if isinstance(value, (list, dict)):
        return tuple(value)
    raise SettingAttributeError(f"{name}: a tuple of datasets is needed, got {type(value).__name__}")


def _with_shape(name: str, value: Any) -> Any:
    """No tuple or list: it is asked for its shape."""
    if isinstance(value, (tuple, list)):
        raise SettingAttributeError(f"{name}: a tensor is needed, got {type(value).__name__}")
    return value


def _members(name: str, value: Any) -> Any:
    """Tensors in a tuple or list: one or more, which a graph asks of everything; a generator is a list there."""
    value = list(value) if isinstance(value, Generator) and not is_eager() else value
    none = isinstance(value, (tuple, list)) and not value
    if none or not (is_eager() or value is None or isinstance(value, (tuple, list)) or hasattr(value, "asnumpy")):
        raise SettingError(f"{name}: a tuple or list of one tensor or more is needed, got {value!r}")
    return value


def _window(name: str, value: Any) -> Any:
    """Ints above 0, one or in a tuple."""
    if isinstance(value, (float, str, np.ndarray)) or _is_tensor(value):
        raise SettingError(f"{name}: an int or a tuple of ints is needed, got {value!r}")
    several = value if isinstance(value, tuple) else (value,)
    if len(several) in (1, 2) and any(type(each) is int and each < 1 for each in several):
        raise KernelError(f"{name}: ints above 0 are needed, got {value!r}")
    return value


def _floating(name: str, value: Any) -> Any:
    """A tensor of floats."""
    if hasattr(value, "asnumpy") and value.dtype.kind != "f":
        raise SettingTypeError(f"{name}: a tensor of floats is needed, got {value.dtype}")
    return value


def _with_dtype(name: str, value: Any) -> Any:
    """No number: it is asked for its dtype."""
    if isinstance(value, (bool, int, float)):
        raise SettingAttributeError(f"{name}: a tensor is needed, got {type(value).__name__}")
    return value


def _callable(name: str, value: Any) -> Any:
    """Something to call, in a graph."""
    if not (is_eager() or callable(value)):
        raise CallError(f"{name}: a function is needed, got {value!r}")
    return value


def _compared(name: str, value: Any) -> Any:
    """What ``is`` compares with in a graph: nothing that holds others, and no tensor."""
    if not is_eager() and (isinstance(value, (tuple, list, dict)) or hasattr(value, "asnumpy")):
        raise TraceError(f"{name}: a number, a string, a dtype or None is needed, got {type(value).__name__}")
    return value


#: the letters of ``refused_in_graphs.json``
_CLASSES: dict[str, type[HarnessError]] = {
    "A": SettingAttributeError, "K": ForeignKeyError, "N": ForeignNameError, "R": TraceError, "V": SettingError
}  # fmt: skip


@functools.cache
def _measured() -> dict[str, list[tuple[str, str, str]]]:
    """By callable: arguments, each with a kind of value and the letter of the error that it is in a graph."""
    text = (Path(__file__).parent / "refused_in_graphs.json").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str, str]]] = {}
    for key, names in json.loads(text).items():
        letter, kind = key.split()
        for each in names.split():
            name, _, place = each.partition(":")
            found.setdefault(name, []).append((place, kind, letter))
    return found


def _refused_rows(name: str, function: Callable[..., Any], skip: int) -> tuple[tuple[int, str, Way], ...]:
    """The rows of the table for what was measured of a callable."""
    parameters = list(inspect.signature(function).parameters)[skip:]
    rows = []
    for place, kind, letter in _measured()[name]:
        known = place if not place.isdecimal() else parameters[int(place)] if int(place) < len(parameters) else ""
        at = parameters.index(known) if known in parameters else int(place) if place.isdecimal() else len(parameters)
        rows.append((at, known, functools.partial(_refuse, kind, _CLASSES[letter])))
    return tuple(rows)


def _refuse(kind: str, error: type[HarnessError], name: str, value: Any) -> Any:
    """No class, or no empty dict, in a graph; classes of Python's own and numpy's name dtypes."""
    foreign = isinstance(value, type) and value.__module__ not in ("builtins", "numpy")
    if (foreign if kind == "class" else isinstance(value, dict) and not value) and not is_eager():
        raise error(f"{name}: a value of another type is needed, got {value!r}")
    return value


def _words(tensor: Any) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


_REDUCED = ("ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
#: by callable: the position of each argument, its names, and what a tensor stands for
_TABLE: dict[str, tuple[tuple[int, str, Way], ...]] = {
    **{f"ops.{name}": ((1, "axis dim", _several),) for name in (
        "all", "amax", "amin", "any", "count_nonzero", "mean", "prod", "reduce_all", "reduce_any", "reduce_max",
        "reduce_mean", "reduce_min", "reduce_sum", "sum",
    )},
    **{f"ops.{name}()": ((1, "axis", _several),) for name in _REDUCED},
    **{f"Tensor.{name}": ((0, "axis dim", _several),) for name in ("all", "any", "mean")},
    "Tensor.sum": ((0, "axis dim", _several), (1, "dtype", _bool_outside)),
    **{f"ops.{name}": ((0, "size shape", _several),) for name in ("ones", "zeros")},
    **{f"ops.{name}": ((1, "shape dims multiples", _several),) for name in ("broadcast_to", "reshape", "tile")},
    **{f"Tensor.{name}": ((0, "shape dims reps", _several),) for name in ("broadcast_to", "reshape", "tile", "view")},
    "ops.BroadcastTo": ((0, "shape", _several),),
    **{f"ops.{name}()": ((1, "shape multiples", _several),) for name in ("Reshape", "Tile")},
    **{f"ops.{name}": ((1, "begin", _several), (2, "size", _several)) for name in ("slice", "Slice()")},
    **{f"ops.{name}": ((1, "begin", _several), (2, "end", _several), (3, "strides", _several))
       for name in ("strided_slice", "StridedSlice()")},
    **{f"ops.{name}": ((1, "axis dim", _one),) for name in (
        "ExpandDims()", "GatherD()", "OneHot()", "expand_dims", "gather_elements", "unsqueeze")},
    "ops.one_hot": ((1, "depth", _one),),
    "Tensor.unsqueeze": ((0, "dim", _one),),
    **{f"ops.{name}": ((2, "axis num num_segments steps", _one),) for name in (
        "Gather()", "LinSpace()", "UnsortedSegmentSum()", "gather", "linspace", "unsorted_segment_sum")},
    **{f"Tensor.{name}": ((0, "axis dim", _setting),) for name in ("argmax", "argmin")},
    **{f"ops.{name}": ((1, "axis", _setting),) for name in ("concat", "log_softmax")},
    **{f"ops.{name}": ((0, "axis batch_dims", _setting),) for name in ("Concat", "Gather", "LogSoftmax", "OneHot")},
    "ops.eye": ((0, "n", _setting), (1, "m", _setting)),
    **{f"ops.{name}": ((1, "axis dim", _axis),) for name in ("cumprod", "cumsum")},
    "Tensor.cumprod": ((0, "dim", _axis),),
    "ops.topk": ((1, "k", _one),),
    "Tensor.topk": ((0, "k", _one),),
    **{f"ops.{name}": ((1, "alpha eps p", _fraction),) for name in ("celu", "elu", "logit")},
    "ops.dropout": ((1, "p", _rate),),
    "ops.triu": ((1, "diagonal", _one),),
    "Tensor.triu": ((0, "diagonal", _one),),
    **{f"ops.{name}": ((1, "axis dim", _outside),) for name in ("logsumexp", "squeeze")},
    **{f"Tensor.{name}": ((0, "axis dim", _outside),) for name in ("logsumexp", "squeeze")},
    "Tensor.to": ((0, "dtype", _bool_outside),),
    **{f"Tensor.{name}": ((1, "dtype", _bool_outside),) for name in ("new_ones", "new_zeros")},
    "Tensor.logit": ((0, "eps", _fraction),),
    "ops.batch_norm": ((6, "momentum", _fraction), (7, "eps", _fraction)),
    "ops.BatchNorm": ((1, "epsilon", _fraction), (2, "momentum", _fraction)),
    "ops.LayerNorm": ((2, "epsilon", _fraction),),
    "ops.Dropout": ((0, "keep_prob", _fraction),),
    "ops.L2Normalize": ((1, "epsilon", _cast_fraction),),
    **{f"Tensor.{name}": ((0, "other", _no_number),) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "Tensor.floor_divide": ((0, "other", _never_a_number),),
    "Tensor.type_as": ((0, "other", _tensor_in_graphs),),
    "ops.stack": ((0, "tensors", _members),),
    "ops.Stack()": ((0, "input_x", _members),),
    "ops.chunk": ((1, "chunks", _no_bool),),
    "ops.AvgPool": ((0, "kernel_size", _window), (1, "strides", _window)),
    **{f"ops.{name}": ((0, "x", _floating),) for name in ("deg2rad", "rad2deg")},
    "ops.unique": ((0, "input", _with_shape),),
    **{f"ms.{name}": ((0, "fn", _differentiable), (2, "weights", _weights)) for name in ("grad", "value_and_grad")},
    "ds.zip": ((0, "datasets", _zipped),),
    "ops.exp2": ((0, "input", _with_dtype),),
    "Cell.apply": ((0, "fn", _callable),),
    **{f"ops.{name}": ((1, "y", _compared),) for name in ("is_", "is_not")},
}  # fmt: skip


#: what takes a tensor in place of a tuple where nothing else is given
_ALONE = frozenset({"Tensor.reshape", "Tensor.view"})


def brought(name: str, function: F, skip: int = 0) -> F:
    """``function``, whose arguments are what the table makes of them.

    Args:
        name: of the callable (``ops.zeros``, ``Tensor.sum``; ``ops.Tile()`` is one that was made).
        function: its code.
        skip: how many arguments are none of the call's (``self``).
    """
    known = _TABLE.get(name, ())
    if not known and name not in _measured():
        return function
    # Signatures are read at the first call: a tenth of what importing ``ops`` would cost.
    rows: tuple[tuple[int, str, Way], ...] | None = None if name in _measured() else known

    @functools.wraps(function)
    def bringing(*args: Any, **kwargs: Any) -> Any:
        nonlocal rows
        if rows is None:
            rows = (*_refused_rows(name, function, skip), *known)
        given = list(args)
        for at, names, way in rows:
            if name in _ALONE and len(given) > skip + 1:
                continue
            if at + skip < len(given):
                given[at + skip] = way(name, given[at + skip])
            elif kwargs:
                kwargs |= {each: way(name, kwargs[each]) for each in names.split() if each in kwargs}
        return function(*given, **kwargs)

    return bringing  # type: ignore[return-value]


def bring_all(prefix: str, members: dict[str, Any]) -> None:
    """The same for the functions of a namespace, and its classes: their settings, and calls of what they make."""
    for name, member in members.items():
        if not isinstance(member, type):
            members[name] = brought(f"{prefix}.{name}", member)
            continue
        for row, method in ((f"{prefix}.{name}", "__init__"), (f"{prefix}.{name}()", "__call__")):
            if row in _TABLE or row in _measured():
                setattr(member, method, brought(row, getattr(member, method), 1))

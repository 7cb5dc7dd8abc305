"""What operators read from outside of their graph: parameters and constants; and where they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.recording.spec import IOMONAD, UMONAD, OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One frame of the stack in which an operator was written.

    Attributes:
        path: source file as Python knows it.
        line: first line, from 1.
        line_end: last line; the first one for one line.
        column: where it begins in its first line, from 0; None where unknown.
        column_end: where it ends in its last line; None where unknown.
        text: the first line of the source, with its leading blanks.

    Examples:
        >>> from harness.recording import SourceLine
        >>> SourceLine("train.py", 7, 7, None, None, "").line
        7
    """

    path: str
    line: int
    line_end: int
    column: int | None
    column_end: int | None
    text: str


@dataclass(eq=False, slots=True)
class Constant:
    """A value known when the graph is declared.

    Attributes:
        value: bool, int, float, str, None, a ``DType``, a tuple of such, an array (tensor constant), or the text
            ``"U"`` / ``"IO"`` of a monad (then ``spec`` tells).
        spec: type of the value.
        late: whether it becomes known only after constants are folded, so that nothing is computed from it (measured
            by tests/framework/compile).
        memory: of a tensor that is changed in place, the array that is; None for any other. Such a constant equals no
            other one, and ``value`` is what it was when the graph was made.

    Examples:
        >>> from harness.recording import constant
        >>> constant(0.5).value, constant(0.5).spec
        (0.5, ScalarSpec(dtype=mindspore.float32))
    """

    value: Any
    spec: Spec
    late: bool = False
    memory: Any = None


@dataclass(eq=False, slots=True)
class Parameter:
    """A parameter of a graph: a weight, an optimizer's state, or a data input.

    Attributes:
        name: name in dump files (``fc1.weight``, ``inputs0``, ``x``).
        spec: its tensor (``ref_key`` set for weights).
        is_weight: False for data inputs.
        handle: the object that owns the array at run time (opaque here).
        is_inplace: whether an operator of the graph updates it.
        is_member: it is a member of a tuple, list or dict, for which a dump has no file.

    Examples:
        >>> from harness import dtypes
        >>> from harness.recording import Parameter, TensorSpec
        >>> Parameter("fc1.weight", TensorSpec(dtypes.float32, (3, 2), "fc1.weight"), is_weight=True).name
        'fc1.weight'
    """

    name: str
    spec: Spec
    is_weight: bool
    handle: Any = None
    is_inplace: bool = False
    is_member: bool = False


def constant(value: Any) -> Constant:
    """Wraps a Python value, a dtype, or an array as a ``Constant``.

    An int becomes Int64, a float Float32, as MindSpore prints scalars of a graph; an array becomes a tensor constant.

    Args:
        value: bool, int, float, text, None, a dtype, an array, or tuples and lists of such.

    Raises:
        TypeError: a graph cannot hold it.

    Examples:
        >>> import numpy as np
        >>> from harness.recording import constant
        >>> constant(np.zeros((2, 3), np.float32)).spec.shape
        (2, 3)
    """
    if isinstance(value, Constant):
        return value
    return Constant(value, spec_of(value))


def spec_of(value: Any) -> Spec:
    """The spec of a Python value as a graph constant; ``TypeError`` if a graph cannot hold it."""
    if isinstance(value, (bool, np.bool_)):
        return ScalarSpec(dtypes.bool_)
    if isinstance(value, (int, np.integer)):
        return ScalarSpec(dtypes.int64)
    if isinstance(value, (float, np.floating)):
        return ScalarSpec(dtypes.float32)
    if isinstance(value, np.ndarray):
        return TensorSpec(dtypes.from_numpy(value.dtype), value.shape)
    if isinstance(value, (tuple, list)):
        return TupleSpec(tuple(spec_of(v) for v in value))
    if isinstance(value, str):
        return OpaqueSpec("String")
    if isinstance(value, DType):
        return OpaqueSpec("Type")
    if value is None:
        return OpaqueSpec("None")
    raise TypeError(f"a graph cannot hold a constant of type {type(value).__name__}: {value!r}")


U = Constant("U", UMONAD)
IO = Constant("IO", IOMONAD)

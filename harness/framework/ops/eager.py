"""Runs operator calls at once, and the argument rules that tracing shares.

Sources of the promotion rule: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, KernelError, SettingError, SettingTypeError
from harness.framework.ops import random, remembered, taken
from harness.framework.ops.base import OPERATORS, Call, Operator
from harness.framework.ops.numerics import finish
from harness.framework.ops.remembered import remembering as remembering
from harness.framework.tensor import Dispatcher, Tensor, is_eager, set_default
from harness.framework.tensor.watching import call_observer, untold
from harness.graph import Spec, TensorSpec, TupleSpec, spec_of

#: from weakest to strongest, within and across kinds
_RANK = {
    name: rank
    for rank, name in enumerate(
        ["Bool", "UInt8", "Int8", "UInt16", "Int16", "UInt32", "Int32", "UInt64", "Int64",
         "Float16", "BFloat16", "Float32", "Float64", "Complex64", "Complex128"]
    )
}  # fmt: skip


#: unsigned dtypes that are brought to no other dtype, nor another (bools aside) to them
ALONE = frozenset({"UInt16", "UInt32", "UInt64"})


def promote(given: list[DType]) -> DType:
    """The dtype two or more tensor dtypes are brought to.

    Raises:
        DtypeError: UInt16, UInt32 or UInt64 beside another dtype than Bool.
    """
    best = max(given, key=lambda d: _RANK[d.name])
    names = {d.name for d in given}
    if names & ALONE and len(names - {"Bool"}) > 1:
        raise DtypeError(f"there is no common dtype of {' and '.join(sorted(names))}; cast them (ops.cast)")
    if names >= {"Float64", "Complex64"}:
        return dtypes.complex128
    if names == {"Float16", "BFloat16"} or ({"Float16", "BFloat16"} <= names and best.name in names - {"Float32"}):
        return dtypes.float32 if _RANK[best.name] <= _RANK["Float32"] else best
    if names == {"UInt8", "Int8"}:
        return dtypes.int16
    return best


def number_dtype(number: Any, beside: list[DType]) -> DType:
    """The dtype of a Python number beside tensors with dtypes ``beside`` (without any: Int64 / Float32 / Bool)."""
    own = dtypes.bool_ if isinstance(number, bool) else dtypes.int64 if isinstance(number, int) else dtypes.float32
    if not beside:
        return own
    strong = promote(beside)
    if own.kind == "f":
        return strong if strong.kind in "fc" else dtypes.float32
    if own.kind == "i":
        return own if strong.kind == "b" else strong
    return strong


def is_number(value: Any) -> bool:
    """Whether ``value`` is a Python or numpy number (bool included)."""
    return isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating))


def _following(op: str, position: int, given: DType, parameter: DType) -> DType | None:
    """The dtype an argument is cast to beside a parameter, None for its own; ``DtypeError`` if it is the stronger."""
    if given is parameter:
        return None
    if promote([given, parameter]) is not parameter:
        raise DtypeError(
            f"{op}: argument {position} is {given}, the parameter {parameter}; a parameter is not cast, so cast the "
            f"argument to {parameter} (ops.cast)"
        )
    return parameter


@functools.cache
def _taken(op: Operator) -> tuple[int, float]:
    """The least and the largest number of arguments that an operator's kernel takes."""
    if op.arguments is not None:
        return op.arguments, op.arguments
    parameters = list(inspect.signature(op.kernel).parameters.values())[1:]
    plain = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return sum(each.default is each.empty for each in plain), math.inf if several else len(plain)


#: operators that no graph has of numbers alone (measured)
_NEED_A_TENSOR = frozenset({"BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "SquaredDifference"})


def _alone(name: str, given: list[DType]) -> list[DType]:
    """The dtypes of numbers without a tensor beside in a graph: whole ones are Int32 (measured)."""
    if name in _NEED_A_TENSOR:
        raise DtypeError(f"{name} takes a tensor and a tensor or number, got numbers alone")
    return [dtypes.int32 if each is dtypes.int64 else each for each in given]


def _many(low: int, high: float) -> str:
    return f"{low} arguments" if low == high else f"{low} to {high} arguments" if high < math.inf else f"at least {low}"


def plan_arguments(op: Operator, args: tuple[Any, ...]) -> list[tuple[Any, DType | None]]:
    """The conversion of each argument before the call.

    Returns:
        For each argument ``(value, cast)``: numbers at ``op.tensors`` positions have become 0-d ``Tensor``
        constants; ``cast`` is the dtype a tensor must be cast to, or None.
    """
    if not (bounds := _taken(op))[0] <= len(args) <= bounds[1]:
        kind = SettingTypeError if op.functional else SettingError  # as there (measured)
        raise kind(f"{op.name} takes {_many(*bounds)} with its settings, got {len(args)}")
    taken.check_given(op.name, args)
    shared = [args[i] for i in op.same_dtype if i < len(args)]
    beside = [a.dtype for a in shared if isinstance(a, Tensor)]
    numbers = [number_dtype(a, beside) for a in shared if is_number(a)]
    if numbers and not beside and not is_eager():
        numbers = _alone(op.name, numbers)
    target = promote(beside + numbers) if beside or numbers else None
    planned: list[tuple[Any, DType | None]] = []
    for i, arg in enumerate(args):
        cast = None
        if is_number(arg) and (i in op.tensors or i in op.same_dtype):
            own = target if i in op.same_dtype else number_dtype(arg, [])
            arg = Tensor(np.asarray(arg), own)
        elif isinstance(arg, Tensor) and i in op.same_dtype and target is not None and arg.dtype is not target:
            cast = target
        elif i in op.follows and isinstance(arg, Tensor):
            cast = _following(op.name, i, arg.dtype, args[op.follows[i]].dtype)
        planned.append((arg, cast))
    return planned


#: operators whose results lie in the memory of their first argument (measured)
VIEWS = frozenset({
    "BroadcastTo", "Depend", "Diagonal", "ExpandDims", "Reshape", "SelectExtView", "Slice", "Split", "Squeeze",
    "StopGradient", "StridedSlice", "Transpose", "Unstack",
})  # fmt: skip


def failure(op: str, error: BaseException) -> KernelError:
    """The error that ends the run when a kernel of ``op`` raised ``error``."""
    return KernelError(f"kernel of {op} failed: {type(error).__name__}: {error}")


def execute(op: Operator, call: Call, args: tuple[Any, ...]) -> tuple[np.ndarray[Any, np.dtype[Any]], ...]:
    """Runs a kernel and rounds its results once; ``KernelError`` names the operator if it fails."""
    key = remembered.key_of(op, call, args)
    known = None if key is None else remembered.recall(key)
    if known is not None:
        return known
    results = _executed(op, call, args)
    if key is not None:
        remembered.remember(key, results)
    return results


def _executed(op: Operator, call: Call, args: tuple[Any, ...]) -> tuple[np.ndarray[Any, np.dtype[Any]], ...]:
    with np.errstate(all="ignore"):
        try:
            result = op.kernel(call, *args)
        except KernelError:
            raise
        except Exception as error:
            raise failure(op.name, error) from error
    parts = result if isinstance(result, tuple) else (result,)
    specs = call.out.items if isinstance(call.out, TupleSpec) else (call.out,)
    if len(parts) != len(specs):
        raise KernelError(f"kernel of {op.name} gave {len(parts)} results, its shape rule says {len(specs)}")
    return tuple(_result(op, part, spec) for part, spec in zip(parts, specs, strict=True))


def _result(op: Operator, part: Any, spec: Spec | None) -> np.ndarray[Any, np.dtype[Any]]:
    """One result, rounded; ``KernelError`` if its shape is not the one the graph shows."""
    if not isinstance(spec, TensorSpec):
        return np.asarray(part)
    array = finish(part, spec.dtype)
    if array.shape != spec.shape and -1 not in spec.shape:
        raise KernelError(
            f"kernel of {op.name} gave a result of shape {list(array.shape)}, its shape rule says {list(spec.shape)}"
        )
    return array


def _view(op: Operator, call: Call, source: Tensor, rest: tuple[Any, ...]) -> Any:
    """The results of an operator of ``VIEWS``: in the source's memory where they are whole there."""
    made = []
    held = source.asnumpy()
    for at, array in enumerate(_executed(op, call, (held, *rest))):
        part = Tensor.over(_as_writable(array, held))
        is_apart = source.taken_from is not None or not np.may_share_memory(array, held)
        # What does not lie in one piece is copied to be reshaped (measured).
        if is_apart and (op.name != "Reshape" or source.is_contiguous()):
            part.taken_from = source, functools.partial(_part, op, call, rest, at)
        made.append(part)
    return tuple(made) if isinstance(call.out, TupleSpec) else made[0]


def _part(op: Operator, call: Call, rest: tuple[Any, ...], at: int, array: Any) -> Any:
    result = op.kernel(call, array, *rest)
    return _as_writable(result[at] if isinstance(result, tuple) else result, array)


def _as_writable(part: Any, source: Any) -> Any:
    """A view of ``source`` that can be written to if it can: numpy forbids it for diagonals and what it broadcasts."""
    if source.flags.writeable and not part.flags.writeable and np.may_share_memory(part, source):
        part.flags.writeable = True
    return part


class EagerDispatcher(Dispatcher):
    """Executes each call at once (PyNative mode, and everything outside ``construct``)."""

    def call(self, op: str, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        operator = OPERATORS.get(op)
        ready: list[Any] = []
        for value, cast in plan_arguments(operator, args):
            if cast is not None:
                value = self.call("Cast", (value, cast), {}, None)
            ready.append(value)
        specs: list[Spec] = []
        values: list[Any] = []
        for value in ready:
            if isinstance(value, Tensor):
                specs.append(TensorSpec(value.dtype, value.asnumpy().shape))
                values.append(value.asnumpy())
            elif isinstance(value, (tuple, list)) and any(isinstance(v, Tensor) for v in value):
                specs.append(TupleSpec(tuple(TensorSpec(v.dtype, v.asnumpy().shape) for v in value)))
                values.append(None)
            else:
                specs.append(spec_of(value))
                values.append(value)
        done = Call(op, tuple(specs), tuple(values), attrs)
        taken.check(done)
        done.out = operator.infer(done)
        taken.check_kernel(done)
        if op in random.CONTINUING:
            done.state = random.state_of(done)
        arrays = tuple(_plain(v) for v in ready)
        if (heard := call_observer()) is None:
            return self._made(operator, done, ready, arrays)
        with untold():  # a kernel may call others, which are parts of it
            made = self._made(operator, done, ready, arrays)
        heard.called(operator, done, ready, made)
        return made

    @staticmethod
    def _made(operator: Operator, done: Call, ready: list[Any], arrays: tuple[Any, ...]) -> Any:
        if operator.name in VIEWS and isinstance(ready[0], Tensor):
            return _view(operator, done, ready[0], arrays[1:])
        results = execute(operator, done, arrays)
        if isinstance(done.out, TupleSpec):
            return tuple(Tensor(r, d.dtype) for r, d in zip(results, done.outputs(), strict=True))
        return Tensor(results[0])

    def branch(
        self, pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: tuple[Any, ...]
    ) -> Any:
        """See ``Dispatcher.branch``."""
        return true_fn(*operands) if pred else false_fn(*operands)

    def loop(self, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any) -> Any:
        """See ``Dispatcher.loop``."""
        while cond_fn(state):
            state = body_fn(state)
        return state


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return tuple(_plain(v) for v in value)
    return value


set_default(EagerDispatcher())

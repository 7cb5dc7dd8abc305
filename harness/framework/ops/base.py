"""The base of operators: a shape rule, a kernel and a gradient, found by the MindSpore name.

One operator (or a small family that shares everything but a formula) is one file under
``harness/framework/ops/operators``; the
registry imports that folder at its first use, so adding a file is enough. Other packages add operators through
the entry-point group ``harness.operators``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from harness.dtypes import DType
from harness.errors import DtypeError, ShapeError, UnsupportedError
from harness.graph import ScalarSpec, Spec, TensorSpec, TupleSpec
from harness.registry import Registry, instance_of

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class Call:
    """One use of an operator, as its shape rule and kernel see it.

    Attributes:
        op: the operator's name.
        inputs: spec of each argument, in the order of the ``.ir``.
        values: value of each argument that is a graph constant (number, tuple, dtype, array), else None.
        attrs: the primitive's attributes.
        out: spec of the result; None while it is inferred.
        state: kept between runs of the same node (counters of random operators).
    """

    op: str
    inputs: tuple[Spec, ...]
    values: tuple[Any, ...]
    attrs: Mapping[str, Any]
    out: Spec | None = None
    state: dict[str, Any] = field(default_factory=dict)

    def tensor(self, index: int) -> TensorSpec:
        """Spec of tensor argument ``index``; ``DtypeError`` if it is not a tensor."""
        spec = self.inputs[index]
        if not isinstance(spec, TensorSpec):
            raise DtypeError(f"{self.op}: argument {index} must be a tensor, got {spec}")
        return spec

    def shape(self, index: int) -> tuple[int, ...]:
        """Shape of tensor argument ``index``."""
        return self.tensor(index).shape

    def dtype(self, index: int) -> DType:
        """Dtype of tensor (or scalar) argument ``index``."""
        spec = self.inputs[index]
        if isinstance(spec, (TensorSpec, ScalarSpec)):
            return spec.dtype
        raise DtypeError(f"{self.op}: argument {index} has no dtype, got {spec}")

    def outputs(self) -> tuple[TensorSpec, ...]:
        """Specs of the outputs (after inference)."""
        specs = self.out.items if isinstance(self.out, TupleSpec) else (self.out,)
        return tuple(s for s in specs if isinstance(s, TensorSpec))

    def fail(self, why: str) -> ShapeError:
        """Makes a ``ShapeError`` that shows the operator and its arguments; ``raise`` it."""
        return ShapeError(f"{self.op}({', '.join(map(_in_words, self.inputs))}): {why}")


def _in_words(spec: Spec) -> str:
    """``Float32[2, 4]``, ``Int64``, ``(Int64, Int64)``."""
    if isinstance(spec, TensorSpec):
        return f"{spec.dtype}{list(spec.shape)}"
    if isinstance(spec, TupleSpec):
        return f"({', '.join(map(_in_words, spec.items))})"
    return str(spec.dtype) if isinstance(spec, ScalarSpec) else spec.kind


class Operator:
    """Base of every operator. Subclass, set ``name``, write ``infer`` and ``kernel``, and ``gradient`` if it has one.

    Class attributes:
        required: what an operator of another package must define.
        name: MindSpore's primitive name.
        functional: the ``.ir`` prints ``PrimFunc_`` before the name (operators that MindSpore describes in yaml); False
            for the older primitives whose settings are attributes.
        tensors: argument positions that must be tensors: a Python number there becomes a 0-d tensor constant.
        arguments: how many it takes; None: as many as its kernel has parameters.
        same_dtype: argument positions brought to one dtype by inserted ``Cast`` nodes (MindSpore's implicit
            promotion); also gives the dtype of numbers made tensors.
        follows: argument positions cast to the dtype of another argument, which is a parameter and cannot be cast
            itself: a stronger dtype is refused.
        unread: argument positions the CPU kernel does not read at launch: they have no dump file.
        runs_as: name of another operator that the CPU runs instead; the finished graph shows that one.
        absent: name of the dtype in which the kernel takes an argument that may be None; the graph shows it for None
            too.
        mutates: argument positions the kernel updates in place (``kernel`` writes into the array it is given).
        gives_memory: the result is the memory of the argument it updates, under another name.
        side_effect: ``"memory"`` (updates a parameter), ``"io"`` (prints), or None.
        random: each call draws; equal ones never merge.
        overwrites: a gradient's operator that writes into the memory of its first argument.
        keeps: the gradient needs the value that the operator overwrites, so a copy of it is made.
    """

    required: ClassVar[tuple[str, ...]] = ("name", "infer", "kernel")
    name: ClassVar[str]
    functional: ClassVar[bool] = True
    tensors: ClassVar[tuple[int, ...]] = ()
    arguments: ClassVar[int | None] = None
    same_dtype: ClassVar[tuple[int, ...]] = ()
    follows: ClassVar[Mapping[int, int]] = {}
    unread: ClassVar[frozenset[int]] = frozenset()
    runs_as: ClassVar[str | None] = None
    absent: ClassVar[Mapping[int, str]] = {}
    mutates: ClassVar[tuple[int, ...]] = ()
    gives_memory: ClassVar[bool] = False
    side_effect: ClassVar[str | None] = None
    random: ClassVar[bool] = False
    overwrites: ClassVar[bool] = False
    keeps: ClassVar[bool] = False

    def effect(self, arguments: Sequence[Any]) -> str | None:
        """The side effect of a call with ``arguments`` (a constant's value, else None): ``side_effect``, unless an
        operator has it only for some settings."""
        return self.side_effect

    def infer(self, call: Call) -> Spec:
        """Spec of the result. Raises ``ShapeError`` or ``DtypeError`` through ``call.fail`` for arguments it does not
        accept."""
        raise NotImplementedError

    def kernel(self, call: Call, *args: Any) -> Any:
        """Computes the result.

        Args:
            call: specs, attributes and ``call.out``.
            args: arrays (tensors, in their own dtype), Python numbers, tuples, strings or None.

        Returns:
            One array, or a tuple of arrays for several outputs. Evaluate in float64 or wider (``numerics.wide``) with a
            fixed summation order (``numerics.total``, ``numerics.matmul``) and do **not** round: the caller rounds
            once to the dtype of ``call.out``. Integer results wrap as the dtype does.
        """
        raise NotImplementedError

    def gradient(self, b: Backward) -> Sequence[Any]:
        """Gradient of each argument (a tensor built with operator calls, or None), as the real graphs show it."""
        raise UnsupportedError(f"operator {self.name} has no gradient")


@dataclass(slots=True)
class Backward:
    """The arguments of a gradient rule. All tensors are traced: calling functions on them adds nodes.

    Attributes:
        inputs: the forward arguments (tensors traced, others as Python values).
        out: the forward result: a tensor, or a tuple of tensors.
        dout: gradient of the result, same structure (an output nobody used has a zero tensor, or None where
            ``needs`` of it is never asked).
        attrs: attributes of the forward primitive.
        needs: for each argument, whether its gradient is wanted.
    """

    inputs: tuple[Any, ...]
    out: Any
    dout: Any
    attrs: Mapping[str, Any]
    needs: tuple[bool, ...]


def _populate() -> None:
    package = importlib.import_module("harness.framework.ops.operators")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


OPERATORS: Registry[Operator] = Registry("operator", "harness.operators", _populate, instance_of(Operator))

OperatorClass = TypeVar("OperatorClass", bound=type[Operator])


def operator(cls: OperatorClass) -> OperatorClass:
    """Registers an operator class (one instance of it) under its ``name``."""
    OPERATORS.register(cls.name, cls())
    return cls

"""Fault injection: an operator raises, runs out of memory, or returns NaN or infinity.

    with inject("Default/fc1-Dense/MatMul-op0", "nan", iteration=1) as fault:
        step(x)
    assert fault.struck

A capture made under a fault records it: ``Capture.rules["injected"]``.
"""

from __future__ import annotations

import difflib
import os
from types import TracebackType
from typing import Any, Literal, Self, get_args

import numpy as np

from harness.dump.ecma import RegexError
from harness.dump.environment import rank_and_device
from harness.dump.selection import read_rule
from harness.errors import InjectionError, KernelError, SettingError, SettingTypeError
from harness.framework.compile.fuse import Fusion
from harness.framework.ops.eager import failure
from harness.framework.runtime import session as sessions
from harness.framework.runtime.launch import Launch
from harness.framework.runtime.session import Session
from harness.graph import Node, TensorSpec, TupleSpec
from harness.recording.value import Array

#: ``error``: the kernel fails; ``memory``: it runs out of memory; else the value its floating results receive.
Kind = Literal["error", "memory", "nan", "inf", "-inf"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_MESSAGE = "injected fault"
_NOTE = "this fault was injected by harness.testing"


class Injection:
    """A fault that is active inside its ``with`` block. The end of the block raises ``InjectionError`` if it never
    struck.

    Attributes:
        struck: the places where it struck, in words: kind, operator, iteration, rank.

    Examples:
        >>> from harness import Tensor, float32, jit, ops
        >>> from harness.testing import inject
        >>> with inject("Mul", "inf") as fault:
        ...     square = jit(lambda x: ops.mul(x, x))(Tensor([2], float32))
        >>> len(fault.struck)
        1
    """

    struck: list[str]

    def __init__(
        self,
        operator: str,
        kind: Kind,
        iteration: int | None,
        rank: int | None,
        message: str | None,
        session: Session | None,
    ) -> None:
        _check(operator, kind, iteration, rank, message)
        try:
            self._rule = read_rule(operator.replace('"', "").replace(" ", ""))
        except RegexError as error:
            raise SettingError(f"inject: operator {operator!r}: {error}") from None
        self._kind = kind
        self._iteration = iteration
        self._rank = rank
        self._message = message or _MESSAGE
        self._session = session
        self._seen: dict[str, None] = {}
        self._here = 0
        self.struck = []

    def __enter__(self) -> Self:
        self._here = rank_and_device(os.environ)[0]
        self._session = self._session or sessions.current()
        self._session.faults.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None
        self._session.faults.remove(self)
        elsewhere = self._rank is not None and self._rank != self._here
        if error is None and not self.struck and not elsewhere:
            raise InjectionError(self._never())

    # --- what the runtime asks (see ``runtime.faults.Fault``) --------------------------------------------------------

    def before(self, launch: Launch, iteration: int) -> None:
        """Raises ``KernelError`` if the kernel of ``launch`` is to fail in step ``iteration``. The runtime calls it."""
        self._seen.setdefault(launch.node.name)
        if self._kind not in ("error", "memory") or not self._hits(launch.node, iteration):
            return
        self._note(launch.node, iteration)
        if self._kind == "memory":
            cause = MemoryError(_unable(launch.node))
            error = failure(launch.node.op, cause)
            error.__cause__ = cause
        else:
            error = KernelError(self._message)
        error.add_note(_NOTE)
        raise error

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """Replaces the first element of each floating result, also in arrays that the kernel updates in place.

        The runtime calls it with the ``launch``, the step's ``iteration`` and the kernel's ``results``.
        """
        if self._kind in ("error", "memory") or not self._hits(launch.node, iteration):
            return results
        outputs = _outputs(launch.node)
        spoils = [spec is not None and spec.dtype.kind in "fc" for spec in outputs]
        if not any(s and r.size for s, r in zip(spoils, results, strict=True)):
            shown = ", ".join(spec.dtype.name if spec else "no tensor" for spec in outputs)
            raise InjectionError(
                f"{self._kind} cannot be injected into {launch.node.name}: its results are {shown}; a floating tensor "
                f"with elements is needed"
            )
        self._note(launch.node, iteration)
        in_place = bool(launch.operator.mutates)
        return tuple(self._spoilt(r, in_place) if s else r for s, r in zip(spoils, results, strict=True))

    def _spoilt(self, result: Array, in_place: bool) -> Array:
        spoilt = result if in_place else np.array(result, order="C", copy=True)
        if spoilt.size:
            spoilt[np.unravel_index(0, spoilt.shape)] = float(self._kind)
        return spoilt

    def _hits(self, node: Node, iteration: int) -> bool:
        if self._iteration not in (None, iteration) or self._rank not in (None, self._here):
            return False
        return any(self._rule.matches(name) for name in _names(node))

    def _note(self, node: Node, iteration: int) -> None:
        assert self._session is not None
        text = f"{self._kind} in {node.name}, iteration {iteration}, rank {self._here}"
        if text not in self._session.struck:
            self._session.struck.append(text)
        if text not in self.struck:
            self.struck.append(text)

    def _never(self) -> str:
        where = "" if self._iteration is None else f" at iteration {self._iteration}"
        near = difflib.get_close_matches(self._rule.text, self._seen, n=3, cutoff=0) if self._seen else []
        ran = f"nearest of the {len(self._seen)} that ran: {', '.join(near)}" if near else "nothing ran"
        return f"the fault was never injected: no operator {self._rule.text!r} ran{where}; {ran}"


def inject(
    operator: str,
    kind: Kind = "error",
    *,
    iteration: int | None = None,
    rank: int | None = None,
    message: str | None = None,
    session: Session | None = None,
) -> Injection:
    """Injects a fault into compiled graphs, inside a ``with`` block.

    Args:
        operator: as in the ``kernels`` list of a dump configuration: a full name (``Default/fc-Dense/MatMul-op0``), a
            type (``MatMul``), or ``name-regex(...)``. A fused kernel is also found by the names of its members.
        kind: ``error`` raises ``KernelError`` instead of running the kernel; ``memory`` raises it as for a failed
            allocation; ``nan``, ``inf``, ``-inf`` replace the first element of each floating result.
        iteration: number of the step, from 0, as in captures and dump trees; None for every step.
        rank: rank of the process to fail in; None for the current one. In other ranks nothing happens.
        message: text of the kernel's error, for ``error`` only.
        session: session to inject into; by default the current one when the block begins.

    Raises:
        SettingError: an argument has a value that is not accepted.
        SettingTypeError: an argument is of another type.
        InjectionError: the fault never struck (raised at the end of the block), or the operator has no result to spoil
            (raised in the run).

    Examples:
        >>> from harness import Tensor, float32, jit, ops
        >>> from harness.testing import inject
        >>> double = jit(lambda x: ops.add(x, x))
        >>> with inject("Add", "nan") as fault:
        ...     print(double(Tensor([1, 2, 3], float32)).asnumpy())
        [nan  4.  6.]
    """
    return Injection(operator, kind, iteration, rank, message, session)


def _check(operator: Any, kind: Any, iteration: Any, rank: Any, message: Any) -> None:
    if not isinstance(operator, str) or not operator.strip():
        raise SettingTypeError(f"inject: operator is a name, a type or name-regex(...), got {operator!r}")
    if kind not in KINDS:
        raise SettingError(f"inject: kind is one of {', '.join(KINDS)}, got {kind!r}")
    for name, value in (("iteration", iteration), ("rank", rank)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise SettingError(f"inject: {name} is None or an int of at least 0, got {value!r}")
    if message is not None and (not isinstance(message, str) or kind != "error"):
        raise SettingTypeError(f"inject: message is a text and goes with kind 'error', got {message!r} with {kind!r}")


def _names(node: Node) -> list[str]:
    fusion = node.extra.fusion
    members = [member.name for member in fusion.members] if isinstance(fusion, Fusion) else []
    return [node.name, *members]


def _outputs(node: Node) -> list[TensorSpec | None]:
    specs = node.spec.items if isinstance(node.spec, TupleSpec) else (node.spec,)
    return [spec if isinstance(spec, TensorSpec) else None for spec in specs]


def _unable(node: Node) -> str:
    """The text of numpy's error if memory for the first result is missing."""
    spec = next((spec for spec in _outputs(node) if spec is not None), None)
    if spec is None:
        return "Unable to allocate memory"
    shape = tuple(max(size, 0) for size in spec.shape)
    size = int(np.prod(shape, dtype=np.int64)) * spec.dtype.numpy.itemsize
    return f"Unable to allocate {size} bytes for an array with shape {shape} and data type {spec.dtype.numpy}"

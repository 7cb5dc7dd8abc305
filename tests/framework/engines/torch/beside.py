"""Every operator that runs is computed by PyTorch too, from the same arguments, and the results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.errors import KernelError
from harness.framework.engines.torch import TorchEngine
from harness.framework.ops import eager
from harness.framework.ops.base import Call, Operator
from harness.framework.ops.expansion import Composite
from harness.framework.runtime import launch

Array = np.ndarray[Any, Any]

#: how far results may be apart, by dtype: largest difference over largest value. Sums that cancel have errors of the
#: size of their terms: a tenth of the largest argument counts as a value, too.
LIMITS = {
    "Float64": 1e-10, "Float32": 1e-5, "Float16": 2.0**-9, "BFloat16": 2.0**-6, "Complex64": 1e-5, "Complex128": 1e-10,
}  # fmt: skip
_CANCELLED = 0.1


def name_of(array: Array) -> str:
    """MindSpore's name of an array's dtype."""
    return dtypes.from_numpy(array.dtype).name


def wide(array: Array) -> Array:
    """In float64 or complex128."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def largest(array: Array) -> float:
    """The largest finite size."""
    sizes = np.abs(wide(array))
    return float(sizes[np.isfinite(sizes)].max(initial=0))


def apart(own: Array, theirs: Array) -> float:
    """Largest difference; infinite where NaN or infinities stand elsewhere."""
    a, b = wide(own).ravel(), wide(theirs).ravel()
    finite = np.isfinite(a)
    if not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True):
        return float("inf")
    return float(np.abs(a[finite] - b[finite]).max(initial=0)) if np.isfinite(b[finite]).all() else float("inf")


@dataclass
class Beside:
    """What was compared.

    Attributes:
        engine: PyTorch.
        met: operators compared, with the largest error of each.
        dtypes: (operator, dtype of the first argument) compared.
        faults: what does not agree, one line each.
    """

    engine: TorchEngine = field(default_factory=TorchEngine)
    met: dict[str, float] = field(default_factory=dict)
    dtypes: set[tuple[str, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def compare(self, operator: Operator, call: Call, arguments: tuple[Any, ...], run: Callable[..., Any]) -> Any:
        """Runs both; gives the harness's own results."""
        if isinstance(operator, Composite):
            return run(operator, call, arguments)
        other = Call(call.op, call.inputs, call.values, call.attrs, call.out, dict(call.state))
        given = _copied(arguments)
        try:
            results = run(operator, call, arguments)
        except KernelError:
            with pytest.raises(KernelError):
                self.engine.execute(operator, other, given, False)
            raise
        words = f"{operator.name}({', '.join(map(_word, given))}) {dict(call.attrs)}"
        try:
            theirs = self.engine.host(self.engine.execute(operator, other, given, False))
        except KernelError as failed:
            self.faults.append(f"{words}: {failed}")
            return results
        floats = [a for a in _arrays(arguments) if name_of(a) in LIMITS]
        self.dtypes |= {(operator.name, name_of(a)) for a in _arrays(arguments)[:1]}
        size = max(map(largest, floats), default=0.0) * _CANCELLED
        limit = max((LIMITS[name_of(a)] for a in floats), default=0.0)
        updated = [(arguments[at], given[at]) for at in operator.mutates]
        for own, found in [*zip(results, theirs, strict=True), *updated]:
            self._one(operator.name, words, own, found, size, limit)
        return results

    def _one(self, op: str, words: str, own: Array, found: Array, size: float, limit: float) -> None:
        if own.dtype != found.dtype or own.shape != found.shape:
            self.faults.append(f"{words}: {own.dtype}{own.shape}, PyTorch {found.dtype}{found.shape}")
            return
        difference = apart(own, found)
        error = difference / max(largest(own), size, 1e-30) if difference else 0.0
        self.met[op] = max(self.met.get(op, 0.0), error)
        limit = max(limit, LIMITS[name_of(own)]) if name_of(own) in LIMITS else 0.0
        if error > limit:
            self.faults.append(f"{words}: {name_of(own)} error {error:.1e}\n    {own}\n    {found}"[:400])


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _arrays(values: Any) -> list[Array]:
    found: list[Array] = []
    for value in values:
        if isinstance(value, tuple):
            found += _arrays(value)
        elif isinstance(value, np.ndarray):
            found.append(value)
    return found


def _word(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{name_of(value)}{list(value.shape)}"
    return f"({', '.join(map(_word, value))})" if isinstance(value, tuple) else repr(value)


@contextmanager
def beside() -> Iterator[Beside]:
    """Everything the harness's kernels compute in the block is compared."""
    found, run = Beside(), eager.execute

    def execute(operator: Operator, call: Call, arguments: tuple[Any, ...]) -> Any:
        return found.compare(operator, call, arguments, run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eager, "execute", execute)
        patch.setattr(launch, "execute", execute)
        yield found

"""The engine: runs PyTorch's kernel of an operator, or the harness's own if there is none, and records which.

Values between kernels are tensors of the device. Arrays of the harness (parameters, data, constants) are converted when
first used: on a CPU they share memory, on another device they become a copy that is valid for one step. An update in
place changes that copy; the array follows when somebody reads it, at the latest at the end of the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from harness.dtypes import DType
from harness.errors import KernelError
from harness.framework.engines.torch.base import KERNELS, Kernel, NoKernel
from harness.framework.engines.torch.kernels.making import Here
from harness.framework.engines.torch.values import as_array, as_signed, finished, taken, widened
from harness.framework.ops.base import Call, Operator
from harness.framework.ops.eager import execute as execute_in_numpy
from harness.framework.ops.eager import failure
from harness.graph import Spec, TensorSpec, TupleSpec

Tensor = Any


class TorchEngine:
    """See ``runtime.engine.Engine``.

    Args:
        device: PyTorch's name of a device: ``cpu``, ``cuda``, ``cuda:1``.

    Attributes:
        device: the device.
        is_host: its memory is that of arrays.
        by_numpy: operators that the harness's own kernels computed so far, with a dtype if only that one did.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.device = torch.device(device)
        self.by_numpy: set[str] = set()
        self.is_host = self.device.type == "cpu"
        #: copies of arrays on the device: id of the array -> array, copy
        self._copies: dict[int, tuple[Any, Tensor]] = {}
        self._stale: set[int] = set()

    # --- values ---

    def put(self, value: Any) -> Any:
        """Converts an array to a tensor of the device; tuples member by member, everything else stays."""
        if isinstance(value, tuple):
            return tuple(map(self.put, value))
        if not isinstance(value, np.ndarray):
            return value
        if self.is_host:
            return taken(value)
        known = self._copies.get(id(value))
        if known is None:
            known = self._copies[id(value)] = (value, self.carried(value))
        return known[1]

    def host(self, value: Any) -> Any:
        """Converts a tensor to an array; an array is given with its current content; tuples member by member."""
        if isinstance(value, tuple):
            return tuple(map(self.host, value))
        if isinstance(value, np.ndarray):
            if id(value) in self._stale:
                self._follow(id(value))
            return value
        return self.fetched(value) if isinstance(value, torch.Tensor) else value

    def carried(self, array: Any) -> Tensor:
        """An array as a tensor of the device."""
        return taken(array).to(self.device)

    def fetched(self, tensor: Tensor) -> Any:
        """A tensor of the device as an array."""
        return as_array(tensor)

    def copied(self, value: Any) -> Any:
        """A value that later kernels cannot change."""
        if isinstance(value, tuple):
            return tuple(map(self.copied, value))
        if isinstance(value, np.ndarray):
            return self.put(self.host(value)).clone()
        return value.clone() if isinstance(value, torch.Tensor) else value

    def replaced(self, value: Tensor, array: Any, in_place: bool) -> Tensor:
        """A kernel's result after ``array`` replaced it; with ``in_place``, in the same memory."""
        return value.copy_(taken(array)) if in_place else self.carried(array)

    def finish(self) -> None:
        """Ends a step: every array receives the content of its copy on the device."""
        for known in list(self._stale):
            self._follow(known)
        self._copies.clear()

    def _follow(self, known: int) -> None:
        array, tensor = self._copies[known]
        array[...] = self.fetched(tensor)
        self._stale.discard(known)

    # --- kernels ---

    def execute(self, operator: Operator, call: Call, arguments: tuple[Any, ...], apart: bool) -> tuple[Tensor, ...]:
        """Computes an operator's results.

        Args:
            operator: whose kernel.
            call: specs, attributes, dtypes of the results.
            arguments: values: arrays, tensors, numbers, tuples.
            apart: results must not share memory with arguments.

        Raises:
            KernelError: no kernel can compute it.
        """
        kernel = KERNELS.get(operator.name) if operator.name in KERNELS else None
        if kernel is None:
            return self._by_numpy(operator, call, arguments, operator.name)
        tensors = self.put(arguments)
        Here.device = self.device
        try:
            with torch.no_grad():
                results = self._results(operator, call, kernel, tensors)
        except NoKernel as none:
            return self._by_numpy(operator, call, arguments, f"{operator.name} ({none.what})")
        except KernelError:
            raise
        except Exception as error:
            why = _lack(error)
            if why is None or operator.mutates:
                raise failure(operator.name, error) from error
            return self._by_numpy(operator, call, arguments, f"{operator.name} ({why})")
        if operator.mutates and not self.is_host:
            self._stale |= {id(arguments[at]) for at in operator.mutates} & self._copies.keys()
        if apart:
            memory = {_memory(t) for t in _flat(tensors)}
            results = tuple(r.clone() if _memory(r) in memory else r for r in results)
        return results

    def _results(self, operator: Operator, call: Call, kernel: Kernel, tensors: Any) -> tuple[Tensor, ...]:
        alike = kernel.wraps and {t.dtype for t in _flat(tensors)} == {torch.uint64}
        ready = tuple(
            _signed(t) if kernel.moves or alike else t if at in operator.mutates else _widened(t, kernel.wide)
            for at, t in enumerate(tensors)
        )
        result = kernel.function(call, *ready)
        parts = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        specs = call.out.items if isinstance(call.out, TupleSpec) else (call.out,)
        if len(parts) != len(specs):
            raise KernelError(
                f"PyTorch's kernel of {operator.name} gave {len(parts)} results, its shape rule says {len(specs)}"
            )
        return tuple(_finished(operator.name, p, s) for p, s in zip(parts, specs, strict=True))

    def _by_numpy(self, operator: Operator, call: Call, arguments: Any, name: str) -> tuple[Tensor, ...]:
        """Runs the harness's own kernel; its updates in place are copied to the device."""
        self.by_numpy.add(name)
        arrays = self.host(arguments)
        results = execute_in_numpy(operator, call, arrays)
        for at in operator.mutates:
            if isinstance(arguments[at], torch.Tensor):
                arguments[at].copy_(taken(arrays[at]))
            else:
                self._copies.pop(id(arguments[at]), None)
        if self.is_host:
            return tuple(map(taken, results))
        updated = {id(arrays[at]): arguments[at] for at in operator.mutates}
        return tuple(self.put(updated[id(r)]) if id(r) in updated else self.carried(r) for r in results)


def _lack(error: Exception) -> str | None:
    """The missing kernel that PyTorch's error names, in a word or two; None for another error."""
    text = str(error)
    if "does not have a deterministic implementation" in text:
        return "a deterministic one"
    if isinstance(error, NotImplementedError) or "not implemented for" in text:
        return (
            text.rpartition("not implemented for ")[2].strip(" '\".") if "not implemented for" in text else "this dtype"
        )
    return None


def _flat(values: Any) -> list[Tensor]:
    found = []
    for value in values:
        if isinstance(value, tuple):
            found += _flat(value)
        elif isinstance(value, torch.Tensor):
            found.append(value)
    return found


def _memory(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _signed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_signed, value))
    return as_signed(value) if isinstance(value, torch.Tensor) else value


def _widened(value: Any, halves: bool) -> Any:
    if isinstance(value, tuple):
        return tuple(_widened(v, halves) for v in value)
    return widened(value, halves) if isinstance(value, torch.Tensor) else value


def _finished(name: str, value: Tensor, spec: Spec | None) -> Tensor:
    """A result in the dtype the graph shows; ``KernelError`` if its shape is not the graph's."""
    if not isinstance(spec, TensorSpec):
        return value
    dtype: DType = spec.dtype
    tensor = finished(value, dtype)
    shape = tuple(tensor.shape)
    if shape != spec.shape and -1 not in spec.shape:
        raise KernelError(
            f"PyTorch's kernel of {name} gave a result of shape {list(shape)}, its shape rule says {list(spec.shape)}"
        )
    return tensor

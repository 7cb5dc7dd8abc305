"""Watches the calls of cells and functions in PyNative mode, and notes them as msprobe's levels L0, L1 and mix do.

Source: mindstudio-probe 26.2.0 beside MindSpore 2.10.0 on a CPU (``tests/interop/test_msprobe_calls.py``). A cell is
``Cell.{path}.{class}.forward.{n}``, a function ``Functional.{name}.{n}.forward``, a method
``Tensor.{name}.{n}.forward``, a primitive that a cell of the network holds
``Primitive.{attribute}.{class}.{n}.forward``; what a function calls itself is not seen.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.debugger.config import CallConfig
from harness.debugger.entries import taken
from harness.debugger.scope import CallScope
from harness.debugger.step import PARAMETERS_GRAD, CallStep
from harness.framework.nn import Cell
from harness.framework.nn.watching import at_the_end, on_gradients
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Tensor, is_eager

_KINDS = {"ops": "Functional", "Tensor": "Tensor", "mint": "Mint", "mint.nn.functional": "MintFunctional"}
#: functions that are seen under another name
_OTHER_NAMES = {"Tensor.astype": "Tensor.to"}
#: functions that change a parameter, which must reach them as it is
_UPDATES = ("ops.assign", "ops.scatter_", "ops.index_add", "ops.inplace_", "Tensor.__setitem__", "Tensor.__i")


@functools.cache
def _functions() -> dict[str, str]:
    """The first part of an entry's name, by the key of a function (``ops.softmax``)."""
    lists = json.loads((Path(__file__).parent / "apis.json").read_text(encoding="utf-8"))
    return {f"{kind}.{name}": _KINDS[kind] for kind, names in lists.items() for name in names.split()}


class Calls:
    """The watcher of one process; ``step`` holds what it saw since ``reset``."""

    def __init__(self, config: CallConfig) -> None:
        self.step = CallStep()
        self.running = False
        self._config = config
        self._scope = CallScope(config)
        self._cells: dict[int, str] = {}
        self._kept: list[Any] = []
        self._counts: Counter[str] = Counter()
        self._stack: list[str] = []
        self._busy = False

    def mount(self, model: Any) -> None:
        """Watches the cells below ``model`` (a cell, or several), and the primitives that they hold."""
        several = isinstance(model, (list, tuple))
        for at, each in enumerate(model if several else (model,)):
            for name, cell in each.cells_and_names():
                if self._config.level != "L0":
                    for attribute, primitive in list(vars(cell).items()):
                        if isinstance(primitive, Primitive):
                            self._mount_primitive(attribute, primitive)
                if cell is not each and self._config.level != "L1" and id(cell) not in self._cells:
                    path = f"{at}.{name}" if several else name
                    self._cells[id(cell)] = f"Cell.{path}.{type(cell).__name__}."
                    self._kept.append(cell)

    def _mount_primitive(self, attribute: str, primitive: Primitive) -> None:
        kind = type(primitive)
        if hasattr(kind, "_watched"):
            return

        def called(this: Any, *args: Any, **kwargs: Any) -> Any:
            run = functools.partial(kind.__call__, this)
            return self._primitive(f"Primitive.{attribute}.{kind.__name__}", run, args, kwargs)

        primitive.__class__ = type(kind.__name__, (kind,), {"__call__": called, "_watched": True})

    def reset(self) -> None:
        """Begins a step: numbers start again."""
        self.step = CallStep()
        self._counts.clear()
        self._stack.clear()

    # --- watcher ----------------------------------------------------------------------------------------------------

    def watches(self, thing: Any) -> bool:
        """See ``Watcher``."""
        if not self.running or self._busy:
            return False
        if isinstance(thing, Cell):
            return id(thing) in self._cells
        return self._config.level != "L0" and thing in _functions()

    def state(self) -> Any:
        """See ``Watcher``."""
        return self.step.copy(), Counter(self._counts), list(self._stack)

    def restore(self, state: Any) -> None:
        """See ``Watcher``."""
        step, counts, stack = state
        self.step, self._counts, self._stack = step.copy(), Counter(counts), list(stack)
        self._busy = False

    def function(self, key: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """See ``Watcher``."""
        key = _OTHER_NAMES.get(key, key)
        prefix = f"{_functions()[key]}.{key.rpartition('.')[2]}"
        name = f"{prefix}.{self._counts[prefix]}"
        self._begin(f"{name}.forward", args, kwargs)
        backward = f"{name}.backward"
        given: list[Any] = []
        hooked = False
        if not key.startswith(_UPDATES):
            args, hooked = on_gradients(
                function, args, lambda grads: self._backward(backward, given, grads) if given else None
            )
        self._busy = True
        try:
            result = function(*args, **kwargs)
        finally:
            self._busy = False
        self._counts[prefix] += 1
        self._end(f"{name}.forward", result)

        def told(grads: tuple[Any, ...]) -> None:
            given[:] = grads
            if not hooked:
                self._backward(backward, given, ())

        return self._on_result(function, result, told)

    def _primitive(
        self, prefix: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        number = self._counts[prefix]
        self._counts[prefix] += 1
        if not self.running or self._busy or not is_eager():
            return function(*args, **kwargs)
        entry, backward = f"{prefix}.{number}.forward", f"{prefix}.{number}.backward"
        self._begin(entry, args, kwargs)
        inputs: dict[int, Any] = {}
        outputs: dict[int, Any] = {}

        def told(held: dict[int, Any], field: str, at: int, grads: tuple[Any, ...]) -> None:
            held[at] = self._taken(grads[0])
            members = [held[place] for place in sorted(held, reverse=field == "output")]
            self._note(backward, **{field: members})

        watched = []
        for at, arg in enumerate(args):
            one, _ = on_gradients(function, (arg,), functools.partial(told, inputs, "output", at))
            watched.append(one[0])
        self._busy = True
        try:
            result = function(*watched, **kwargs)
        finally:
            self._busy = False
        self._end(entry, result)
        members = result if isinstance(result, tuple) else (result,)
        passed = [
            on_gradients(function, (member,), functools.partial(told, outputs, "input", at))[0][0]
            for at, member in enumerate(members)
        ]
        return tuple(passed) if isinstance(result, tuple) else passed[0]

    def cell(self, cell: Any, construct: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """See ``Watcher``."""
        prefix = self._cells[id(cell)]
        number = self._counts[prefix]
        self._counts[prefix] += 1
        forward, backward = f"{prefix}forward.{number}", f"{prefix}backward.{number}"
        self._enter(forward)
        self._begin(forward, args, kwargs)
        given: list[Any] = []

        def answered(grads: tuple[Any, ...]) -> None:
            if given:
                self._backward(backward, given, grads)
                self._leave(backward)
                given.clear()

        args, hooked = on_gradients(cell, args, answered)
        try:
            result = construct(args, kwargs)
        except BaseException:
            self._leave(forward)
            raise
        self._leave(forward)
        own = {name.rpartition(".")[2]: value for name, value in cell.parameters_dict(recurse=False).items()}
        self._end(forward, result, parameters=own)
        self._watch_parameters(prefix.removesuffix("."), own)

        def told(grads: tuple[Any, ...]) -> None:
            self._enter(backward)
            given[:] = grads
            if hooked:
                at_the_end(lambda: answered((None,)))
            else:
                answered(())

        return self._on_result(cell, result, told)

    # --- parts ------------------------------------------------------------------------------------------------------

    def _on_result(self, owner: Any, result: Any, told: Callable[[tuple[Any, ...]], None]) -> Any:
        if isinstance(result, Tensor):
            return on_gradients(owner, (result,), told)[0][0]
        if isinstance(result, tuple) and result and all(isinstance(member, Tensor) for member in result):
            return on_gradients(owner, result, told)[0]
        return result

    def _watch_parameters(self, cell: str, own: dict[str, Any]) -> None:
        if "backward" not in self._config.modes:
            return
        entry = f"{cell}.{PARAMETERS_GRAD}.0"
        for name, parameter in own.items():
            key = ("msprobe", entry)
            if parameter.requires_grad:
                told = functools.partial(self._parameter_gradient, entry, name)
                parameter.__dict__.setdefault("_grad_hooks", {})[key] = told

    def _parameter_gradient(self, entry: str, name: str, grad: Any) -> None:
        if self.running and is_eager() and self._scope.wants(entry):
            self.step.data.setdefault(entry, {})[name] = self._taken(grad)

    def _enter(self, entry: str) -> None:
        self.step.parents[entry] = self._stack[-1] if self._stack else None
        self._stack.append(entry)
        self._scope.begin_cell(entry)

    def _leave(self, _entry: str) -> None:
        if self._stack:
            self._scope.end_cell(self._stack.pop())

    def _begin(self, entry: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        if not self._scope.wants(entry):
            return
        if self._config.modes >= {"forward", "input"}:
            self.step.add(entry, input_args=self._taken(list(args), True), input_kwargs=self._taken(kwargs, True))
        self.step.note_stack(entry)

    def _end(self, entry: str, result: Any, **more: Any) -> None:
        self._place(entry)
        if not self._scope.wants(entry) or not self._config.modes >= {"forward", "output"}:
            return
        members = () if result is None else result if isinstance(result, tuple) else (result,)
        self.step.add(entry, output=self._taken(list(members)), **{key: self._taken(one) for key, one in more.items()})

    def _backward(self, entry: str, given: Sequence[Any], grads: Sequence[Any]) -> None:
        self._note(entry, input=self._taken(list(given)), output=self._taken(list(grads)))

    def _note(self, entry: str, **parts: Any) -> None:
        """Notes gradients that came: ``input`` are those of a call's results, ``output`` those of its arguments."""
        self._place(entry)
        wanted = {field: part for field, part in parts.items() if self._config.modes >= {"backward", field}}
        if wanted and self._scope.wants(entry):
            self.step.add(entry, **wanted)

    def _place(self, entry: str) -> None:
        if self._config.level == "mix" and not entry.startswith("Cell."):
            self.step.parents[entry] = self._stack[-1] if self._stack else None

    def _taken(self, value: Any, before: bool = False) -> Any:
        self._busy, busy = True, self._busy
        try:
            return taken(value, before)
        finally:
            self._busy = busy


def ordered(step: CallStep) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries of a step, those of parameters' gradients before the gradient of their cell, where msprobe has
    them."""
    grads = {entry: parts for entry, parts in step.data.items() if f".{PARAMETERS_GRAD}." in entry}
    for entry, parts in step.data.items():
        if entry in grads:
            continue
        own = f"{entry.rpartition('.backward.')[0]}.{PARAMETERS_GRAD}.0"
        if ".backward." in entry and own in grads:
            yield own, grads.pop(own)
        yield entry, parts
    yield from grads.items()

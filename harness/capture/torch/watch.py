"""The capture of a PyTorch module's training steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch

from harness.capture.capture import Capture, Problem
from harness.capture.torch.boundaries import Boundaries
from harness.capture.torch.declarations import Declarations
from harness.capture.torch.grafting import Grafts
from harness.capture.torch.hooking import Hooks, compiled, hook, unwatched
from harness.capture.torch.lines import Lines
from harness.capture.torch.origins import Origins
from harness.capture.torch.parts import parts
from harness.capture.torch.recorder import GRAPH, StepRecorder
from harness.capture.torch.returned import arguments
from harness.capture.torch.scopes import ROOT, Scopes, scopes_of
from harness.capture.torch.selection import Selection
from harness.capture.torch.settings import compiled_modules, settings
from harness.capture.torch.values import Keeper
from harness.errors import SettingError, SettingTypeError, TraceError
from harness.records import Record

MODES = ("tensor", "statistic")
GRANULARITIES = ("operators", "modules", "sentinel")
#: records a value and what it is
Returned = Callable[..., None]


def _state(tensor: Any) -> tuple[Any, Any]:
    """A tensor's identity and its number of writes; None where PyTorch does not count them."""
    try:
        return id(tensor), None if tensor is None else tensor._version
    except RuntimeError:
        return id(tensor), None


def _granularity(name: str) -> str:
    if name not in GRANULARITIES:
        raise SettingError(f"granularity: {name!r} is not known; known are {', '.join(GRANULARITIES)}")
    return name


def _nowhere(_value: Any, _what: str = "") -> None:
    """Records nothing."""


class TorchCapture:
    """Captures training steps of a module: forward, backward, optimizer, operator by operator.

    Operators are those PyTorch dispatches (ATen), named by the module they run in
    (``Default/layer1-Linear/addmm-op0``), their gradients (``Gradients/Default/layer1-Linear/mm-op0``) and the
    optimizer's (``Default/optimizer-Adam/addcdiv_-op0``), counted in each step. Operators outside all modules are
    in ``Default``. The module's parameters and buffers follow at the end of a step.

    Args:
        module: the module to capture; its submodules give the scopes.
        network: name of the capture's network; by default the module's class.
        mode: ``tensor`` keeps values; ``statistic`` keeps only statistics and digests.
        select: globs over scopes (see ``Selection``). Modules outside the selection run unwatched; if a gradient is
            selected, all operators of a backward are watched.
        rank: process rank.
        rootdir: source paths are given relative to it; the current directory by default.
        paths: scopes are the modules' paths as PyTorch writes them (``layer1.0.conv1/convolution-op0``).
        graph: label of the module's operators, for a capture that holds several.
        gradients: also record the parameters' ``grad`` at the end of a step (``head.weight.grad``).
        granularity: ``operators``; ``modules`` records what modules take and give (``layer1/forward-op0``) instead, so
            that what they are made of may change; ``sentinel`` keeps digests of the same and nothing else.
        grafts: the golden's tensors that the steps go on with in place of their own.

    Raises:
        SettingTypeError: ``module`` is not a module, or ``select`` is not a glob.
        SettingError: the mode or the granularity does not exist.

    Examples:
        >>> import torch
        >>> from harness.capture.torch import TorchCapture
        >>> model = torch.nn.Linear(3, 2)
        >>> optimizer, watch = torch.optim.SGD(model.parameters(), 0.1), TorchCapture(model)
        >>> with watch.step():
        ...     optimizer.zero_grad()
        ...     model(torch.ones(4, 3)).sum().backward()
        ...     optimizer.step()
        >>> capture = watch.capture()
        >>> [record.key.operator for record in capture.records() if record.op_type == "Parameter"]
        ['weight', 'bias']
    """

    def __init__(
        self,
        module: Any,
        *,
        network: str | None = None,
        mode: str = "tensor",
        select: str | Iterable[str] | None = None,
        rank: int = 0,
        rootdir: str | None = None,
        paths: bool = False,
        graph: int = GRAPH,
        gradients: bool = False,
        granularity: str = "operators",
        grafts: Grafts | None = None,
    ) -> None:
        if not isinstance(module, torch.nn.Module):
            raise SettingTypeError(f"module: a torch.nn.Module is captured, got {type(module).__name__}")
        if mode not in MODES:
            raise SettingError(f"mode: {mode!r} is not known for PyTorch; known are {', '.join(MODES)}")
        self._module = module
        self._network = network or type(module).__name__
        self._mode = mode
        self._selection = Selection(select)
        self._rank = rank
        self._paths = paths
        self._graph = graph
        self._gradients = gradients
        self._rootdir = os.path.abspath(rootdir or os.getcwd())
        self._granularity = _granularity(granularity)
        self._grafts = grafts
        self._keepers: dict[str, Keeper] = {}
        self._iteration = 0
        self._running = False
        self._rules: dict[str, Any] = {}
        self._records: list[Record] = []
        #: what ``_states`` gave at the end of the last step
        self._left_at: dict[str, Any] = {}
        self._order: tuple[str, ...] = ()
        self._declared = Declarations(graph, rank)
        self._problems, self._failed = list[Problem](), list[Record]()

    @contextmanager
    def step(self, results: bool = True, granularity: str | None = None) -> Iterator[Returned]:
        """One iteration; the first has label 0. An exception inside ends the step and is passed on; operators that ran
        before stay in the capture, and the next step has the next label.

        What the module returns is recorded wherever it is called. The block's value is a function that records another
        value, such as a loss: ``with watch.step() as returned: returned(value, "loss")``.

        Args:
            results: whether to record what the module returns, or only what that function is given.
            granularity: of this step, if it is another one than the capture's.

        Raises:
            TraceError: called inside another step.
            SettingError: the granularity does not exist.
        """
        if self._running:
            raise TraceError(f"iteration {self._iteration} has not ended; steps cannot be nested")
        chosen = self._granularity if granularity is None else _granularity(granularity)
        self._running = True
        try:
            if self._selection.nothing:
                yield _nowhere
            else:
                with self._recorded(results, chosen) as returned:
                    yield returned
        finally:
            self._running = False
            self._iteration += 1

    @contextmanager
    def _recorded(self, results: bool, granularity: str) -> Iterator[Returned]:
        modules = scopes_of(self._module, self._paths)
        owners: dict[int, str] = {}
        for module, scope in modules.items():
            for parameter in module.parameters(recurse=False):
                owners.setdefault(id(parameter), scope)
        inside = compiled(modules)
        followed = {module: scope for module, scope in modules.items() if module not in inside}
        scopes = Scopes(owners, followed if granularity == "operators" else None)
        where = self._rank, self._graph, self._iteration
        keeper, kind = self._keeper(granularity), Hooks if granularity == "operators" else Boundaries
        origins = self._origins(modules) if granularity == "operators" else None
        lines = Lines(self._rootdir)
        recorder = StepRecorder(where, scopes, self._selection, keeper, lines, self._grafts, origins)
        self._rules = self._rules or settings()
        try:
            hooks = kind(scopes, self._selection, recorder, modules)
            with hooks.attached(), self._results(hooks, results) as returned:
                yield returned
            recorder.join()
            if recorder.records:  # a step in which nothing ran leaves nothing
                if self._selection.has(ROOT):
                    recorder.modes(self._module)
                self._record_parameters(recorder, modules)
                recorder.placements()
            recorder.forget()
        except Exception as error:
            self._failed += recorder.given_to_failed(error)
            raise
        finally:
            recorder.join()
            keeper.flush()
            self._left_at = self._states() if self._gradients else {}
            self._records += recorder.records
            self._order = self._order or tuple(recorder.names)
            self._declared.add(self._iteration, recorder.ran, recorder.results)
            self._problems += recorder.problems.values()

    def _origins(self, modules: dict[Any, str]) -> Origins:
        """The origins of what a step reads, beginning with parameters and buffers."""
        made = Origins(self._selection.has(ROOT))
        for named in (self._module.named_parameters(), self._module.named_buffers()):
            for name, tensor in named:
                made.parameters[id(tensor)] = name
                with suppress(Exception):  # what has no memory yet is made in the step
                    for inner, part in parts(tensor):
                        made.known("parameter", f"{name}.{inner}" if inner else name, part)
                    if tensor.grad is not None:
                        made.known("argument", f"{name}.grad", tensor.grad)
        return made

    def _keeper(self, granularity: str) -> Keeper:
        """What fills records in; those of one granularity share equal arrays."""
        if granularity not in self._keepers:
            self._keepers[granularity] = Keeper(
                statistics=self._mode == "statistic", digests=granularity == "sentinel",
                versions=granularity != "operators",
            )  # fmt: skip
        return self._keepers[granularity]

    @contextmanager
    def _results(self, hooks: Hooks, results: bool) -> Iterator[Returned]:
        """Records what the module returns, each time it is called, and what the yielded function is given."""
        if not self._selection.has(ROOT):
            yield _nowhere
            return

        def returned(value: Any, what: str = "result") -> None:
            with unwatched():  # it reads with operators of its own
                hooks.recorder.returned(value, what)

        def called(_module: Any, _args: Any, output: Any) -> None:
            if results and not hooks.recorder.in_backward:
                returned(output)

        def given(module: Any, args: Any, kwargs: Any) -> None:
            with unwatched():
                hooks.recorder.outside("argument", arguments(module, args, kwargs))

        with ExitStack() as stack:
            with suppress(RuntimeError):  # TorchScript's have no hooks, and say so elsewhere
                after, before = hook(stack, called), hook(stack, given)
                stack.callback(self._module.register_forward_hook(after).remove)
                stack.callback(self._module.register_forward_pre_hook(before, with_kwargs=True).remove)
            yield returned

    def _record_parameters(self, recorder: StepRecorder, modules: dict[Any, str]) -> None:
        # A module that came in the middle of the step belongs to the nearest one above that was there.
        scopes: dict[str, str] = {}
        for path, module in self._module.named_modules():
            scopes[path] = modules.get(module) or scopes.get(path.rpartition(".")[0], ROOT)
        for name, parameter in self._module.named_parameters() if self._gradients else ():
            if parameter.grad is not None and self._selection.has(scopes[name.rpartition(".")[0]]):
                recorder.gradient(name, parameter.grad)
        for named in (self._module.named_parameters(), self._module.named_buffers()):
            for name, tensor in named:
                if self._selection.has(scopes[name.rpartition(".")[0]]):
                    recorder.parameter(name, tensor)

    def _states(self) -> dict[str, Any]:
        """What changes when a parameter or its gradient is written."""
        return {name: (*_state(each), *_state(each.grad)) for name, each in self._module.named_parameters()}

    def _afterwards(self) -> list[Record]:
        """Gradients that were computed and parameters that were written after the last step, as a step of their own:
        a backward outside would go by unseen."""
        if not self._gradients or not self._records or self._running:
            return []
        where, keeper = (self._rank, self._graph, self._iteration), self._keeper(self._granularity)
        recorder = StepRecorder(where, Scopes({}), self._selection, keeper, Lines(self._rootdir))
        now = self._states()
        for name, each in self._module.named_parameters():
            before = self._left_at.get(name)
            if before is None or before == now[name]:
                continue
            if each.grad is not None and before[2:] != now[name][2:]:
                recorder.gradient(name, each.grad)
            if before[:2] != now[name][:2]:
                recorder.parameter(name, each)
        recorder.forget()
        keeper.flush()
        return recorder.records

    def capture(self) -> Capture:
        """The capture of all steps so far. Its ``rules`` hold the ``settings`` at the first step, and name compiled
        modules."""
        rules = dict(self._rules or settings())
        if wrapped := compiled_modules(self._module):
            rules["compiled"] = wrapped
        operators, results = self._declared.made()
        return Capture(
            self._network, "torch", False, (*self._records, *self._afterwards()), self._mode, rules,
            execution_order={self._graph: self._order}, problems=list(self._problems), failed=tuple(self._failed),
            operators=operators, results=results, engine=f"PyTorch {torch.__version__}",
        )  # fmt: skip

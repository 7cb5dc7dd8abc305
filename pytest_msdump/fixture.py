"""The ``msdump`` fixture: runs networks on one backend in one dump mode, and keeps what they dump."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_msdump.options import GRANULARITIES, NOT_ASKED, SETTINGS
from pytest_msdump.variants import Variant, is_gate_test, marker_arguments, variants

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from harness.inspect import Report
    from harness.testing import Injection
    from pytest_msdump.gate_test import GateTest

_AT_RUN_TIME = (
    "asks for the fixture at run time, so that what it gives would be compared with nothing;\n"
    "  take the fixture as an argument, or mark the test @pytest.mark.msdump"
)
# pytest shows no frame of this module.
__tracebackhide__ = True


class Msdump:
    """What a test receives as ``msdump``. All its calls of ``run`` and ``train`` add to one capture.

    The capture is checked when the test function returns, so that a test's own assertions come first.

    Attributes:
        backend: the backend this test runs on: ``cpu``, ``ascend-o1``, ``torch``, ...
        mode: its dump mode, ``tensor`` or ``statistic``.

    Examples:
        A test. ``pytest --msdump-regen`` writes its golden, and ``pytest --msdump`` checks it:

            import numpy as np
            import pytest
            from harness import Tensor, float32, nn


            @pytest.mark.msdump
            def test_net(msdump):
                net = nn.Dense(3, 2, weight_init="ones")
                msdump.run(net, Tensor([[1, 2, 3]], float32))
                loss, optimizer = nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)
                msdump.train(net, loss, optimizer, [(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))])
                msdump.check("mean", net.weight.asnumpy().mean())
    """

    backend: str
    mode: str

    def __init__(self, test: GateTest) -> None:
        self._test = test
        self.backend = test.variant.backend
        self.mode = test.variant.mode

    def __repr__(self) -> str:
        return f"<msdump {self.backend}-{self.mode}>"

    def run(
        self, network: Callable[..., Any], *inputs: Any, steps: int = 1, granularity: str | None = None,
        ranks: int | None = None, replicated: str | Sequence[str] = (), gaps: str | Sequence[str] | None = None,
        **named: Any,
    ) -> Any:  # fmt: skip
        """Calls ``network(*inputs, **named)`` ``steps`` times with everything dumped.

        Args:
            network: a cell, or any function that calls cells (or functions under ``jit``). In PyNative mode operators
                that are called one by one, and gradients, are captured, too; in graph mode what runs outside of graphs
                is not. On backend ``torch`` also a PyTorch module, a method of one
                (``model.generate``), or any function that computes with PyTorch.
            inputs, named: its arguments, the same in every step; numpy arrays and numbers become tensors, unless the
                backend compiles nothing and takes them as they are.
            steps: how many times to call it, at least 1.
            granularity: for PyTorch, what is captured here: ``operators``; ``modules``, what modules take and give;
                ``sentinel``, digests of these. None for the test's own.
            ranks: calls it in so many processes, each a rank that communicates with the others; all become one run of
                the golden. A PyTorch function that uses ``msdump`` itself (``msdump.train`` in it) says itself what is
                captured. A test of cells that has ranks runs nothing else.
            replicated: names of parameters, or ``OPERATOR:SLOT``, ``*`` for any text, that must be equal on all ranks;
                held without a golden too.
            gaps: patterns of slots that may stay uncompared because they cannot be read: ``OPERATOR`` or
                ``OPERATOR:output.0``; they count for the whole test.

        Returns:
            The result of the last call; with ``ranks`` a list of each rank's (of PyTorch its tensors).

        Raises:
            ValueError: ``steps`` is not a positive int, or the granularity is unknown or given for cells.
            TypeError: ``network`` cannot be called, or is a class.
            CollectiveError: a rank failed, ended early or waits for ever; the message names it.
            RankError: a rank failed, or had not ended in time; all were ended.
        """
        self._test.replicated += _patterns(replicated)
        _refuse_uncalled(network, steps)
        self._test.name_gaps(gaps)
        if "torch" in sys.modules:
            from pytest_msdump import torch_sections

            if torch_sections.runs(self._test, network, inputs, named, several=ranks is not None):
                how = steps, _granularity("msdump.run", granularity)
                if ranks is not None:
                    return torch_sections.on_ranks(self._test, network, inputs, named, how, ranks)
                return self._test.execute(torch_sections.run(self._test, network, inputs, named, *how))

        _granularity("msdump.run", granularity, False)
        from pytest_msdump.sections import as_inputs

        convert = as_inputs if self._test.converts else tuple
        given, by_name = convert(inputs), dict(zip(named, convert(tuple(named.values())), strict=True))

        def program() -> Any:
            output = None
            for _ in range(steps):
                output = network(*given, **by_name)
                self._test.process.stepped()
            return output

        return self._test.execute(program) if ranks is None else self._test.on_ranks(ranks, program)

    def train(
        self, network: Any, loss: Any, optimizer: Any, batches: Iterable[Any], *, epochs: int = 1,
        callbacks: Any = None, metrics: Any = None, granularity: str | None = None,
        gaps: str | Sequence[str] | None = None, **how: Any,
    ) -> list[Any]:  # fmt: skip
        """Trains ``network`` one step per batch with everything dumped.

        With ``epochs``, ``callbacks`` or ``metrics`` this runs ``Model.fit``. The gate then also checks the loss of
        each step, each epoch's metrics and a digest of its checkpoint, and the printed output.

        Args:
            network: the cell to train, or a PyTorch module on backend ``torch``.
            loss: a loss cell (a callable), called with the network's output and the label. For a PyTorch module that
                gives the loss itself (``output.loss``), None.
            optimizer: an optimizer for the network's parameters.
            batches: pairs of data and label; numpy arrays become tensors. For a PyTorch module also dicts: what its
                ``forward`` takes is given by name, the rest is the label.
            epochs: how many times to go through the batches.
            callbacks: one callback or several.
            metrics: metrics as ``Model`` takes them, evaluated on the same batches after each epoch.
            granularity, gaps: see ``run``.
            how: for a PyTorch module: ``scheduler``, one or several that step after the optimizer; ``clip``, the
                largest norm of the gradients, or a function of the parameters; ``scaler``, a ``GradScaler``;
                ``accumulate``, how many batches' gradients are added up for one step of the optimizer.

        Returns:
            The losses, one per step, as the steps returned them.

        Raises:
            ValueError: there is no batch.
            TypeError: a batch is not a pair; or the network, the loss or the optimizer is a class.
        """
        self._test.name_gaps(gaps)
        torchs = "torch" in sys.modules and _trains_torch(network)
        given: list[Any] = [batch if torchs and isinstance(batch, Mapping) else _pair(batch) for batch in batches]
        if not given:
            raise ValueError("msdump.train: at least one batch is needed, got none")
        finely = _refuse_unknown(how, torchs, granularity)
        plain = epochs == 1 and callbacks is None and metrics is None
        _refuse_classes("msdump.train", network, loss, optimizer)
        if not callable(loss) and (loss is not None or (plain and not torchs)):
            raise TypeError(f"msdump.train: the loss is a cell or a function, got {type(loss).__name__}")
        if torchs and not plain:
            raise ValueError("msdump.train: epochs, callbacks and metrics are for cells, not PyTorch modules")
        if torchs:
            from pytest_msdump import torch_sections

            return self._test.execute(torch_sections.train(self._test, network, loss, optimizer, given, how, finely))

        from pytest_msdump.sections import as_inputs, fit_model, train_step

        given = [as_inputs(tuple(batch)) for batch in given]

        def program() -> list[Any]:
            if not plain:
                return fit_model(self._test, network, loss, optimizer, given, epochs, callbacks, metrics)
            step = train_step(network, loss, optimizer)
            return [step(*batch) for batch in given]

        return self._test.execute(program)

    def watch(
        self, module: Any, optimizer: Any = None, *, granularity: str | None = None,
        gaps: str | Sequence[str] | None = None,
    ) -> AbstractContextManager[Callable[..., None]]:  # fmt: skip
        """Captures PyTorch inside a ``with`` block, such as a training loop of one's own.

        Args:
            module: the module whose parts name the operators.
            optimizer: each of its steps ends a step of the capture; without one, the block is one step.
            granularity, gaps: see ``run``.

        Returns:
            A context whose value is a function that also records a value: ``watched(loss, "loss")``.

        Raises:
            TypeError: ``module`` is not a PyTorch module.
        """
        if "torch" not in sys.modules or not _trains_torch(module):
            raise TypeError(f"msdump.watch: a PyTorch module is accepted, got {type(module).__name__}")
        from pytest_msdump import torch_sections

        self._test.name_gaps(gaps)
        return torch_sections.watched(self._test, module, optimizer, _granularity("msdump.watch", granularity))

    def check(self, name: str, value: Any) -> None:
        """Compares a value with the one the golden keeps under ``name``. Dtype and shape must be equal; numbers must
        agree within the test's tolerance, by default that of their dtype.

        Args:
            name: the value's name in the golden and in failure texts; a test may use it once.
            value: an array of numpy or ml_dtypes, a tensor of PyTorch or MindSpore, anything with ``__array__`` or
                DLPack, a number, a text; or dicts, lists, tuples, sets and dataclasses of these, whose parts are named
                ``name.key`` and ``name[0]``. None stands for an empty part. Later changes of the value have no effect.

        Raises:
            SettingTypeError: the value is of another kind, or a store cannot keep its dtype.
            SettingError: ``name`` is already used or is not a valid name, or ``value`` holds nothing.
        """
        self._test.take(name, value, _caller(self._test.settings.root))

    def restart(
        self, build: Callable[[], tuple[Callable[..., Any], Sequence[Any]]], batches: Iterable[Any], *, at: int
    ) -> list[Any]:
        """Trains twice: without a break, and restarted from a checkpoint after step ``at``. Fails unless what the
        steps return, and the state at the end, have the same bits, and says what breaks it. The values of the steps
        from ``at`` on are also compared with the golden.

        Args:
            build: makes a new training. It gives a function for one step, which is called with a batch (a tuple's
                items one by one), and the parts whose state a checkpoint holds: objects with ``state_dict`` and
                ``load_state_dict``, or cells.
            batches: one for each step.
            at: steps before the checkpoint; at least 1, and fewer than there are.

        Returns:
            What each step from ``at`` on gave, without a break, as named parts.

        Raises:
            ValueError: ``at`` is not such a number.
            SettingTypeError: ``build`` gives something else.
        """
        given = list(batches)
        if isinstance(at, bool) or not isinstance(at, int) or not 0 < at < len(given):
            raise ValueError(f"msdump.restart: at is a number of steps from 1 to {len(given) - 1}, got {at!r}")
        from pytest_msdump import restarting

        with restarting.untouched():
            whole, broken = restarting.compared(build, given, at)
        if broken:
            pytest.fail(f"msdump.restart: restarted after step {at}, the training goes on otherwise: {broken}", False)
        found = [dict(whole.values[number]) for number in range(at, len(given))]
        self.check(f"restart after {at}", found)
        return found

    def healthy(
        self,
        rules: Iterable[str] | None = None,
        off: Iterable[str] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """Looks at what this test ran so far, without a golden: overflow, explosion, dead units and more. Fails if
        something is wrong.

        Args:
            rules: names, globs or groups of rules; None asks the default ones. ``msdump inspect --list`` lists them.
            off: names or globs of rules that are not asked.
            settings: parameters of rules, ``{"dead-units.share": 0.5}``.

        Returns:
            The report, with its notes.

        Raises:
            HarnessError: a rule or a parameter does not exist.
        """
        from pytest_msdump import health

        report = health.looked_at(self._test, rules, off, settings)
        if report.errors:
            pytest.fail(health.told(self._test, report), pytrace=False)
        return report

    def golden(self, name: str) -> Any:
        """The value that the test's golden keeps, for a test of your own beside the comparison.

        Args:
            name: as given to ``check`` (``state.hidden`` for a part), or ``OPERATOR:output.0`` of the first iteration.

        Returns:
            A numpy array of the value's shape and dtype, a text, or None if there is no golden yet (while it is made).

        Raises:
            SettingError: the golden has nothing of that name, or keeps digests only.
            StoreError: the golden cannot be read.
        """
        from harness.gate.stores import value_of

        return value_of(self._test.store, self._test.run, name)

    def inject(
        self,
        operator: str,
        kind: str = "error",
        *,
        iteration: int | None = None,
        rank: int | None = None,
        message: str | None = None,
    ) -> AbstractContextManager[Injection]:
        """Makes an operator fail on purpose inside the ``with`` block; the capture records the fault.

        Args:
            operator: full name, type or ``name-regex(...)``, as in the ``kernels`` list of a dump configuration.
            kind: ``error``, ``memory``, ``nan``, ``inf`` or ``-inf``.
            iteration: number of the step, from 0; None for every step.
            rank: rank of the process to fail in; None for the current one.
            message: text of the kernel's error, for ``error`` only.

        Raises:
            HarnessError: see ``harness.testing.inject``; also raised if the backend runs programs in another process.
        """
        from pytest_msdump.sections import injection

        return injection(self._test.process, operator, kind=kind, iteration=iteration, rank=rank, message=message)


def _refuse_uncalled(network: Any, steps: Any) -> None:
    """Refuses what ``run`` cannot call."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"msdump.run: steps must be an int of at least 1, got {steps!r}")
    _refuse_classes("msdump.run", network)
    if not callable(network):
        raise TypeError(
            f"msdump.run: a cell, a module or a function is accepted, got {type(network).__name__}; "
            "msdump.run(network, x) calls it with x"
        )


def _patterns(given: Any) -> list[str]:
    patterns = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(each, str) and each for each in patterns):
        raise TypeError(f"msdump.run: replicated is a pattern or several, got {given!r}")
    return patterns


#: What else ``train`` takes for PyTorch modules.
_HOW = ("scheduler", "clip", "scaler", "accumulate")


def _trains_torch(network: Any) -> bool:
    from pytest_msdump.torch_uses import is_module

    return is_module(network)


def _refuse_unknown(how: Mapping[str, Any], torchs: bool, granularity: str | None) -> str | None:
    """Refuses arguments of ``train`` that are not known, or not for cells; gives the granularity."""
    for name in how:
        if name not in _HOW:
            hint = "; it makes one step a batch: [batch] * 3 makes three" if name in ("steps", "epochs") else ""
            raise TypeError(f"msdump.train() got an unexpected argument {name!r}; known are {', '.join(_HOW)}{hint}")
        if not torchs:
            raise ValueError(f"msdump.train: {name} is for PyTorch modules, not cells")
    by = how.get("accumulate", 1)
    if isinstance(by, bool) or not isinstance(by, int) or by < 1:
        raise ValueError(f"msdump.train: accumulate must be an int of at least 1, got {by!r}")
    return _granularity("msdump.train", granularity, torchs)


def _granularity(act: str, given: str | None, torchs: bool = True) -> str | None:
    if given is not None and not torchs:
        raise ValueError(f"{act}: granularity is for PyTorch modules, not cells")
    if given is not None and given not in GRANULARITIES:
        raise ValueError(f"{act}: granularity is {', '.join(GRANULARITIES[:-1])} or {GRANULARITIES[-1]}, got {given!r}")
    return given


def _refuse_classes(act: str, *given: Any) -> None:
    for each in given:
        if isinstance(each, type):
            raise TypeError(f"{act}: {each.__name__} is a class; give an instance, {each.__name__}(...)")


def _pair(batch: Any) -> tuple[Any, ...]:
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        shape = list(getattr(batch, "shape", ()))
        raise TypeError(
            f"msdump.train: each batch is a tuple (data, label), got {type(batch).__name__}{shape or ''}; "
            "a single batch is given as [(data, label)]"
        )
    return tuple(batch)


def _caller(root: Path) -> str | None:
    """``tests/test_net.py:17``, the line that called the fixture."""
    frame = sys._getframe(2)
    name, above = frame.f_code.co_filename, f"{root}{os.sep}"
    if os.sep == "/" and name.startswith(above) and "//" not in name and "/." not in name:
        return f"{name[len(above) :]}:{frame.f_lineno}"
    path = Path(name)
    return f"{path.relative_to(root).as_posix()}:{frame.f_lineno}" if path.is_relative_to(root) else None


@pytest.fixture
def msdump(request: pytest.FixtureRequest) -> Iterator[Msdump]:
    """Runs networks on one backend in one dump mode and checks what they dump against the test's golden."""
    config, item = request.config, request.node
    if not config.stash[SETTINGS].active:
        pytest.skip(NOT_ASKED)
    from pytest_msdump.session import begin

    if not is_gate_test(item):
        pytest.fail(f"msdump: {item.nodeid} {_AT_RUN_TIME}", pytrace=False)
    # A test that requests the fixture by name at run time gives it no parameter: the first variant is used.
    chosen = getattr(request, "param", None)
    if not isinstance(chosen, Variant):
        chosen = variants(config, marker_arguments(item))[0]
    with begin(item, chosen) as test:
        yield Msdump(test)

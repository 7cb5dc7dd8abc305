"""What every backend must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from harness import dtypes, numpy_state
from harness.backends import BACKENDS, Backend, Process
from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Party, judge
from harness.errors import HarnessError, UnsupportedError
from harness.records import Record
from harness.stats import digest
from harness.store import GoldenStore, RunData, RunId, update
from harness.testing.suites.base import Suite, expect, folder, refused


class BackendSuite(Suite):
    """Rules for a backend. Set ``backend``, and write ``program``.

    Attributes:
        backend: its name; it is found by it.
        mode: the dump mode in which programs are captured.
        tolerance: how far two runs of one program may be apart, as ``Tolerances.parse`` takes it.

    Examples:
        As a class in a test file, ``Test...``, or at once:

        >>> import numpy as np
        >>> from harness import Tensor, nn
        >>> from harness.testing import BackendSuite
        >>> class Cpu(BackendSuite):
        ...     backend = "cpu"
        ...     def program(self, seed=0):
        ...         net = nn.Dense(3, 2, weight_init="ones")
        ...         x = Tensor(np.random.default_rng(seed).standard_normal((4, 3)).astype(np.float32))
        ...         return lambda: net(x)
        >>> Cpu().broken()
        {}
    """

    backend: ClassVar[str] = ""
    mode: ClassVar[str] = "tensor"
    tolerance: ClassVar[Any] = "exact"

    def program(self, seed: int = 0) -> Callable[[], Any]:
        """A program that runs at least one operator; another seed gives other numbers, equal seeds the same.

        Args:
            seed: what its numbers are drawn from.
        """
        raise NotImplementedError

    def test_it_is_found_by_its_name(self) -> None:
        """The registry has it, under the name it calls itself."""
        expect(self.backend in BACKENDS, f"no backend is called {self.backend!r}")
        expect(self._backend.name == self.backend, f"{self.backend!r} calls itself {self._backend.name!r}")

    def test_it_says_whether_it_can_run(self) -> None:
        """``available`` gives None or one line; the suite needs a machine on which it can run."""
        told = self._backend.available()
        expect(told is None or (isinstance(told, str) and "\n" not in told), f"available() gives {told!r:.80}")
        expect(told is None, f"it cannot run here: {told}")

    def test_its_modes_are_those_it_does_not_refuse(self) -> None:
        """``refusal`` gives None for each of ``modes``; of a mode that nobody has, it says so or raises
        ``UnsupportedError``. ``open`` refuses that mode, too."""
        modes = self._backend.modes
        expect(self.mode in modes, f"mode {self.mode!r} is not one of {modes}")
        for mode in modes:
            why = self._backend.refusal(mode)
            expect(why is None, f"mode {mode!r} is one of its modes, and refused: {why}")
        try:
            why = self._backend.refusal("no-such-mode")
        except UnsupportedError:
            why = "refused"
        expect(isinstance(why, str) and why, "it does not refuse mode 'no-such-mode'")
        with refused(HarnessError, "mode 'no-such-mode'"):
            self._backend.run(self.program(), network="suite", mode="no-such-mode")

    def test_the_capture_says_what_it_is(self) -> None:
        """Backend, network, mode, and whether its numbers are emulated, as the backend says; nothing is lost."""
        found, _ = self._run()
        told = (found.backend, found.network, found.mode, found.emulated)
        wanted = (self.backend, "suite", self.mode, self._backend.emulated)
        expect(told == wanted, f"the capture says {told}, the backend {wanted}")
        expect(not found.lost, f"the capture lost something: {found.lost[:1]}")

    def test_each_slot_is_there_once_and_is_what_it_says(self) -> None:
        """At least one slot; each once; of the dtype and shape that its record states; digests are right."""
        _, records = self._run()
        expect(records, "the capture has no slot")
        keys = [record.key for record in records]
        expect(len(set(keys)) == len(keys), "a slot is there twice")
        for record in records:
            values = record.load()
            if values is None:
                continue
            wanted = dtypes.by_name(record.dtype).numpy
            told = f"{record.key.operator} {record.key.slot_name}: {values.dtype} {list(values.shape)}"
            expect(values.dtype == wanted, f"{told}, its record says {record.dtype}")
            expect(values.shape == record.shape, f"{told}, its record says {list(record.shape)}")
            known = record.digest
            expect(known is None or known == digest(values, record.dtype), f"{told}: the digest is another value's")

    def test_the_capture_outlives_the_process(self) -> None:
        """Records can be read again after the process is gone, with the same values: no memory of a run is used again
        for another."""
        found, records = self._run()
        before = [(record.key, _digest(record)) for record in records]
        self._run(seed=1)
        after = [(record.key, _digest(record)) for record in found.records()]
        expect(before == after, "the values of a capture change when something else runs")

    def test_equal_programs_hold_and_others_do_not(self) -> None:
        """Two runs of one program hold within ``tolerance``; a program with other numbers does not."""
        (one, _), (again, _), (other, _) = self._run(), self._run(), self._run(seed=1)
        expect(self._holds(one, again), "two runs of one program do not hold")
        expect(not self._holds(one, other), "a run with other numbers holds")

    def test_a_second_program_goes_on(self) -> None:
        """Two programs of one process are one capture: no slot twice, and all of both."""
        alone = len(self._run()[1])
        with self._open() as process:
            process.execute(self.program())
            process.execute(self.program(seed=1))
            keys = [record.key for record in process.capture().records()]
        expect(len(set(keys)) == len(keys), "a slot of the first program is there again in the second")
        expect(len(keys) >= 2 * alone - 4, f"one program leaves {alone} slots, two leave {len(keys)}")

    def test_processes_do_not_mix(self) -> None:
        """A process that is opened while another is open has a capture of its own."""
        alone = len(self._run()[1])
        with self._open() as one:
            one.execute(self.program())
            with self._open() as other:
                other.execute(self.program())
                inner = len(list(other.capture().records()))
            outer = len(list(one.capture().records()))
        expect((inner, outer) == (alone, alone), f"one program leaves {alone} slots; two processes {inner} and {outer}")

    def test_an_error_passes_through(self) -> None:
        """An exception of the program comes out as it is; what ran before it is in the capture."""
        program = self.program()

        def failing() -> None:
            program()
            raise _Failed

        with self._open() as process:
            with refused(_Failed, "the program's own error"):
                process.execute(failing)
            expect(list(process.capture().records()), "what ran before an error is lost")

    def test_a_golden_of_it_holds(self) -> None:
        """A run that was kept in a golden store holds against itself, bit for bit."""
        found, records = self._run()
        with folder() as place:
            path, run = place / "golden.h5", RunId(self.backend, self.mode)
            attrs = {"emulated": found.emulated, "rules": {}}
            update(path, found.network, {run: RunData(records, dict(found.artefacts), attrs)})
            with GoldenStore.open(path) as store:
                party = Party(records, run.backend, run.mode, found.emulated, stored=True)
                held = judge(Party.of_run(store.run(*run)), party, "exact", lay=lay_beside)
                expect(held.holds, f"its golden says {held.verdict}")

    @property
    def _backend(self) -> Backend:
        return BACKENDS.get(self.backend)

    @contextmanager
    def _open(self) -> Iterator[Process]:
        """A process, as the gate opens it: in graph mode, from one seed."""
        from harness.framework import context  # other suites need none of it

        mode, state = context.exchange_mode(context.GRAPH_MODE), numpy_state.taken()
        context.set_seed(1)
        try:
            with self._backend.open(network="suite", mode=self.mode) as process:
                yield process
        finally:
            context.exchange_mode(mode)
            numpy_state.restore(state)

    def _run(self, seed: int = 0) -> tuple[Capture, list[Record]]:
        with self._open() as process:
            process.execute(self.program(seed))
            found = process.capture()
        return found, list(found.records())

    def _holds(self, one: Capture, other: Capture) -> bool:
        here, there = (Party(list(each.records()), self.backend, self.mode, each.emulated) for each in (one, other))
        return judge(here, there, self.tolerance, lay=lay_beside).holds


class _Failed(Exception):
    """The error of a program."""


def _digest(record: Record) -> bytes | None:
    values = record.load()
    return record.digest if values is None else digest(values, record.dtype)

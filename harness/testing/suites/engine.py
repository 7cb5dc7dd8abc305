"""What every engine that records must do."""

from __future__ import annotations

import itertools
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from harness import instruments
from harness.capture import read_tree
from harness.dtypes import bfloat16, float16, float32
from harness.errors import HarnessError
from harness.recording import Launch, Observer, Operator, Recording, Result, TensorSpec, Want
from harness.records import Record
from harness.testing.suites.base import Array, Suite, expect, folder, same

#: One step of a program: ``step(x)``, or ``step(x, fail=True)``.
Step = Callable[..., Array]
#: Each way to write: the device, and what of the configuration differs.
_WAYS: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "kernel by kernel": ("cpu", {}, {"enable": True}),
    "statistics": ("gpu", {"saved_data": "statistic"}, {"enable": True}),
    "values and statistics": ("gpu", {"saved_data": "full"}, {"enable": True}),
    "synchronous": ("ascend-o0", {}, {"enable": True}),
    "beside the run": ("ascend-o0", {}, {"enable": False}),
    "DumpData as npy": ("ascend-o2", {"file_format": "npy"}, None),
    "DumpData": ("ascend-o2", {"file_format": "bin"}, None),
}  # fmt: skip
#: Elements that a sample keeps of each larger tensor.
_SAMPLE = 2
_SAMPLES: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    f"samples, {how}": ("ascend-o0", {}, {"enable": copied, "sample_mode": 1, "sample_num": _SAMPLE})
    for how, copied in (("kernel by kernel", True), ("beside the run", False))
}
#: The ways that watch for trouble: those of Ascend, whose devices alone have op_debug_mode 3 and 4.
_WATCHING = ("synchronous", "beside the run", "DumpData as npy")
_WATCHED = {float16.numpy, float32.numpy, bfloat16.numpy}


class _Seen(NamedTuple):
    operator: Operator
    before: list[Array]
    inputs: list[Array]
    outputs: list[Array]


class _Heard(Observer):
    """Hears what a recording tells, and keeps copies."""

    before = True

    def __init__(self) -> None:
        self.launches: list[_Seen] = []
        self.failures: list[tuple[Operator, list[Array], BaseException]] = []
        self.steps: list[int] = []
        self._begun: dict[int, list[Array]] = {}

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        return Want.VALUES

    def step_begin(self, step: Any) -> None:
        self.steps.append(step.run)

    def launch_begin(self, launch: Launch) -> None:
        self._begun[id(launch)] = _copies(launch.inputs)

    def launch_end(self, launch: Launch) -> None:
        begun = self._begun.pop(id(launch))
        self.launches.append(_Seen(launch.operator, begun, _copies(launch.inputs), _copies(launch.outputs)))

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        self.failures.append((launch.operator, _copies(launch.inputs), error))


class EngineSuite(Suite):
    """Rules for a runtime that records what it runs. Set ``engine``, and write ``program``.

    Attributes:
        engine: its name and version (``tinyrt 1.0``).
        shape: of the program's input, float32.
        threads: whether its steps may be called from several threads at once.

    Examples:
        As a class in a test file, ``Test...``, or at once:

        >>> import numpy as np
        >>> from harness.testing import EngineSuite
        >>> class Tiny(EngineSuite):
        ...     engine = "tiny 1.0"
        ...     shape = (2, 3)
        ...     def program(self, recording):
        ...         graph = recording.eager()
        ...         def step(x, fail=False):
        ...             with recording.step(graph) as running:
        ...                 twice = graph.operator("Twice", "Default/a", mutates=())
        ...                 with running.launch(twice, [x]) as launch:
        ...                     made = launch.done(x * 2)
        ...                 added = graph.operator("AddOne", "Default/b", inputs=[twice], mutates=())
        ...                 with running.launch(added, [made]) as launch:
        ...                     if fail:
        ...                         raise ValueError("on purpose")
        ...                     return launch.done(made + 1)
        ...         return step
        >>> Tiny().broken()
        {}
    """

    engine: ClassVar[str] = ""
    shape: ClassVar[tuple[int, ...]] = (2, 3)
    threads: ClassVar[bool] = True

    def program(self, recording: Recording) -> Step:
        """Builds a program that tells ``recording`` what it runs, and gives a function that runs one step of it.

        The program has at least two operators; the last one launched reads another's result, and its first result is
        what a step returns. It computes with ``x``, so that other inputs give other results.

        Args:
            recording: what is told; each has a program of its own.

        Returns:
            ``step(x, fail=False)``: runs one step; with ``fail`` its last kernel raises an exception.
        """
        raise NotImplementedError

    def test_what_it_returns_is_what_it_recorded(self) -> None:
        """The last launch of a step recorded the array that the step returned."""
        with self._heard() as (heard, step):
            found = np.array(step(self._x(0)))
        expect(len(heard.launches) >= 2, f"a step has at least two launches, heard were {len(heard.launches)}")
        last = heard.launches[-1]
        expect(last.outputs, f"{last.operator.name} recorded no result")
        expect(same(last.outputs[0], found), f"{last.operator.name} recorded another value than the step returned")

    def test_results_have_the_declared_types(self) -> None:
        """Every result has the dtype and the shape that its operator declares."""
        for seen in self._one_step():
            for slot, spec in enumerate(seen.operator.outputs):
                if isinstance(spec, TensorSpec) and slot < len(seen.outputs):
                    found = seen.outputs[slot]
                    told = f"{seen.operator.name}, output.{slot}: {found.dtype} {list(found.shape)}"
                    right = found.dtype == spec.dtype.numpy and len(found.shape) == len(spec.shape)
                    sizes = zip(found.shape, spec.shape, strict=False)
                    expect(right and all(a == b or b == -1 for a, b in sizes), f"{told}, declared is {spec}")

    def test_edges_lead_to_what_was_read(self) -> None:
        """An input that is declared as another operator's result has that result's value; the last operator declares
        at least one such input."""
        made: dict[tuple[Operator, int], Array] = {}
        seen = self._one_step()
        for each in seen:
            for slot, operand in enumerate(each.operator.inputs):
                if isinstance(operand, Result) and slot < len(each.before):
                    where = f"{each.operator.name}, input.{slot}"
                    given = made.get((operand.operator, operand.slot))
                    expect(given is not None, f"{where}: declared from {operand.operator.name}, which did not run yet")
                    expect(same(given, each.before[slot]), f"{where}: not what {operand.operator.name} gave")  # type: ignore[arg-type]
            made.update({(each.operator, slot): array for slot, array in enumerate(each.outputs)})
        last = seen[-1].operator
        told = f"{last.name} declares no input that another operator made"
        expect(any(isinstance(operand, Result) for operand in last.inputs), told)

    def test_what_it_updates_it_declares(self) -> None:
        """A launch leaves its inputs as they were, but for those in ``mutates``."""
        for seen in self._one_step():
            mutates = seen.operator.mutates
            for slot, (before, after) in enumerate(zip(seen.before, seen.inputs, strict=False)):
                known = mutates is None or slot in mutates
                expect(
                    known or same(before, after),
                    f"{seen.operator.name}: input.{slot} was updated, it is not in mutates",
                )

    def test_names_are_its_own_and_stay(self) -> None:
        """Operators of a graph have names of their own; a program that is built again has the same, in the same
        order, and so has the next step."""
        with self._heard() as (heard, step):
            step(self._x(0))
            count = len(heard.launches)
            step(self._x(1))
        names = [seen.operator.name for seen in heard.launches]
        expect(names[:count] == names[count:], "a second step has operators of other names")
        operators = {id(seen.operator): seen.operator.name for seen in heard.launches[:count]}
        expect(len(set(operators.values())) == len(operators), "two operators of a step have one name")
        again = [seen.operator.name for seen in self._one_step()]
        expect(again == names[:count], "a program that is built again has operators of other names")

    def test_steps_are_counted(self) -> None:
        """Each call is one step, the runs of a graph are counted from 0."""
        with self._heard() as (heard, step):
            for at in range(3):
                step(self._x(at))
        expect(heard.steps == [0, 1, 2], f"three calls are told as the runs {heard.steps}")

    def test_equal_inputs_give_equal_bits(self) -> None:
        """Two programs with equal inputs record equal bits; other inputs give another result."""
        one, again, other = (self._one_step(at) for at in (0, 0, 1))
        for here, there in zip(one, again, strict=True):
            equal = all(same(a, b) for a, b in zip(here.outputs, there.outputs, strict=True))
            expect(equal, f"{here.operator.name}: two runs with equal inputs record other bits")
        expect(not same(one[-1].outputs[0], other[-1].outputs[0]), "the result does not depend on the input")

    def test_buffers_may_be_used_again(self) -> None:
        """However a dump is written, it holds what each launch read and gave, although the runtime goes on."""
        for way in ("kernel by kernel", "beside the run", "DumpData as npy"):
            wrong = self._dumped(way, 4)
            expect(not wrong, f"{way}: {wrong[:1]}")

    def test_every_way_to_dump(self) -> None:
        """Each way to write a dump leaves a tree that is read whole, with the engine's name."""
        for way in _WAYS:
            wrong = self._dumped(way, 1)
            expect(not wrong, f"{way}: {wrong[:1]}")

    def test_a_sample_is_the_start_of_each_tensor(self) -> None:
        """A dump of samples holds the first elements of what each launch gave, although the runtime goes on."""
        for way in _SAMPLES:
            wrong = self._dumped(way, 4)
            expect(not wrong, f"{way}: {wrong[:1]}")

    def test_chosen_operators_alone_are_dumped(self) -> None:
        """A dump of operators by their names (``dump_mode`` 1) finds them, and holds no other."""
        name = self._one_step()[0].operator.name
        for way in ("kernel by kernel", "beside the run", "DumpData as npy"):
            with folder() as place:
                heard = self._run(way, place, [self._x(0)], dump_mode=1, kernels=[name])
                found = {record.key.operator for record in _records(place)}
                wrong = _missing(place, [each for each in _numbered(heard.launches) if each[1].operator.name == name])
            expect(found == {name}, f"{way}: asked for was {name}, the dump holds {sorted(found)[:3]}")
            expect(not wrong, f"{way}: {wrong[:1]}")

    def test_an_overflow_is_dumped(self) -> None:
        """A dump of overflows (``op_debug_mode`` 3) holds the operators that gave a NaN or an infinity, and no other; a
        NaN in the program's input reaches a result."""
        x = self._x(1)
        x.reshape(-1)[:1] = np.nan
        for way in _WATCHING:
            with folder() as place, np.errstate(all="ignore"):
                heard = self._run(way, place, [self._x(0), x], op_debug_mode=3)
                overflowed = [each for each in _numbered(heard.launches) if _overflows(each[1])]
                found = {(record.key.iteration, record.key.operator) for record in _records(place)}
                wrong = _missing(place, overflowed)
            expect(overflowed, "a NaN in the input reaches no result that is told")
            wanted = {(number, seen.operator.name) for number, seen in overflowed}
            told = f"dumped are {sorted(found)[:3]}, a NaN or an infinity gave {sorted(wanted)[:3]}"
            expect(found == wanted, f"{way}: {told}")
            expect(not wrong, f"{way}: {wrong[:1]}")

    def test_what_a_failing_kernel_read_is_dumped(self) -> None:
        """A dump of exceptions (``op_debug_mode`` 4) holds the inputs of the kernel that failed, and nothing else."""
        for way in _WATCHING:
            with folder() as place:
                heard = self._run(way, place, [self._x(0)], self._x(1), op_debug_mode=4)
                expect(len(heard.failures) == 1, f"one launch failed, told were {len(heard.failures)}")
                operator, inputs, _ = heard.failures[0]
                records = _records(place)
                found = {record.key.slot: np.asarray(record.load()) for record in records}
                slots = [(record.key.operator, record.key.io) for record in records]
                others = [each for each in slots if each != (operator.name, "input")]
            expect(not others, f"{way}: {operator.name} failed, dumped is {others[:1]}")
            right = len(found) == len(inputs) and all(same(found[slot], each) for slot, each in enumerate(inputs))
            expect(right, f"{way}: the dump has other inputs than {operator.name} read when it failed")

    def test_threads_at_once(self) -> None:
        """Steps from several threads give what they give alone, and each is recorded whole."""
        if not self.threads:
            return
        alone = [self._one_step(at)[-1].outputs[0] for at in range(4)]
        found: list[Any] = [None] * 4
        with self._heard() as (heard, step):
            lock, errors = threading.Barrier(4), []

            def run(at: int) -> None:
                try:
                    lock.wait(30)
                    found[at] = np.array(step(self._x(at)))
                except Exception as error:
                    errors.append(f"{type(error).__name__}: {error}")

            threads = [threading.Thread(target=run, args=(at,)) for at in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        expect(not errors, f"a thread failed: {errors[:1]}")
        for at in range(4):
            expect(same(found[at], alone[at]), "a step in a thread returns another value than alone")
        last = {seen.outputs[0].tobytes() for seen in heard.launches if seen.outputs}
        expect(all(each.tobytes() in last for each in alone), "what a step in a thread gave was not recorded")

    def test_ranks_write_apart(self) -> None:
        """A program on ``recording.child(rank=1)`` is dumped as rank 1, beside rank 0."""
        with folder() as place:
            _, environ = _asking("kernel by kernel", place, {})
            with instruments.open("cpu", engine=self.engine, environ=environ) as recording:
                child = recording.child(1, 2)
                found = [np.array(self.program(each)(self._x(at))) for at, each in enumerate((recording, child))]
                child.close()
            for rank in range(2):
                records = list(read_tree(place / "dump", rank).records())
                values = {record.load().tobytes() for record in records if record.key.io == "output"}  # type: ignore[union-attr]
                expect(found[rank].tobytes() in values, f"rank {rank} has no dump of its result")

    def test_a_failing_kernel_is_told(self) -> None:
        """A kernel that raises ends the step with its own exception; the launch is told as failed, with its inputs."""
        with self._heard() as (heard, step):
            error = _failure(step, self._x(0))
        expect(error is not None, "a step that should fail does not")
        expect(len(heard.failures) == 1, f"one launch failed, told were {len(heard.failures)}")
        operator, inputs, told = heard.failures[0]
        expect(told is error, f"told is {told!r:.60}, raised was {error!r:.60}")
        expect(inputs, f"{operator.name} failed, and its inputs were not told")
        before = [seen.outputs[0].tobytes() for seen in heard.launches if seen.outputs]
        read = any(each.tobytes() in before for each in inputs)
        expect(read, f"the inputs of {operator.name}, which failed, are not what was computed before")

    def test_it_goes_on_after_a_failure(self) -> None:
        """The step after one that failed is like any other."""
        with self._heard() as (heard, step):
            _failure(step, self._x(0))
            heard.launches.clear()
            found = np.array(step(self._x(1)))
            last = heard.launches[-1].outputs[0] if heard.launches else None
        alone = self._one_step(1)[-1].outputs[0]
        expect(last is not None and same(last, found), "the step after a failure is not recorded")
        expect(same(found, alone), "the step after a failure gives another result")

    def test_the_recorder_writes_at_its_triggers(self) -> None:
        """The Running Data Recorder writes when a kernel fails (mode 1), and at the end (mode 2)."""
        for mode in ("1", "2"):
            with folder() as place:
                environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": mode, "MS_RDR_PATH": str(place)}
                with instruments.open("cpu", engine=self.engine, environ=environ) as recording:
                    step = self.program(recording)
                    step(self._x(0))
                    if mode == "1":
                        _failure(step, self._x(1))
                names = _written(place)
                when = "a failure" if mode == "1" else "the end"
                expect("graph_exec_order" in names, f"mode {mode}: after {when} there is no execution order: {names}")

    def test_the_recorder_writes_at_a_signal(self) -> None:
        """The Running Data Recorder writes when SIGTERM arrives (``MSDUMP_RDR_TRIGGERS=signals``), and who handled it
        before still does: the engine leaves signals alone. Python hears of them in the main thread; in another one
        nothing is asked."""
        if threading.current_thread() is not threading.main_thread():
            return
        arrived: list[int] = []
        former = signal.signal(signal.SIGTERM, lambda number, frame: arrived.append(number))
        try:
            with self._recorded("signals") as place:
                handler = signal.getsignal(signal.SIGTERM)
                expect(handler is not signal.SIG_DFL, "the engine resets the handler of SIGTERM")
                signal.raise_signal(signal.SIGTERM)
                names = _written(place)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if former is None else former)
        expect("graph_exec_order" in names, f"after SIGTERM there is no execution order: {names}")
        expect(arrived == [signal.SIGTERM], f"the handler that was there before is called {len(arrived)} times")

    def test_the_recorder_writes_at_an_uncaught_exception(self) -> None:
        """The Running Data Recorder writes at an exception that nobody catches (``MSDUMP_RDR_TRIGGERS=exceptions``),
        and the hook that was there before still runs: the engine leaves ``sys.excepthook`` alone."""
        told: list[type[BaseException]] = []
        former, sys.excepthook = sys.excepthook, lambda kind, error, trace: told.append(kind)
        try:
            with self._recorded("exceptions") as place:
                sys.excepthook(ArithmeticError, ArithmeticError("nobody catches it"), None)
                names = _written(place)
        finally:
            sys.excepthook = former
        expect("graph_exec_order" in names, f"after an exception there is no execution order: {names}")
        expect(told == [ArithmeticError], f"the hook that was there before is called {len(told)} times")

    def test_nobody_listens(self) -> None:
        """Where nothing is asked for, the program runs and gives the same."""
        with instruments.open("cpu", engine=self.engine, environ={}) as recording:
            found = np.array(self.program(recording)(self._x(0)))
        expect(same(found, self._one_step()[-1].outputs[0]), "without a listener a step gives another result")

    # ------------------------------------------------------------------------------------------------------------------
    def _x(self, at: int) -> Array:
        drawn: Array = np.random.default_rng([7, at]).standard_normal(self.shape).astype(np.float32)
        return drawn

    @contextmanager
    def _heard(self) -> Iterator[tuple[_Heard, Step]]:
        heard = _Heard()
        with instruments.open("cpu", engine=self.engine, environ={}, observers=[heard]) as recording:
            yield heard, self.program(recording)

    def _one_step(self, at: int = 0) -> list[_Seen]:
        with self._heard() as (heard, step):
            step(self._x(at))
        expect(heard.launches, "a step launches nothing")
        return heard.launches

    def _dumped(self, way: str, steps: int) -> list[str]:
        """What is wrong with a dump that is written in a way: other values, slots that lack, files not read."""
        with folder() as place:
            heard = self._run(way, place, [self._x(at) for at in range(steps)])
            try:
                tree = read_tree(place / "dump")
                most = _SAMPLE if way in _SAMPLES else None
                wrong = _missing(place, list(_numbered(heard.launches)), most)
            except HarnessError as error:
                return [str(error)]
            wrong += [f"{problem.path}: {problem.why}" for problem in tree.lost]
            if tree.backend != self.engine.split()[0]:
                wrong.append(f"the dump is one of {tree.backend!r}")
            return wrong

    def _run(
        self, way: str, place: Path, inputs: Sequence[Array], failing: Array | None = None, **common: Any
    ) -> _Heard:
        """Runs a step for each input, and one that fails, dumped below ``place``; gives what was told."""
        heard, (device, environ) = _Heard(), _asking(way, place, common)
        with instruments.open(device, engine=self.engine, environ=environ, observers=[heard]) as recording:
            step = self.program(recording)
            for x in inputs:
                step(x)
            if failing is not None:
                _failure(step, failing)
        return heard

    @contextmanager
    def _recorded(self, trigger: str) -> Iterator[Path]:
        """Where the recorder writes at a trigger, after a step; nothing is there yet."""
        with folder() as place:
            environ = {"MS_RDR_ENABLE": "1", "MS_RDR_PATH": str(place), "MSDUMP_RDR_TRIGGERS": trigger}
            with instruments.open("cpu", engine=self.engine, environ=environ) as recording:
                self.program(recording)(self._x(0))
                expect(not _written(place), "the recorder writes before its trigger")
                yield place


def _written(place: Path) -> set[str]:
    """The names of what the recorder wrote."""
    return {path.name.split(".")[1] for path in place.rglob("*.*") if path.is_file()}


def _records(place: Path) -> list[Record]:
    return list(read_tree(place / "dump").records())


def _overflows(seen: _Seen) -> bool:
    """Whether a kernel gave a NaN or an infinity in a dtype that is watched."""
    return any(each.dtype in _WATCHED and not np.isfinite(each).all() for each in seen.outputs)


def _missing(place: Path, launches: Sequence[tuple[int, _Seen]], most: int | None = None) -> list[str]:
    """Which results of launches a dump lacks, or has otherwise; of larger ones it has the ``most`` first elements."""
    found = {(r.key.iteration, r.key.operator, r.key.slot): r for r in _records(place) if r.key.io == "output"}
    wrong: list[str] = []
    for number, seen in launches:
        for slot, made in enumerate(seen.outputs):
            wanted = made if most is None or made.size <= most else made.reshape(-1)[:most]
            wrong += _judged(found.get((number, seen.operator.name, slot)), wanted, seen, number)
    return wrong


def _judged(record: Any, wanted: Array, seen: _Seen, number: int) -> Iterator[str]:
    where = f"step {number}, {seen.operator.name} output"
    if record is None:
        yield f"{where}: it has no file"
        return
    values = record.load()
    if values is None:
        told = record.row().changes(wanted) if record.row() else "neither values nor statistics"
        if told:
            yield f"{where}: {told}"
    elif not same(np.asarray(values), wanted):
        yield f"{where}: the file holds other values than the kernel gave"


def _numbered(launches: Sequence[_Seen]) -> Iterator[tuple[int, _Seen]]:
    """Launches with the number of their step: an operator runs once in each."""
    counts: dict[str, Iterator[int]] = {}
    for seen in launches:
        yield next(counts.setdefault(seen.operator.name, itertools.count())), seen


def _copies(values: Sequence[Any]) -> list[Array]:
    return [np.array(value.array) for value in values if value.gap is None]


def _failure(step: Step, x: Array) -> BaseException | None:
    try:
        step(x, fail=True)
    except Exception as error:
        return error
    return None


def _asking(way: str, place: Path, more: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """The device of a way to write, and the environment that asks for a dump below ``place``."""
    device, common, e2e = {**_WAYS, **_SAMPLES}[way]
    settings: dict[str, Any] = {
        "common_dump_settings": {
            "op_debug_mode": 0, "dump_mode": 0, "path": str(place / "dump"), "net_name": "Suite", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [*range(8)], **common, **more,
        }
    }  # fmt: skip
    if e2e is not None:
        settings["e2e_dump_settings"] = {"trans_flag": True, **e2e}
    file = place / "dump.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    return device, {"MINDSPORE_DUMP_CONFIG": str(file)}

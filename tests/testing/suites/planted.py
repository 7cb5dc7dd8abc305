"""Violations of the suites' rules: for each rule of each suite at least one, as somebody might really write it."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from harness.backends import BACKENDS
from harness.backends.cpu import Cpu
from harness.devices.formats import FORMATS
from harness.errors import ShapeError
from harness.recording import Facts, Replayed, Value
from harness.testing import Suite
from tests.testing.suites.own import Emulated, Emulator, Engine, Nz

COUNT = itertools.count()


class Planted:
    """A suite over something broken.

    Args:
        rule: that must not hold.
        how: what is wrong, in words.
        suite: the suite.
        registry, name, thing: what is registered while the suite runs.
    """

    def __init__(
        self, rule: str, how: str, suite: Suite, registry: Any = None, name: str = "", thing: Any = None
    ) -> None:
        self.rule, self.how, self.suite = rule, how, suite
        self._put = (registry, name, thing)

    @property
    def id(self) -> str:
        """For pytest."""
        kind = next(cls.__name__ for cls in type(self.suite).__mro__ if cls.__module__.startswith("harness."))
        return f"{kind}.{self.rule}: {self.how}"

    def told(self) -> str:
        """What the rule says; empty if it holds."""
        registry, name, thing = self._put
        put = mock.patch.dict(registry._things, {name: thing}) if registry is not None else mock.patch.dict({})
        with put:
            try:
                getattr(self.suite, self.rule)()
            except Exception as error:
                return f"{type(error).__name__}: {error}"
        return ""


# -- engines -----------------------------------------------------------------------------------------------------------
KERNELS: dict[str, Callable[..., Any]] = {"Scale": lambda x: x * 2, "Add": lambda x, y: x + y}


def chain(recording: Any, **wrong: Any) -> Callable[..., Any]:
    """A program of two operators, with something wrong."""
    graph = recording.eager()
    other = recording.eager() if wrong.get("graphs") else graph
    buffer = np.empty((2, 3), np.float32)
    broken = [False]

    def step(x: Any, fail: bool = False) -> Any:
        drawn = next(COUNT)
        x = np.zeros_like(x) if wrong.get("deaf") else x
        kind = f"Scale{drawn}" if wrong.get("renamed") else "Scale"
        used = other if wrong.get("graphs") and drawn % 2 else graph
        with recording.step(used) as running:
            one = used.operator(kind, "Default/one", mutates=())
            with running.launch(one, [x]) as launch:
                made = x * 2 + (drawn if wrong.get("random") else 0)
                made = np.nan_to_num(made) if wrong.get("cleared") else made
                shown = np.multiply(made, 1, out=buffer) if wrong.get("reused") else made
                if wrong.get("updates"):
                    x[...] = 0
                launch.done(Value(shown, stable=True) if wrong.get("reused") else shown)
            if wrong.get("reused"):
                buffer[...] = 7
            edges = [one] if not wrong.get("edgeless") else ()
            two = used.operator("Add", "Default/two", inputs=edges, mutates=())
            read = made + 1 if wrong.get("misread") else made
            failing = fail and not wrong.get("never")
            if failing and wrong.get("outside"):
                raise ArithmeticError("outside of a launch")
            result = made + 1
            if wrong.get("cleared"):
                result = np.nan_to_num(result)
            if wrong.get("swallowed") and fail:
                return result
            with running.launch(two, [np.zeros(2, np.float32)] if failing and wrong.get("lost") else [read]) as launch:
                if failing:
                    broken[0] = True
                    raise ArithmeticError("on purpose")
                told = result + 1 if wrong.get("lies") or (broken[0] and wrong.get("stays broken")) else result
                launch.done(told)
        if wrong.get("quiet") and not recording.observers[:-1]:
            return result * 0
        return result

    return step


class _Typed:
    """A program whose operator declares another type than it gives."""

    def __init__(self, recording: Any) -> None:
        from harness import dtypes
        from harness.recording import TensorSpec

        self.recording, self.graph = recording, recording.eager()
        self.spec = TensorSpec(dtypes.float16, (2, 3))

    def __call__(self, x: Any, fail: bool = False) -> Any:
        with self.recording.step(self.graph) as running:
            one = self.graph.operator("Scale", "Default/one", outputs=[self.spec], mutates=())
            with running.launch(one, [x]) as launch:
                launch.done(x * 2)
            two = self.graph.operator("Scale", "Default/two", inputs=[one], mutates=())
            with running.launch(two, [x * 2]) as launch:
                return launch.done(x * 4)


def _unsafe(recording: Any) -> Callable[..., Any]:
    """A program with one scratch array for all threads."""
    run, scratch = chain(recording), np.empty((2, 3), np.float32)
    written, changed = [0], threading.Condition()

    def step(x: Any, fail: bool = False) -> Any:
        with changed:
            scratch[...] = x
            written[0] += 1
            mine = written[0]
            changed.notify_all()
            if threading.current_thread() is not threading.main_thread():
                # Until another thread has written; the last of all gives up.
                changed.wait_for(lambda: written[0] != mine, timeout=1)
        return run(scratch.copy(), fail)

    return step


def _first_rank(recording: Any) -> Callable[..., Any]:
    """A program that tells the first recording of the process, whatever it is given."""
    run = chain(recording)
    if recording.world.rank == 0:
        return run
    return lambda x, fail=False: x * 2 + 1


def engine(make: Callable[[Any], Any], name: str = "broken 1.0") -> Engine:
    return type("Broken", (Engine,), {"engine": name, "program": lambda self, recording: make(recording)})()


def wrong(**how: Any) -> Engine:
    return engine(lambda recording: chain(recording, **how))


def _grasping(recording: Any) -> Callable[..., Any]:
    """A program that takes signals and uncaught exceptions for itself."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.excepthook = lambda *given: None
    return chain(recording)


def _resetting(recording: Any) -> Callable[..., Any]:
    """A program that takes away every handler of a signal."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return chain(recording)


def _muted(recording: Any) -> Callable[..., Any]:
    """A program that fails before it tells anybody, so that the recorder hears of no failure and no graph."""

    def step(x: Any, fail: bool = False) -> Any:
        return x * 2 + 1

    return step


ENGINES = [
    Planted("test_what_it_returns_is_what_it_recorded", "it records another value", wrong(lies=True)),
    Planted("test_results_have_the_declared_types", "it declares float16 and gives float32", engine(_Typed)),
    Planted("test_edges_lead_to_what_was_read", "it declares no edge", wrong(edgeless=True)),
    Planted("test_edges_lead_to_what_was_read", "it reads another value than its edge says", wrong(misread=True)),
    Planted("test_what_it_updates_it_declares", "it updates an input in silence", wrong(updates=True)),
    Planted("test_names_are_its_own_and_stay", "each step has a type of its own", wrong(renamed=True)),
    Planted("test_steps_are_counted", "it takes turns with two graphs", wrong(graphs=True)),
    Planted("test_equal_inputs_give_equal_bits", "it counts its calls into the result", wrong(random=True)),
    Planted("test_equal_inputs_give_equal_bits", "it does not look at its input", wrong(deaf=True)),
    Planted("test_buffers_may_be_used_again", "it calls a buffer stable that it uses again", wrong(reused=True)),
    Planted("test_every_way_to_dump", "it records nothing", engine(_muted)),
    Planted("test_threads_at_once", "threads share a scratch array", engine(_unsafe)),
    Planted("test_ranks_write_apart", "another rank is not recorded", engine(_first_rank)),
    Planted("test_a_failing_kernel_is_told", "it swallows the failure", wrong(swallowed=True)),
    Planted("test_a_failing_kernel_is_told", "it fails outside of a launch", wrong(outside=True)),
    Planted("test_a_failing_kernel_is_told", "the inputs of a failure are others", wrong(lost=True)),
    Planted(
        "test_it_goes_on_after_a_failure", "after a failure it records other values", wrong(**{"stays broken": True})
    ),
    Planted("test_the_recorder_writes_at_its_triggers", "the recorder hears nothing", engine(_muted)),
    Planted("test_a_sample_is_the_start_of_each_tensor", "it records nothing", engine(_muted)),
    Planted("test_chosen_operators_alone_are_dumped", "names change from step to step", wrong(renamed=True)),
    Planted("test_an_overflow_is_dumped", "it tells numbers where it computed a NaN", wrong(cleared=True)),
    Planted("test_an_overflow_is_dumped", "it uses a stable buffer again", wrong(reused=True)),
    Planted("test_what_a_failing_kernel_read_is_dumped", "it fails outside of a launch", wrong(outside=True)),
    Planted("test_what_a_failing_kernel_read_is_dumped", "it swallows the failure", wrong(swallowed=True)),
    Planted("test_the_recorder_writes_at_a_signal", "it ignores signals", engine(_grasping)),
    Planted("test_the_recorder_writes_at_a_signal", "it resets the handlers of signals", engine(_resetting)),
    Planted("test_the_recorder_writes_at_a_signal", "the recorder hears nothing", engine(_muted)),
    Planted("test_the_recorder_writes_at_an_uncaught_exception", "it has a hook of its own", engine(_grasping)),
    Planted("test_the_recorder_writes_at_an_uncaught_exception", "the recorder hears nothing", engine(_muted)),
    Planted("test_nobody_listens", "without a listener it computes nothing", wrong(quiet=True)),
]


# -- backends ----------------------------------------------------------------------------------------------------------
class _Wrapped:
    """A process that passes everything on."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)


class _Broken(Cpu):
    name = "broken"
    process_class: Any = _Wrapped
    extra: Any = None

    @contextmanager
    def open(self, **given: Any) -> Any:
        with super().open(**given) as process:
            yield self.process_class(process)

    def run(self, program: Any, **given: Any) -> Any:
        with self.open(**given) as process:
            process.execute(program)
            return process.capture()


def backend(rule: str, how: str, *, process: type = _Wrapped, **members: Any) -> Planted:
    cls = type("Broken", (_Broken,), {"process_class": process, **members})
    suite = type("BrokenSuite", (Emulated,), {"backend": "broken"})()
    return Planted(rule, how, suite, BACKENDS, "broken", cls())


def changed(change: Callable[[Any], Any]) -> type:
    """A process whose captures are changed."""

    class Changed(_Wrapped):
        def capture(self) -> Any:
            return change(self._process.capture())

    return Changed


def _records(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    return lambda capture: replace(capture, source=change(list(capture.records())))


class _Swallows(_Wrapped):
    def execute(self, program: Any) -> None:
        try:
            self._process.execute(program)
        except Exception:
            return


class _Forgets(_Wrapped):
    """Each program starts from nothing."""

    def execute(self, program: Any) -> None:
        with Cpu().open(network="suite") as process:
            process.execute(program)
            self._last = process.capture()

    def capture(self) -> Any:
        return self._last


class _Shares(_Wrapped):
    """All processes have one list of records."""

    every: ClassVar[list[Any]] = []

    def capture(self) -> Any:
        found = self._process.capture()
        self.every += [each for each in found.records() if all(each is not other for other in self.every)]
        return replace(found, source=list(self.every))


_POOL = np.empty(4096, np.float32)


def _pooled(records: list[Any]) -> list[Any]:
    """Values in memory that the next run uses again."""
    at, made = 0, []
    for each in records:
        values = each.load()
        if values is not None and values.dtype == np.float32:
            place = _POOL[at : at + values.size].reshape(values.shape)
            place[...], at = values, at + values.size
            each = replace(each, values=place)
        made.append(each)
    return made


def _noisy(records: list[Any]) -> list[Any]:
    first = records[-1]
    values = first.load() + np.float32(next(COUNT) + 1)
    return [*records[:-1], replace(first, values=values, digest=None)]


def _never(self: Any, mode: str) -> None:
    return None


def _retyped(records: list[Any]) -> list[Any]:
    return [replace(records[0], shape=(*records[0].shape, 1)), *records[1:]]


def _misdigested(records: list[Any]) -> list[Any]:
    return [replace(records[0], digest=bytes(16)), *records[1:]]


BACKEND_ONES = [
    backend("test_it_is_found_by_its_name", "it calls itself by another name", name="other"),
    backend("test_it_says_whether_it_can_run", "it answers with a bool", available=lambda self: True),
    backend("test_its_modes_are_those_it_does_not_refuse", "it refuses nothing", refusal=_never),
    backend("test_its_modes_are_those_it_does_not_refuse", "it refuses its own mode", refusal=lambda self, mode: "no"),
    backend(
        "test_the_capture_says_what_it_is", "the capture is another backend's",
        process=changed(lambda found: replace(found, backend="cpu")),
    ),
    backend(
        "test_the_capture_says_what_it_is", "emulated values are called real",
        process=changed(lambda found: replace(found, backend="broken", emulated=False)),
    ),
    backend("test_each_slot_is_there_once_and_is_what_it_says", "a slot is there twice",
            process=changed(_records(lambda records: [*records, records[0]]))),
    backend("test_each_slot_is_there_once_and_is_what_it_says", "a shape is stated that is another",
            process=changed(_records(_retyped))),
    backend("test_each_slot_is_there_once_and_is_what_it_says", "a digest is another value's",
            process=changed(_records(_misdigested))),
    backend("test_the_capture_outlives_the_process", "values lie in memory that is used again",
            process=changed(_records(_pooled))),
    backend("test_equal_programs_hold_and_others_do_not", "it counts its runs into the result",
            process=changed(_records(_noisy))),
    backend("test_equal_programs_hold_and_others_do_not", "it keeps nothing that depends on the input",
            process=changed(_records(lambda records: [r for r in records if r.op_type == "Parameter"][:1]))),
    backend("test_a_second_program_goes_on", "each program starts from nothing", process=_Forgets),
    backend("test_processes_do_not_mix", "all processes have one list", process=_Shares),
    backend("test_an_error_passes_through", "it swallows errors", process=_Swallows),
    backend("test_a_golden_of_it_holds", "it has values that no golden keeps",
            process=changed(_records(_misdigested))),
]  # fmt: skip


# -- formats -----------------------------------------------------------------------------------------------------------
def storage(rule: str, how: str, **members: Any) -> Planted:
    base = type(FORMATS.get("FRACTAL_NZ"))
    name = members.pop("called", "BROKEN")
    cls = type("Broken", (base,), {"name": name, **members})
    suite = type("BrokenSuite", (Nz,), {"format": "BROKEN"})()
    return Planted(rule, how, suite, FORMATS, "BROKEN", cls())


_NZ = type(FORMATS.get("FRACTAL_NZ"))


def _spoiled(self: Any, array: Any, *rest: Any) -> Any:
    made = _NZ._to_device(self, array, *rest)
    array.reshape(-1)[:1] = 0
    return made


def _reversed(self: Any, array: Any, *rest: Any) -> Any:
    return _NZ._to_host(self, array, *rest)[..., ::-1]


def _emptied(self: Any, array: Any, *rest: Any) -> Any:
    return np.zeros_like(_NZ._to_device(self, array, *rest))


def _scattered(self: Any, array: Any, c0: int, groups: int, fill: Any) -> Any:
    return _NZ._to_device(self, array, c0, groups, np.asarray(next(COUNT) % 100).astype(array.dtype)[()])


FORMAT_ONES = [
    storage("test_it_is_found_by_its_name", "it calls itself by another name", called="OTHER"),
    storage("test_the_shape_on_the_device_is_what_it_says", "it says another shape",
            device_shape=lambda self, shape, dtype, **more: (1, *_NZ.device_shape(self, shape, dtype, **more))),
    storage("test_there_and_back_changes_no_bit", "it reverses rows on the way back", _to_host=_reversed),
    storage("test_the_given_array_stays", "it changes what it was given", _to_device=_spoiled),
    storage("test_every_element_is_there", "it forgets the elements", _to_device=_emptied),
    storage("test_the_same_again", "its padding is drawn", _to_device=_scattered),
    storage("test_another_shape_is_refused", "it takes any shape back",
            to_host=lambda self, array, shape, **more: array.reshape(-1)[: int(np.prod(shape))].reshape(shape)),
]  # fmt: skip


# -- replayers ---------------------------------------------------------------------------------------------------------
_OWN = Emulator().replayer()


class _Replayer(type(_OWN)):  # type: ignore[misc]
    """The emulator, with something wrong."""

    def __init__(self, **members: Callable[..., Any]) -> None:
        for name, function in members.items():
            setattr(self, name, function)


def replayer(rule: str, how: str, **members: Callable[..., Any]) -> Planted:
    made = _Replayer(**members)
    return Planted(rule, how, type("Broken", (Emulator,), {"replayer": lambda self: made})())


def _with_results(change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def replay(call: Any) -> Any:
        made = _OWN.replay(call)
        return None if made is None else Replayed(tuple(change(call, each) for each in made.outputs), made.mutated)

    return replay


def _spoiling(call: Any) -> Any:
    made = _OWN.replay(call)
    if made is not None:
        call.before[0][...] = 0
    return made


def _drawn(call: Any, found: Any) -> Any:
    return found + np.float32(next(COUNT) + 1)


def _raising(call: Any) -> Any:
    made = _OWN.replay(call)
    if made is None:
        raise ShapeError("not accepted")
    return made


def _unnamed(call: Any) -> Any:
    made = _OWN.replay(call)
    return made if made is None else Replayed(made.outputs, {1: call.before[0], **made.mutated})


_REMEMBERED: dict[str, Any] = {}


def _remembering(call: Any) -> Any:
    made = _OWN.replay(call)
    return _REMEMBERED.setdefault(call.operator.name, made) if made is not None else None


REPLAYER_ONES = [
    replayer("test_it_knows_its_operators", "it knows nothing", facts=lambda operator: None),
    replayer("test_it_knows_no_other", "it knows everything", facts=lambda operator: Facts((0,))),
    replayer("test_it_knows_no_other", "it gives results of anything",
             replay=lambda call: _OWN.replay(call) or Replayed((np.zeros(2, np.float32),))),
    replayer("test_a_replay_gives_the_results", "its results are doubled",
             replay=_with_results(lambda _, each: each * 2)),
    replayer("test_a_replay_gives_the_results", "its results are float64",
             replay=_with_results(lambda _, each: each.astype(np.float64))),
    replayer("test_the_inputs_stay", "it changes its inputs", replay=_spoiling),
    replayer("test_the_inputs_stay", "a result lies in an input",
             replay=_with_results(lambda call, _: call.before[0])),
    replayer("test_the_same_again", "its results are drawn", replay=_with_results(_drawn)),
    replayer("test_other_inputs_give_other_results", "it gives the first results again", replay=_remembering),
    replayer("test_what_is_not_accepted_is_none", "it raises", replay=_raising),
    replayer("test_noise_is_an_error_per_element", "its noise is below zero",
             noise=lambda call: (np.full(2, -1.0),)),
    replayer("test_noise_is_an_error_per_element", "its noise has another shape", noise=lambda call: (np.zeros(3),)),
    replayer("test_what_it_mutates_it_says", "it mutates more than it says", replay=_unnamed),
]  # fmt: skip

ALL = [*ENGINES, *BACKEND_ONES, *FORMAT_ONES, *REPLAYER_ONES]


def draw(count: int, seed: int) -> list[Planted]:
    """So many violations, drawn over the suites' rules: each rule once before any twice."""
    random = np.random.default_rng(seed)
    by_rule: dict[tuple[str, str], list[Planted]] = {}
    for each in ALL:
        kind = next(cls.__name__ for cls in type(each.suite).__mro__ if cls.__module__.startswith("harness."))
        by_rule.setdefault((kind, each.rule), []).append(each)
    drawn: list[Planted] = []
    while len(drawn) < count:
        rules = list(by_rule.values())
        drawn += [rules[at][random.integers(len(rules[at]))] for at in random.permutation(len(rules))]
    return drawn[:count]


__all__ = ["ALL", "Planted", "draw"]

"""Makes records of the operators of one step, as PyTorch dispatches them."""

from __future__ import annotations

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.capture.capture import Problem
from harness.capture.torch.collectives import Pending, awaited, work_of
from harness.capture.torch.configuration import configuration_of, state_of
from harness.capture.torch.grafting import Grafts
from harness.capture.torch.leaving import LEFT
from harness.capture.torch.lines import Lines, is_pytorchs, lays_shards_out
from harness.capture.torch.memo import Looked, look, writes_of
from harness.capture.torch.operators import Operator, known, tensors
from harness.capture.torch.origins import UNFILLED, UNKNOWN, Origins, Ran, Source
from harness.capture.torch.parts import DTYPES, META, VALUELESS, Part, Unread, is_plain, parts, unwrapped
from harness.capture.torch.placements import PLACEMENTS, is_distributed, lines, placement_of
from harness.capture.torch.returned import leaves
from harness.capture.torch.scalars import SETTINGS, Scalar, modes_of, settings_of
from harness.capture.torch.scopes import GRADIENTS, ROOT, Scopes
from harness.capture.torch.selection import Selection
from harness.capture.torch.values import Keeper
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT, from_numpy
from harness.errors import DtypeError
from harness.recording.described import SETTINGS_TYPE as SETTING
from harness.records import Array, Record, SlotKey

GRAPH = 0
#: the type of what a module or function returns
RESULT = "Result"
#: the type of what modules take and give, and their part of its name
MODULE, CALL = "Module", "forward"
_BOUNDARIES = frozenset({RESULT, MODULE})
#: what says where the parts of a distributed tensor lie
_PLACED = frozenset({RESULT, MODULE, "Parameter", "Gradient"})
NO_TENSOR = "holds no tensor"
#: seconds within which a collective that was waited for says that it has ended
_SOON = 0.5

#: the type of a region of compiled code
REGION = "compiled_region"


class StepRecorder:
    """Records one step.

    Args:
        where: process rank, label of the graph and label of the step.
        scopes: the scopes, which tell where an operator runs.
        selection: the selected scopes; other operators run unwatched.
        keeper: object that fills the records in.
        lines: the lines of the program.
        grafts: tensors to go on with in place of the run's own; not in other threads, whose operators are named later.
        origins: where what operators read comes from; None: their edges are not recorded.

    Attributes:
        records: records in the order the operators ran.
        names: names of the operators, in the same order.
        ran: the operators with their edges, in the same order.
        results: where the tensors of the step's first result come from.
        problems: tensors that could not be read.
        ended: whether the step is over; operators of threads that go on run unwatched.
    """

    def __init__(
        self, where: tuple[int, int, int], scopes: Scopes, selection: Selection, keeper: Keeper, lines: Lines,
        grafts: Grafts | None = None, origins: Origins | None = None,
    ) -> None:  # fmt: skip
        self._where = where
        self._grafts = grafts
        self._scopes = scopes
        self._selection = selection
        self._keeper = keeper
        self._lines = lines
        self._origins = origins
        self._numbers: Counter[tuple[str, str]] = Counter()
        #: operators that ran, recorded or not
        self._seen = 0
        self._returned: Counter[str] = Counter()
        #: whether the operator at hand gives a tensor on device meta
        self._shapes_alone = False
        #: one thread reads at a time: memory that is used again, and what is remembered, are common to all
        self._lock = threading.RLock()
        self._branches: list[tuple[int, int, int, StepRecorder]] = []
        #: collectives whose values are not there yet; where records go that wait for them
        self._pending: list[Pending] = []
        self._late: list[tuple[Record, Any]] | None = None
        self._failed: tuple[Exception, list[Record]] | None = None
        self.records: list[Record] = []
        self.names: list[str] = []
        self.ran: list[Ran] = []
        self.results: list[Source] = []
        self.problems: dict[tuple[str, str], Problem] = {}
        self.ended = False
        #: where distributed tensors lie, by slot
        self._placed: dict[str, str] = {}

    def branch(self) -> StepRecorder:
        """The recorder of a thread that starts now. ``join`` puts its records where it started."""
        made = StepRecorder(
            self._where, self._scopes, self._selection, self._keeper, self._lines, origins=self._origins
        )  # fmt: skip
        made._lock, made.problems, made._placed = self._lock, self.problems, self._placed
        with self._lock:
            self._branches.append((len(self.records), len(self.names), len(self.ran), made))
        return made

    def join(self) -> None:
        """Ends all threads' recorders, and takes their records over; their operators count on."""
        self.ended = True
        self._settle(last=True)
        records, names, ran = self.records, self.names, self.ran
        self.records, self.names, self.ran = [], [], []
        done = (0, 0, 0)
        for at, place, number, each in self._branches:
            each.join()
            self.records += records[done[0] : at]
            self.names += names[done[1] : place]
            self.ran += ran[done[2] : number]
            done = at, place, number
            self._take_over(each)
        self.records += records[done[0] :]
        self.names += names[done[1] :]
        self.ran += ran[done[2] :]
        self._branches = []

    def _take_over(self, other: StepRecorder) -> None:
        named: dict[str, str] = {}
        for name in other.names:
            what = name.rpartition("-op")[0]
            scope, _, operator = what.rpartition("/")
            named[name] = f"{what}-op{self._numbers[scope, operator]}"
            self._numbers[scope, operator] += 1
        for record in other.records:
            key = record.key
            if record.op_type == RESULT:
                before = self._returned[_what(key.operator)]
                record.key = key._replace(execution=key.execution + before)
            else:
                record.key = key._replace(operator=named[key.operator])
        self._returned.update(other._returned)
        for each in other.ran:
            each.name = named[each.name]
        self.ran += other.ran
        self.records += other.records
        self.names += [named[name] for name in other.names]

    def run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator and records it: its inputs as they were before, its outputs; of a failed one inputs."""
        scope = self._scopes.current()
        operator = known(function)
        self._seen += 1
        if self._pending:
            self._settle(touched=(args, kwargs))
        unseen = self.ended or not operator.recorded or not self._selection.has(scope)
        if unseen or (operator.is_view and self._shows_no_values(operator, args, kwargs)):
            return self._unseen(operator, function, args, kwargs)
        name = f"{scope}/{operator.name}-op{self._numbers[scope, operator.name]}"
        source = None if scope.startswith(GRADIENTS) else self._lines.source()
        given = operator.inputs(args, kwargs)
        grafts = self._grafts if self._grafts is not None and self._grafts.concerns(name) else None
        if grafts is not None:
            self._changed(grafts.given((*self._where, name), given))
        ran = self._began(name, operator, args, kwargs, source)
        found = self._given(name, operator, given, args, kwargs, source, ran)
        try:
            if ran is not None and operator.is_random:
                result = self._drawn(ran, operator, function, args, kwargs)
            else:
                result = self._written(operator, function, args, kwargs)
        except Exception as error:
            self._failed = error, found
            raise
        if grafts is not None:
            result, written = grafts.result((*self._where, name), operator.outputs(result, args, kwargs), result)
            self._changed(written)
        gives = self._collective if operator.collective else self._outputs
        found += gives(name, operator, result, args, kwargs, source, ran)
        self._record(name, operator.name, found, ran)
        return result

    def given_to_failed(self, error: Exception) -> list[Record]:
        """What an operator was given that raised ``error``, with which the step ends."""
        return self._failed[1] if self._failed is not None and self._failed[0] is error else []

    def run_inside(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], passed: Any) -> Any:
        """Runs an operator that a tensor class (``__torch_dispatch__``) runs by other operators, which are recorded.
        One inside which nothing was seen is recorded by the tensors that its own consist of."""
        before = self._seen
        result = passed(function, args, kwargs)
        scope, operator = self._scopes.current(), known(function)
        if self._seen == before and operator.recorded and not self.ended and self._selection.has(scope):
            name = f"{scope}/{operator.name}-op{self._numbers[scope, operator.name]}"
            source = None if scope.startswith(GRADIENTS) else self._lines.source()
            # What it wrote in place is as it is now.
            written = set(map(id, operator.written(args, kwargs)))
            given = [each for each in operator.inputs(args, kwargs) if id(each) not in written]
            ran = self._began(name, operator, args, kwargs, source)
            found = self._given(name, operator, given, args, kwargs, source, ran)
            found += self._outputs(name, operator, result, args, kwargs, source, ran)
            self._record(name, operator.name, found, ran)
        return result

    def region(self, run: Callable[[], Any], args: list[Any]) -> Any:
        """Runs a region of compiled code, which is no operator of PyTorch's, and records what it reads and gives."""
        scope = self._scopes.current()
        with _disable_current_modes():
            if self.ended or not self._selection.has(scope):
                result = run()
                self.forget()
                return result
            name = f"{scope}/{REGION}-op{self._numbers[scope, REGION]}"
            ran = self._ran(name, REGION, None)
            given = tensors(args)
            found = self._slots(name, REGION, "input", given, None, ran)
            before = [writes_of(each) for each in given]
            result = run()
            self._keeper.memo.clear()  # what it wrote is not known
            if ran is not None:
                ran.mutates = None
                for each, count in zip(given, before, strict=True):
                    if self._origins is not None and writes_of(each) != count:
                        self._origins.lost(each)
            self._record(name, REGION, found + self._slots(name, REGION, "output", tensors((result,)), None, ran), ran)
            return result

    def _ran(self, name: str, kind: str, source: str | None) -> Ran | None:
        return None if self._origins is None else Ran(name, kind, source)

    def _began(self, name: str, operator: Operator, args: Any, kwargs: Any, source: str | None) -> Ran | None:
        """The operator as its edges are noted, before it runs."""
        ran = self._ran(name, operator.name, source)
        if ran is not None and operator.writes:
            ran.writes = frozenset(map(id, operator.changed(args, kwargs)))
        return ran

    def _given(
        self, name: str, operator: Operator, given: list[Any], args: Any, kwargs: Any, source: Any, ran: Ran | None
    ) -> list[Record]:
        """What an operator is given: the tensors it reads, its other arguments; then, with edges alone, the memory that
        it overwrites unread."""
        found = self._slots(name, operator.name, "input", given, source, ran)
        scalars, first = operator.scalars.given(args, kwargs), _after(found)
        found += self._scalars(name, operator.name, scalars, first, source)
        if ran is not None and self._origins is not None:
            ran.states(first, scalars)
            if operator.writes:  # memory that it overwrites unread follows, which has no slots in records
                for slot, (named, tensor) in enumerate(operator.overwritten(args, kwargs), first + len(scalars)):
                    if is_plain(tensor):
                        looked = look(tensor)
                        ran.takes(slot, looked[1], self._origins.of(tensor, looked, is_read=False), named, True)
        return found

    def _drawn(self, ran: Ran, operator: Operator, function: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operator that may draw random numbers, and notes the state of the generator where it did."""
        generator = operator.generator(args, kwargs)
        before = None if generator is None else state_of(generator)
        result = self._written(operator, function, args, kwargs)
        if before is not None and state_of(generator) != before:
            ran.attributes = {"generator": before}
        return result

    def _shows_no_values(self, operator: Operator, args: Any, kwargs: Any) -> bool:
        """Whether a view is one of memory that nothing has filled yet: what is there differs from run to run."""
        return lays_shards_out() or any(map(self._keeper.memo.is_unfilled, operator.inputs(args, kwargs)))

    def _unseen(self, operator: Operator, function: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operator that is not recorded, and notes what that means for edges."""
        result = self._written(operator, function, args, kwargs)
        if operator.makes_memory:
            self._keeper.memo.made_unfilled(result)
        if self._origins is None:
            return result
        with self._lock, suppress(Exception):  # of tensors without memory nothing is noted
            if operator.recorded:
                for each in (*operator.written(args, kwargs), *(() if operator.is_view else tensors((result,)))):
                    self._origins.lost(each)
            elif operator.makes_memory:
                self._origins.unfilled(result)
            elif operator.is_constant:
                self._origins.constant(result)
        return result

    def _collective(
        self, name: str, operator: Operator, result: Any, args: Any, kwargs: Any, source: Any, ran: Ran | None
    ) -> list[Record]:
        """The outputs of a collective. Those of ``c10d`` take their values when it has ended: waiting for it now could
        make ranks wait for one another for ever."""
        if operator.functional:
            awaited(result)
            return self._outputs(name, operator, result, args, kwargs, source, ran)
        work = work_of(result)
        if work is not None and "reduce_scatter" in operator.name:
            work.wait()  # gloo's copies its result when it is waited for, and never says that it has ended
            work = None
        if work is None:
            return self._outputs(name, operator, result, args, kwargs, source, ran)
        late: list[tuple[Record, Any]] = []
        self._late = late
        try:
            found = self._outputs(name, operator, result, args, kwargs, source, ran)
        finally:
            self._late = None
        if late:
            self._pending.append(Pending(work, late))
            self._settle()
        return found

    def _settle(self, last: bool = False, touched: Any = ()) -> None:
        """Takes the values of collectives that have ended; ``last``: those of the others are lost. One whose memory is
        ``touched`` has ended, or is about to say so."""
        pending, self._pending = self._pending, []
        memory = {each.untyped_storage()._cdata for each in tensors(_touched(touched)) if is_plain(each)}
        for each in pending:
            if each.ended(_SOON if last or each.touches(memory) else 0.0):
                for record, tensor in each.late:
                    with self._lock:
                        self._keeper.memo.written(tensor)
                        self._keeper.fill(record, tensor)
            elif not last:
                self._pending.append(each)
            else:
                lost = {id(record) for record, _ in each.late}
                self.records = [record for record in self.records if id(record) not in lost]
                for record, _ in each.late:
                    why = "the step ended before the collective"
                    self._unread(record.key.operator, record.op_type, "output", record.key.slot, why)

    def _outputs(
        self, name: str, operator: Operator, result: Any, args: Any, kwargs: Any, source: Any, ran: Ran | None
    ) -> list[Record]:
        self._shapes_alone = False
        return self._slots(name, operator.name, "output", operator.outputs(result, args, kwargs), source, ran)

    def _record(self, name: str, operator: str, found: list[Record], ran: Ran | None = None) -> None:
        if found and not self._shapes_alone:
            self._numbers[name.rpartition("/")[0], operator] += 1
            self.records += found
            self.names.append(name)
            if ran is not None:
                ran.ended()
                self.ran.append(ran)

    def _changed(self, tensors: Iterable[Any]) -> None:
        """Forgets the facts about tensors that were written."""
        with self._lock:
            for tensor in tensors:
                self._keeper.memo.written(tensor)

    def _written(self, operator: Operator, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator and forgets the facts about everything it writes, even if it fails half way."""
        if not operator.writes:
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            self._changed(operator.written(args, kwargs))

    @property
    def in_backward(self) -> bool:
        """Whether a backward runs."""
        return self._scopes.in_backward

    def forget(self) -> None:
        """Forgets all facts about memory."""
        self._keeper.memo.clear()
        if self._origins is not None:
            self._origins.forget()

    def outside(self, kind: str, given: Iterable[tuple[str, Any]]) -> None:
        """Names tensors that come from outside of the step, where no operator has seen them yet."""
        if self._origins is not None:
            with self._lock:
                for name, tensor in given:
                    if isinstance(tensor, torch.Tensor) and is_plain(tensor := unwrapped(tensor)):
                        self._origins.unseen(kind, name, tensor)

    def optimizer(self, scope: str, optimizer: Any) -> None:
        """Records the settings of an optimizer that begins a step."""
        if self._origins is not None:
            self.outside("parameter", self._origins.states_of(optimizer))
        if self._selection.has(scope) and not self.ended:
            name = f"{scope}/settings-op{self._numbers[scope, 'settings']}"
            self._record(
                name, "settings", self._scalars(name, SETTING, settings_of(optimizer), 0, self._lines.source())
            )

    def modes(self, module: Any) -> None:
        """Records which modules were in training, before everything else of the step, and how they are configured."""
        name = f"{ROOT}/modules-op0"
        self.records[:0] = self._scalars(name, SETTING, [(SETTINGS, modes_of(module))], 0, None)
        ran = Ran(name, SETTING, None)
        ran.attributes = configuration_of(module)
        self.ran.insert(0, ran)

    def placements(self) -> None:
        """Records where the parts of the step's distributed tensors lie, as a table of placements."""
        if self._placed:
            text = lines(self._placed)
            self.records += self._scalars(f"{ROOT}/{PLACEMENTS}-op0", SETTING, [(PLACEMENTS, text)], 0, None)

    def parameter(self, name: str, tensor: Any) -> None:
        """Records the current value of a parameter."""
        self.records += self._slots(name, "Parameter", "output", [tensor], None)

    def gradient(self, name: str, tensor: Any) -> None:
        """Records the current gradient of a parameter."""
        self.records += self._slots(f"{name}.grad", "Gradient", "output", [tensor], None)

    def left(self) -> None:
        """Notes that the running line hands values out of PyTorch; PyTorch's own lines do so for themselves."""
        frame = sys._getframe(3)
        if not is_pytorchs(frame):
            if self._origins is not None:
                self._origins.blind()  # what comes back is of this step, too
            where = self._lines.source() or "a line that is not known"
            self.problems.setdefault((where, LEFT), Problem(where, "note", LEFT))

    def called(self, scope: str, args: Any, kwargs: Any) -> tuple[str, list[Record]]:
        """Reads the tensors that a module is given before it runs; gives the name of the call, too."""
        name = f"{scope}/{CALL}-op{self._numbers[scope, CALL]}"
        self._numbers[scope, CALL] += 1
        if self.ended or not self._selection.has(scope):
            return name, []
        return name, self._boundary(name, "input", (*args, kwargs) if kwargs else args)

    def gave(self, name: str, given: list[Record], output: Any) -> None:
        """Records a module's call with the tensors that it gives."""
        found = self._boundary(name, "output", output)
        if self._selection.has(name.rpartition("/")[0]) and not self.ended and (given or found):
            with self._lock:
                self.records += given + found
                self.names.append(name)

    def _boundary(self, name: str, io: str, value: Any) -> list[Record]:
        held = [leaf for _, leaf in leaves(value) if isinstance(leaf, (torch.Tensor, np.ndarray))]
        arrays = [torch.as_tensor(each) if isinstance(each, np.ndarray) and _fits(each) else each for each in held]
        given = [each for each in arrays if isinstance(each, torch.Tensor)]
        with torch._C._DisableFuncTorch():  # it reads what a transform computes with, outside of it
            return self._slots(name, MODULE, io, given, None)

    def returned(self, value: Any, what: str) -> None:
        """Records what the module or the function returned (``what`` is ``result``) or a loss, by its tensors, arrays,
        numbers and texts."""
        found: list[Record] = []
        names: set[str] = set()
        for path, leaf in leaves(value):
            name = f"{ROOT}/{what}{path}"
            while name in names:
                name += "'"
            names.add(name)
            made = self._leaf(name, leaf)
            if self._origins is not None and what == "result" and not self._returned[what]:
                self.results.append(self._origin_of(leaf))
            for record in made:
                record.key = record.key._replace(execution=self._returned[what])
            found += made
        self._returned[what] += 1
        self.records += found

    def _origin_of(self, leaf: Any) -> Source:
        if self._origins is None or not isinstance(leaf, torch.Tensor) or not is_plain(leaf := unwrapped(leaf)):
            return UNKNOWN
        with self._lock:
            return self._origins.of(leaf)

    def _leaf(self, name: str, leaf: Any) -> list[Record]:
        if isinstance(leaf, torch.Tensor):
            with torch._C._DisableFuncTorch():
                return self._slots(name, RESULT, "output", [leaf], None)
        layout = TORCH_FORMAT if isinstance(leaf, np.ndarray) else ARGUMENT_FORMAT
        try:
            array = _as_array(leaf)
            dtype = from_numpy(array.dtype, stored=True)
        except (DtypeError, TypeError, ValueError, OverflowError):
            self._unread(name, RESULT, "output", 0, f"a {type(leaf).__name__} {NO_TENSOR}")
            return []
        if not array.size:
            return []
        record = Record(SlotKey(*self._where, name, 0, "output", 0), RESULT, dtype.name, array.shape, layout)
        self._keeper.take(record, array.astype(dtype.numpy, order="C"))
        return [record]

    def _scalars(self, name: str, op: str, given: Iterable[Scalar], first: int, source: str | None) -> list[Record]:
        """The slots of arguments that are no tensors, after those of the tensors."""
        found = []
        with self._lock:
            for slot, (named, value) in enumerate(given, first):
                key = SlotKey(*self._where, name, 0, "input", slot)
                record = Record(key, op, "", (), ARGUMENT_FORMAT, source=source)
                record.extra.named = named
                self._keeper.argument(record, value)
                found.append(record)
        return found

    def _slots(
        self, name: str, op: str, io: str, given: list[Any], source: str | None, ran: Ran | None = None
    ) -> list[Record]:
        with self._lock:
            return self._read(name, op, io, given, source, ran)

    def _read(self, name: str, op: str, io: str, given: list[Any], source: str | None, ran: Ran | None) -> list[Record]:
        found: list[Record] = []
        slot = 0
        for tensor in given:
            try:
                if op in _BOUNDARIES:
                    tensor = unwrapped(tensor)
                if op in _PLACED and is_distributed(tensor):
                    self._placed[f"{name}:{io}.{slot}"] = placement_of(tensor)
                consists = [("", tensor)] if is_plain(tensor) else parts(tensor)
                for part in consists:
                    looked = look(part[1])
                    if ran is None or self._link(ran, io, slot, part[1], looked, id(tensor) in ran.writes):
                        made = self._slot(SlotKey(*self._where, name, 0, io, slot), op, part, looked, source)
                        if made is not None:
                            found.append(made)
                    slot += 1
            except Unread as why:
                # Operators on meta tensors compute shapes alone; PyTorch runs some of its own.
                if str(why) == META and op != RESULT:
                    self._shapes_alone = True
                else:
                    self._unread(name, op, io, slot, str(why))
                slot += 1
            except Exception as error:  # a program that is watched goes on, whatever its tensors are
                told = str(error).partition("\n")[0][:120]
                self._unread(
                    name, op, io, slot, f"a {type(tensor).__name__} cannot be read: {type(error).__name__}: {told}"
                )
                slot += 1
        return found

    def _link(self, ran: Ran, io: str, slot: int, tensor: Any, looked: Looked, is_written: bool) -> bool:
        """Notes where an operator's input comes from, or that its output comes from it; whether it has content."""
        if self._origins is None:
            return True
        if io == "input":
            given = self._origins.of(tensor, looked)
            ran.takes(slot, looked[1], given, "", is_written)
            return given is not UNFILLED
        ran.gives(slot, looked[1], DTYPES[tensor.dtype].name, looked[2][1])
        self._origins.made(tensor, looked, ran, slot, is_written)
        return True

    def _slot(self, key: SlotKey, op: str, part: Part, looked: Looked, source: str | None) -> Record | None:
        named, tensor = part
        if not tensor.numel():
            return None
        record = Record(key, op, DTYPES[tensor.dtype].name, tuple(tensor.shape), TORCH_FORMAT, source=source)
        if named:
            record.extra.named = named
        if self._late is not None:
            self._late.append((record, tensor))
        else:
            self._keeper.fill(record, tensor, looked)
        return record

    def _unread(self, name: str, op: str, io: str, slot: int, why: str) -> None:
        where = f"{name} {io}.{slot}"
        kind = "note" if why in VALUELESS or why.endswith(NO_TENSOR) else "gap"
        key = SlotKey(*self._where, name, 0, io, slot)
        self.problems.setdefault((where, why), Problem(where, kind, why, key, op))


def _fits(array: Array) -> bool:
    """Whether PyTorch has tensors of an array's kind."""
    return array.dtype.kind in "biufc" and array.dtype.isnative and min(array.strides, default=0) >= 0


def _touched(touched: Any) -> list[Any]:
    """The arguments of a call in one list."""
    return [*touched[0], *touched[1].values()] if touched else []


def _after(found: list[Record]) -> int:
    """The first slot after those of the tensors, of which empty ones are left out."""
    return found[-1].key.slot + 1 if found else 0


def _what(name: str) -> str:
    """``result`` of ``Default/result.logits``."""
    return re.split(r"[.\[]", name.rpartition("/")[2], maxsplit=1)[0]


def _as_array(leaf: Any) -> Array:
    """A number or a text as an array; texts by their bytes."""
    if isinstance(leaf, str):
        leaf = leaf.encode(errors="surrogatepass")
    return np.frombuffer(leaf, np.uint8) if isinstance(leaf, bytes) else np.asarray(leaf)

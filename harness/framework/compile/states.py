"""Reads and updates of memory (parameters, and tensors changed in place), and the state (MindSpore's monad) that keeps
them in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from harness.errors import TraceError
from harness.framework.compile.traced import is_weight
from harness.framework.ops.base import OPERATORS
from harness.graph import IO, IOMONAD, Node, Operand, Parameter, Spec, TensorSpec, TupleSpec, U


@dataclass(eq=False, slots=True)
class _Unit:
    """The reads of one operator, ``reader``, the ``at``-th that was traced; without a reader, a read that stands
    alone."""

    at: int
    reads: list[Node]
    reader: Node | None = None

    def is_used(self, used: Set[int]) -> bool:
        """Whether the reader, or what is read without one, is among what is ``used`` (ids)."""
        return any(id(each) in used for each in (self.reads if self.reader is None else [self.reader]))

    def members(self) -> list[Operand]:
        """What the state after the reads names: of a tuple with reads in it every member (measured)."""
        if self.reader is None:
            return list(self.reads)
        at = 0
        for count in self.reader.extra.layout:
            group = self.reader.inputs[at : at + (count or 1)]
            if count is not None and any(i is self.reads[0] for i in group):
                return group
            at += len(group)
        return list(self.reads)


@dataclass(eq=False, slots=True)
class _Step:
    """Reads in a row and what ends them: an update, or the end of the region.

    Attributes:
        units: the reads.
        gathered, members: the state after the reads and the tuple of them, where there are any.
        at: number of the updating operator among those traced.
        differentiated: whether the gradient had been taken.
        written: the parameters (by id) that had been written before, or handed to an update.
        zeros: reads of weights for zeros, after those of the differentiated function.
        own: how many units are of that function.
        update, after: that operator and the state after it.
        saved: the copy an update takes of what it overwrites, and the state after the copy.
    """

    units: list[_Unit]
    gathered: Node
    members: Node
    at: int
    differentiated: bool
    written: frozenset[int]
    zeros: list[Node]
    own: int
    update: Node | None = None
    after: Node | None = None
    saved: tuple[Node, Node] | None = None

    def in_order(self) -> list[Node]:
        """The reads as they stand in the tuple that their states are merged into: those of a differentiated function,
        of weights for zeros and of what follows are merged for themselves, then joined from the back (measured)."""
        own, later = self.units[: self.own], self.units[self.own :]
        if not self.zeros and not (own and later):
            return merged([unit.reads for unit in self.units], self.differentiated)
        after = merged([unit.reads for unit in later], False)
        return _joined(merged([unit.reads for unit in own], False), _joined(self.zeros, after))


@dataclass(eq=False, slots=True)
class _Log:
    """The effects of a region so far; ``zeros`` and ``own`` as of the step that is being made."""

    steps: list[_Step] = field(default_factory=list)
    units: list[_Unit] = field(default_factory=list)
    zeros: list[Node] = field(default_factory=list)
    own: int = 0


class States:
    """The effects on memory and output so far in the region that is being traced.

    Attributes:
        io_state: what the next print has to follow; None while nothing was printed.
        differentiated: whether the gradient was taken already; what is read again from then on is not noted again.
    """

    def __init__(self, virtual: Callable[[str, list[Operand], Spec], Node]) -> None:
        self.io_state: Operand | None = None
        self.differentiated = False
        self._virtual = virtual
        self._log = _Log()
        #: parameters (by id) that are arguments of the function
        self.handed: set[int] = set()
        self._known: dict[Any, Node] = {}
        self._updates: dict[int, int] = {}
        #: memory that was changed in place: each of its names (an operand, by its id) -> the first one
        self._roots: dict[int, tuple[Operand, Operand]] = {}

    @property
    def state(self) -> Operand:
        """The state that the next effect on memory has to follow, without the reads since the last effect."""
        return self._state(len(self._log.steps))

    def _state(self, number: int) -> Operand:
        """The state that an effect in the ``number``-th step has to follow."""
        last = self._log.steps[number - 1].after if number else None
        return last if last is not None else U

    def leave(self) -> _Log:
        """Starts again for another region; returns what ``back`` needs to continue here."""
        saved = self._log
        self._log = _Log()
        return saved

    def back(self, saved: _Log) -> None:
        """Goes on where ``leave`` was called."""
        self._log = saved

    # -- memory other than parameters ------------------------------------------------------------------------------
    def root(self, operand: Operand) -> Operand:
        """The first name of the memory ``operand`` stands for."""
        return self._roots[id(operand)][1] if id(operand) in self._roots else operand

    def is_changed(self, operand: Operand) -> bool:
        """Whether a value that is not a parameter was changed in place, or is what such a change gave."""
        return id(operand) in self._roots

    def refer(self, operand: Operand, root: Operand) -> None:
        """Makes ``operand`` a name of the memory of ``root``: from now on it is read like a parameter."""
        self._roots[id(operand)] = operand, self.root(root)
        named: Operand | None = operand
        while isinstance(named, Node):
            named.extra.root = self.root(root)
            named = named.inputs[0] if named.op == "TupleGetItem" else None

    def read_before(self, operand: Operand, readers: Sequence[tuple[int, Node]], region: object) -> None:
        """Makes the operators that took ``operand`` before it was first changed read it.

        Args:
            operand: what is changed for the first time.
            readers: each operator of this region that takes it, with its number among those traced, in order.
            region: the region.
        """
        noted: _Step | None = None
        load: Node | None = None
        for at, reader in readers:
            number = next((n for n, s in enumerate(self._log.steps) if s.at > at), len(self._log.steps))
            step = self._log.steps[number] if number < len(self._log.steps) else None
            if load is None:
                load, noted = self._load(operand, region, self._state(number)), step
            reader.inputs = [load if i is operand else i for i in reader.inputs]
            if step is noted:
                _note(step.units if step is not None else self._log.units, at, reader, load)

    # -- reads -----------------------------------------------------------------------------------------------------
    def read(self, operand: Operand, region: object, at: int) -> Node:
        """The read of a parameter or a changed value; one node for all reads in a region between two updates of it.

        Args:
            operand: the parameter, or a name of changed memory.
            region: the region.
            at: number of the operator that reads it among those traced.
        """
        count = len(self._known)
        load = self._load(operand, region, self.state)
        fresh = len(self._known) > count
        # What was read before another update is not noted again (measured).
        in_row = any(load in unit.reads for unit in self._log.units)
        if fresh or (in_row and not self.differentiated):
            self._log.units.append(_Unit(at, [load]))
        return load

    def _load(self, operand: Operand, region: object, state: Operand) -> Node:
        # What else a parameter handed over as an argument may be is not known there: any update may change it.
        seen = id(state) if id(operand) in self.handed else self._updates.get(id(self.root(operand)), 0)
        key = id(region), id(operand), seen
        if key not in self._known:
            assert isinstance(operand.spec, TensorSpec)
            load = self._virtual("Load", [operand, state], operand.spec.tensor)
            load.extra.root = self.root(operand)
            self._known[key] = load
        return self._known[key]

    def mark(self) -> int:
        """How many reads there are; for ``together``."""
        return len(self._log.units)

    def together(self, mark: int, reader: Node) -> bool:
        """Makes the reads since ``mark`` those of ``reader``; whether there are any."""
        units = self._log.units[mark:]
        since = [read for unit in units for read in unit.reads]
        if since:
            self._log.units[mark:] = [_Unit(units[0].at, since, reader)]
        return bool(since)

    def newest(self, load: Node) -> None:
        """Makes a read of memory that has several names one of the newest name (what is differentiated is seen to)."""
        load.inputs[0] = self._named(load, load.inputs[0])[0]

    def follow(self, node: Node) -> bool:
        """Makes a change of memory other than a parameter's one of its newest name; whether ``node`` is such a
        change."""
        places = range(len(node.inputs) - 1) if node.extra.effect == "memory" else ()
        changed = [at for at in places if self.is_changed(node.inputs[at])]
        for at in changed:
            node.inputs[at] = self._named(node, node.inputs[at])[0]
        return bool(changed)

    def before(self, reader: Node, operand: Operand) -> Operand:
        """The newest name of the memory of ``operand`` when ``reader``, a read or an update, finds it.

        Raises ``TraceError`` if an update before it wrote there and gives something else.
        """
        name, lost = self._named(reader, operand)
        if lost is not None:
            raise TraceError(f"it was changed before, by {lost.op}")
        return name

    def latest(self, operand: Operand) -> Operand:
        """The name that the newest change so far gave the memory of ``operand``; itself if there was none."""
        return self._named(None, operand)[0] if self.is_changed(operand) else operand

    def _named(self, reader: Node | None, operand: Operand) -> tuple[Operand, Node | None]:
        root, name, lost = self.root(operand), operand, None
        for number, step in enumerate(self._log.steps):
            if reader is not None and (
                step.update is reader or (reader.op == "Load" and reader.inputs[1] is self._state(number))
            ):
                break
            if step.update is None:
                continue
            if self.root(step.update) is root:
                name = step.update
            elif any(self.root(each) is root for each in _written_by(step.update)):
                lost = step.update
        return name, lost

    def reads(self) -> list[Node]:
        """Every read of what was changed in place, but parameters, in order."""
        return [load for load in self._known.values() if self.is_changed(load.inputs[0])]

    def reads_so_far(self) -> int:
        """How many reads were made; for ``forget``."""
        return len(self._known)

    def forget(self, used: Set[int], at: int, reads: int) -> None:
        """Forgets what only unused operators read, once a function's gradient is taken (measured: such operators are
        gone by then, and what is read later is noted as if it were the first read).

        Args:
            used: the ids of what the function's result and the effects so far are computed from.
            at: number of the function's first operator among those traced.
            reads: ``reads_so_far`` before the function.
        """
        for step in self._log.steps:
            step.units = [unit for unit in step.units if unit.at < at or unit.is_used(used)]
        self._log.units = [unit for unit in self._log.units if unit.at < at or unit.is_used(used)]
        for key, load in list(self._known.items())[reads:]:
            if id(load) not in used:
                del self._known[key]
        self._log.own = len(self._log.units)
        self.link()

    def read_for_zeros(self, weights: Sequence[tuple[Operand, bool]], region: object) -> None:
        """Reads weights right after the function whose gradient is taken, for zeros of their shapes.

        Args:
            weights: all that the gradient is taken for, and whether each is unused; only those are read.
            region: the region.
        """
        reads = [self._load(weight, region, self.state) if unused else None for weight, unused in weights]
        # From both ends of the row to its middle (measured).
        self._log.zeros = [read for read in (*reads[0::2][::-1], *reads[1::2]) if read is not None]

    # -- updates ---------------------------------------------------------------------------------------------------
    def update(self, node: Node, targets: Sequence[Operand], at: int) -> None:
        """Makes ``node``, which updates ``targets`` and is the ``at``-th operator traced, follow what came before and
        be followed by what comes."""
        step = self._end(at)
        for target in targets:
            root = self.root(target)
            if isinstance(root, Parameter):
                root.is_inplace = True
        for operand in node.inputs:
            # Memory that is handed to an update, changed or not, is read again after it (measured).
            root = self.root(operand)
            self._updates[id(root)] = self._updates.get(id(root), 0) + 1
        step.update, step.after = node, self._virtual("UpdateState", [U, node], U.spec)
        node.inputs.append(U)
        self.link()

    def save(self, node: Node, load: Node, copy: Node) -> None:
        """Makes the update ``node`` come after ``copy``, which is taken of the read ``load`` right before it."""
        step = next(s for s in self._log.steps if s.update is node)
        after = self._virtual("UpdateState", [load.inputs[1], copy], U.spec)
        step.saved = copy, after
        self.link()

    def print(self, node: Node) -> None:
        """The same for a node that prints."""
        node.inputs.append(self.io_state or IO)
        self.io_state = self._virtual("UpdateState", [self.io_state or IO, node], IOMONAD)

    def flush(self) -> Operand:
        """The state after everything in the region so far, which ends here."""
        self._end(-1)
        return self.link()

    def _end(self, at: int) -> _Step:
        gathered = self._virtual("UpdateState", [U, U], U.spec)
        members = self._virtual("MakeTuple", [], TupleSpec(()))
        log = self._log
        step = _Step(log.units, gathered, members, at, self.differentiated, self._written(), log.zeros, log.own)
        log.units, log.zeros, log.own = [], [], 0
        self._log.steps.append(step)
        return step

    def _written(self) -> frozenset[int]:
        parameters = [r.inputs[0] for unit in self._log.units for r in unit.reads]
        weights = (p for p in parameters if isinstance(p, Parameter))
        anywhere = self.handed if self._updates else frozenset()
        return frozenset(id(p) for p in weights if p.is_inplace or id(p) in self._updates or id(p) in anywhere)

    def link(self) -> Operand:
        """Lets each state follow the one before it; gives the last."""
        state: Operand = U
        for step in self._log.steps:
            state = self._gather(step, state)
            if step.update is None or step.after is None:
                continue
            step.update.inputs[-1] = state
            if step.saved is not None:
                copy, after = step.saved
                copy.inputs[0].inputs[1] = state  # type: ignore[union-attr]
                after.inputs[0] = state
                step.update.inputs[-1] = after
            step.after.inputs[0] = state
            state = step.after
        return state

    def _gather(self, step: _Step, state: Operand) -> Operand:
        """The state after the reads of a step."""
        if not step.units and not step.zeros:
            return state
        order = step.in_order()
        late = {id(r) for r in step.zeros}
        every = list({id(r): r for unit in step.units for r in unit.reads}.values())
        every += [r for r in order if id(r) in late]
        free = [r for r in every if is_weight(r.inputs[0]) and id(r.inputs[0]) not in step.written]
        # Measured graphs show that reads in a row move to the start, all but the last if nothing among them was written
        # before (measured).
        for read in free[:-1] if free[-1:] == every[-1:] and len(free) == len(every) else free:
            read.inputs[1] = U
        reads: list[Operand] = list(order)
        if len(reads) == 1 and len(step.units) == 1:
            reads = step.units[0].members()
        if len(reads) > 1:
            step.members.inputs = reads
            step.members.spec = TupleSpec(tuple(r.spec for r in reads))
            step.members.extra.layout = (None,) * len(reads)
            reads = [step.members]
        step.gathered.inputs = [state, *reads]
        return step.gathered


def _joined(first: list[Node], then: list[Node]) -> list[Node]:
    return [*first[::-1], *then[::-1]] if first and then else first or then


def _note(units: list[_Unit], at: int, reader: Node, load: Node) -> None:
    """Puts the read ``load`` of an operator, the ``at``-th traced, among those noted already."""
    place = sum(unit.at < at for unit in units)
    if place == len(units) or units[place].at != at:
        units.insert(place, _Unit(at, [], reader))
    known = [*units[place].reads, load]
    units[place].reads = [i for i in reader.inputs if isinstance(i, Node) and any(i is k for k in known)]


def merged(units: Sequence[Sequence[Node]], differentiated: bool) -> list[Node]:
    """The order in which reads stand in the tuple their states are merged into.

    One unit (the reads of one operator) stays as it is, repeated reads too. Of several units, each reverses what is
    there and follows it, itself reversed; a read that occurs twice keeps its first place. The reads at the end of a
    differentiated function are reversed once more (all measured).
    """
    order: list[Node] = []
    if len(units) == 1:
        return list(units[0][::-1] if differentiated else units[0])
    for unit in units:
        order = order[::-1] + list(unit[::-1])
    each = list({id(read): read for read in order}.values())
    return each[::-1] if differentiated else each


def _written_by(update: Node) -> list[Operand]:
    """What an update writes to, by its flat inputs."""
    counts = [1 if count is None else count for count in update.extra.layout]
    starts = [sum(counts[:at]) for at in OPERATORS.get(update.op).mutates]
    return [update.inputs[start] for start in starts]

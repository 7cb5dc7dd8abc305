"""Where NaN and infinity began: each value that is not finite is followed to the execution that made it.

An execution whose known inputs are finite and whose result is not is an origin. What reads such a result follows from
it. Infinity that a graph puts in on purpose (masks) is no origin; NaN made of it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.inspect.flow import consumers, forward_of, parameter_read
from harness.inspect.roles import BACKWARD, FORWARD, LOSSES, UPDATE
from harness.inspect.run import Made, Op, Run, Slot

FINITE, INFINITE, NAN = 0, 1, 2
#: operators that put constants somewhere: infinity that they give is meant
_FILLING = """
full full_like fill fills fill_ filltensor filld zeros ones scalar_tensor triu tril fillv2 constant index_put_
masked_fill_ maskedfill masked_fill select where index_fill scatter scatterupdate pad padv3 constant_pad_nd
infinity new_full copy_ lift_fresh tensorscatterupdate
"""
_MADE_LIKE = """
ones_like zeros_like empty_like full_like rand_like randn_like new_ones new_zeros new_empty new_full
OnesLike ZerosLike OnesLikeExt ZerosLikeExt EmptyLike FullLike NewOnes NewZeros NewEmpty NewFull Shape
"""
#: operators that read only the shape of what they are given
SHAPES = frozenset(_MADE_LIKE.split())
_FILLS = frozenset(_FILLING.split())


@dataclass(eq=False)
class Origin:
    """Where values that are not finite began.

    Attributes:
        op: the execution; None if they were given.
        level: ``INFINITE`` or ``NAN``.
        parameter: what gave them, if a parameter or the data did.
        meant: whether a constant gave them.
        by_input: the input that was infinite already, if NaN was made of infinity that was meant.
        followers: executions that follow from it, itself not counted.
        parameters: parameters that got them.
        ends: results that nothing reads and that hold them.
        checked: whether something looks at them in order to leave the step out.
        folded: other executions that made some for the same reason.
        iteration: label of the step.
        first_nan: the first execution that has NaN of it.
        unsure: whether inputs of ``op`` are unknown.
        vanished: the first division that made 0 of infinity which an overflow of the forward pass had made.
        unwritten: whether nothing is known to have written what was read, although the graph states who writes; or
            what its last writer wrote is finite.
    """

    op: Op | None
    level: int
    rank: int
    iteration: int
    parameter: str = ""
    meant: bool = False
    by_input: int | None = None
    followers: int = 0
    steps: set[int] = field(default_factory=set)
    parameters: list[str] = field(default_factory=list)
    ends: list[Op] = field(default_factory=list)
    checked: bool = False
    folded: list[Op] = field(default_factory=list)
    first_nan: Op | None = None
    unsure: bool = False
    vanished: Op | None = None
    unwritten: bool = False


def level(slot: Slot | None) -> int | None:
    """How far a slot is from finite; None if that is unknown."""
    return None if slot is None or slot.numbers is None else slot.numbers.level


class Search:
    """Finds the origins of a run.

    Args:
        run: the run, linked.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.origins: list[Origin] = []
        self._of: dict[int, Origin] = {}
        self._given: dict[tuple[int, str], Origin] = {}
        self._updated: dict[tuple[int, str], Origin] = {}
        self._last: dict[tuple[int, str], Origin] = {}
        self._readers = consumers(run)
        self._called: dict[str, Op] = {}
        for rank, iteration, ops in run.by_step():
            self._called = {op.name: op for op in ops}
            for op in ops:
                self._look(op)
            self._parameters(rank, iteration)
        self._ends()

    # -- one execution

    def _look(self, op: Op) -> None:
        out = max((each for each in self._out_levels(op)), default=FINITE)
        bad, unsure = self._bad_inputs(op)
        if bad and op.family == "finite_check":
            for at in bad:
                self._source(op, at).checked = True
        if out == FINITE:
            self._divided(op, bad)
            return
        if not bad:
            carried = self._carried(op) or self._from_nothing(op) or self._from_forward(op)
            if carried is not None:
                self._follow(op, carried, out)
            else:
                called = forward_of(op.name)
                self._begin(op, out, unsure or (called is not None and called not in self._called))
            return
        worst = max(bad.values())
        at = next(at for at, each in bad.items() if each == worst)
        source = self._source(op, at)
        if out > worst and source.meant:
            self._begin(op, out, unsure, by_input=at)
            return
        self._follow(op, source, out)

    def _divided(self, op: Op, bad: dict[int, int]) -> None:
        """Numbers over infinity are 0. That is meant of ``1 / (1 + exp(x))``; a sum or a square that overflowed was a
        number, and what is divided by it is lost."""
        at = {"div": 1, "rsqrt": 0, "reciprocal": 0}.get(op.family)
        if at not in bad or op.phase != FORWARD:
            return
        source = self._source(op, at)
        if source.op is not None and not source.meant and source.op.phase == FORWARD and source.op.family != "exp":
            source.vanished = source.vanished or op

    def _carried(self, op: Op) -> Origin | None:
        """The origin of a state that an update in place found spoilt: dumps show the state after it."""
        for at in op.updated:
            made = op.makers.get(at)
            if made is not None and (op.where.rank, made.parameter) in self._updated:
                return self._updated[op.where.rank, made.parameter]
        return self._last.get((op.where.rank, op.name)) if op.phase == UPDATE or op.updated else None

    def _from_nothing(self, op: Op) -> Origin | None:
        """The last origin, for an operator whose inputs nobody recorded: it may have read anything."""
        if op.inputs or op.makers or op.updated or op.family == "unfilled":
            return None
        return next((each for each in reversed(self.origins) if each.rank == op.where.rank and not each.meant), None)

    def _from_forward(self, op: Op) -> Origin | None:
        """What spoilt the call whose gradient this is: it reads what the call kept, which is not among its inputs."""
        called = self._called.get(forward_of(op.name) or "")
        if called is None:
            return None
        if called.at in self._of:
            return self._of[called.at]
        bad, _ = self._bad_inputs(called)
        return self._source(called, max(bad, key=bad.__getitem__)) if bad else None

    def _out_levels(self, op: Op) -> Iterable[int]:
        for slot in op.results:
            yield level(slot) or FINITE
        if not op.outputs:
            for at in range(4):
                for reader, place in self._readers.get((op.at, at), ()):
                    yield level(reader.inputs.get(place)) or FINITE

    def _bad_inputs(self, op: Op) -> tuple[dict[int, int], bool]:
        """Inputs that are not finite, with their levels; and whether one is unknown."""
        bad: dict[int, int] = {}
        unsure = not (op.inputs or op.makers)
        for at in sorted({*op.inputs, *op.makers}):
            made = op.makers.get(at)
            if at in op.updated or (made is not None and made.constant and at not in op.inputs):
                continue
            known = level(op.inputs.get(at))
            if known is None and made is not None and made.by is not None:
                known = level(made.by.outputs.get(made.slot))
                if known is None and made.by.at in self._of:
                    known = self._of[made.by.at].level
            if known:
                bad[at] = known
            unsure = unsure or (known is None and not (made is not None and made.constant))
        return bad, unsure

    def _source(self, op: Op, at: int) -> Origin:
        """The origin of a value that is not finite."""
        made = op.makers.get(at)
        if made is not None and made.by is not None and made.by.at in self._of:
            return self._of[made.by.at]
        if made is not None and made.parameter:
            return self._of_parameter(op, made.parameter)
        slot = op.inputs.get(at)
        if made is not None and made.constant and level(slot) != NAN:  # a mask; nobody means NaN
            return self._given_by(op, "", True, level(slot) or INFINITE)
        if made is not None and made.constant:
            return self._given_by(op, f"{op.name} input.{at}", False, NAN)
        earlier = [each for each in self.origins if each.rank == op.where.rank and not each.meant]
        if made is None and earlier:
            return earlier[-1]
        small = slot is not None and slot.numbers is not None and slot.numbers.level == INFINITE and made is None
        found = self._given_by(op, f"{op.name} input.{at}", small, level(slot) or INFINITE)
        known = made is None and self.run.graphs.statement(op.where.graph, op.name) is not None
        in_part = made is not None and made.by is not None and level(made.by.outputs.get(made.slot)) == FINITE
        found.unwritten = known or in_part
        return found

    def _of_parameter(self, op: Op, name: str) -> Origin:
        found = self._updated.get((op.where.rank, name)) or self._earlier(op)
        return found or self._given_by(op, name, False, NAN)

    def _earlier(self, op: Op) -> Origin | None:
        """The last origin of an earlier step: parameters carry it on where no dump shows them."""
        found = (each for each in reversed(self.origins) if not each.meant and each.iteration != op.where.iteration)
        return next((each for each in found if each.rank == op.where.rank), None)

    def _given_by(self, op: Op, name: str, meant: bool, worst: int) -> Origin:
        key = (op.where.rank, name)
        if key not in self._given:
            made = Origin(None, worst, op.where.rank, op.where.iteration, name, meant)
            self._given[key] = made
            self.origins.append(made)
        return self._given[key]

    def _begin(self, op: Op, out: int, unsure: bool, by_input: int | None = None) -> None:
        twin = self._twin(op)
        if twin is not None:
            twin.folded.append(op)
            if twin.op is not None and op.phase == FORWARD and twin.op.phase == BACKWARD:  # as graphs order them
                twin.folded[-1], twin.op, twin.level = twin.op, op, out
            self._follow(op, twin, out)
            return
        meant = out == INFINITE and op.kind.lower().rpartition(".")[2] in _FILLS
        made = Origin(op, out, op.where.rank, op.where.iteration, meant=meant, by_input=by_input, unsure=unsure)
        made.first_nan = op if out == NAN else None
        self.origins.append(made)
        self._of[op.at] = self._last[op.where.rank, op.name] = made

    def _follow(self, op: Op, source: Origin, out: int) -> None:
        self._of[op.at] = self._last[op.where.rank, op.name] = source
        source.followers += 1
        source.steps.add(op.where.iteration)
        if out == NAN and source.first_nan is None:
            source.first_nan = op

    def _twin(self, op: Op) -> Origin | None:
        """An earlier origin that this one only repeats: the same operator in an earlier step or execution, the gradient
        of the same operator at the same values, another reader of the same values, the same update of another
        parameter; or a module around it."""
        mine = set(_contents(op))
        for each in self.origins:
            other = each.op
            if other is None or each.rank != op.where.rank or each.meant:
                continue
            if other.name == op.name:
                return each
            if each.iteration != op.where.iteration:
                continue
            if op.phase == UPDATE and other.phase in (UPDATE, BACKWARD):
                return each
            if op.phase == BACKWARD and (mine & set(_contents(other)) or other.layer == op.layer):
                return each
            if op.phase == FORWARD and other.phase == BACKWARD and mine & set(_contents(other)):
                return each
            if op.phase == other.phase == BACKWARD and op.kind == other.kind:
                return each
            if (
                op.phase == other.phase == FORWARD
                and op.layer != other.layer
                and other.layer.startswith(f"{op.layer}.")
            ):
                return each
        return None

    # -- the end of a step

    def _parameters(self, rank: int, iteration: int) -> None:
        recent = [each for each in self.origins if each.rank == rank and not each.meant]
        for (of, name), steps in self.run.parameters.items():
            slot = steps.get(iteration)
            if of != rank or not level(slot) or (rank, name) in self._updated:
                continue
            given = self._given.get((rank, name))
            source = given or self._writer(rank, iteration, name, slot) or (recent[-1] if recent else None)
            if source is None:
                source = Origin(None, level(slot) or NAN, rank, iteration, name)
                self._given[rank, name] = source
                self.origins.append(source)
            if source is not given:
                source.parameters.append(name)
            self._updated[rank, name] = source

    def _writer(self, rank: int, iteration: int, name: str, slot: Slot | None) -> Origin | None:
        """The origin that an update brought into a parameter."""
        for op in self.run.ops:
            if (op.where.rank, op.where.iteration) != (rank, iteration) or op.at not in self._of:
                continue
            reads = any(made.parameter == name for at, made in op.makers.items() if at in op.updated)
            same = slot is not None and any(each.content == slot.content for each in op.results)
            if op.phase == UPDATE and (reads or same):
                return self._of[op.at]
        return None

    def _ends(self) -> None:
        for op in self.run.ops:
            source = self._of.get(op.at)
            if source is None or (op.phase == BACKWARD and source.checked):
                continue
            for at, slot in op.outputs.items():
                read = any(reader.kind not in SHAPES for reader, _ in self._readers.get((op.at, at), ()))
                loss = op.family in LOSSES and op.phase == FORWARD and slot.numbers is not None
                if level(slot) and (loss or not read) and op.phase != UPDATE:
                    source.ends.append(op)
                    break


def _contents(op: Op) -> Iterable[bytes]:
    """What the inputs that are neither parameters nor constants hold, large or small."""
    for at, slot in op.inputs.items():
        made = op.makers.get(at, Made())
        constant = made.constant or (slot.numbers is not None and slot.numbers.is_constant)
        if slot.is_floating and not constant and slot.content and not parameter_read(op, at):
            yield slot.content

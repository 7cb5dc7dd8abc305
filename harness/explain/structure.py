"""Explains operators that one side lacks or that stand elsewhere, and what the values prove about them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from math import prod
from typing import Any

from harness.compare.divergence import FOUND_SUFFIX, Execution
from harness.compare.origin import Input, Kind, Origin, State
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.alignment import Alignment, is_order
from harness.explain.case import Case
from harness.explain.claim import Check
from harness.explain.evidence import Evidence, is_of_records, loaded
from harness.explain.explanation import Cause, Certainty
from harness.explain.numbers import changed_cell, short_operator, value_text
from harness.explain.pair import is_bitwise
from harness.explain.replay import computed, setting
from harness.explain.reproduced import rounded
from harness.explain.reread import gives_its_results, makers
from harness.explain.statements import Argument
from harness.explain.trained import Change, change, is_gradient, is_unchanged, writer_of, written
from harness.explain.work import Work, of_records
from harness.records import Record, SlotKey

#: largest number of the run's operators to compute again, one after the other, from the golden's values
_DEPTH = 24
#: largest number of operators whose results are asked for
_ASKED = 8
#: elements to compute, see ``work``
_WORK = 1 << 27
#: a source of at most so many elements is told with its values
_FEW = 3
#: inputs that come from elsewhere and are told
_SOURCES = 2


class Structure:
    """The cause of a structural origin."""

    def __init__(self, origin: Origin, case: Case) -> None:
        self._origin = origin
        self._case = case
        self._expected, self._found = case.expected, case.found
        self._followed: dict[Execution, tuple[bool, int]] = {}
        self._exact = True
        self._shown: dict[str, Any] = {}
        self._work = Work(_WORK)

    def cause(self) -> Cause:
        """What changed, and whether that is proven."""
        kind = self._origin.kind
        proofs: dict[Kind, Callable[[], Certainty | None]] = {
            Kind.REPLACED: self._by_replay, Kind.INSERTED: self._by_replay,
            Kind.REMOVED: lambda: self._passed_on() or self._survived() or self._written(), Kind.MOVED: self._by_replay,
            Kind.REWIRED: self._rewired, Kind.RENAMED: self._renamed, Kind.ARGUMENTS: self._with_other_inputs,
        }  # fmt: skip
        text = self._text().replace(FOUND_SUFFIX, "")  # a name of the comparison's, not of the run's
        told = text.split(":")[0] if ":" in text else "rewired"
        trained = self._trained()
        certainty = (self._untrained(trained) if trained is not None else None) or proofs[kind]()
        if trained is not None:
            text = f"{trained}; {text}"
        elif kind is Kind.REMOVED and self._is_cut():
            text = f"a part of the gradient is cut off; {text}"
        certainty, check = self._checked(certainty)
        return Cause(certainty, told, text, check=check)

    def _checked(self, certainty: Certainty | None) -> tuple[Certainty, Check | None]:
        """What a proof is worth: operators that give the run's values, but not its bits, make a cause likely."""
        if certainty is None:
            return Certainty.LIKELY, None
        if certainty is not Certainty.REPLAY:
            return certainty, Check("fact", self._shown)
        followed = [where.operator for where, (held, _) in self._followed.items() if held]
        check = Check("replay", {"the run's operators": followed, "iteration": self._there.iteration}, self._exact)
        return (certainty if self._exact else Certainty.LIKELY), check

    def _trained(self) -> Change | None:
        """The weights that only one side trains, if that is all that changed: no forward operator did."""
        aligned = self._aligned
        if not aligned.edits or any(aligned.stage(edit) == 0 and not is_order(edit) for edit in aligned.edits):
            return None
        return change(aligned.expected, aligned.found)

    def _is_cut(self) -> bool:
        """Whether nothing but gradients changed, and those were only left out."""
        edits = [edit for edit in self._aligned.edits if not is_order(edit)]
        lone = {edit.kind for edit in edits if edit.expected is None or edit.found is None}
        return lone == {Kind.REMOVED} and all(self._aligned.stage(edit) == 1 for edit in edits)

    def _untrained(self, trained: Change) -> Certainty | None:
        """Whether the weights stay as they were, or are updated as without a gradient."""
        run, where = (self._found, self._there) if trained.lost else (self._expected, self._origin.where)
        if trained.stays:
            same = all(is_unchanged(run, name, where.rank) for name in trained.names)
            self._shown = {"unchanged": list(trained.names), "in": "run" if trained.lost else "golden"}
            return Certainty.BITS if same else None
        writers = [writer_of(run, name, where) for name in trained.names]
        follows = trained.lost and all(each is not None and self._follows(each, 1) for each in writers)
        return Certainty.REPLAY if follows else None

    def _text(self) -> str:
        origin = self._origin
        name = short_operator(origin.where.operator)
        other = short_operator(origin.counterpart or "")
        after = short_operator(origin.before[0] or "")
        place = f" (after {after})" if after else ""
        if origin.counterpart is not None and (cell := changed_cell(origin.where.operator, origin.counterpart)):
            return f"replaced: {cell}"
        if origin.counterpart is None and (cell := self._other_class()):
            return f"replaced: {cell}"
        if origin.counterpart not in (None, origin.where.operator) and name == other:
            other, name = told_apart(origin.counterpart, origin.where.operator)
        if origin.kind is Kind.REPLACED and other in ("", name):
            types = self._found.op_type(self._there), self._expected.op_type(origin.where)
            return f"replaced: {name} is of type {types[0]}, expected {types[1]}"
        if origin.kind is Kind.REPLACED:
            return f"replaced: {name} by {other}{place}{self._with_other_parameter()}"
        if origin.kind is Kind.ARGUMENTS:
            return self._other_arguments()
        if origin.kind is Kind.RENAMED:
            return f"renamed: {name} to {other}"
        if origin.kind is Kind.REWIRED:
            made = [each for each in origin.inputs if each.expected_from or each.found_from]
            if made:
                more = f" (and {len(made) - _SOURCES} more)" if len(made) > _SOURCES else ""
                return f"{name} takes {', and '.join(map(self._other_source, made[:_SOURCES]))}{more}"
            return f"{name} takes the output of another operator"
        if origin.kind is Kind.MOVED and (order := self._inputs_in_another_order()):
            return f"{name} takes {order}"
        if origin.kind is Kind.MOVED:
            if origin.before[0] == origin.before[1]:
                return f"moved: {name} runs at another place in the order"
            one, two = told_apart(*origin.before)
            return f"moved: {name} stands after {two}, expected after {one}"
        return f"{origin.kind.value}: {name}{place}"

    def _other_arguments(self) -> str:
        """The inputs that one side alone gives, with the parameter that only this side has and that may be one."""
        name, told = short_operator(self._origin.where.operator), []
        places = self._origin.where, self._there
        for run, other, where, theirs, verb in (
            (self._expected, self._found, *places, "removed"),
            (self._found, self._expected, *places[::-1], "inserted"),
        ):
            mine = run.slots(where, "input")
            alone = [each.key for each in self._origin.inputs if each.state is State.NOT_COMPARED]
            lone = [mine[key.slot] for key in alone if key.operator == where.operator and key.slot in mine]
            if is_of_records(run):  # slots of what follows the tensors say nothing
                given, others = self._tensors(run, where), self._tensors(other, theirs)
                lone = [each for content, each in given.items() if content not in others]
            for record in lone:
                names = {each.key.operator for each in other.parameters}
                scope = where.operator.rpartition("/")[0]
                own = {p.key.operator for p in run.parameters if p.shape == record.shape and p.dtype == record.dtype}
                own = {each for each in own - names if each.rpartition(".")[0] == scope}
                what = f"{own.pop()}, " if len(own) == 1 else ""
                told.append(f"{verb}: {what}{record.key.slot_name} of {name}")
        return "; ".join(dict.fromkeys(told)) or f"{name} takes other inputs"

    def _tensors(self, run: Evidence, where: Execution) -> dict[bytes | None, Record]:
        """The tensors that an operator takes, by their content."""
        taken = run.slots(where, "input").values()
        return {run.content(each): each for each in taken if each.format != ARGUMENT_FORMAT}

    def _with_other_inputs(self) -> Certainty | None:
        """Whether the run's operator gives its results from the golden's tensors and those that it alone takes."""
        if is_of_records(self._found) and gives_its_results(self._found, self._there):
            one = self._tensors(self._expected, self._origin.where).keys()
            other = self._tensors(self._found, self._there).keys()
            if None not in one | other and (one <= other or other <= one):
                self._followed[self._there] = True, 0
                return Certainty.REPLAY
        return self._by_replay()

    def _inputs_in_another_order(self) -> str:
        """The inputs that an operator takes in each other's places: ``input.1 in place of input.0``; empty if it does
        not take the same ones."""
        sides = [
            [
                side.content(each)
                for _, each in sorted(side.slots(where, "input").items())
                if each.format != ARGUMENT_FORMAT
            ]
            for side, where in ((self._expected, self._origin.where), (self._found, self._there))
        ]
        one, other = sides
        if not is_of_records(self._found) or None in one or len(set(one)) < len(one) or {*one} != {*other}:
            return ""
        moved = [at for at, content in enumerate(one) if other[at] != content]
        return ", ".join(f"input.{one.index(other[at])} in place of input.{at}" for at in moved)

    def _other_class(self) -> str:
        """The cell of an operator that one side alone has, if the other side has a cell of that name and of another
        class instead: ``optimizer: Adam -> SGD``."""
        graph, cells = self._origin.where.graph, self._origin.where.operator.split("/")[:-1]
        runs = self._expected, self._found
        sides = [[each.name.split("/") for each in run.graphs.operators(graph)] for run in runs]
        mine, others = sides if self._origin.kind is Kind.REMOVED else sides[::-1]
        for depth, cell in enumerate(cells):
            known = {name[depth] for name in others if name[:depth] == cells[:depth] and len(name) > depth + 1}
            if cell in known:
                continue
            name = cell.rpartition("-")[0]
            if name.isdigit():
                return ""  # in a row of layers every later one has another number, too
            instead = sorted(other for other in known if name and other.rpartition("-")[0] == name)
            own = {each[depth] for each in mine if each[:depth] == cells[:depth] and len(each) > depth + 1}
            if len(instead) != 1 or instead[0] in own:
                return ""
            pair = (cell, instead[0]) if self._origin.kind is Kind.REMOVED else (instead[0], cell)
            return changed_cell(*(f"{each}/" for each in pair))
        return ""

    def _with_other_parameter(self) -> str:
        """What tells two operators of one type apart: the parameter that they take."""
        sides = [
            side.graphs.statement(where.graph, where.operator)
            for side, where in ((self._expected, self._origin.where), (self._found, self._there))
        ]
        if sides[0] is None or sides[1] is None or sides[0].op != sides[1].op:
            return ""
        for one, other in zip(sides[0].arguments, sides[1].arguments, strict=False):
            if one.parameter and other.parameter and one.parameter != other.parameter:
                return f", which takes {other.parameter} in place of {one.parameter}"
        return ""

    def _other_source(self, given: Input) -> str:
        """The two sources of an input; a parameter of few elements with its values."""
        sides = []
        for run, where, source in (
            (self._found, self._there, given.found_from), (self._expected, self._origin.where, given.expected_from),
        ):  # fmt: skip
            values = loaded(run.slots(where, "input").get(given.key.slot)) if source and "/" not in source else None
            few = values is not None and 0 < values.size <= _FEW
            sides.append(short_operator(source or "?") + (f" ({value_text(values)})" if few else ""))
        statement = self._expected.graphs.statement(given.key.graph, given.key.operator)
        known = statement is not None and given.key.slot < len(statement.arguments)
        name = statement.arguments[given.key.slot].name if statement is not None and known else given.key.slot_name
        label = given.key.slot_name + (f" ({name})" if not name.startswith("input.") else "")
        return f"{sides[0]} in place of {sides[1]} as {label}"

    @property
    def _there(self) -> Execution:
        name = self._origin.counterpart
        return self._origin.where if name is None else self._origin.where._replace(operator=name)

    def _by_replay(self) -> Certainty | None:
        """Whether the found operators, computed again from the golden's values, give the found results."""
        return Certainty.REPLAY if self._follows(self._there, _DEPTH) else None

    def _follows(self, where: Execution, depth: int) -> bool:
        """Whether an execution of the run reproduces its outputs from the golden's values, or from operators of which
        the same is true."""
        known = self._followed.get(where)
        if known is None or (not known[0] and known[1] < depth):
            known = self._followed[where] = (self._computes(where, depth), depth)
        return known[0]

    def _computes(self, where: Execution, depth: int) -> bool:
        if not self._work.admits(of_records(self._found.slots(where, "input").values())):
            return False
        if is_of_records(self._found):
            return gives_its_results(self._found, where) and all(
                self._expected.holds(self._found.content(record), record)
                or (depth > 0 and any(self._follows(each, depth - 1) for each in makers(self._found, record, where)))
                for record in self._found.slots(where, "input").values()
                if record.format != ARGUMENT_FORMAT
            )
        statement = self._found.graphs.statement(where.graph, where.operator)
        again = setting(self._found, where)
        results = computed(again) if again is not None else None
        if statement is None or results is None:
            return False
        for slot, record in self._found.slots(where, "output").items():
            values = loaded(record)
            held = rounded(values, results[slot]) if values is not None and slot < len(results) else None
            if held is None:
                return False
            self._exact &= held.exact
        taken = self._found.slots(where, "input")
        pairs = [(taken.get(at), a) for at, a in enumerate(statement.arguments) if not a.is_monad]
        return all(self._is_known(record, argument, where, depth) for record, argument in pairs)

    def _is_known(self, record: Record | None, argument: Argument, where: Execution, depth: int) -> bool:
        if argument.is_constant:
            return True
        if argument.parameter is not None:
            return self._is_the_goldens(record, argument, where)
        if record is not None and self._expected.holds(self._found.content(record), record):
            return True
        if argument.producer is None or depth == 0:
            return False
        return self._follows(where._replace(operator=argument.producer[0]), depth - 1)

    def _is_the_goldens(self, record: Record | None, argument: Argument, where: Execution) -> bool:
        """Whether a parameter has the golden's value, where the golden has one of this name; one that the operator
        updates was recorded afterwards."""
        golden = self._expected.parameter(argument.parameter or "", where.rank, where.iteration)
        if golden is None or record is None or record.shape != golden.shape:
            return True
        statement = self._found.graphs.statement(where.graph, where.operator)
        updated = statement is not None and record.key.slot in statement.mutates
        return updated or self._expected.holds(self._found.content(record), record)

    def _passed_on(self) -> Certainty | None:
        """Whether the takers of the removed operator's output now take its input."""
        where = self._origin.where
        given = self._expected.slots(where, "input")
        inputs = {slot: a for slot, r in given.items() if (a := loaded(r)) is not None and a.ndim}
        outputs = list(self._expected.slots(where, "output").values())
        sizes = {(record.dtype, prod(record.shape)) for record in outputs}
        digests = {content for record in outputs if (content := self._expected.content(record)) is not None}
        for record in self._expected.by_key.values():
            if record.key.io != "input" or record.key[:3] != where[:3]:
                continue
            if (record.dtype, prod(record.shape)) not in sizes or self._expected.content(record) not in digests:
                continue
            taker = self._taker(record.key)
            other = loaded(self._found.by_key.get(taker))
            for slot, a in inputs.items() if other is not None else ():
                if other is not None and other.size == a.size and is_bitwise(other.reshape(-1), a.reshape(-1)):
                    self._shown = {
                        "operator": where.operator, "its input": f"input.{slot}", "is taken by": taker.operator,
                        "as": taker.slot_name, "iteration": where.iteration,
                    }  # fmt: skip
                    return Certainty.BITS
        return None

    def _survived(self) -> Certainty | None:
        """Whether what takes the removed operators' results on one side gives the run's results on the other, computed
        again from the golden's values."""
        aligned = self._aligned
        name = self._origin.where.operator
        left, gone = [], {name}
        for statement in aligned.expected:
            if not any(a.producer is not None and a.producer[0] in gone for a in statement.arguments):
                continue
            partner = aligned.partner.get(statement.name)
            if partner is None:
                gone.add(statement.name)
            elif is_gradient(partner) == is_gradient(name):
                left.append(self._origin.where._replace(operator=partner))
        return Certainty.REPLAY if left and all(self._follows(each, _DEPTH) for each in left[:_ASKED]) else None

    def _written(self) -> Certainty | None:
        """Whether what writes parameters in place of the golden's operators, as another optimizer's do, gives what it
        wrote, computed again from the golden's values."""
        aligned, where = self._aligned, self._origin.where
        before = {written(each): aligned.partner.get(each.name) for each in aligned.expected if written(each)}
        mine = [each for each in aligned.found if written(each) in before and before[written(each)] != each.name]
        left = [each for one in mine if self._found.has(each := where._replace(operator=one.name, execution=0))]
        return Certainty.REPLAY if left and all(self._follows(each, 1) for each in left[:_ASKED]) else None

    def _taker(self, key: SlotKey) -> SlotKey:
        """The run's slot that corresponds to one of the golden."""
        return key._replace(operator=self._aligned.partner.get(key.operator, key.operator))

    @property
    def _aligned(self) -> Alignment:
        return self._case.aligned

    def _rewired(self) -> Certainty | None:
        if self._follows(self._there, 1) and self._has_effect():
            return Certainty.REPLAY
        other = [each for each in self._origin.inputs if each.slot is not None and each.found_from]
        if not other:
            return None
        names = {"operator": self._there.operator, "iteration": self._there.iteration}
        self._shown = {**names, "input": other[0].key.slot_name, "comes from": other[0].found_from}
        return Certainty.BITS

    def _has_effect(self) -> bool:
        """Whether an argument or a parameter in place of another input gives other results: of this operator, or of one
        that is given the same in its place."""
        case = self._case
        sources = [name for each in self._origin.inputs for name in (each.expected_from, each.found_from)]
        if not is_of_records(self._found) or all(not name or "/" in name for name in sources):
            return True
        if case.outputs or case.states or case.apart("output"):
            return True
        return any(self._follows(each.there, 1) for each in islice(case.takers(), _ASKED))

    def _renamed(self) -> Certainty:
        self._shown = {"renamed": [self._origin.where.operator, self._there.operator]}
        return Certainty.BITS


def told_apart(one: str | None, other: str | None) -> tuple[str, str]:
    """Two operators in as few parts of their names as tell them apart; ``the start`` for None."""
    parts = 2
    while True:
        texts = tuple("/".join(each.split("/")[-parts:]) if each else "the start" for each in (one, other))
        if texts[0] != texts[1] or one == other or parts > max((each or "").count("/") + 1 for each in (one, other)):
            return texts[0], texts[1]
        parts += 1

"""Searches for a cause: tries candidates in order of likelihood, by computing the operator again.

Bounded in number and in work: a failing test waits no longer for its explanation than a few seconds.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from harness.explain.arguments import Given, changed_arguments, changed_view
from harness.explain.candidates import Candidate, candidates
from harness.explain.case import Case
from harness.explain.changes import changed_inputs, changed_settings
from harness.explain.claim import Check
from harness.explain.counted import seen_in_statistics
from harness.explain.evidence import Evidence, loaded
from harness.explain.explanation import Cause, Certainty, Change
from harness.explain.known_values import guess, has_content
from harness.explain.optimizers import updates
from harness.explain.pair import is_bitwise
from harness.explain.patterns import Finding, Pair, find_pattern
from harness.explain.recorded import recorded
from harness.explain.replay import Setting, computed_with_state, setting
from harness.explain.reproduced import reproduced
from harness.explain.work import Work, of_setting
from harness.records import Record

Array = np.ndarray[Any, np.dtype[Any]]

_Values = Mapping[tuple[str, int], Array | None]

#: elements to compute, see ``work``
WORK = 1 << 28
MOST = 200
_LATER = 2
#: types that give their input in another dtype, which not every engine states
_CASTS = frozenset({"Cast", "_to_copy", "to"})


class Trial:
    """An operator to compute again, with the values of both sides."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._pairs = {("output", slot): pair for slot, pair in case.outputs.items()}
        self._pairs |= {("state", slot): pair for slot, pair in case.states.items()}
        self._base = _setting(case) if self._pairs else None
        if self._base is not None and any(e.values is None for e, _ in self._pairs.values()):
            self._know(case.expected, self._base, 0)
        self.expected = {place: loaded(e) for place, (e, _) in self._pairs.items()}
        self.found = {place: loaded(f) for place, (_, f) in self._pairs.items()}

    def _know(self, run: Evidence, given: Setting, side: int) -> None:
        """Outputs of which a side kept digests: what the operator gives, if it has them; else what can be guessed."""
        made = computed_with_state(given)
        for (io, slot), pair in self._pairs.items():
            if made is not None:
                run.know(pair[side], made[1].get(slot) if io == "state" else dict(enumerate(made[0])).get(slot))
            guess(run, pair[side], pair[1 - side])

    @property
    def given(self) -> Setting | None:
        """The operator on the golden's inputs, whatever it gives; None if nothing can compute it."""
        return self._base

    def base(self) -> Setting | None:
        """The operator on the golden's inputs, if computing it again gives the golden's output."""
        return self.read(self._base) if self._base is not None else None

    def read(self, given: Setting) -> Setting | None:
        """A setting as its record is to be read so that it gives the golden's output: its bits, if any reading does."""
        near = None
        for each in given.readings():
            check = self._gives(each, self.expected, self.found)
            if check is not None and check.exact:
                return each
            near = near or (each if check is not None else None)
        return near

    def gives_the_runs(self, changed: Setting, how: Mapping[str, Any]) -> Check | None:
        """What computing it again with a change gives of the run's outputs; None if it does not reproduce them."""
        return self._gives(changed, self.found, self.expected, how)

    def are_the_runs(self, results: tuple[Array, ...], how: Mapping[str, Any]) -> Check | None:
        """Likewise, of results that were computed."""
        return self._are(results, {}, self.found, self.expected, how)

    def _gives(
        self, given: Setting, wanted: _Values, others: _Values, arguments: Mapping[str, Any] | None = None
    ) -> Check | None:
        made = computed_with_state(given)
        return None if made is None else self._are(*made, wanted, others, arguments)

    def _are(
        self, results: tuple[Array, ...], state: Mapping[int, Array], wanted: _Values, others: _Values,
        arguments: Mapping[str, Any] | None = None,
    ) -> Check | None:  # fmt: skip
        """Whether the computed results equal the wanted ones: in their bits, or within the noise floor and much nearer
        than the other side's."""
        exact, elements = True, 0
        for (io, slot), array in wanted.items():
            made = state.get(slot) if io == "state" else results[slot] if slot < len(results) else None
            if made is None:
                return None
            elements += made.size
            if array is None:
                record = self._pairs[io, slot][wanted is self.found]
                if not has_content(record, made):
                    return None
                continue
            held = reproduced(array, made, others[io, slot])
            if held is None:
                return None
            exact &= held.exact
        told = {"operator": self.case.where.operator, "iteration": self.case.where.iteration, **(arguments or {})}
        return Check("replay", told, exact, elements, elements) if wanted else None


def _setting(case: Case) -> Setting | None:
    beside = case.found.slots(case.there, "input")
    return recorded(case.expected, case.where, beside) or setting(case.expected, case.where)


_CARRIED = "its inputs have other bits within their tolerance; it computes as before, and makes the difference larger"


class Search:
    """The search of one failure.

    Args:
        case: the origin.
        work: number of elements to compute, see ``work``.
    """

    def __init__(self, case: Case, work: int = WORK) -> None:
        self.case = case
        self._work = Work(work)
        self._trial = Trial(case)
        self._found = {slot: self._trial.found["output", slot] for slot in case.outputs}
        self._expected = {slot: self._trial.expected["output", slot] for slot in case.outputs}
        self.tried = 0

    def cause(self) -> Cause | None:
        """The cause; None if it is unknown."""
        if self.case.unrecorded and self.case.inputs:
            return self._of_unrecorded()
        named = changed_arguments(self.case)
        names = {each.change.name for each in named}
        settings = [each for each in changed_settings(self.case) if each.change.name not in names]
        given = [*settings, *named, *changed_inputs(self.case)]
        if given:
            return self._of_given(given)
        if (told := self._of_view() or self._of_cast()) is not None:
            return told
        base = self._trial.base()
        return self._stale() or self._carried(base) or self._narrower() or self._of_candidates(base) or self._pattern()

    def _of_unrecorded(self) -> Cause | None:
        """The change that an unrecorded view or slice made to an input."""
        for slot, (e, f) in sorted(self.case.inputs.items()):
            values = loaded(e), loaded(f)
            if values[0] is None or values[1] is None:
                continue
            finding = find_pattern(Pair(values[0], values[1]))
            if finding is not None:
                return _by_pattern(finding, f"input.{slot}")
        return None

    # -- by what the operator was given ---------------------------------------------------------------------------
    def _of_given(self, given: list[Given]) -> Cause | None:
        leaves = [each for each in given if each.kind != "input"]
        if not leaves or len(leaves) < len(given):
            return None  # an operator made this input: the cause lies earlier
        for trial in self._trials({each.slot for each in leaves}):
            if (check := _proved(trial, leaves)) is not None:
                return _told(check[0], check[1])
        for case in updates(self.case):
            if (check := _proved(Trial(case), changed_arguments(case))) is not None:
                return _told(leaves, check[1])
        for case in islice(self.case.takers(), _LATER) if not self.case.outputs else ():
            if (check := _proved(Trial(case), [*changed_inputs(case)])) is not None:
                return _told(leaves, check[1])
        return _told(leaves, None)

    def _of_view(self) -> Cause | None:
        """Another view: its arguments are not recorded, but its results tell them."""
        for given, leaves in changed_view(self.case, self._trial.given):
            base = self._trial.read(given)
            check = None if base is None else self._trial.gives_the_runs(_with(base, leaves), _how(leaves))
            if check is not None:
                return _told(leaves, check)
        return None

    def _of_cast(self) -> Cause | None:
        """Another dtype that a cast gives: the golden's input, in the dtype of the run's result."""
        pair, values = self.case.outputs.get(0), loaded(self.case.expected.slots(self.case.where, "input").get(0))
        found = self._found.get(0)
        if self.case.op not in _CASTS or pair is None or values is None or found is None or values.size != found.size:
            return None
        kinds = [record.dtype for record in pair]
        if kinds[0] == kinds[1] or not is_bitwise(values.astype(found.dtype).reshape(found.shape), found):
            return None
        how = {"operator": self.case.where.operator, "iteration": self.case.where.iteration}
        check = Check("replay", {**how, "attributes": {"dtype": kinds[1]}}, True, found.size, found.size)
        return _told([Given("attribute", Change("dtype", *kinds))], check)

    def _trials(self, given: Container[int]) -> Iterator[Trial]:
        """The operator, or the next steps if its changed inputs have no effect yet."""
        if self.case.outputs or self.case.states:
            yield self._trial
            return
        if within := self.case.apart("output"):  # its results have other bits, within the tolerance
            yield Trial(replace(self.case, outputs=within))
        for later in islice(self.case.later(given), _LATER):
            yield Trial(later)

    # -- by computing again ---------------------------------------------------------------------------------------
    def _of_candidates(self, base: Setting | None) -> Cause | None:
        if base is None:
            return None
        for candidate in self._bounded(candidates(self.case, base), of_setting(base)):
            check = self._check(candidate)
            if check is not None:
                candidate, check = self._beside_rivals(candidate, check)
                return Cause(_replayed(check), candidate.kind, candidate.text, slot=candidate.slot, check=check)
        return None

    def _check(self, candidate: Candidate) -> Check | None:
        results = candidate.results()
        return self._trial.are_the_runs(results, candidate.how) if results is not None else None

    def _beside_rivals(self, candidate: Candidate, check: Check) -> tuple[Candidate, Check]:
        """The candidate, with the other types that do as well; one of those if it alone gives the run's bits."""
        held = [(rival, each) for rival in candidate.rivals if (each := self._check(rival)) is not None]
        exact = [pair for pair in held if pair[1].exact]
        if exact and not check.exact:
            (candidate, check), *held = exact
        alike = [rival for rival, each in held if each.exact == check.exact]
        if not alike:
            return candidate, check
        names = " or ".join([candidate.rounded, *(each.rounded for each in alike)])
        text = f"{candidate.text.removesuffix(candidate.rounded)}{names}, which do the same here"
        how = {**check.arguments, "or": [dict(each.how) for each in alike]}
        return replace(candidate, text=text), replace(check, arguments=how)

    def _bounded(self, every: Iterator[Candidate], elements: int) -> Iterator[Candidate]:
        for candidate in every:
            self.tried += 1
            if self.tried > MOST or not self._work.admits(elements):
                return
            yield candidate

    # -- by looking -----------------------------------------------------------------------------------------------
    def _stale(self) -> Cause | None:
        """The output has the golden's bits of another iteration."""
        for slot, (record, found) in sorted(self.case.outputs.items()):
            key = record.key
            values = self._found[slot]
            if values is None or values.size < 2 or not values.any():
                continue
            for other in self.case.expected.by_key.values():
                same = (*other.key[:2], *other.key[3:]) == (*key[:2], *key[3:])
                if same and other.key.iteration < key.iteration and _bits(other, found, values):
                    words = f"{key.slot_name} has the bits expected in iteration {other.key.iteration}: a stale value"
                    check = Check("take output", {"iteration": other.key.iteration}, True, values.size, values.size)
                    return Cause(Certainty.BITS, "stale", words, slot=key.slot_name, check=check)
        return None

    def _carried(self, base: Setting | None) -> Cause | None:
        """Inputs with other bits, within their tolerance, from which the operator unchanged gives the run's bits."""
        given = setting(self.case.found, self.case.there) if base is not None and self.case.apart("input") else None
        check = None if given is None else self._trial.gives_the_runs(given, {"inputs": "the run's"})
        if check is None or not check.exact:
            return None
        return Cause(Certainty.REPLAY, "carried", _CARRIED, check=check)

    def _narrower(self) -> Cause | None:
        """The output is the expected one, rounded; this is checked before its inputs."""
        for slot in sorted(self.case.outputs):
            e, f = self._expected[slot], self._found[slot]
            finding = find_pattern(Pair(e, f), "narrower type") if e is not None and f is not None else None
            if finding is not None and finding.exact:
                return _by_pattern(finding, f"output.{slot}")
        return None

    def _pattern(self) -> Cause | None:
        inputs, whole = self._inputs()
        for slot in sorted(self.case.outputs):
            e, f = self._expected[slot], self._found[slot]
            if e is None or f is None:
                finding = seen_in_statistics(*self.case.outputs[slot])
            else:
                finding = find_pattern(Pair(e, f, inputs, self.case.op, whole))
            if finding is not None:
                return _by_pattern(finding, f"output.{slot}")
        return None

    def _inputs(self) -> tuple[dict[str, Array], bool]:
        """The agreeing inputs by name, and whether they are all that the operator took."""
        statement = self.case.statements[0]
        found: dict[str, Array] = {}
        whole = statement is not None
        for slot, record in self.case.expected.slots(self.case.where, "input").items():
            values = loaded(record)
            if slot in self.case.inputs or values is None or values.dtype.kind == "c":
                whole = False
                continue
            known = statement is not None and slot < len(statement.arguments)
            name = statement.arguments[slot].name if statement is not None and known else ""
            found[f"input.{slot}" + (f" ({name})" if name and not name.startswith("input.") else "")] = values
        return found, whole


def _proved(trial: Trial, leaves: list[Given]) -> tuple[list[Given], Check] | None:
    """The changes, one or all, with which the golden's operator gives the run's results; None if nothing shows it."""
    base = trial.base() if leaves else None
    for chosen in _choices(leaves) if base is not None else ():
        check = trial.gives_the_runs(_with(base, chosen), _how(chosen)) if base is not None else None
        if check is not None:
            return chosen, check
    return None


def _by_pattern(finding: Finding, slot: str) -> Cause:
    certainty = Certainty.BITS if finding.exact else Certainty.LIKELY
    return Cause(certainty, finding.kind, f"{slot}: {finding.text}", slot=slot, check=finding.check)


def _replayed(check: Check) -> Certainty:
    return Certainty.REPLAY if check.exact else Certainty.LIKELY


def _bits(record: Record, found: Record, values: Array) -> bool:
    if record.shape != found.shape or record.dtype != found.dtype:
        return False
    if record.digest is not None and found.digest is not None:
        return record.digest == found.digest
    other = loaded(record)
    return other is not None and other.tobytes() == values.tobytes()


def _choices(leaves: list[Given]) -> Iterator[list[Given]]:
    """One at a time, then all together."""
    yield from ([each] for each in leaves)
    if len(leaves) > 1:
        yield leaves


def _how(chosen: list[Given]) -> dict[str, Any]:
    """A change of what an operator was given, as a check's arguments: attributes, values of constants, and the inputs
    that are the run's."""
    attributes = {name: each for given in chosen if given.slot < 0 for name, each in given.value.items()}
    constants = {f"input.{each.slot}": each.value for each in chosen if each.kind == "constant"}
    inputs = [f"input.{each.slot}" for each in chosen if each.slot >= 0 and each.kind != "constant"]
    told = {"attributes": attributes, "values": constants, "the run's": inputs}
    return {name: each for name, each in told.items() if each}


def _with(base: Setting, chosen: list[Given]) -> Setting:
    attrs: dict[str, Any] = {}
    values: dict[int, Any] = {}
    for each in chosen:
        if each.slot < 0:
            attrs.update(each.value)
        else:
            before = base.values.get(each.slot)
            values[each.slot] = _like(before, each.value)
    return base.changed(values, attrs)


def _like(before: Any, value: Any) -> Any:
    """A value of the run in the operator's form."""
    if not isinstance(value, np.ndarray) or isinstance(before, np.ndarray):
        return value
    return tuple(value.reshape(-1).tolist()) if isinstance(before, tuple) else value.reshape(-1)[0].item()


def _told(given: list[Given], check: Check | None) -> Cause:
    """Says in words what differs; a proof covers all of it."""
    words = [_words(each) for each in given[:3]]
    more = f" and {len(given) - 3} more" if len(given) > 3 else ""
    first = given[0]
    slot = f"input.{first.slot}" if first.slot >= 0 else ""
    changes = tuple(each.change for each in given)
    certainty = Certainty.LIKELY if check is None else _replayed(check)
    return Cause(certainty, first.kind, ", ".join(words) + more, changes, slot=slot, check=check)


def _words(each: Given) -> str:
    if each.change.expected or each.change.found:
        return str(each.change)
    kind = {"parameter": "parameter ", "constant": "constant ", "data": "input "}.get(each.kind, "")
    kind = "" if each.change.name.startswith("input.") else kind
    since = " differs from the start" if each.kind == "parameter" else " differs"
    certain = ": " if each.exact else ", likely: "
    return f"{kind}{each.change.name}{since}" + (f"{certain}{each.detail}" if each.detail else "")

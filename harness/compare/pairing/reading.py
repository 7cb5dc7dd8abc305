"""Reads the data flow of one step from the contents of its slots: the output, and the layouts, that each input came
from.

An input comes from an output if, in every iteration, exactly this output of the step has the same content. If several
have it (zeros, for example), none is chosen. Content that no operator made is a value node, shared by all its takers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.compare.pairing.flow import NOWHERE, Chain, Flow, Joined, Words
from harness.compare.pairing.kinds import LAYOUT, ORDERED, VALUE_KIND
from harness.compare.pairing.operators import VALUE_FORM, OperatorForm, PartForm, form_of
from harness.compare.pairing.producers import producers
from harness.compare.pairing.scopes import parameter_name, place_of
from harness.compare.pairing.slots import Form, Held, StepSlots

#: Longest chain of layouts to follow.
_MAX_CHAIN = 24
#: The form of an operator, and the looks of its parts forward and backward.
_Known = tuple[OperatorForm, list[tuple[int, int]]]


def flow_of(step: StepSlots, names: Mapping[bytes, str], words: Words) -> Flow:
    """Reads the data flow of a step.

    Args:
        step: step of one rank.
        names: parameters' names by content, of all steps.
        words: numbers that are common to both sides.
    """
    return _Reader(step, names, words).read()


class _Reader:
    def __init__(self, step: StepSlots, names: Mapping[bytes, str], words: Words) -> None:
        self._step, self._names, self._words, self._ports = step, names, words, words.ports
        self._owners: list[int] = []
        self._forms: list[PartForm] = []
        self._looks: list[int] = []
        self._labels: dict[int, str] = {}
        self._joined: set[int] = set()
        self._scopes = [NOWHERE] * len(step.names)
        self._of: list[list[int]] = [[]] * len(step.names)
        self._gives: list[tuple[int, str]] = [(-1, "")] * len(step.ats)
        self._makers: list[int] = []
        self._takers: list[int] = []
        self._edges: list[int] = []
        self._producers = producers(step)
        self._roots = [-1] * len(step.ats)
        self._values: dict[Held, int] = {}
        self._chains: dict[int, Chain] = {}

    def read(self) -> Flow:
        step = self._step
        order = sorted(range(len(step.names)), key=step.names.__getitem__)
        self._operators(order)
        self._connect()
        for at in np.flatnonzero(step.is_parameter).tolist():
            if self._producers[at] >= 0:
                self._edge(*self._gives[self._producers[at]], self._of[step.owners[at]][0], "kept")
        makers, takers, ports = (np.array(e, np.int64) for e in (self._makers, self._takers, self._edges))
        nodes = self._owners, self._forms, self._looks, self._labels, self._joined
        count = len(self._owners)
        ins, outs = Joined(takers, makers, ports, count), Joined(makers, takers, ports, count)
        slots = self._roots, self._chains
        return Flow(step, *nodes, self._scopes, self._of, order, *slots, ins, outs, self._words)

    def _operators(self, order: list[int]) -> None:
        """Makes the nodes of all operators."""
        forms, slots = self._step.forms, self._step.slots
        updated = {self._producers[at] for at in np.flatnonzero(self._step.is_parameter).tolist()}
        known: dict[tuple[Form, ...], _Known] = {}
        updates: dict[tuple[Form, ...], _Known] = {}
        for number in order:
            mine = slots[number]
            look = tuple([forms[at] for at in mine])
            found = known.get(look)
            if found is None:
                found = known[look] = self._known(look, False)
            if found[0].in_place and any(at in updated and forms[at].io == "output" for at in mine):
                found = updates.get(look) or updates.setdefault(look, self._known(look, True))
            self._operator(number, mine, *found)

    def _known(self, look: tuple[Form, ...], updates: bool) -> _Known:
        form, looks = form_of(look, updates), self._words.looks
        return form, [
            (looks[part.kind, False, part.counts], looks[part.kind, True, part.counts]) for part in form.parts
        ]

    def _operator(self, number: int, mine: list[int], form: OperatorForm, looks: list[tuple[int, int]]) -> None:
        at, operator, scope = len(self._owners), self._step.names[number].operator, NOWHERE
        if form.is_parameter:
            self._labels[at] = parameter_name(operator)
        else:
            scope = self._scopes[number] = place_of(form.last or operator, form.op_type)
        self._of[number] = [at] if len(looks) == 1 else list(range(at, at + len(looks)))
        for node, part in enumerate(form.parts, at):
            self._owners.append(number)
            self._forms.append(part)
            self._looks.append(looks[node - at][scope.backward])
            for nth, port in part.outputs:
                self._gives[mine[nth]] = node, port
            if part.link:
                given = "dx" if self._forms[node - 1].kind.endswith("_grad") else "y"
                self._edge(node - 1, given, node, part.link)
                self._joined |= {node - 1, node}
        for nth, port in form.rest:
            self._gives[mine[nth]] = len(self._owners) - 1, port

    def _edge(self, maker: int, given: str, taker: int, port: str) -> None:
        self._makers.append(maker)
        self._takers.append(taker)
        self._edges.append(self._ports[given, port])

    def _connect(self) -> None:
        """Adds the edges of all inputs: from their roots, and from the layouts on the way."""
        slots, forms, held = self._step.slots, self._step.forms, self._step.held
        producers, gives, values, roots = self._producers, self._gives, self._values, self._roots
        kinds = [form.kind for form in self._forms]
        for user, (owner, part) in enumerate(zip(self._owners.copy(), self._forms.copy(), strict=True)):
            for nth, port in part.inputs:
                at = last = slots[owner][nth]
                made = producers[at]
                if made >= 0 and kinds[gives[made][0]] in LAYOUT:
                    made, last = self._past_layouts(user, at, made, port)
                if made >= 0:
                    roots[at] = made
                    maker, given = gives[made]
                    if part.kind in ORDERED:
                        self._edge(maker, given, user, port)
                        port = f"{forms[at].slot} of {forms[at].op_type}~"
                elif forms[at].elements > 1:
                    maker, given = values.get(held[last], -1), "y"
                    if maker < 0:
                        maker = self._value(held[last])
                else:
                    continue
                self._makers.append(maker)
                self._takers.append(user)
                self._edges.append(self._ports[given, port])

    def _past_layouts(self, user: int, at: int, made: int, port: str) -> tuple[int, int]:
        """Follows an input through layouts; gives what made it before them (-1 for nothing), and the last slot."""
        slots, kinds, forms = [at], [], self._step.forms
        while made >= 0 and len(slots) < _MAX_CHAIN:
            node = self._gives[made][0]
            form = self._forms[node]
            if form.kind not in LAYOUT or not form.inputs:
                break
            before = self._step.slots[self._owners[node]][form.inputs[0][0]]
            if before in slots or forms[before].elements != forms[made].elements:
                break
            slots.append(before)
            kinds.append(form.kind)
            self._edge(node, "laid", user, port + "~")
            made = self._producers[before]
        if kinds:
            self._chains[at] = Chain(tuple(slots), tuple(kinds))
        return made, slots[-1]

    def _value(self, held: Held) -> int:
        """The node of a value that no operator of the step made: one for all slots that hold it in every iteration."""
        value = self._values[held] = len(self._owners)
        self._owners.append(-1)
        self._forms.append(VALUE_FORM)
        self._looks.append(self._words.looks[VALUE_KIND, False, ()])
        labels = {self._names.get(each, "") for each in (held if isinstance(held, tuple) else (held,))}
        if len(labels) == 1 and (label := labels.pop()):
            self._labels[value] = label
        return value

"""Calls of modules and functions, as msprobe records them: what they take beside the inputs that are listed, and what
they call."""

from __future__ import annotations

import re

from harness.compare.divergence import PARAMETER, Execution, Executions
from harness.compare.origin import Kind

#: Between a module and the name of its parameter.
_OF_MODULE = ".parameters."
_BACKWARD, _FORWARD = ".backward", ".forward"
_MODULE = re.compile(r"(?:Cell|Module)\.(.+)\.[^.]+\.(forward|backward)\.\d+")


class Given:
    """What calls are given, or do, that is listed elsewhere: parameters of modules, what a backward call keeps of its
    forward one, and the calls of the modules within a module.

    Args:
        executions: slots of each execution, in order.
    """

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._moved = {
            where._replace(operator=where.operator.rpartition(_OF_MODULE)[0])
            for where, slots in executions.apart()
            if slots[0].op_type == PARAMETER and _OF_MODULE in where.operator and not slots[0].verdict.holds
        }

        #: step and direction -> paths of modules around those whose results differ
        self._around: dict[tuple[object, ...], set[str]] = {}
        for where, slots in executions.apart():
            match = _MODULE.fullmatch(where.operator)
            if match and any(slot.key.io == "output" and not slot.verdict.holds for slot in slots):
                words = match[1].split(".")
                outer = (".".join(words[:at]) for at in range(1, len(words)))
                self._around.setdefault((*where[:3], match[2]), set()).update(outer)

    def _contains(self, where: Execution) -> bool:
        """Whether it is a module, and the result of a module within it differs."""
        match = _MODULE.fullmatch(where.operator)
        return match is not None and match[1] in self._around.get((*where[:3], match[2]), ())

    def takes_more(self, where: Execution) -> bool:
        """Whether something that is listed elsewhere differs, or is not known, so that equal inputs prove nothing."""
        return where in self._moved or self._forward(where) is not None or self._contains(where)

    def kind(self, where: Execution) -> Kind | None:
        """The kind of such a call whose listed inputs agree and whose outputs do not; None if it only passes on a
        difference of its forward call, or of a module within it."""
        if where in self._moved:
            return Kind.GIVEN
        if self._contains(where):
            return None
        forward = self._forward(where)
        return None if forward in self._executions else Kind.UNSURE

    def _forward(self, where: Execution) -> Execution | None:
        """The forward call of a backward one, if it differs or is not recorded; None for other calls."""
        before, mark, after = where.operator.rpartition(_BACKWARD)
        if not mark or (after and not after[1:].isdecimal()):
            return None
        forward = where._replace(operator=f"{before}{_FORWARD}{after}")
        slots = self._executions.get(forward)
        differs = slots is None or any(not slot.verdict.holds for slot in slots) or forward in self._moved
        return forward if differs else None

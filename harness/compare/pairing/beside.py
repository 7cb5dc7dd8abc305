"""What captures of PyTorch record beside tensors of operators: arguments, settings, results. Other frameworks have
nothing like it in their runs, so it is left out before they are paired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.compare.pairing.slots import Run, records_of
from harness.dtypes import ARGUMENT_FORMAT
from harness.records import Record

_TYPES = frozenset({"Result", "Settings"})


@dataclass(frozen=True)
class _Operators:
    """A run without what is beside the operators' tensors."""

    run: Run

    def records(self) -> Iterator[Record]:
        """See ``HasRecords``."""
        for record in records_of(self.run):
            if record.op_type not in _TYPES and record.format != ARGUMENT_FORMAT:
                yield record


def operators_alone(expected: Run, found: Run) -> tuple[Run, Run]:
    """Both runs; one of PyTorch's without what only such a run has, if the other is not one."""
    kinds = _is_torch(expected), _is_torch(found)
    if kinds[0] == kinds[1]:
        return expected, found
    return _Operators(expected) if kinds[0] else expected, _Operators(found) if kinds[1] else found


def _is_torch(run: Run) -> bool:
    """Whether it is a capture of PyTorch's, which begins with the settings of the modules. An iterator, which can be
    read only once, is not looked at."""
    if isinstance(run, Iterable) and iter(run) is run:
        return False
    first = next(iter(records_of(run)), None)
    return first is not None and first.op_type in _TYPES

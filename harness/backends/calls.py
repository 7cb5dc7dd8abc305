"""A function that a backend calls in its own process, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Opening(NamedTuple):
    """The arguments for opening a process, see ``Backend.open``."""

    network: str
    mode: str
    rootdir: str | None
    rdr: bool


@dataclass(frozen=True)
class Call:
    """A function to call in another process.

    Attributes:
        file: file that holds the function.
        module: name under which the file is imported.
        names: names of its classes and of the function.
        fixture: parameter that takes the stand-in for the ``msdump`` fixture; empty for none.
        arguments: values of the other parameters, made by ``values.encoded``.
        parameters: parameters given by a ``parametrize`` mark in ``file``, with the place of their value.
        paths: directories from which tests import.
        seed: global seed.
    """

    file: str
    module: str
    names: tuple[str, ...]
    fixture: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    paths: Sequence[str] = ()
    seed: int = 1


class Outcome(NamedTuple):
    """The outcome of a call.

    Attributes:
        kind: ``passed``, ``skipped``, ``xfailed`` or ``failed``; a process that died counts as failed.
        text: reason or traceback.
        output: the printed output.
        programs: number of sections that ran.
        cpu: CPU seconds used.
        given: names and values given to ``check``.
    """

    kind: str
    text: str
    output: str
    programs: int
    cpu: float
    given: Sequence[tuple[str, object]] = ()

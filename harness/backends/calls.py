"""A function that a backend calls where its programs run, and how that ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Opening(NamedTuple):
    """What a process is opened with, see ``Backend.open``."""

    network: str
    mode: str
    rootdir: str | None
    rdr: bool


@dataclass(frozen=True)
class Call:
    """A function to be called elsewhere.

    Attributes:
        file: that holds it.
        module: name the file is imported under.
        names: of the function, in front of it those of its classes.
        fixture: parameter that takes the stand-in for the ``msdump`` fixture; empty for none.
        arguments: the other parameters, of values ``values.encoded`` made.
        parameters: those a ``parametrize`` mark in ``file`` gives, with the place of their value in it.
        paths: directories that tests import from.
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
    """How a call ended.

    Attributes:
        kind: ``passed``, ``skipped``, ``xfailed`` or ``failed``; a process that died has failed.
        text: reason or traceback.
        output: what was printed.
        programs: how many sections ran.
        cpu: CPU seconds.
        given: names and values that were handed over.
    """

    kind: str
    text: str
    output: str
    programs: int
    cpu: float
    given: Sequence[tuple[str, object]] = ()

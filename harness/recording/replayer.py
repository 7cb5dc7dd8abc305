"""Runs one recorded operator again: what proves a cause.

Each engine has a replayer of its own. An explanation asks it what an operator does, and what it gives for other inputs
or attributes; it knows no engine itself. Other packages add one through an entry point
under the engine's name (see ``REPLAYERS``).
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from harness.errors import RecordingError
from harness.recording.described import Described
from harness.registry import Registry, instance_of

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a replayer knows of an operator.

    Attributes:
        mutates: slots of the inputs whose memory it updates.
        random: whether equal inputs may give other results, by the state of a generator.
        moves: whether it only moves elements, so that each element of a result is one of an input.

    Examples:
        >>> from harness.recording import Described
        >>> from harness.replaying import replayer_of
        >>> replayer_of("MindSpore").facts(Described("Default/Assign-op0", "Assign")).mutates
        (0,)
    """

    mutates: tuple[int, ...] = ()
    random: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One execution of an operator, with all that it depends on.

    Attributes:
        operator: the operator; its ``attributes`` are those of the run.
        before: value of each input slot before the launch: an array, or a Python value (number, text, dtype, None,
            tuple) of any other slot; slots without a value are missing.
        outputs: dtype's name (``Float32``) of each result that the run recorded; empty: unknown.
        runs: number of earlier executions of this operator in the run, for random operators.
        rng: state of the generator before the launch, as the engine recorded it; None: not recorded.
        device: name of the device whose arithmetic applies (``cpu``, ``gpu``, ``ascend-o0``).
        reading: how a replayer reads what the record leaves open, see ``Replayer.readings``; None: as is likely.

    Examples:
        >>> import numpy as np
        >>> from harness.recording import Call, Described, Edge
        >>> from harness.replaying import replayer_of
        >>> operator = Described("Default/Abs-op0", "Abs", inputs=(Edge("argument", "x"),))
        >>> call = Call(operator, {0: np.float32([1, -2])}, ("Float32",))
        >>> replayer_of("MindSpore").replay(call).outputs[0]
        array([1., 2.], dtype=float32)
    """

    operator: Described
    before: Mapping[int, Any]
    outputs: tuple[str, ...] = ()
    runs: int = 0
    rng: Any = None
    device: str = "cpu"
    reading: Any = None

    def changed(self, before: Mapping[int, Any] | None = None, attributes: Mapping[str, Any] | None = None) -> Call:
        """The same call with other inputs or attributes.

        Args:
            before: other inputs by slot; those not named stay.
            attributes: other attributes by name; ``...`` removes one.
        """
        merged = {**self.operator.attributes, **(attributes or {})}
        kept = {name: value for name, value in merged.items() if value is not ...}
        return replace(self, operator=replace(self.operator, attributes=kept), before={**self.before, **(before or {})})


class Replayed(NamedTuple):
    """What a replay gave.

    Attributes:
        outputs: the results by slot, C-contiguous, in the dtypes of ``Call.outputs`` if these are known.
        mutated: the inputs after the launch, by slot, of those that ``Facts.mutates`` names.

    Examples:
        >>> import numpy as np
        >>> from harness.recording import Call, Described, Edge
        >>> from harness.replaying import replayer_of
        >>> operator = Described("Default/Abs-op0", "Abs", inputs=(Edge("argument", "x"),))
        >>> call = Call(operator, {0: np.float32([1, -2])}, ("Float32",))
        >>> replayer_of("MindSpore").replay(call).outputs[0]
        array([1., 2.], dtype=float32)
    """

    outputs: tuple[Array, ...]
    mutated: Mapping[int, Array] = {}


class Replayer(ABC):
    """Runs operators of one engine again.

    Attributes:
        exact: whether a replay gives the run's bits where the run had the same environment; if not, it proves within
            ``noise`` only.

    Examples:
        >>> import numpy as np
        >>> from harness.recording import Call, Described, Facts, Replayed, Replayer
        >>> class Tiny(Replayer):
        ...     def facts(self, operator):
        ...         return Facts() if operator.type == "Twice" else None
        ...     def replay(self, call):
        ...         return Replayed((call.before[0] * 2,)) if 0 in call.before else None
        >>> Tiny().replay(Call(Described("Default/Twice-op0", "Twice"), {0: np.ones(2)})).outputs[0]
        array([2., 2.])
    """

    exact: bool = True

    @abstractmethod
    def facts(self, operator: Described) -> Facts | None:
        """What is known of an operator; None if this replayer cannot run it."""

    @abstractmethod
    def replay(self, call: Call) -> Replayed | None:
        """The results of a call; ``call.before`` stays as it is. None if the operator does not accept what is given:
        that proves nothing."""

    def readings(self, call: Call) -> Iterator[Call]:
        """The calls that the record of ``call`` may stand for, likely ones first, where it leaves something open (an
        overload, how a tensor lies in memory). Who has the recorded results takes the first one that gives them."""
        yield call

    def solve(self, call: Call, outputs: Sequence[Array]) -> Mapping[str, Any] | None:
        """The attributes that the record of ``call`` leaves out because its results tell them (which axes a view
        exchanges); None if several fit, or nobody knows any.

        Args:
            outputs: the recorded results by slot.
        """
        return None

    def numbers(self, operator: str, listed: Sequence[str], count: int, tensors: int) -> tuple[str, ...] | None:
        """The names of numbers that records keep without names; None if nobody knows.

        Args:
            operator: its type.
            listed: names of its other arguments that are no tensors.
            count: how many numbers there are.
            tensors: how many tensors it was given.
        """
        return None

    def script(self, call: Call) -> str | None:
        """The call as an expression of Python that needs the engine alone, its tensors being ``x[0]``, ``x[1]`` by
        slot; None if nobody knows."""
        return None

    def widen(self, call: Call) -> Replayed | None:
        """The results in a wider dtype, rounded by nobody, whose error is small beside the call's own; None if there
        is none."""
        return None

    def noise(self, call: Call) -> tuple[Array, ...] | None:
        """For each result of ``call`` the largest error per element that another order of its sums accounts for:
        float64, in the shape of the result; None if nobody knows."""
        return None


#: the package that registers the harness's own; it imports no engine for that
_OWN = "replaying"


def _populate() -> None:
    importlib.import_module(f"harness.{_OWN}")


#: Replayers by their engine's name, or what makes one; a maker gives None if its engine cannot be imported.
REPLAYERS: Registry[Replayer | Callable[[], Replayer | None]] = Registry(
    "replayer", "harness.replayers", _populate, instance_of(Replayer)
)


def replayer_of(engine: str) -> Replayer | None:
    """The registered replayer of an engine's operators; None if it has none.

    Args:
        engine: its name, with or without what follows it (``onnx 1.20.0``, ``PyTorch 2.13.0 on cpu``).

    Examples:
        >>> from harness.recording import replayer_of
        >>> replayer_of("nobody's engine 1.0") is None
        True
    """
    if not isinstance(engine, str):
        raise RecordingError(f"an engine is asked for by its name; given: {engine!r:.60}")
    words = engine.split()
    names = [" ".join(words[:count]) for count in range(len(words), 0, -1)]
    name = next((name for name in names if name in REPLAYERS), "")
    found = REPLAYERS.get(name) if name else None
    return found if found is None or isinstance(found, Replayer) else found()

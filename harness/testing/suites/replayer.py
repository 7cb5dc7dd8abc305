"""What every replayer must do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.recording import Call, Replayer
from harness.recording.described import Described
from harness.testing.suites.base import Array, Suite, expect, same


class Known(NamedTuple):
    """An execution whose results are known.

    Attributes:
        call: what was launched.
        outputs: what it gave, by slot, as the engine gave it.
    """

    call: Call
    outputs: Sequence[Array]


class ReplayerSuite(Suite):
    """Rules for a replayer. Write ``replayer`` and ``known``.

    Examples:
        As a class in a test file, ``Test...``, or at once:

        >>> import numpy as np
        >>> from harness.recording import Call, Described, Edge
        >>> from harness.replaying import replayer_of
        >>> from harness.testing import ReplayerSuite
        >>> from harness.testing import Known
        >>> class Mine(ReplayerSuite):
        ...     def replayer(self):
        ...         return replayer_of("MindSpore")
        ...     def known(self):
        ...         x = np.float32([1, -2])
        ...         operator = Described("Default/Abs-op0", "Abs", inputs=(Edge("argument", "x"),))
        ...         call = Call(operator, {0: x}, ("Float32",))
        ...         return [Known(call, [np.float32([1, 2])])]
        >>> Mine().broken()
        {}
    """

    def replayer(self) -> Replayer:
        """The replayer."""
        raise NotImplementedError

    def known(self) -> Sequence[Known]:
        """Executions with their results, as the engine gave them."""
        raise NotImplementedError

    def test_it_knows_its_operators(self) -> None:
        """``facts`` says something of each known operator."""
        for known in self._known():
            expect(self.replayer().facts(known.call.operator) is not None, f"{_told(known)}: facts gives None")

    def test_it_knows_no_other(self) -> None:
        """``facts`` gives None for an operator that nobody has; ``replay`` gives None, too, and raises nothing."""
        stranger = Described("Default/nothing/NobodyHasThisOne-op0", "NobodyHasThisOne")
        expect(self.replayer().facts(stranger) is None, "facts says something of an operator that nobody has")
        call = Call(stranger, {0: np.zeros(2, np.float32)}, ("Float32",))
        expect(self.replayer().replay(call) is None, "replay gives results of an operator that nobody has")

    def test_a_replay_gives_the_results(self) -> None:
        """``replay`` gives what the engine gave: dtype, shape, and the bits if the replayer is ``exact``, else values
        within ``noise``."""
        replayer = self.replayer()
        for known in self._known():
            made = replayer.replay(known.call)
            expect(made is not None, f"{_told(known)}: replay gives None")
            assert made is not None  # for type checkers
            expect(len(made.outputs) == len(known.outputs), f"{_told(known)}: it gives {len(made.outputs)} results")
            for slot, (found, wanted) in enumerate(zip(made.outputs, known.outputs, strict=True)):
                where = f"{_told(known)}, output.{slot}"
                expect(found.flags.c_contiguous, f"{where}: not C-contiguous")
                expect(
                    (found.dtype, found.shape) == (wanted.dtype, wanted.shape), f"{where}: {found.dtype} {found.shape}"
                )
                if replayer.exact:
                    expect(same(found, wanted), f"{where}: other bits, and the replayer calls itself exact")
                else:
                    expect(self._is_near(replayer, known.call, slot, found, wanted), f"{where}: beyond its noise")

    def test_the_inputs_stay(self) -> None:
        """``call.before`` is not changed, and no result lies in its memory."""
        for known in self._known():
            before = {slot: np.copy(each) for slot, each in _arrays(known.call)}
            made = self.replayer().replay(known.call)
            for slot, each in _arrays(known.call):
                expect(same(each, before[slot]), f"{_told(known)}: replay changes input.{slot}")
                shared = made is not None and any(np.shares_memory(each, found) for found in made.outputs)
                expect(not shared, f"{_told(known)}: a result lies in the memory of input.{slot}")

    def test_the_same_again(self) -> None:
        """Equal calls give equal bits."""
        for known in self._known():
            made = [self.replayer().replay(known.call) for _ in range(2)]
            expect(all(each is not None for each in made), f"{_told(known)}: replay gives None")
            pairs = zip(made[0].outputs, made[1].outputs, strict=True)  # type: ignore[union-attr]
            expect(all(same(*pair) for pair in pairs), f"{_told(known)}: two replays give other bits")

    def test_other_inputs_give_other_results(self) -> None:
        """A replay depends on its inputs: others give other results, for one of the known operators at least."""
        found = []
        for known in self._known():
            moved = {slot: _moved(each) for slot, each in _arrays(known.call)}
            first, made = (self.replayer().replay(each) for each in (known.call, known.call.changed(moved)))
            found.append(first is not None and made is not None and not all(map(same, first.outputs, made.outputs)))
        expect(any(found), "no result depends on an input")

    def test_what_is_not_accepted_is_none(self) -> None:
        """Inputs of another shape, or none at all, give None: that proves nothing, and ends nobody's explanation."""
        for known in self._known():
            wrong: Sequence[Mapping[int, Any]] = [
                {},
                {slot: np.zeros((3, 1, 4, 1, 5), each.dtype) if slot else each for slot, each in _arrays(known.call)},
                dict.fromkeys(known.call.before, "a text"),
            ]
            for before in wrong:
                try:
                    self.replayer().replay(Call(known.call.operator, before, known.call.outputs))
                except Exception as error:
                    raise AssertionError(f"{_told(known)}: replay raises {type(error).__name__}: {error}") from error

    def test_noise_is_an_error_per_element(self) -> None:
        """``noise`` gives float64 of the results' shapes, finite or infinite, none below zero; or None."""
        for known in self._known():
            noise = self.replayer().noise(known.call)
            for slot, each in enumerate(noise or ()):
                where = f"{_told(known)}, output.{slot}"
                expect(each.dtype == np.float64, f"{where}: noise is {each.dtype}")
                expect(each.shape == known.outputs[slot].shape, f"{where}: noise has the shape {list(each.shape)}")
                expect(bool((each >= 0).all()), f"{where}: noise below zero, or NaN")

    def test_what_it_mutates_it_says(self) -> None:
        """Slots of ``mutated`` are those that ``facts`` names."""
        for known in self._known():
            facts, made = self.replayer().facts(known.call.operator), self.replayer().replay(known.call)
            named = set(facts.mutates) if facts is not None else set()
            found = set(made.mutated) if made is not None else set()
            expect(found <= named, f"{_told(known)}: it mutates {sorted(found)}, facts says {sorted(named)}")

    def _known(self) -> Iterator[Known]:
        known = [each if isinstance(each, Known) else Known(*each) for each in self.known()]
        expect(known, "the suite needs executions with known results")
        for each in known:
            for output, name in zip(each.outputs, each.call.outputs, strict=False):
                expect(
                    output.dtype == dtypes.by_name(name).numpy, f"{_told(each)}: known is {output.dtype}, not {name}"
                )
        return iter(known)

    def _is_near(self, replayer: Replayer, call: Call, slot: int, found: Array, wanted: Array) -> bool:
        noise = replayer.noise(call)
        allowed = noise[slot] if noise is not None else np.zeros(wanted.shape)
        apart = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
        return bool(np.all((apart <= allowed) | (found == wanted)))


def _arrays(call: Call) -> Iterator[tuple[int, Array]]:
    return ((slot, each) for slot, each in call.before.items() if isinstance(each, np.ndarray))


def _moved(array: Array) -> Array:
    made: Array = (array + np.ones((), array.dtype)).astype(array.dtype)
    return made if array.dtype != bool else ~array


def _told(known: Known) -> str:
    return str(known.call.operator.name)

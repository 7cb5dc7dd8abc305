"""Matching of ``ecma`` trees in time linear in the name: a set of states walks over the text, nothing backtracks.

A runaway pattern such as ``(a*)*b`` therefore costs no more than any other; what is left, a pattern of very many
states over very many names, is bounded by a budget of steps after which one clear error is raised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from harness.dump.ecma import (
    ALL_BYTES,
    MAX_STATES,
    Alt,
    Anchor,
    Chars,
    Look,
    RegexError,
    Repeat,
    Seq,
    Tree,
    mask_of,
    parse,
)

FIRST_STEPS = 4_000_000
STEPS_PER_NAME = 20_000
MAX_CACHED_STATES = 1_000_000

_WORD_BYTES = mask_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class _State(NamedTuple):
    """One state of an automaton.

    ``mask`` is the set of bytes it steps over (0: none); ``out`` where it leads without or after that byte; ``guard``
    must hold at the position to go on (an anchor, or a look-ahead with its own entry state).
    """

    mask: int
    out: tuple[int, ...]
    guard: Anchor | tuple[int, bool] | None = None


@dataclass(slots=True)
class _Builder:
    """Turns a tree into states, from its end to its beginning, so that each state knows what follows."""

    states: list[_State] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)
    guarded: bool = False

    def end(self) -> int:
        """A state at which a match, or a look-ahead, is complete."""
        number = self.add(_State(0, ()))
        self.ends.add(number)
        return number

    def add(self, state: _State) -> int:
        if len(self.states) >= MAX_STATES:
            raise RegexError(f"the pattern needs more than {MAX_STATES} states")
        self.states.append(state)
        return len(self.states) - 1

    def build(self, tree: Tree, after: int) -> int:
        """Entry state of ``tree`` when state ``after`` follows it."""
        match tree:
            case Chars(mask):
                return self.add(_State(mask & ALL_BYTES, (after,) if mask else ()))
            case Seq(parts):
                for part in reversed(parts):
                    after = self.build(part, after)
                return after
            case Alt(branches):
                return self.add(_State(0, tuple(self.build(branch, after) for branch in branches)))
            case Anchor():
                self.guarded = True
                return self.add(_State(0, (after,), tree))
            case Look(body, negate):
                self.guarded = True
                inner = self.build(body, self.end())
                return self.add(_State(0, (after,), (inner, negate)))
            case Repeat(body, low, high):
                return self.repeat(body, low, high, after)

    def repeat(self, body: Tree, low: int, high: int | None, after: int) -> int:
        if high is None:
            loop = self.add(_State(0, ()))
            self.states[loop] = _State(0, (self.build(body, loop), after))
            after = loop
        else:
            leave = after
            for _ in range(high - low):
                after = self.add(_State(0, (self.build(body, after), leave)))
        for _ in range(low):
            entry = self.build(body, after)
            if entry == after:
                break  # an empty body: no repetition of it adds anything
            after = entry
        return after


class Matcher:
    """A pattern ready to match whole names.

    Args:
        pattern: see ``ecma``.

    Raises:
        RegexError: the pattern is refused.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        builder = _Builder()
        self._accept = builder.end()
        self._entry = builder.build(parse(pattern), self._accept)
        self._states = builder.states
        self._ends = builder.ends
        self._guarded = builder.guarded
        self._moves: dict[tuple[frozenset[int], int], frozenset[int]] = {}
        self._moves_size = 0
        self._steps = FIRST_STEPS

    def fullmatch(self, name: str) -> bool:
        """Whether the whole of ``name`` (its UTF-8 bytes) matches.

        Raises:
            RegexError: the pattern has used up its budget of steps (see the module).
        """
        self._steps += STEPS_PER_NAME
        text = name.encode("utf-8", "surrogatepass")
        active = self._closure({self._entry}, text, 0, {})
        looks: dict[tuple[int, int], bool] = {}
        for at, byte in enumerate(text):
            if not active:
                return False
            active = self._step(active, byte, text, at + 1, looks)
        return self._accept in active

    def _step(
        self, active: frozenset[int], byte: int, text: bytes, at: int, looks: dict[tuple[int, int], bool]
    ) -> frozenset[int]:
        """The states after ``byte``; remembered where they depend on nothing but ``active`` and ``byte``."""
        key = (active, byte)
        if not self._guarded and key in self._moves:
            return self._moves[key]
        states = self._states
        reached = {states[number].out[0] for number in active if states[number].mask >> byte & 1}
        self._spend(len(active))
        result = self._closure(reached, text, at, looks)
        if not self._guarded and self._moves_size < MAX_CACHED_STATES:
            self._moves[key] = result
            self._moves_size += 1 + len(result)
        return result

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise RegexError(f"pattern {self.pattern[:80]!r} is too costly to match; write it with fewer repetitions")

    def _closure(self, entries: set[int], text: bytes, at: int, looks: dict[tuple[int, int], bool]) -> frozenset[int]:
        """All states reachable from ``entries`` at position ``at`` without stepping over a byte."""
        seen = set(entries)
        todo = list(entries)
        while todo:
            state = self._states[todo.pop()]
            if state.mask or (state.guard is not None and not self._holds(state.guard, text, at, looks)):
                continue
            fresh = [number for number in state.out if number not in seen]
            seen.update(fresh)
            todo.extend(fresh)
        self._spend(len(seen))
        return frozenset(seen)

    def _holds(
        self, guard: Anchor | tuple[int, bool], text: bytes, at: int, looks: dict[tuple[int, int], bool]
    ) -> bool:
        if isinstance(guard, Anchor):
            return _anchored(guard.kind, text, at)
        entry, negate = guard
        if (entry, at) not in looks:
            looks[entry, at] = self._prefix(entry, text, at, looks)
        return looks[entry, at] != negate

    def _prefix(self, entry: int, text: bytes, at: int, looks: dict[tuple[int, int], bool]) -> bool:
        """Whether the look-ahead that begins at ``entry`` matches some prefix of ``text[at:]``."""
        active = self._closure({entry}, text, at, looks)
        while active:
            if not self._ends.isdisjoint(active):
                return True
            if at == len(text):
                return False
            active = self._step(active, text[at], text, at + 1, looks)
            at += 1
        return False


def _anchored(kind: str, text: bytes, at: int) -> bool:
    if kind == "^":
        return at == 0
    if kind == "$":
        return at == len(text)
    before = at > 0 and bool(_WORD_BYTES >> text[at - 1] & 1)
    after = at < len(text) and bool(_WORD_BYTES >> text[at] & 1)
    return (before != after) == (kind == "b")

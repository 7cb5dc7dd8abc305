"""Checks and keeps values without pytest: in a script, a notebook, a service, a ``unittest``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness import environment
from harness.compare.judge import SlotJudge
from harness.compare.party import environment_of
from harness.compare.policy import Judgement, Party
from harness.compare.tolerances import Tolerances
from harness.errors import HarnessError, SettingTypeError, StoreError, ToleranceError
from harness.gate import against
from harness.gate.against import Found
from harness.gate.bounded import failure
from harness.gate.given import RULES, Given, given_of
from harness.gate.variants import fitting
from harness.records import GIVEN_SCOPE, SlotKey
from harness.store import GoldenStore, RunData, RunId, StoredRun, UpdateResult
from harness.words import counted

#: The run of a golden that such values are kept as: that of a test which hands values over and runs nothing.
RUN = RunId("cpu", "tensor")


class DiffersError(HarnessError, AssertionError):
    """Values do not agree with their golden, or there is none; ``unittest`` counts it as a failure.

    Attributes:
        judgement: every slot's verdict; None if there was no golden to compare with.
    """

    judgement: Judgement | None

    def __init__(self, text: str, judgement: Judgement | None = None) -> None:
        super().__init__(text)
        self.judgement = judgement

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args

    def _repr_html_(self) -> str:
        """As a notebook shows one that was caught: its lines, and the slots that differ first."""
        from harness import notebook

        return notebook.lines(str(self)) + ("" if self.judgement is None else self.judgement._repr_html_())


DiffersError.__module__ = "harness"  # where everybody finds it


def check(path: str | os.PathLike[str], values: Any, *, tolerance: Any = None) -> Judgement:
    """Compares values with a golden that ``harness.write`` or a test's ``msdump.check`` made, by the same rules.

    Dtype and shape must be equal, and so must the names; numbers must agree within the tolerance. Nothing of the
    process is changed, nothing is kept between calls, and threads may call it at once.

    Args:
        path: the golden store, ``golden/x.h5``.
        values: a mapping of names and values: arrays (of numpy, ml_dtypes, PyTorch, anything with ``__array__`` or
            DLPack), numbers, texts, and dicts, lists, tuples, sets, dataclasses of these; or one such value alone, then
            called ``value``. Parts are named ``name.key`` and ``name[0]``.
        tolerance: what ``Tolerances.parse`` takes: ``"exact"``, ``"default"``, ``"noise"``, a relative one, a pair
            ``(rtol, atol)``, a mapping by name or dtype; None for the one that the golden keeps, else the table by
            dtype.

    Returns:
        The judgement: ``holds`` is true, ``verdict`` says ``identical`` or ``within tolerance``, ``comparison`` has
        every slot.

    Raises:
        DiffersError: a value differs, is missing or was not expected, or there is no golden; an ``AssertionError`` with
            the text that pytest's gate prints: the first value that differs, the element, the likely cause.
        SettingError: ``values`` holds nothing, or a name twice.
        SettingTypeError: a value is of a kind or a dtype that cannot be kept, or ``path`` is no path.
        StoreError: the golden is damaged, is none, or is that of a test that runs operators.
        ToleranceError: the tolerance cannot be read, or states something for a name that no value has.

    Examples:
        >>> import numpy as np
        >>> import harness
        >>> done = harness.write("golden/step.h5", {"loss": 0.25, "grad": np.float32([1, 2])})
        >>> harness.check("golden/step.h5", {"loss": 0.25, "grad": np.float32([1, 2])}).verdict
        'identical'
        >>> harness.check("golden/step.h5", {"loss": 0.26, "grad": np.float32([1, 2])}, tolerance=0.1).verdict
        'within tolerance'
        >>> try:
        ...     harness.check("golden/step.h5", {"loss": 0.26, "grad": np.float32([1, 2])})
        ... except AssertionError as error:
        ...     print(str(error).splitlines()[0])
        step [cpu-tensor] differs from golden/step.h5
    """
    place = _place(path, "harness.check")
    asked = None if tolerance is None else Tolerances.parse(tolerance)
    given = _given(place, values, "harness.check")
    try:
        store = GoldenStore.open(place)
    except FileNotFoundError:
        raise DiffersError(_missing(place, given, "the file does not exist")) from None
    with store:
        if RUN not in store.runs():
            there = ", ".join(map(str, store.runs())) or "no run"
            raise DiffersError(_missing(place, given, f"its runs are {there}"))
        choice = fitting(store.runs(), RUN, partial(_surroundings, place))
        run = _of_values(store.run(*(RUN if choice is None else choice.run)), place)
        return _held(run, _found(store.network, given, place), place, asked, choice.told if choice is not None else "")


def write(path: str | os.PathLike[str], values: Any, *, tolerance: Any = None) -> UpdateResult:
    """Keeps values as a golden for ``harness.check``; one that holds the same is not touched.

    The store and the manifest beside it change together or not at all. Whoever writes says that these values are
    right: keep the call out of what runs unattended.

    Args:
        path: the golden store, ``golden/x.h5``; its directory is made if it is missing. Other runs in it stay.
        values: as ``check`` takes them.
        tolerance: kept with the golden, for every later check that states none; as ``check`` takes it.

    Returns:
        Whether anything changed, and how many slots are new, changed, removed and unchanged.

    Raises:
        SettingError: ``values`` holds nothing, or a name twice.
        SettingTypeError: a value is of a kind or a dtype that cannot be kept, or ``path`` is no path.
        LockError: another process is writing this golden.
        StoreWriteError: it cannot be written; the old one is unchanged.
        StoreError: there is a file of this name that is no golden store, a damaged one, or the golden of a test that
            runs operators; or the name does not end in ``.h5``.
        ToleranceError: the tolerance cannot be read.

    Examples:
        >>> import harness
        >>> first = harness.write("golden/sums.h5", {"sums": [1.5, 2.5]}, tolerance=(1e-6, 0.0))
        >>> again = harness.write("golden/sums.h5", {"sums": [1.5, 2.5]}, tolerance=(1e-6, 0.0))
        >>> first.changed, again.changed
        (True, False)
    """
    from harness.atomic import reason
    from harness.errors import StoreWriteError
    from harness.gate.provenance import origin
    from harness.store import change_one

    place = _place(path, "harness.write")
    attrs: dict[str, Any] = {"emulated": False, "rules": dict(RULES)}
    if tolerance is not None:
        attrs["tolerance"] = Tolerances.parse(tolerance).as_json()
    given = _given(place, values, "harness.write")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        taken = isinstance(error, FileExistsError | NotADirectoryError)
        told = "a file has its name, or that of a directory above it" if taken else reason(error)
        raise StoreWriteError(f"{place.parent}: this directory cannot be made ({told})") from error
    network = place.name.removesuffix(".h5")
    with _known(place) as store:
        if store is not None:
            network = store.network
            if RUN in store.runs():
                _of_values(store.run(*RUN), place)
    facts = {**origin(place.parent), "environment": environment.facts()}
    data = RunData(given.records, given.texts, attrs)
    return replace(change_one(place, network, {RUN: data}, describe=True, provenance={RUN: facts}), path=place)


def _of_values(run: StoredRun, place: Path) -> StoredRun:
    """The run, which must hold nothing but values that were handed over."""
    if run.attrs.get("rules") != RULES:
        others = [key.operator for key in run.index.position if not key.operator.startswith(f"{GIVEN_SCOPE}/")]
        if others:
            raise StoreError(
                f"{place}: this is the golden of a test that runs operators ({counted(len(others), 'slot')}, the first "
                f"is {others[0]}); that test checks and renews it: give values a path of their own"
            )
    return run


@contextmanager
def _known(place: Path) -> Iterator[GoldenStore | None]:
    """The store at ``place``; None if there is none."""
    try:
        store = GoldenStore.open(place)
    except FileNotFoundError:
        yield None
        return
    with store:
        yield store


def _place(path: Any, call: str) -> Path:
    """The path of a golden, as the user gave it."""
    given = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(given, str):
        told = f"got {type(given).__name__}: {call}(path, values)"
        raise SettingTypeError(f"{call}: the path of a golden is a text or a path object; {told}")
    if not given.endswith(".h5") and not (given and os.path.isdir(given)):
        raise StoreError(f"{call}: the name of a golden ends in .h5, got {given!r:.200}")
    return Path(given)


def _given(place: Path, values: Any, call: str) -> Given:
    """The values by name, as a test hands them over."""
    with _known_slots(place) as kept:
        return given_of(values, kept, call)


@contextmanager
def _known_slots(place: Path) -> Iterator[Any]:
    """Tells whether the golden has a slot of a name: an older one keeps lists of numbers one by one."""
    try:
        store = GoldenStore.open(place)
    except (OSError, HarnessError):
        yield lambda _name: False
        return
    with store:
        slots = store.run(*RUN).index.position if RUN in store.runs() else {}
        yield lambda name: SlotKey(0, 0, 0, f"{GIVEN_SCOPE}/{name}", 0, "output", 0) in slots


def _found(network: str, given: Given, place: Path) -> Found:
    party = Party(given.records, RUN.backend, RUN.mode, stored=True, environment=partial(_surroundings, place))
    return Found(network, RUN, party, given.records, lambda: given.texts, given.texts)


def _surroundings(place: Path) -> dict[str, Any]:
    """The facts of this process's environment; nobody knows what seeds a script sets, so the golden's stands."""
    return environment.facts(environment_of(place, RUN).get("seed"))


def _held(
    expected: StoredRun, found: Found, place: Path, asked: Tolerances | None, chose: str = ""
) -> Judgement:  # fmt: skip
    # Not with what other checks measured: a service runs for months.
    judgement = against.judged(expected, found, asked, judging=SlotJudge)
    judgement = replace(judgement, notes=(*judgement.notes, chose)) if chose else judgement
    if asked is not None and judgement.idle:
        raise ToleranceError(f"harness.check: {judgement.idle[0]}")
    texts = against.texts_of(expected, found)
    if texts is not None:
        judgement = replace(judgement, texts_hold=texts.holds)
    if judgement.holds:
        return judgement
    told = []
    if not judgement.slots_hold:
        told.append(_explained(expected, found, judgement, place))
    if texts is not None and not texts.holds:
        from harness.explain import see_slot

        steps = [see_slot(None, str(place), str(expected.id))]
        told.insert(0, against.texts_told(texts, found, str(place), steps, bool(told)))
    from harness.escape import text

    raise DiffersError(text(failure(["\n".join(told)])), judgement)


def _explained(expected: StoredRun, found: Found, judgement: Judgement, place: Path) -> str:
    from harness.explain import Commands, see_slot

    made = environment_of(place, expected.id)
    changed = environment.changes(made, _surroundings(place)) if made else []
    meant = f"harness.write({os.fspath(place)!r}, values)"

    def commands(explanation: Any) -> Commands:
        return Commands(see_slot(explanation, str(place), str(expected.id)), "", meant)

    _, _, told = against.explained(expected, found, judgement, str(place), changed, commands)
    return told


def _missing(place: Path, given: Given, why: str) -> str:
    found = [counted(len(given.records), "slot")] if given.records else []
    found += [counted(len(given.texts), "text")] if given.texts else []
    lines = [
        f"msdump: no golden for these values: {place} ({why})",
        f"  found: {' and '.join(found)}, compared with nothing",
        f"  make it: harness.write({os.fspath(place)!r}, values)",
    ]
    return "\n".join(lines)


__all__ = ["RUN", "DiffersError", "check", "write"]

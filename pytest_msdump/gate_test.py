"""One gate test under one backend and mode, from its first section to its verdict."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_msdump import launched
from pytest_msdump.collection import identity_of
from pytest_msdump.options import SETTINGS, Settings, resolve
from pytest_msdump.scratch import scratch
from pytest_msdump.variants import Variant, granularity_of, run_of

if TYPE_CHECKING:
    from harness.backends import Process
    from harness.capture import Capture
    from harness.capture.lookup import Lookup
    from harness.gate.given import Given
    from pytest_msdump.accepted import Golden

T = TypeVar("T")
# Initial weights come from the global seed; each test starts from the same one, whatever ran before.
SEED = 1
_TEST: pytest.StashKey[GateTest] = pytest.StashKey()

# pytest shows no frame of this module.
__tracebackhide__ = True


class GateTest:
    """One test under one backend and mode.

    Attributes:
        item: pytest's test.
        variant: backend and mode.
        settings: the session's.
        marker: arguments of the test's ``msdump`` markers.
        granularity: how finely PyTorch modules are captured.
        base: backend, mode and granularity of its run in the store.
        golden: path of its store, relative to the golden directory.
        store: path of its store.
        network: name in the store: the test's id without backend and mode.
        process: the process in which its programs run, one after the other.
        programs: number of programs that ran, failed ones included.
        tree: directory of its dump tree; None without ``--msdump-keep``.
        texts: logs of its trainings, by name of the artefact.
        others: what other ranks captured, where each rank is a process of its own.
        replicated: patterns of slots that must be equal on all ranks.
        rank: of this process.
        gaps: patterns of gaps that its calls name.
        over: whether it was judged, or ended by an error; what comes later would be compared with nothing.
    """

    def __init__(self, item: pytest.Item, variant: Variant, process: Process, marker: Mapping[str, Any]) -> None:
        self.item = item
        self.variant = variant
        self.settings: Settings = item.config.stash[SETTINGS]
        self.marker = marker
        self.granularity = granularity_of(item.config, marker, variant.backend)
        self.base = run_of(variant, self.granularity)
        self.network, self.golden = identity_of(item)
        self.store = f"{self.settings.golden}{os.sep}{self.golden}"
        self.process = process
        self.programs = 0
        self.tree = self._tree() if self.settings.keep else None
        self.texts: dict[str, bytes] = {}
        self.gaps: list[str] = []
        self.over = False
        self._given: Given | None = None
        self.others: list[Capture] = []
        self.replicated: list[str] = []
        ranks = launched.of(item.config)
        self.rank = ranks.rank if ranks is not None else 0
        item.stash[_TEST] = self

    def _tree(self) -> Path:
        folder = scratch(self.settings.root, "trees") / self.golden.removesuffix(".h5") / self.variant.id
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def name_gaps(self, given: Any) -> None:
        """Takes patterns of slots that may stay uncompared because they cannot be read; ``SettingError`` for what is
        none."""
        if given is not None:
            from harness.compare.gaps import patterns_of

            self.gaps += patterns_of(given)

    def named_gaps(self) -> tuple[str, ...]:
        """The patterns that the test, its marker or the session's options name; ``SettingError`` as ``name_gaps``."""
        from harness.compare.gaps import patterns_of

        stated = resolve(self.item.config, "msdump_gaps", self.marker)
        if isinstance(stated, str):
            stated = [each.strip() for each in stated.split(",") if each.strip()]
        return (*patterns_of(stated), *self.gaps)

    def keep_tree(self) -> None:
        """Called before the first section: sets up the dump tree if it is to be kept."""
        if self.tree is not None and self.programs == 0:
            self.process.keep_tree(self.tree)

    def execute(self, program: Callable[[], T]) -> T:
        """Runs one section of the test with everything dumped, and returns its result; ``SettingError`` after the
        test's end."""
        self._refuse_when_over()
        self.keep_tree()
        if self.programs == 0:
            self.process.look_up(self._lookup())
        returned: list[T] = []
        try:
            self.process.execute(lambda: returned.append(program()))
        finally:
            # A failed program counts as well: a test may expect the error, and what came before it is checked.
            self.programs += 1
        return returned[0]

    def on_ranks(self, count: int, program: Callable[[], T]) -> list[T]:
        """Runs ``program`` in ``count`` processes, each a rank, and gives what it returned there.

        Raises:
            SettingError: something ran in the test before, or the number is not accepted.
            UnsupportedError: the backend has no ranks.
            CollectiveError: a rank failed, ended early or waits for ever.
        """
        self._refuse_when_over()
        if self.programs:
            from harness.errors import SettingError

            raise SettingError("msdump.run(ranks=...): the ranks of a test run once, and nothing else runs before them")
        ranks = getattr(self.process, "ranks", None)
        if ranks is None:
            from harness.errors import UnsupportedError

            raise UnsupportedError(f"msdump.run(ranks=...): there are no ranks on backend {self.variant.backend}")
        try:
            found: list[T] = ranks(count, program)
            return found
        finally:
            self.programs += 1

    @contextmanager
    def section(self) -> Iterator[None]:
        """A section whose program is the block itself, for PyTorch; ``SettingError`` after the test's end."""
        self._refuse_when_over()
        self.keep_tree()
        try:
            with self.process.settled():
                yield
        finally:
            self.programs += 1

    def begin_rank(self) -> None:
        """Forgets what was given before: called in a process that was forked to be a rank."""
        self._given, self.texts = None, {}

    @property
    def run(self) -> tuple[Any, ...]:
        """The run of its golden that it is held against: its base, or the variant that its facts choose."""
        variants = self.variants()
        return self.base if variants is None else variants.choice().run

    def variants(self) -> Golden | None:
        """Its golden's variants, and the facts that choose one now; None where no facts are declared."""
        if not self.settings.variants:
            return None
        from harness import environment
        from harness.store import RunId
        from pytest_msdump.accepted import Golden

        return Golden(self.settings, self.golden, RunId(*self.base), environment.facts(SEED))

    @property
    def converts(self) -> bool:
        """Whether its backend's programs take tensors of the harness, see ``Backend.converts``."""
        if self.variant.backend == "cpu":
            return True
        from harness.backends import get

        return get(self.variant.backend).converts

    @property
    def ran(self) -> bool:
        """Whether the test left anything to judge."""
        return bool(self.programs or self._given)

    @property
    def given(self) -> Given:
        """What it gave to ``check``."""
        if self._given is None:
            from harness.gate.given import Given

            self._given = Given()
        return self._given

    def take(self, name: str, value: Any, source: str | None) -> None:
        """Keeps a value given to ``check``, to be compared under ``name``.

        Raises:
            HarnessError: see ``harness.gate.given.Given.take``; or the test is over.
        """
        self._refuse_when_over()
        self.given.take(name, value, source, kept=self._kept, stored=self._lookup())

    def _kept(self, name: str) -> bool:
        """Whether the test's golden has a slot of its own for a part of a value; asked for lists of numbers only."""
        from harness.gate.stores import has_given

        return not (self.settings.regen or self.settings.learn) and has_given(self.store, self.run, name)

    def _lookup(self) -> Lookup:
        """Finds values that the test's golden holds already. It does not refer to the test: in a circle with the
        process, arrays of a test that is over would stay until Python's collector runs."""
        from harness.gate.stores import nowhere, stored_in

        return nowhere if self.settings.regen or self.settings.learn else partial(stored_in, self.store, self.base)

    def _refuse_when_over(self) -> None:
        if self.over:
            from harness.errors import SettingError

            raise SettingError(
                f"the test {self.item.nodeid} is over, and what it gave was judged when its function returned; "
                "call the fixture inside the test"
            )

    def capture(self) -> Capture:
        """The capture to compare: what the programs dumped, then the values given to ``check``."""
        from harness.capture.texts import Joined

        given = self.given
        if not self.programs:
            # No backend computed these numbers.
            found = given.capture(self.network, *self.variant)
        else:
            found = self.process.capture()
            if given.records:
                found = replace(found, source=[*found.records(), *given.records])
        texts = {**self.texts, **given.texts} if self.programs else self.texts
        if texts:
            # The capture makes its own texts only when they are read.
            found = replace(found, artefacts=Joined(found.artefacts, texts))
        if self.rank or self.others:
            from harness.capture.gathered import joined, of_rank

            found = of_rank(found, self.rank)
            found = joined([found, *self.others]) if self.others else found
        return found


def current(item: pytest.Item) -> GateTest | None:
    """The gate test that ``item`` runs as; None before it was set up and after it was judged."""
    return item.stash.get(_TEST, None)


def taken(item: pytest.Item) -> GateTest | None:
    """Like ``current``, but drops the reference: the item lives as long as the session, and its capture may be
    large."""
    found = item.stash.get(_TEST, None)
    if found is not None:
        found.over = True
        del item.stash[_TEST]
    return found

"""Variants of a test's golden, by the facts that ``msdump_variants`` declares: which one a run is held against, which
one a regeneration writes. (``variants.py`` has the backends and modes of a test.)

Imports ``harness``; imported when facts are declared.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import HarnessError
from harness.gate import variants
from harness.gate.stores import OPENED
from harness.gate.variants import Choice
from harness.store import RunId
from harness.words import among, counted

if TYPE_CHECKING:
    from harness.store import Transaction
    from pytest_msdump.options import Settings
    from pytest_msdump.report import Result


class Golden(NamedTuple):
    """A test's golden, and the facts of the process that asks for one of its runs.

    Attributes:
        settings: the session's.
        name: path of its store, relative to the golden directory.
        base: backend, mode and granularity of the test's run.
        facts: of the environment.
    """

    settings: Settings
    name: str
    base: RunId
    facts: Mapping[str, Any]

    @property
    def _there(self) -> Sequence[RunId]:
        try:
            return OPENED.open(self.settings.golden / self.name).runs()
        except (FileNotFoundError, HarnessError):  # what is wrong with it is told when it is read
            return ()

    def choice(self) -> Choice:
        """Which run of it the test is held against, and which facts chose it."""
        made = partial(variants.made_with, self.settings.golden, self.name, self.base)
        return variants.chosen(self._there, self.base, self.settings.variants, self.facts, made)

    def target(self) -> RunId:
        """The run that a regeneration of the test writes, or that a candidate is for."""
        made = partial(variants.made_with, self.settings.golden, self.name, self.base)
        return variants.target(self._there, self.base, self.settings.variants, self.facts, made)

    def wrote(self, run: RunId, change: Transaction, result: Result) -> None:
        """Says in a result which run was written; a variant that has its base's content is not kept."""
        own = variants.name_of(self.settings.variants, self.facts)
        with change.open(self.name) as store:
            network, there = store.network, store.runs()
            if not run.variant:
                result["chosen"] = f"wrote the base, for {own}"
                old = [each for each in there if variants.are_of(each, self.base)]
                if old and result["verdict"] == "updated":
                    keep = counted(len(old), "variant", "have")
                    result["chosen"] += f"; {keep} what ran before: regenerate where the facts of each hold"
                return
            kept, of = store.run(*run), store.run(*self.base) if self.base in there else None
            same = of is not None and kept.checksum == of.checksum
            moved, slots = len(kept) if of is None else variants.apart(kept, of), len(kept)
        if not same:
            result["chosen"] = f"wrote variant {run.variant}, {among(moved, slots, 'slot', 'differ')} from the base"
            return
        change.update(self.name, network, {run: None})
        result["variant"], result["key"] = "", list(self.base)
        result["chosen"] = f"kept no variant for {run.variant}: its results are the base's"
        result["verdict"], result["new"] = "identical", 0


def is_used(run: RunId, wanted: Container[str], names: Sequence[str]) -> bool:
    """Whether a run is one of those that tests want, or a variant of one by exactly the declared facts."""
    if not run.variant or str(run) in wanted:
        return str(run) in wanted
    return bool(names) and str(run._replace(variant="")) in wanted and sorted(variants.stated(run.variant)) == [*names]

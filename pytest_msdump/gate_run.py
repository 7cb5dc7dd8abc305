"""A gate test's capture, ready to be judged or stored. Imports ``harness``; imported when needed."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import environment
from harness.capture.capture import RESULTS
from harness.compare import Tolerances
from harness.compare.identities import Identities
from harness.compare.policy import Judgement, Party
from harness.gate.against import Found
from harness.gate.lazily import kind_of
from harness.records import Record
from harness.store import RunId, StoredRun
from pytest_msdump import commands, options, unseen
from pytest_msdump.facts import facts
from pytest_msdump.gate_test import SEED, GateTest
from pytest_msdump.report import Result, empty_result

if TYPE_CHECKING:
    from harness.store import RunData, UpdateResult

# These rules name the machine a capture was made on; they must not change a store's bytes.
MACHINE_FACTS = ("numpy", "machine", "engine", "settings", "python")


class GateRun:
    """A test's capture, ready to be judged or stored.

    Attributes:
        base: its run's key, without a variant.
        variants: its golden's variants, and the facts that choose one; None where no facts are declared.
        choice: the chosen one, and why.
        run: the golden run that it is held against.
        records, texts: its slots and its texts to compare.
        watches: whether its mode keeps only what goes wrong.
        beside_tensors: whether it may be compared with another backend's run in mode ``tensor``.
        learned: the learned tolerances of its golden, after that was read; a new golden keeps them.
    """

    def __init__(self, test: GateTest) -> None:
        self.test = test
        self.base, self.variants = RunId(*test.base), test.variants()
        self.choice = self.variants.choice() if self.variants is not None else None
        self.run = self.choice.run if self.choice is not None else self.base
        self.capture = test.capture()
        self.records: list[Record] = list(self.capture.records())
        self.texts = self.normalised(RESULTS)
        self.watches, self.beside_tensors = kind_of(self.run.mode)
        self.learned: dict[str, Any] = {}

    @cached_property
    def target(self) -> RunId:
        """The run that it is written as: its base, or the variant for its facts."""
        return self.base if self.variants is None else self.variants.target()

    def noted(self, run: RunId, judged: Judgement) -> Judgement:
        """A judgement with what chose the golden's ``run``, if that is the test's own and facts are declared."""
        if self.choice is None or run != self.run:
            return judged
        return replace(judged, notes=(*judged.notes, self.choice.told))

    @property
    def path(self) -> Path:
        """The store's path."""
        return self.test.settings.golden / self.test.golden

    @property
    def shown_path(self) -> str:
        """The store's path, relative to the directory the user started in."""
        return os.path.relpath(self.path, self.test.item.config.invocation_params.dir)

    @property
    def held(self) -> tuple[int, int]:
        """The number of its slots and of its texts."""
        return len(self.records), len(self.texts)

    def empty(self, verdict: str) -> Result:
        """A result with all counts at zero."""
        result = empty_result(self.test.network, self.test.golden, self.run.backend, self.run.mode, verdict)
        result["key"] = result["against_key"] = list(self.run)
        result["facts"] = facts(self.capture.rules)
        result["compiled"], result["unread"] = unseen.of(self.capture)
        if self.choice is not None:
            result["variant"], result["chosen"] = self.run.variant, self.choice.why
        return result

    def data(self, level: str) -> RunData:
        """The content of a golden of this run."""
        rules = {name: value for name, value in self.capture.rules.items() if name not in MACHINE_FACTS}
        attrs: dict[str, Any] = {"emulated": self.capture.emulated, "rules": rules}
        stated = self.test.marker.get("tolerance")
        if stated is not None:
            attrs["tolerance"] = Tolerances.parse(stated).as_json()
        else:
            attrs |= self.learned
        from harness.capture.keeping import declared_by
        from harness.store import RunData

        records = self.records
        if level == "tensors" and self.run.backend == "torch":
            from harness.capture.slimming import slimmed

            records = slimmed(records)
        kept = "tensors" if level == "everything" else level
        texts, declared = self.normalised(""), declared_by(self.capture)
        return RunData(records, texts, attrs, kept, declared)  # type: ignore[arg-type]

    def normalised(self, folders: str | tuple[str, ...]) -> dict[str, bytes]:
        """The capture's texts below ``folders``, after the hook ``pytest_msdump_normalise``; other texts are not
        made."""
        texts: dict[str, bytes] = {}
        if not self.capture.artefacts:
            return texts
        item = self.test.item
        hook = item.config.hook.pytest_msdump_normalise
        for name in self.capture.artefacts:
            if not name.startswith(folders):
                continue
            text = self.capture.artefacts[name]
            changed = hook(config=item.config, item=item, name=name, text=text)
            texts[name] = text if changed is None else changed
        return texts

    def next_steps(self, own: bool) -> list[str]:
        """Commands that help with a difference; the last one accepts it."""
        shown = commands.show(self.shown_path, str(self.run))
        steps = [shown, commands.again(self.test, "pytest", "--msdump", "--msdump-keep")]
        # In CI one accepts the candidate instead; the closing lines name it.
        meant = own and not self.test.settings.in_ci
        return [*steps, commands.again(self.test, "msdump", "regen")] if meant else steps

    def level(self) -> str:
        """The level of a new golden; a mode that keeps no values allows only one."""
        if self.records and all(record.values is None for record in self.records):
            return "digest"
        return str(options.resolve(self.test.item.config, "msdump_level", self.test.marker))

    def remember(self, golden: StoredRun) -> None:
        """Takes over the tolerances learned for the test's own golden run."""
        if "learned" in golden.attrs:
            self.learned = {name: golden.attrs[name] for name in ("tolerance", "learned")}

    def write(self, path: Path) -> UpdateResult:
        """Stores the run in the store at ``path``, leaving its other runs alone."""
        from harness.store import update

        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        # When all tests are done the bundle is sealed, which also makes its directories durable.
        return update(path, self.test.network, self.runs(), settle=False)

    def runs(self) -> dict[RunId, RunData]:
        """The run, as a store takes it."""
        return {self.target: self.data(self.level())}

    def tolerance(self, against: str, stated: Any) -> tuple[Any, str]:
        """The tolerance of the marker, else of the hook, else of the option, and which of them it is; None for the
        default one."""
        by = "the marker"
        if stated is None:
            item = self.test.item
            hook = item.config.hook.pytest_msdump_tolerance
            if hook.get_hookimpls():  # asking nobody takes longer than the comparison of most values
                given = {"backend": self.run.backend, "mode": self.run.mode, "against": against}
                stated, by = hook(config=item.config, item=item, **given), "the hook pytest_msdump_tolerance"
        named = options.resolve(self.test.item.config, "msdump_tolerance")
        return (named, "--msdump-tolerance") if stated is None and named != "stored" else (stated, by)

    def found(self) -> Found:
        """The run, as it is held against a golden."""
        capture = self.capture
        return Found(
            self.test.network, self.run, self.party(), self.records, lambda: capture.artefacts, self.texts,
            capture, self.watches,
        )  # fmt: skip

    def party(self) -> Party:
        """The run as a side of a judgement, as its golden would hold it: names count as between two stores."""
        capture = self.capture
        release, compiled = capture.rules.get("ms_version"), tuple(capture.rules.get("compiled", ()))
        lost, gaps = len(capture.lost), capture.gaps
        return Party(
            self.records, self.run.backend, self.run.mode, capture.emulated, release, stored=True, compiled=compiled,
            lost=lambda: lost, environment=partial(environment.facts, SEED), gaps=lambda: gaps,
            named=self.test.named_gaps(), identities=Identities.of(capture.operators),
        )  # fmt: skip

"""Compares a test's captures with its golden, or writes the golden. Imports ``harness``; imported when needed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness import environment
from harness.capture.normalise import users_place
from harness.compare import Comparison, Tolerances, Verdict, first_divergence
from harness.compare.policy import HOLDING, Judgement, references
from harness.compare.smallest_tolerance import would_pass
from harness.errors import HarnessError, StoreError, StoreWriteError
from harness.errors import told as said
from harness.gate import against
from harness.gate.against import Found
from harness.gate.ranks import put_in, unequal
from harness.gate.ranks import told as of_ranks
from harness.gate.stores import OPENED
from harness.store import GoldenStore, RunId, StoredRun
from harness.store.manifest import JUDGED
from harness.words import among
from pytest_msdump import commands, edits, grafting, misses, twice
from pytest_msdump.collection import from_root
from pytest_msdump.gate_run import GateRun
from pytest_msdump.gate_test import SEED, GateTest
from pytest_msdump.known_wrong import is_known_wrong
from pytest_msdump.manifests import staged
from pytest_msdump.report import Result
from pytest_msdump.scratch import scratch
from pytest_msdump.sharing import note, since
from pytest_msdump.variants import others, used_runs

if TYPE_CHECKING:
    from harness.explain import Explanation


def regenerate(test: GateTest) -> tuple[list[Result], list[str]]:
    """Writes the test's golden; gives the result and, where it cannot be written, the failure."""
    judge = GateRun(test)
    if not judge.records and not judge.texts:
        return [judge.empty("not compared")], [misses.empty(judge.test, str(judge.run))]
    if (known := twice.second(test.item, judge)) is not None:
        return known
    result = judge.empty("new")
    result["facts"] = {**result["facts"], "environment": environment.facts(SEED)}
    result["key"], result["variant"] = list(judge.target), judge.target.variant
    try:
        with GoldenStore.open(judge.path) as store:
            judge.remember(store.run(*judge.run))
    except (FileNotFoundError, HarnessError):
        pass  # the store does not exist yet or cannot be read: it is written
    try:
        change = staged(test.item.config, test.settings)
        # The path says whose golden it is: that of a renamed test may have been moved here.
        done = change.update(test.golden, test.network, judge.runs(), renames=True)
    except (HarnessError, OSError) as error:
        result = judge.empty("not compared")
        # An error of the system's would leave a part of the session's goldens: then none takes effect.
        result["unwritten"] = str(error) if isinstance(error, OSError) else ""
        return [result], [f"msdump: the golden was not written: {error}"]
    moved = done.runs[judge.target]
    result["slots"], result["identical"] = moved.slots, moved.unchanged
    result["new"], result["missing"] = moved.new + moved.changed, moved.removed
    if moved.unchanged + moved.changed + moved.removed:
        result["verdict"] = "updated" if done.changed else "identical"
    if judge.variants is not None:
        judge.variants.wrote(judge.target, change, result)
    result["used_runs"] = used_runs(test.item.config, test.marker)
    twice.wrote(test.item, judge, result)
    return [result], []


def done(test: GateTest, bundle: str) -> tuple[list[Result], list[str]]:
    """Does with a test's capture what the session is for; gives results and failures."""
    if test.settings.learn:
        from pytest_msdump import learning

        return learning.learn(test, test.settings.learn)
    if test.settings.repeat:
        from pytest_msdump import repeating

        return repeating.judge(test)
    if test.settings.regen:
        return regenerate(test)
    return grafting.second(test, lambda first: check(first.test, bundle, first)) or check(test, bundle)


def replicas(test: GateTest) -> list[str]:
    """What is not equal on all ranks though the test says it is, as one text; empty if all is, or if it says nothing.
    Its golden has no part in it."""
    if not test.replicated or not test.ran:
        return []
    told = unequal(test.capture(), test.replicated)
    return [told] if told else []


def check(test: GateTest, bundle: str, run: GateRun | None = None) -> tuple[list[Result], list[str]]:
    """Judges the test against its golden and against the runs its marker names; gives results and failures.

    Args:
        bundle: name of the session's candidates.
        run: what the test captured; by default it is asked.
    """
    judge = GateRun(test) if run is None else run
    if not judge.records and not judge.texts:
        return [judge.empty("not compared")], [misses.empty(judge.test, str(judge.run))]
    results: list[Result] = []
    texts: list[str] = []
    try:
        _check_all(judge, bundle, results, texts)
    except HarnessError as error:
        results.append(judge.empty("not compared"))
        texts.append(f"msdump: {test.network}, run {judge.run} cannot be checked: {error}")
    if results[0]["verdict"] not in HOLDING:
        results[0]["facts"] = {**results[0]["facts"], "environment": environment.facts(SEED)}
        results[0]["facts"][JUDGED] = _how(judge, results[0])
        results[0]["key"] = list(judge.target)
    # What is known to be wrong is not to be taken over.
    if results[0]["verdict"] not in HOLDING and not is_known_wrong(test.item):
        try:
            results[0]["candidate"] = _leave_candidate(judge, bundle)
        except (HarnessError, OSError) as error:
            texts.append(f"msdump: no candidate was left: {said(error)}")
    used = used_runs(test.item.config, test.marker)
    for result in results:
        result["used_runs"] = used
    return results, texts


def _how(judge: GateRun, result: Result) -> dict[str, Any]:
    """How a candidate was judged, for ``msdump review``: what its store does not hold."""
    asked, by = judge.tolerance(judge.run.backend, judge.test.marker.get("tolerance"))
    return {
        "tolerance": None if asked is None else Tolerances.parse(asked).as_json(), "by": by,
        "lost": len(judge.capture.lost), "named": list(judge.test.named_gaps()),
        "explained": json.loads(result["explained"]) if result["explained"] else None,
    }  # fmt: skip


def _check_all(judge: GateRun, bundle: str, results: list[Result], texts: list[str]) -> None:
    marker, backend = judge.test.marker, judge.run.backend
    named = others(marker.get("against"), backend)
    stated = {backend: marker.get("tolerance"), **named}
    try:
        store = OPENED.open(judge.test.store)
    except FileNotFoundError:
        results.append(_missing(judge, backend))
        texts.append(misses.missing(judge.test, judge.path, judge.held, judge.run, "the store does not exist", judge))
        return
    kind = {"emulated": judge.capture.emulated, "beside_tensors": judge.beside_tensors}
    for run in references(judge.run, named, store, **kind):
        result, text = _check_one(judge, bundle, store, run, stated[run.backend])
        results.append(result)
        texts += [text] if text is not None else []


def _check_one(
    judge: GateRun, bundle: str, store: GoldenStore, run: RunId, tolerance: Any
) -> tuple[Result, str | None]:
    try:
        expected = store.run(*run)
    except StoreError:
        there = store.runs()
        if run in there:
            raise
        text = f"the store holds {', '.join(map(str, there)) or 'no run'}"
        return _missing(judge, run.backend), misses.missing(judge.test, judge.path, judge.held, run, text)
    if run == judge.run:
        judge.remember(expected)
    result = judge.empty("identical")
    result["against"], result["against_mode"], result["against_key"] = run.backend, run.mode, list(run)
    result["checksum"] = expected.checksum
    asked, by = judge.tolerance(run.backend, tolerance)
    found = judge.found()
    judged = judge.noted(run, against.judged(expected, found, asked, by))
    if judged.tolerances.patterns or judged.tolerances.types:
        from pytest_msdump import idle

        result["keys"] = idle.keys_of(judged, by, asked is not None)
    holds = _count(result, judged)
    explanation, failures = None, []
    if not holds:
        explanation, words = explain(judge, run, judged, expected, result)
        failures.append((against.made_otherwise(expected, found) if run == judge.run else "") + words)
    if run == judge.run and (told := _check_texts(judge, found, expected, result, bool(failures))):
        result["verdict"] = replace(judged, texts_hold=False).verdict
        failures.insert(0, told)
    failure = "\n".join(failures) or None
    if judge.test.settings.report is not None and not grafting.comes(judge.test):
        try:
            _keep_page(judge, bundle, expected, judged.comparison, failure, explanation, result["verdict"])
        except StoreWriteError as error:
            failure = "\n".join([*filter(None, [failure]), f"msdump: the page lacks this test: {error}"])
    return result, failure


def _check_texts(judge: GateRun, found: Found, expected: StoredRun, result: Result, short: bool) -> str:
    """Compares the texts that are results with the golden's; returns what to say about those that differ, or nothing.

    Args:
        short: one line is enough, because the slots differ as well.
    """
    compared = against.texts_of(expected, found)
    if compared is None:
        return ""
    result["texts"] = len(compared.names)
    if compared.holds:
        return ""
    if not result["where"]:
        first = compared.failures[0]
        told = among(len(compared.failures), len(compared.names), "text", "differ")
        result["where"] = f"{told}, the first {first.name}: {first.verdict.value}"[:400]
    return against.texts_told(compared, found, judge.shown_path, [] if short else judge.next_steps(own=True), short)


def _keep_page(
    judge: GateRun,
    bundle: str,
    expected: StoredRun,
    comparison: Comparison,
    failure: str | None,
    explanation: Explanation | None,
    verdict: str,
) -> None:
    """Saves this comparison's part of the session's page."""
    from harness.explain import side_of
    from pytest_msdump import pages

    held = expected.id
    name = pages.name_of(judge.test.network, judge.run.backend, judge.run.mode, held.backend)
    emulated = judge.capture.emulated, bool(expected.attrs.get("emulated"))
    made = ["emulated" if each else "real" for each in emulated]
    chose = f"; {judge.choice.why}" if judge.choice is not None and held == judge.run else ""
    sides = f"{judge.shown_path}, run {held} ({made[1]}){chose}", f"{judge.base} ({made[0]})"
    # A text is compared if both sides have it in its stored, normalised form.
    artefacts = expected.artefacts(), judge.data("digest").artefacts
    graphs = (side_of(expected).graphs, side_of(judge.capture).graphs) if failure is not None else None
    told = failure, artefacts, explanation, expected.records, verdict, graphs
    pages.keep(judge.test.settings, bundle, name, sides, comparison, *told)


def _missing(judge: GateRun, backend: str) -> Result:
    result = judge.empty("missing")
    result["variant"] = result["chosen"] = ""
    result["against"] = backend
    result["slots"] = result["new"] = len(judge.records)
    return result


def _count(result: Result, judged: Judgement) -> bool:
    """Notes the judgement in a result; tells whether it holds."""
    comparison = judged.comparison
    counts = comparison.counts
    result["slots"] = len(comparison.slots)
    result["identical"] = counts[Verdict.IDENTICAL]
    result["within"] = counts[Verdict.WITHIN] + counts[Verdict.STATISTICS]
    result["differing"], result["unsure"] = counts[Verdict.DIFFERS], counts[Verdict.UNSURE]
    result["gaps"], result["accepted_gaps"] = counts[Verdict.NOT_COMPARED], counts[Verdict.ACCEPTED]
    result["altered"] = [str(each)[:400] for each in comparison.altered[:20]]
    result["missing"], result["unexpected"] = counts[Verdict.MISSING], counts[Verdict.UNEXPECTED]
    errors = [float(slot.measurement.max_abs) for slot in comparison.slots if slot.measurement is not None]
    result["max_abs"] = max(errors, default=None)
    result["verdict"] = judged.verdict
    holds = result["verdict"] in HOLDING
    if not holds:
        result["where"], result["source"] = first(comparison)
        passes = would_pass(comparison)
        result["passes"] = str(passes) if passes is not None and not judged.renamed else ""
    return holds


def first(comparison: Comparison) -> tuple[str, str]:
    """The first difference in one line, and its source line."""
    divergence = first_divergence(comparison)
    slot = divergence.slots[0] if divergence is not None else next(iter(comparison.failures()), None)
    if slot is None and comparison.altered:
        return str(comparison.altered[0])[:400], comparison.altered[0].source or ""
    slot = next(iter(comparison.unnamed), None) if slot is None and comparison.order is None else slot
    if slot is None:
        return "the execution order changed", ""
    words = f"iteration {slot.key.iteration}, {slot.key.operator} {slot.key.slot_name}: {slot.reason}"
    return words[:400], users_place(slot.source)


def _leave_candidate(judge: GateRun, bundle: str) -> str:
    """Adds the run to this session's candidate bundle, for ``msdump accept``; returns the bundle's directory."""
    settings = judge.test.settings
    folder = scratch(settings.root, "candidates") / bundle
    judge.write(folder / judge.test.golden)
    return folder.relative_to(settings.root).as_posix()


def _placed(test: GateTest, explanation: Explanation) -> Explanation:
    """Says of data, which no line of a network makes, which test gave it."""
    cause = explanation.cause
    if cause is None or cause.source or cause.kind != "data":
        return explanation
    path, at, _ = test.item.location
    place = f"{from_root(test.item.config, path)}:{(at or 0) + 1}"
    return replace(explanation, cause=replace(cause, source=place))


def explain(
    judge: GateRun, run: RunId, judged: Judgement, expected: StoredRun, result: Result | None = None
) -> tuple[Explanation | None, str]:
    """The explanation of the difference, and its text; ``result`` notes what it says."""
    from harness.explain import Commands, see_slot

    own, test = run == judge.run, judge.test
    picture = "" if test.settings.report is not None else "--msdump-report=report.html"
    # In CI one accepts the candidate instead; the closing lines name it.
    meant = commands.again(test, "msdump", "regen") if own and not test.settings.in_ci else ""

    def steps(explanation: Explanation | None) -> Commands:
        return Commands(see_slot(explanation, judge.shown_path, str(run)), picture, meant)

    golden = judge.shown_path if own else f"{judge.shown_path}, run {run}"
    changed = since(test.settings.golden, test.golden, run)

    def grafted(explanation: Explanation) -> Explanation:
        placed = _placed(test, explanation)
        return grafting.consider(judge, judged, expected, placed) if own else placed

    explanation, given, text = against.explained(expected, judge.found(), judged, golden, changed, steps, grafted)
    if explanation is not None and result is not None:
        note(result, explanation, given)
    if own:
        cause = explanation.cause if explanation is not None else None
        known = cause.source if cause is not None and cause.certainty.proven else None
        proof = commands.again(test, "msdump", "blame")
        text = _before_steps(text, edits.since(test.settings.root, judge.path, known, proof))
    if own and (capture := judge.found().capture) is not None:
        text = put_in(text, of_ranks(expected, capture, judged, judge.records))
    return explanation, text


def _before_steps(text: str, more: list[str]) -> str:
    """A failure with more lines, before what to run next."""
    lines = text.split("\n")
    at = next((at for at, each in enumerate(lines) if each.startswith("See: ")), len(lines))
    return "\n".join([*lines[:at], *more, *lines[at:]])

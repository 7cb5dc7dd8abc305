"""``msdump review``: shows a gate's candidates, one after the other, to be accepted or not."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from harness import environment
from harness.capture.capture import RESULTS
from harness.capture.normalise import users_place
from harness.cli.nearest import CANDIDATES, SCRATCH, goldens_of
from harness.compare import Comparison, Verdict, first_divergence
from harness.compare.judge import SlotJudge
from harness.compare.policy import Judgement, Party
from harness.compare.verdict import SlotVerdict
from harness.errors import StoreError, ToleranceError
from harness.escape import line, painted, show
from harness.gate import against
from harness.gate.against import Found
from harness.gate.lazily import kind_of
from harness.store import GoldenStore, RunId, StoredRun, manifest
from harness.store.bundle import accept, opened
from harness.words import among, counted

PAGE = "review.html"
_QUESTION = "take it over? [y]es, [n]o and drop it, [s]kip, [a]ll from here on, [p]icture, [q]uit: "
_THERE = "the golden holds it (it was taken over before, or another backend's golden made the gate fail)"


@dataclass(frozen=True)
class Candidate:
    """A run that a gate left as a candidate.

    Attributes:
        store: path of its store, both in the bundle and among the goldens.
        network: the test's name.
        run: backend and mode.
        judged: its comparison with the golden run; None if there is none or it cannot be read.
        why: why it was not judged, in words.
        environment: what changed of the environment since the golden was made, in one line.
        explained: first divergence, cause, what it is filed as and what to run next, as the gate found them; empty if
            the bundle does not say.
    """

    store: str
    network: str
    run: RunId
    judged: Judgement | None
    why: str = ""
    environment: str = ""
    explained: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        """Whether the golden holds it already."""
        return self.judged is not None and _is_there(self.judged)

    def is_named(self, store: str, network: str, run: RunId) -> bool:
        """Whether a run of a bundle is this candidate, see ``harness.store.bundle.Wanted``."""
        return (store, network, run) == (self.store, self.network, self.run)


def review_bundle(
    bundle: Path | None,
    golden: Path | None,
    *,
    ask: bool,
    picture: Path | None = None,
    page: Path | None = None,
    keep: dict[str, Any] | None = None,
) -> int:
    """Shows each candidate and asks on standard input what to do with it; each answer takes effect at once.

    Args:
        bundle: directory or archive; None for the last one below the nearest ``.msdump/candidates``.
        golden: directory of the goldens; None for those of the project that left the bundle.
        ask: False to list the candidates only.
        picture: file for the page that ``p`` makes; None for the one of ``_place_of_pictures``.
        page: file for one page of all candidates; None for none.
        keep: receives what ``--json`` writes.

    Returns:
        0 if no candidate is left that the goldens do not hold, 1 otherwise.

    Raises:
        StoreError: there is no bundle, or it is damaged.
    """
    chosen = bundle or last_bundle(Path.cwd())
    if chosen is None:
        print("nothing to review: no gate left candidates in .msdump/candidates, here or above")
        return 0
    goldens = golden or goldens_of(chosen)
    left, place = 0, cache(lambda: picture or _place_of_pictures(chosen))
    with opened(chosen) as (source, stores):
        found = list(candidates(source, stores, goldens))
        _keep(keep, chosen, [_plain(each, source, goldens) for each in found] if keep is not None else [])
        stop, every = not ask, False
        for at, each in enumerate(found, 1):
            left += stop and not each.is_there
            if stop and ask:
                continue
            show(painted(line(f"[{at}/{len(found)}] {each.network}, run {each.run}"), "1", sys.stdout))
            show("\n".join(told(each)))
            if stop or each.is_there:
                continue
            answer = _answer(source, goldens, each, place) if not every else "y"
            every = every or answer == "a"
            answer = "y" if every else answer
            _act(answer, chosen, source, goldens, each)
            left += answer not in ("y", "n")
            stop = answer == "q"
        if page is not None:
            _all_on(page, source, goldens, found)
    if not ask or left:
        print(f"{counted(left, 'candidate')} left in {chosen}")
    return int(left > 0)


def _act(answer: str, bundle: Path, source: Path, goldens: Path, candidate: Candidate) -> None:
    """Carries out an answer: ``y`` and ``n`` take the candidate out of the bundle."""
    if answer == "y":
        accept(bundle, goldens, candidate.is_named)
        print(line(f"  taken over into {goldens / candidate.store}"))
    elif answer == "n":
        print("  dropped; the golden stays")
    if answer in ("y", "n") and bundle.is_dir():
        _drop(source, candidate)


def _keep(keep: dict[str, Any] | None, bundle: Path, found: list[dict[str, Any]]) -> None:
    if keep is not None:
        keep |= {"bundle": str(bundle), "candidates": found}


def _plain(candidate: Candidate, source: Path, goldens: Path) -> dict[str, Any]:
    """A candidate as JSON values, with its comparison if there is one."""
    from harness.report.results import comparison

    run, compared = candidate.run, None
    sides = {"golden": f"{goldens / candidate.store}::{run}", "found": f"{source / candidate.store}::{run}"}
    about: Any = {"network": candidate.network, "backend": run.backend, "mode": run.mode, **sides}
    if candidate.judged is not None:
        compared = {**comparison(candidate.judged, None, **about), **candidate.explained}
    return {"store": candidate.store, "run": str(run), "why": candidate.why, "comparison": compared, **about}


def last_bundle(start: Path) -> Path | None:
    """The newest bundle in the nearest ``.msdump/candidates`` that has one, from ``start`` upwards."""
    for folder in (start, *start.parents):
        kept = folder / SCRATCH / CANDIDATES
        found = sorted((each for each in kept.iterdir() if each.is_dir()), reverse=True) if kept.is_dir() else []
        found = [each for each in found if next(each.rglob("*.h5"), None) is not None]
        if found:
            return found[0]
    return None


def candidates(source: Path, stores: list[str], goldens: Path) -> Iterator[Candidate]:
    """The candidates of a bundle, compared with the goldens."""
    for name in stores:
        with GoldenStore.open(source / name) as store:
            for run in store.runs():
                try:
                    with GoldenStore.open(goldens / name) as old:
                        of = run if run in old else run._replace(variant="")
                        if of not in old:
                            yield Candidate(name, store.network, run, None, "the golden has no such run: all is new")
                            continue
                        sides = old.run(*of), store.run(*run)
                        made = (manifest.environment_of(*each) for each in ((goldens, name, of), (source, name, run)))
                        how = manifest.provenance_of_run(source, name, run).get(manifest.JUDGED)
                        how = how if isinstance(how, Mapping) else {}
                        yield Candidate(
                            name, store.network, run, _judged(*sides, store.network, how), "",
                            environment.told(environment.changes(*made)), _explained(how),
                        )  # fmt: skip
                except FileNotFoundError:
                    yield Candidate(name, store.network, run, None, "there is no golden yet: all is new")
                except StoreError as error:
                    yield Candidate(name, store.network, run, None, f"the golden cannot be read: {error}")


def _judged(expected: StoredRun, candidate: StoredRun, network: str, how: Mapping[str, Any]) -> Judgement:
    """The gate's judgement again: under the tolerance that it was asked for, texts included.

    Args:
        how: what the bundle says of it; anything may stand there.
    """
    named, lost = how.get("named"), how.get("lost")
    patterns = tuple(each for each in named if isinstance(each, str)) if isinstance(named, list) else ()
    files = lost if isinstance(lost, int) else 0
    party = replace(Party.of_run(candidate), named=patterns, lost=lambda: files)
    texts = {name: candidate.artefact(name) for name in candidate.artefact_names() if name.startswith(RESULTS)}
    watches = kind_of(candidate.id.mode)[0]
    found = Found(network, candidate.id, party, list(candidate.records()), texts=texts, empty_holds=watches)
    asked, by = how.get("tolerance"), str(how.get("by", "the gate"))
    try:
        judged = against.judged(expected, found, asked, by, judging=SlotJudge)
    except ToleranceError:
        judged = against.judged(expected, found, judging=SlotJudge)
    compared = against.texts_of(expected, found)
    return judged if compared is None else replace(judged, texts_hold=compared.holds)


def _explained(how: Mapping[str, Any]) -> dict[str, Any]:
    """What the bundle says about why, as far as it is of the kinds that the results of a comparison have."""
    given = how.get("explained")
    if not isinstance(given, Mapping):
        return {}
    kinds = {"first_divergence": dict, "cause": dict, "environment": list, "filed": str, "tolerance": str,
             "others": list, "suggestions": list}  # fmt: skip
    return {name: given[name] for name, kind in kinds.items() if isinstance(given.get(name), kind)}


def told(candidate: Candidate) -> Iterator[str]:
    """Lines that say what moved first, from which value to which, and by how much."""
    if candidate.judged is None:
        yield f"  {line(candidate.why)}"
        return
    if _is_there(candidate.judged):
        yield f"  nothing to take over: {_THERE}"
        yield f"  {_counts(candidate.judged.comparison)}"
        return
    if candidate.environment:
        yield f"  environment: {line(candidate.environment)}"
    cause = candidate.explained.get("cause")
    if cause:
        made = f" ({cause['source']})" if cause.get("source") else ""
        yield f"  cause, {line(str(cause.get('certainty', 'likely')))}: {line(str(cause.get('text', '')) + made)}"
    comparison = candidate.judged.comparison
    failing = list(comparison.failures())
    divergence = first_divergence(comparison)
    slot = divergence.slots[0] if divergence is not None else next(iter(failing), None)
    if slot is None:
        yield f"  no slot differs: {_beside_slots(candidate.judged)}"
    else:
        place = users_place(slot.source)
        where = f"{slot.key.operator} {slot.key.slot_name}{f' at {place}' if place else ''}"
        yield f"  moved first: iteration {slot.key.iteration}, {line(where)}"
        yield f"  {_values(slot)}"
    yield f"  {_counts(comparison)}"


def _is_there(judged: Judgement) -> bool:
    """Whether the golden holds all that a candidate has."""
    comparison = judged.comparison
    alike = comparison.counts[Verdict.IDENTICAL] == comparison.total and not comparison.gaps
    return alike and judged.holds and not judged.renamed


def _beside_slots(judged: Judgement) -> str:
    """Why a judgement without a differing slot does not hold all the same."""
    if judged.renamed:
        return f"{counted(judged.renamed, 'operator')} or values of another name"
    if judged.texts_hold is False:
        return "a text does"
    if judged.comparison.altered:
        return line(str(judged.comparison.altered[0]))
    if judged.comparison.order is not None:
        return "the order of execution does"
    return "what could not be read made the gate fail"


def _values(slot: SlotVerdict) -> str:
    measured = slot.measurement
    if measured is None or measured.worst is None:
        return line(f"{slot.dtype_shown}{list(slot.shape)}: {slot.reason}")
    worst = measured.worst
    expected, found = painted(f"{worst.expected}", "32", sys.stdout), painted(f"{worst.found}", "31", sys.stdout)
    return (
        f"expected {expected} -> found {found} at {list(worst.index)}; "
        f"max abs {float(measured.max_abs):.6g}, {among(measured.differing, measured.count, 'element', 'differ')}"
    )


def _counts(comparison: Comparison) -> str:
    counts = {verdict: count for verdict, count in comparison.counts.items() if count and verdict != Verdict.IDENTICAL}
    parts = ", ".join(f"{count} {verdict.counted}" for verdict, count in counts.items())
    return f"{counted(len(comparison.slots), 'slot')}: {parts or 'all identical'}"


def _answer(source: Path, goldens: Path, candidate: Candidate, page: Callable[[], Path]) -> str:
    """``y``, ``n``, ``s``, ``a`` or ``q``; after ``p`` it makes the page and asks again."""
    while True:
        print(_QUESTION, end="", flush=True)
        answer = sys.stdin.readline()
        if not sys.stdin.isatty():
            print(answer.strip())
        given = answer.strip().lower()[:1] if answer else "q"
        if given == "p":
            _picture(source, goldens, candidate, page())
        elif given and given in "ynsaq":
            return given
        else:
            print("  y, n, s, a, p or q is accepted")


def _place_of_pictures(bundle: Path) -> Path:
    """Where a page about a bundle goes: beside the project's candidates; of a bundle from elsewhere, a new
    directory for temporary files."""
    folder = bundle.absolute().parent
    if folder.name == CANDIDATES and folder.parent.name == SCRATCH:
        return folder.parent / PAGE
    return Path(tempfile.mkdtemp(prefix="msdump-")) / PAGE


def _all_on(page: Path, source: Path, goldens: Path, found: list[Candidate]) -> None:
    """Writes one page of all candidates that have a golden to compare with."""
    from contextlib import redirect_stdout
    from io import StringIO

    from harness.cli.report import join

    with tempfile.TemporaryDirectory(prefix="msdump-") as folder:
        parts = [Path(folder, f"{at}.html") for at, each in enumerate(found) if each.judged is not None]
        with redirect_stdout(StringIO()):
            for part in parts:
                _picture(source, goldens, found[int(part.stem)], part)
            if parts:
                join(parts, page)
    new = sum(each.judged is None for each in found)
    without = f"; {counted(new, 'candidate')} without a golden to compare with" if new else ""
    print(f"page: {page}{without}" if parts else "no page: no candidate has a golden to compare with")


def _picture(source: Path, goldens: Path, candidate: Candidate, page: Path) -> None:
    if candidate.judged is None:
        print(line(f"  no picture: {candidate.why}"))
        return
    from contextlib import redirect_stdout
    from io import StringIO

    from harness.cli.diff import Outputs, diff

    with redirect_stdout(StringIO()):
        diff(
            f"{goldens / candidate.store}::{candidate.run}", f"{source / candidate.store}::{candidate.run}",
            None, None, Outputs(report=page),
        )  # fmt: skip
    print(f"  picture: {page}")


def _drop(source: Path, candidate: Candidate) -> None:
    """Removes a candidate from its bundle."""
    from harness.store.transaction import Transaction

    with Transaction(source) as change:
        change.update(candidate.store, candidate.network, {candidate.run: None})
        change.commit()

"""Holds one run against one run of a golden: the judgement, why it does not hold, and the failure's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.capture.capture import RECORDED, RESULTS, Capture
from harness.compare.check import Judging
from harness.compare.judge import SlotJudge
from harness.compare.known import Known
from harness.compare.policy import Judgement, Party
from harness.compare.policy import judge as decide
from harness.compare.texts import TextComparison, compare_texts, explain_texts, summary
from harness.compare.tolerances import NOISE
from harness.gate.lazily import lay_beside, settle
from harness.records import Record
from harness.store import RunId, StoredRun

if TYPE_CHECKING:
    from harness.environment import Changed
    from harness.explain import Commands, Explanation

#: All dump modes of a network differ from its golden in the same tensors, so these are measured once.
JUDGING = partial(SlotJudge, known=Known())


@dataclass(frozen=True)
class Found:
    """A run to hold against a golden.

    Attributes:
        name: for people: ``tests/test_net.py::test_train``.
        run: backend and mode.
        party: the run as a side of a judgement.
        records: its slots.
        artefacts: gives its texts by path, for the explanation.
        texts: those of them that are results, as a golden would hold them.
        capture: the capture it is of; None of values that were given.
        empty_holds: whether two empty sides agree: its mode keeps only what goes wrong, or it has nothing but texts.
    """

    name: str
    run: RunId
    party: Party
    records: Sequence[Record]
    artefacts: Callable[[], Mapping[str, bytes]] = dict
    texts: Mapping[str, bytes] = field(default_factory=dict)
    capture: Capture | None = None
    empty_holds: bool = False


def judged(expected: StoredRun, found: Found, asked: Any = None, by: str = "the caller", **more: Any) -> Judgement:
    """The judgement of the slots; see ``harness.compare.policy.judge`` for ``asked``, ``by`` and more."""
    judging: Judging = more.pop("judging", JUDGING)
    sides = Party.of_run(expected), found.party
    made = decide(*sides, asked, lay=lay_beside, settle=settle, judging=judging, by=by, **more)
    return replace(made, empty_holds=True) if found.empty_holds or found.texts else made


def under_noise(expected: StoredRun, found: Found) -> Judgement:
    """The judgement if nothing but rounding is admitted."""
    return decide(Party.of_run(expected), found.party, NOISE, lay=lay_beside, settle=settle)


def explained(
    expected: StoredRun, found: Found, judgement: Judgement, golden: str, changed: Sequence[Changed],
    commands: Callable[[Explanation | None], Commands],
    grafted: Callable[[Explanation], Explanation] = lambda explanation: explanation,
) -> tuple[Explanation | None, Commands, str]:  # fmt: skip
    """Why a judgement does not hold, what to run next, and both as a text.

    Args:
        golden: name of the golden side.
        changed: what changed of the environment since the golden was made.
        commands: gives what to run next.
        grafted: adds what a run with the golden's tensors showed.
    """
    from harness import explain  # most runs hold

    subject = explain.Subject(f"{found.name} [{found.run.backend}-{found.run.mode}]", golden)
    sides = (
        explain.side_of(expected),
        explain.Evidence(lambda: found.records, found.artefacts, found.run.backend, found.party.emulated)
        if found.capture is None
        else explain.side_of(found.capture, lambda: found.records),
    )
    again = partial(under_noise, expected, found)
    explanation = explain.explained(judgement, subject, *sides, changed=changed, again=again)
    explanation = grafted(explanation) if explanation is not None else None
    steps = commands(explanation)
    return explanation, steps, explain.told(judgement, subject, explanation, steps)


def made_otherwise(expected: StoredRun, found: Found) -> str:
    """A line that explains other numbers (and graphs): only one of run and golden is emulated, or two releases of
    MindSpore made them."""
    golden = bool(expected.attrs.get("emulated"))
    made = expected.attrs.get("rules", {}).get("ms_version")
    if golden == found.party.emulated:
        release = found.party.release
        differ = made and release and made != release
        return f"msdump: the golden was made by MindSpore {made}, this run by {release}\n" if differ else ""
    words = ("real", "emulated")
    backend = found.run.backend
    return f"msdump: the golden is {words[golden]}, this run of backend {backend} is {words[not golden]}\n"


def texts_of(expected: StoredRun, found: Found) -> TextComparison | None:
    """Compares the texts that are results with the golden's; None if neither side has any."""
    golden = {name: expected.artefact(name) for name in expected.artefact_names() if name.startswith(RESULTS)}
    texts = found.texts
    if not golden and not texts:
        return None
    if not found.party.emulated and not any(name.startswith(RECORDED) for name in golden):
        # The release that made it has no recorder.
        texts = {name: text for name, text in texts.items() if not name.startswith(RECORDED)}
    return compare_texts(golden, texts)


def texts_told(compared: TextComparison, found: Found, golden: str, steps: Sequence[str], short: bool) -> str:
    """What to say about texts that differ.

    Args:
        golden: name of the golden side.
        steps: commands to suggest.
        short: one line is enough, because the slots differ as well.
    """
    from harness.capture.recorder import readable  # most runs have nothing of it

    if short:
        return f"msdump: {summary(compared, readable)}"
    title = f"{found.name} [{found.run.backend}-{found.run.mode}]: texts are not those of its golden {golden}"
    return explain_texts(compared, title, steps, readable)

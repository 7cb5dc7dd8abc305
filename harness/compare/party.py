"""One side of a comparison, what two of them have in common, and which tolerance rules between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness import environment
from harness.compare.check import HasRecords
from harness.compare.identities import NOBODY, Identities
from harness.compare.tolerances import BY_DTYPE, Tolerances
from harness.records import GIVEN_SCOPE, Gap, Record
from harness.store import RunId, StoredRun
from harness.words import counted


def none_lost() -> int:
    """Of a side whose files could all be used, or that has none."""
    return 0


@dataclass(frozen=True)
class Party:
    """One side of a comparison.

    Attributes:
        content: its records; read twice if operators are paired.
        backend, mode: backend and dump mode of the run.
        emulated: whether an emulated device made it.
        release: release of the MindSpore that made it, if known.
        stored: whether it is a run of a golden store.
        tolerance: tolerance stored with it; None if there is none.
        compiled: modules that ``torch.compile`` had wrapped, by path.
        called: whether its records come in the order in which a program made its calls, so that equal programs have
            equal orders.
        lost: counts its files that could not be used; known after its records were read.
        learned: from how many runs ``tolerance`` was learned; 0 if it was given.
        gaps: gives its slots that could not be read; known after its records were read.
        accepts: whether these gaps are accepted: a golden's are.
        named: patterns that name gaps of either side that are accepted (see ``compare.gaps``).
        granularity: how finely it was captured, see ``RunId``.
        identities: what its operators are.
        environment: gives the facts of its environment (see ``harness.environment``); empty where nobody knows them.
        repeated: tells whether it was run twice where it was made, with equal bits.
    """

    content: StoredRun | HasRecords | Iterable[Record]
    backend: str
    mode: str = "tensor"
    emulated: bool = False
    release: str | None = None
    stored: bool = False
    tolerance: Any = None
    compiled: tuple[str, ...] = ()
    called: bool = False
    lost: Callable[[], int] = none_lost
    learned: int = 0
    environment: Callable[[], Mapping[str, Any]] = dict
    repeated: Callable[[], bool] = bool
    gaps: Callable[[], Sequence[Gap]] = tuple
    accepts: bool = False
    named: tuple[str, ...] = ()
    granularity: str = "operators"
    identities: Identities = NOBODY

    @classmethod
    def of_run(cls, run: StoredRun) -> Party:
        """A run of a store, with its stored tolerance."""
        attrs = run.attrs
        rules = attrs.get("rules", {})
        release, compiled = rules.get("ms_version"), tuple(rules.get("compiled", ()))
        return cls(
            run, run.id.backend, run.id.mode, bool(attrs.get("emulated")), release, True, attrs.get("tolerance"),
            compiled, is_of_calls(rules), learned=_runs_learned(attrs.get("learned")),
            environment=partial(environment_of, run.path, run.id), repeated=partial(was_repeated, run.path, run.id),
            gaps=lambda: run.gaps, accepts=True, granularity=run.id.granularity,
            identities=Identities(lambda: run.operators, lambda: run.identity),
        )  # fmt: skip

    def records(self) -> Iterable[Record]:
        """Its records, in order."""
        return self.content.records() if isinstance(self.content, HasRecords) else self.content

    @property
    def is_real_mindspore(self) -> bool:
        """Whether MindSpore's own kernels computed it."""
        return not self.emulated and self.release is not None


def are_ordered(one: Party, other: Party) -> bool:
    """Whether another order of execution is a difference."""
    return (one.called and other.called and one.backend == other.backend) or are_alike(one, other)


def are_alike(one: Party, other: Party) -> bool:
    """Whether one emulated backend made both: bits, names and order are equal then."""
    return one.emulated and other.emulated and one.backend == other.backend


def are_counted(one: Party, other: Party) -> bool:
    """Whether both sides number operators in the order they ran: captures of PyTorch modules do; calls of a program
    are numbered by their own names."""
    plain = one.backend == other.backend == "torch" and not (one.emulated or other.emulated)
    return plain and not (one.called and other.called)


def is_of_calls(rules: Mapping[str, Any]) -> bool:
    """Whether a run with these rules is of calls in a program's own order, see ``Party.called``."""
    return rules.get("written_by") == "msprobe"


def have_equal_names(one: Party, other: Party) -> bool:
    """Whether both sides are known to give equal operators equal names: they come from one emulated backend, one
    release of MindSpore, or are runs of one backend in golden stores."""
    if one.backend != other.backend or one.emulated != other.emulated:
        return False
    if one.emulated:
        return True
    if one.release is None or other.release is None:
        return one.stored and other.stored
    return one.release == other.release


def texts_count(one: Party, other: Party) -> bool:
    """Whether another text among those that are results is a difference: one backend made both sides."""
    return one.backend == other.backend and one.emulated == other.emulated


#: refactorings and other releases of libraries change bits between the boundaries of modules
MODULES = "modules"
#: Of one emulated backend; values that a test gives to ``check`` were computed by something else.
_BITS = Tolerances(patterns=((f"{GIVEN_SCOPE}/*", BY_DTYPE),))


#: rules of tolerances, in words
BITS = "equal bits, since one emulated backend made both"
HERE = "equal bits, since the environment is the golden's, where two runs had them"
TABLE = "from the table by dtype, since none is given"
TABLE_OF_MODULES = "from the table by dtype, since none is given and the golden is of modules' boundaries"
NOISE_RULE = "from the table by dtype, and rounding: none is given, and the environment is another one"


def tolerances_of(expected: Party, found: Party, asked: Any = None, *, beside: bool = False) -> Tolerances:
    """The tolerance in force, see ``ruling``."""
    return ruling(expected, found, asked, beside=beside)[0]


def ruling(
    expected: Party, found: Party, asked: Any = None, *, beside: bool = False, by: str = "the command"
) -> tuple[Tolerances, str]:
    """The tolerance in force, and which rule chose it: the requested one; else the one stored with the golden (a
    marker's, or learned); else equal bits between two runs of one emulated backend; else the table by dtype. (Where
    bits differ, ``judge`` asks for equal ones in the golden's own environment, see ``made_here``; if the table does not
    hold and the environment is another one, it admits rounding, too.)

    Args:
        expected, found: the golden side and the run.
        asked: the requested tolerance.
        beside: whether two different backends are aligned: then the stored tolerance, which is for the golden's own
            backend, does not apply.
        by: who asked, in words.
    """
    if asked is not None:
        return Tolerances.parse(asked), f"given by {by}"
    if expected.tolerance is not None and not beside:
        runs = f", learned from {counted(expected.learned, 'run')}" if expected.learned else ""
        return Tolerances.parse(expected.tolerance), f"stored with the golden{runs}"
    if are_alike(expected, found):
        return _BITS, BITS
    return Tolerances.parse("default"), TABLE_OF_MODULES if expected.granularity == MODULES else TABLE


def environment_of(store: Path, run: RunId) -> Mapping[str, Any]:
    """Facts of the environment a golden run was made in; empty where no manifest beside its store knows them."""
    from harness.store import manifest  # asked of runs that do not hold

    return manifest.environment_of(store.parent, store.name, run)


def was_repeated(store: Path, run: RunId) -> bool:
    """Whether a golden run was run twice when it was made, with equal bits, as the manifest beside its store says."""
    from harness.store import manifest

    return bool(manifest.provenance_of_run(store.parent, store.name, run).get(manifest.REPEATED))


def _runs_learned(learned: Any) -> int:
    runs = learned.get("runs") if isinstance(learned, Mapping) else None
    return runs if isinstance(runs, int) else 0


def made_elsewhere(expected: Party, found: Party) -> bool:
    """Whether one backend made both, in environments that are known to differ."""
    one, other = expected.environment(), found.environment()
    return expected.backend == found.backend and bool(environment.changes(one, other))


def made_here(expected: Party, found: Party) -> bool:
    """Whether one backend made both in equal environments, in which the golden's was seen to give equal bits twice."""
    if expected.backend != found.backend or expected.emulated or found.emulated or not expected.repeated():
        return False
    one, other = expected.environment(), found.environment()
    return bool(one) and bool(other) and not environment.changes(one, other)

"""Variants of a golden: further accepted results of a test, each for other facts of the environment.

A variant is a run of its own in the golden, beside the run without one, its *base*. Its name states the facts it is
for (``blas kernel=Haswell,gpu=none``), so that a run's facts choose it, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import xxhash

from harness import environment
from harness.errors import SettingError
from harness.store.layout.schema import RunId

if TYPE_CHECKING:
    from harness.store import StoredRun

#: characters of a fact's value in a name; of a longer one the rest is a digest
_LONGEST = 60
#: what would end a fact or its value
_ESCAPED = {"%": "%25", ",": "%2C", "=": "%3D"}


def declared(names: Iterable[str]) -> tuple[str, ...]:
    """Names of facts by which goldens may have variants, each once, sorted.

    Raises:
        SettingError: a name is none of a fact.
    """
    found = tuple(sorted({name for name in names if name != "none"}))
    for name in found:
        if name not in environment.ORDER:
            from difflib import get_close_matches

            near = get_close_matches(name, environment.ORDER, 1, 0.5)
            meant = f"did you mean {near[0]!r}?" if near else f"facts are {', '.join(environment.ORDER)}"
            raise SettingError(f"variants: {name!r} is no fact of the environment; {meant}")
    return found


def name_of(names: Iterable[str], facts: Mapping[str, Any]) -> str:
    """The name of the variant for these facts, by the facts that are declared.

    Examples:
        >>> from harness.gate.variants import name_of
        >>> name_of(["gpu", "blas"], {"blas": "openblas 0.3.30", "numpy": "2.4.6"})
        'blas=openblas 0.3.30,gpu=none'
    """
    return ",".join(f"{name}={_value(facts.get(name, environment.UNSET))}" for name in sorted(names))


def stated(name: str) -> dict[str, str]:
    """The facts that a variant's name states; empty for any other name."""
    parts = [part.partition("=") for part in name.split(",")]
    if not all(fact and separator for fact, separator, _ in parts):
        return {}
    return {fact: unquote(value) for fact, _, value in parts}


def _value(value: Any) -> str:
    text = "".join(letter if letter.isprintable() else "?" for letter in str(value))
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}~{xxhash.xxh3_64_hexdigest(str(value).encode(errors='replace'))}"
    for letter, escaped in _ESCAPED.items():
        text = text.replace(letter, escaped)
    return text


class Choice(NamedTuple):
    """Which of a golden's runs a run is held against.

    Attributes:
        run: its key.
        why: which facts chose it, in words.
    """

    run: RunId
    why: str

    @property
    def told(self) -> str:
        """``why`` as a line of its own."""
        return self.why[:1].upper() + self.why[1:]


def are_of(run: RunId, base: RunId) -> bool:
    """Whether a run is a variant of ``base``."""
    return bool(run.variant) and run._replace(variant="") == base


def chosen(
    there: Iterable[RunId], base: RunId, names: Iterable[str], facts: Mapping[str, Any],
    made: Callable[[], Mapping[str, Any]] = dict,
) -> Choice:  # fmt: skip
    """The run of a golden that a run with these facts is held against: the variant for them, else the base.

    Args:
        there: the golden's runs.
        base: backend, mode, granularity and rank of the run.
        names: the declared facts.
        facts: the run's.
        made: gives the facts of the environment in which the base was made; empty if nobody knows.
    """
    own = name_of(names, facts)
    if base._replace(variant=own) in set(there):
        return Choice(base._replace(variant=own), f"judged by variant {own}, which this run's facts name")
    known = made()
    if known and name_of(names, known) == own:
        return Choice(base, f"judged by the base, made with this run's facts ({own})")
    of = f", made with {name_of(names, known)}" if known else ", whose facts are not known"
    return Choice(base, f"judged by the base{of}: there is no variant for {own}")


def fitting(there: Iterable[RunId], base: RunId, facts: Callable[[], Mapping[str, Any]]) -> Choice | None:
    """Like ``chosen``, for a caller that declares nothing: the variants' own names say which facts count. Of several
    that fit, the one that states most; None if the golden has no variants."""
    of_base = [run for run in there if are_of(run, base)]
    if not of_base:
        return None
    found = facts()
    for run in sorted(of_base, key=lambda run: (-len(stated(run.variant)), run)):
        names = stated(run.variant)
        if names and name_of(names, found) == run.variant:
            return Choice(run, f"judged by variant {run.variant}, which this process's facts name")
    counting = {name for run in of_base for name in stated(run.variant)}
    return Choice(base, f"judged by the base: there is no variant for {name_of(counting, found)}")


def target(
    there: Iterable[RunId], base: RunId, names: Iterable[str], facts: Mapping[str, Any],
    made: Callable[[], Mapping[str, Any]],
) -> RunId:  # fmt: skip
    """The run that a regeneration with these facts writes: the base, if there is none yet, or if it was made with the
    same facts or nobody knows with which; else the variant for them."""
    runs, own = set(there), base._replace(variant=name_of(names, facts))
    if own in runs:
        return own
    known = made() if base in runs else {}
    return own if known and name_of(names, known) != own.variant else base


def apart(variant: StoredRun, base: StoredRun) -> int:
    """The number of slots, of either run, that the other has not, or has with another content."""
    one, other = (dict(zip(run.index.keys, run.index.digests, strict=True)) for run in (variant, base))
    return sum(one.get(key) != other.get(key) for key in one.keys() | other.keys())


def made_with(golden: Path, store: str, base: RunId) -> Mapping[str, Any]:
    """The facts with which a golden's base was made, as its manifest knows them; empty where it does not."""
    from harness.store.manifest import environment_of

    return environment_of(golden, store, base)

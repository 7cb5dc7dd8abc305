"""The suite: random faults in random networks, each explanation judged by the known truth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.divergence import PARAMETER
from harness.compare.policy import Party, judge
from harness.errors import HarnessError
from harness.explain import Cause, Explanation
from harness.framework.ops.base import OPERATORS
from harness.testing.faults.kernels import KERNELS, KernelKind, Strike
from harness.testing.faults.networks import Network, draw
from harness.testing.faults.roads import ROADS, USUAL, Pair, captured
from harness.testing.faults.settings import SETTINGS, SettingKind, Truth

_TRIES = 30
_RUN = ("cpu", "tensor")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        number: its number in the suite.
        kind: kind of the fault.
        pair: the right network and its wrong run.
        truth: what a right explanation says.
        iteration: iteration of the origin; -1 if it may be any.
    """

    number: int
    kind: str
    pair: Pair
    truth: Truth
    iteration: int = -1

    @property
    def network(self) -> Network:
        """The right network."""
        return self.pair.network

    @property
    def run(self) -> Capture:
        """The wrong capture."""
        return self.pair.run


@dataclass(frozen=True)
class Outcome:
    """How a fault was explained.

    Attributes:
        passed: whether the comparison holds, so that the fault was not seen.
        named: whether the origin is the right operator.
        stated: whether a cause was stated.
        right: whether the stated cause is correct.
        proven: whether it was called proven.
        road: the way it was found, ``gate`` or ``diff``.
    """

    fault: Fault
    explanation: Explanation | None
    passed: bool
    named: bool
    stated: bool
    right: bool
    proven: bool
    road: str = "gate"


@lru_cache(maxsize=4)
def _golden(seed: int, backend: str = "cpu", eager: bool = False) -> tuple[Network, Capture]:
    network = replace(draw(seed), eager=eager)
    return network, captured(network, backend=backend)


def faults(count: int, seed: int, each: int = 6, backend: str = "cpu", eager: bool = False) -> Iterator[Fault]:
    """Draws ``count`` faults from a seed; ``each`` consecutive faults share a network.

    Args:
        count: how many.
        seed: what networks and faults are drawn from.
        each: so many faults share a network.
        backend: name of the backend that runs both; one that runs the harness's graphs (``cpu``, ``ascend-o0``,
            ``torch``, or one of another package).
        eager: whether networks are trained in PyNative mode.

    Raises:
        UnsupportedError: the backend runs programs elsewhere, so that nothing can be injected.

    Examples:
        >>> from harness.testing.faults import faults
        >>> [fault.number for fault in faults(2, seed=1)]
        [0, 1]
    """
    kinds: list[KernelKind | SettingKind] = [*KERNELS, *SETTINGS]
    for made in range(count):
        network_seed = int(np.random.default_rng([seed, made // each]).integers(1 << 31))
        random = np.random.default_rng([seed, 1, made])
        for attempt in range(_TRIES):
            # Kinds take turns, so that each occurs; if one does not fit, another is drawn.
            kind = kinds[made % len(kinds)] if attempt == 0 else kinds[int(random.integers(len(kinds)))]
            fault = _fault(made, kind, random, _golden(network_seed, backend, eager), backend)
            if fault is not None:
                yield fault
                break


def _fault(
    number: int, kind: KernelKind | SettingKind, random: np.random.Generator, given: tuple[Network, Capture],
    backend: str,
) -> Fault | None:  # fmt: skip
    network, golden = given
    if isinstance(kind, KernelKind):
        return _struck(number, kind, network, golden, random)
    changed = kind.change(random, network)
    if changed is None:
        return None
    try:
        run = captured(changed[0], backend=backend)
    except (HarnessError, ValueError, TypeError):
        return None  # a network that cannot be built with that setting
    if _equal(golden, run):
        return None
    truth = changed[1].settled(golden.artefacts, run.artefacts)
    return Fault(number, kind.name, Pair(network, changed[0], None, run, backend), truth)


def _struck(
    number: int, kind: KernelKind, network: Network, golden: Capture, random: np.random.Generator
) -> Fault | None:
    """A kernel fault of this kind in an operator where it shows; None if it showed in none that was tried."""
    outputs = [
        r for r in golden.records()
        if r.key.io == "output" and r.key.slot == 0 and r.op_type != PARAMETER and r.dtype in ("Float32", "Float16")
        and (not kind.operators or r.op_type in kind.operators)
        and r.op_type in OPERATORS and not OPERATORS.get(r.op_type).mutates
    ]  # fmt: skip
    if kind.name == "another setting" and kind.operators == ("BatchNorm",):
        outputs = [r for r in golden.records() if r.op_type == "BatchNorm" and r.key.io == "output" and not r.key.slot]
    for _ in range(4 if outputs else 0):
        record = outputs[int(random.integers(len(outputs)))]
        strike = Strike(kind, record.key.operator, record.key.iteration, int(random.integers(1 << 30)))
        try:
            run = captured(network, strike, backend=golden.backend)
        except (HarnessError, ValueError, TypeError, IndexError):
            continue
        if strike.hits and _shows(golden, run, record.key.operator, record.key.iteration):
            truth = Truth(re.escape(record.key.operator) + "$", kinds=kind.causes)
            pair = Pair(network, network, strike, run, golden.backend)
            return Fault(number, f"kernel: {kind.name}", pair, truth, record.key.iteration)
    return None


def _equal(one: Capture, other: Capture) -> bool:
    return [(r.key, r.digest) for r in one.records()] == [(r.key, r.digest) for r in other.records()]


def _shows(golden: Capture, run: Capture, operator: str, iteration: int) -> bool:
    """Whether the fault changed the operator's output in that iteration (and is not all that was there)."""
    before = {r.key: r.digest for r in golden.records()}
    return any(
        r.key.operator == operator and r.key.iteration == iteration and r.key.io == "output"
        and r.key.slot == 0 and before.get(r.key) != r.digest
        for r in run.records()
    )  # fmt: skip


# -- judged ------------------------------------------------------------------------------------------------------------
def explained(fault: Fault, road: str = "gate") -> tuple[bool, Explanation | None]:
    """Whether the comparison holds, and its explanation if it does not.

    Args:
        road: ``gate`` (against a golden store), ``diff`` (two dump trees) or ``digests`` (against a store without
            values).
    """
    judged_, explanation = ROADS[road](
        _golden(fault.network.seed, fault.pair.backend, fault.network.eager)[1], fault.pair
    )
    return judged_.holds, explanation


def judged(fault: Fault, road: str = "gate") -> Outcome:
    """Explains a fault and judges the explanation by the known truth; ``road`` as for ``explained``.

    Examples:
        >>> from harness.testing.faults import faults, judged
        >>> outcome = judged(next(iter(faults(1, seed=1))))
        >>> outcome.passed, outcome.named
        (False, True)
    """
    passed, explanation = explained(fault, road)
    if explanation is None:
        return Outcome(fault, None, passed, False, False, False, False, road)
    named = _is_named(fault, explanation)
    cause = explanation.cause
    right = cause is not None and _is_right(fault.truth, cause, explanation)
    proven = cause is not None and cause.certainty.proven
    return Outcome(fault, explanation, passed, named, cause is not None, right, proven, road)


def _is_named(fault: Fault, explanation: Explanation) -> bool:
    origin = explanation.origin
    if origin is None:
        return False
    if fault.iteration >= 0 and origin.key.iteration != fault.iteration:
        return False
    if not fault.truth.operator:
        # A parameter or data: the operator that takes it, or the parameter itself.
        said = " ".join((origin.operator, origin.inputs, explanation.cause.text if explanation.cause else ""))
        return any(word in said for word in fault.truth.says) or not fault.truth.says
    return any(re.search(fault.truth.operator, name) for name in (origin.operator, origin.found_as) if name)


def _is_right(truth: Truth, cause: Cause, explanation: Explanation) -> bool:
    if truth.structural and truth.setting in {change.name for change in cause.changes}:
        return True
    if truth.kinds and cause.kind not in truth.kinds:
        return False
    if truth.says:
        said = cause.text + " " + " ".join(map(str, cause.changes)) + " ".join(explanation.others)
        return any(word in said for word in truth.says)
    return cause.kind in truth.kinds


def run(
    count: int, seed: int, roads: Sequence[str] = USUAL, backend: str = "cpu", eager: bool = False
) -> Iterator[Outcome]:
    """Draws faults and judges each by every road asked for; arguments as of ``faults``."""
    for fault in faults(count, seed, backend=backend, eager=eager):
        for road in roads:
            yield judged(fault, road)


def alarms(count: int, seed: int, each: int = 25) -> Iterator[Network]:
    """Reruns unchanged networks, ``each`` times each, and gives those whose rerun does not hold; ideally none."""
    for at in range(0, count, each):
        network = draw(int(np.random.default_rng([seed, 2, at]).integers(1 << 31)))
        golden = captured(network)
        for _ in range(min(each, count - at)):
            parties = [Party(side, *_RUN, emulated=True) for side in (golden, captured(network))]
            if not judge(*parties, lay=lay_beside).holds:
                yield network

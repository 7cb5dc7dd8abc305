"""Tries causes of one rank's wrong values: each is said only where its check held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from harness.compare.ranks import rank_list
from harness.explain.ranks.finding import Cause
from harness.explain.ranks.replay import fits, gives
from harness.explain.ranks.timeline import Execution, Meeting, Run, flipped_bit, plain, same_bits
from harness.records import Array

#: parts of the names of operators that draw random numbers
RANDOM = (
    "dropout", "bernoulli", "uniform", "normal", "rand", "multinomial", "exponential_", "cauchy", "geometric",
    "poisson",
)  # fmt: skip
#: groups are tried up to so many ranks, all of their parts only up to so many
_MOST, _PARTS = 64, 6


def draws(execution: Execution) -> bool:
    """Whether an operator draws random numbers."""
    name = execution.op_type.lower()
    return any(part in name for part in RANDOM) and "batch_norm" not in name and "layer_norm" not in name


def earlier(run: Run, execution: Execution) -> Iterator[Execution]:
    """Executions of the same operator on the same rank before this one, the last first."""
    for each in reversed(run.timeline[execution.rank][: execution.at]):
        if each.operator == execution.operator and each.op_type == execution.op_type:
            yield each


def of_bits(found: Execution, right: Sequence[Array], whose: str) -> Cause | None:
    """One bit that is not as it should be."""
    values = found.values()
    for at, (mine, theirs) in enumerate(zip(values or (), right, strict=False)):
        if same_bits(mine, theirs):
            continue
        place = flipped_bit(mine, theirs)
        if place is None:
            return None
        element = np.unravel_index(place[0], mine.shape) if mine.shape else ()
        text = f"bit {place[1]} of element [{', '.join(map(str, element))}] of output.{at} is flipped"
        return Cause("bit-flip", text, f"flipped back, output.{at} has the bits {whose}")
    return None


def of_age(run: Run, found: Execution) -> Cause | None:
    """A result of an earlier call."""
    if not found.made or any(_plain_content(each) for each in found.values() or ()):
        return None
    for each in earlier(run, found):
        if each.made == found.made and each.read != found.read:
            when = f"iteration {each.iteration}" if each.iteration != found.iteration else f"its call {each.operator}"
            return Cause("stale", f"its result is that of {when}: a stale buffer", "both have the same bits")
    return None


def _plain_content(array: Array) -> bool:
    return array.size == 0 or bool((array == array.ravel()[0]).all())


def of_collective(run: Run, meeting: Meeting, found: Execution) -> Cause | None:
    """A collective whose result is not what its group's inputs give."""
    inputs = {rank: values for rank, call in meeting.calls.items() if (values := call.values("input"))}
    outputs = found.values()
    if outputs is None or found.rank not in inputs:
        return None
    stated = found.settings.get("reduce_op", "SUM")
    if gives(found, inputs, meeting.group, stated):
        return None
    age = of_age(run, found)
    if age is not None:
        return age
    if found.kind not in ("all_reduce", "reduce", "reduce_scatter"):
        return None
    own = inputs[found.rank]
    if found.kind == "all_reduce" and found.read == found.made:
        return Cause("not-reduced", "its result is its own input: nothing was reduced", "both have the same bits")
    for other, name, said in (("AVG", "mean-for-sum", "the mean"), ("SUM", "sum-for-mean", "the sum")):
        if other != stated and stated in ("SUM", "AVG") and gives(found, inputs, meeting.group, other):
            return Cause(name, f"its result is {said} of its group's inputs, and {stated} was asked for",
                         f"computed again, {said} fits")  # fmt: skip
    for other in ("MAX", "MIN", "PRODUCT"):
        if other != stated and gives(found, inputs, meeting.group, other):
            return Cause("reduction", f"its result is the {other} of its group's inputs, not the {stated}",
                         f"computed again, {other} fits")  # fmt: skip
    if found.kind == "all_reduce" and len(own) == 1:
        return _of_group({rank: each[0] for rank, each in inputs.items()}, outputs[0], found, stated)
    return None


def _of_group(inputs: dict[int, Array], output: Array, found: Execution, stated: str) -> Cause | None:
    for group in _groups(sorted(inputs), found.rank):
        if fits(output, [inputs[rank] for rank in group], stated):
            return Cause("group", f"its result is that of ranks {rank_list(group)} alone: another group",
                         "computed again from their inputs, it fits")  # fmt: skip
    return None


def _groups(ranks: Sequence[int], own: int) -> Iterator[tuple[int, ...]]:
    """Groups with ``own`` that a program may have taken instead: all parts of few ranks; of many, those without one,
    and blocks and strides."""
    if len(ranks) <= _PARTS:
        for size in range(len(ranks) - 1, 1, -1):
            yield from (each for each in combinations(ranks, size) if own in each)
        return
    for rank in ranks[:_MOST]:
        if rank != own:
            yield tuple(each for each in ranks if each != rank)
    size = len(ranks) // 2
    while size > 1:
        at = ranks.index(own)
        yield tuple(ranks[at // size * size : at // size * size + size])
        step = len(ranks) // size
        yield tuple(ranks[at % step :: step])
        size //= 2


def of_data(golden: Run, expected: Execution, found: Execution, slots: Sequence[int]) -> Cause | None:
    """Values from outside that are another rank's, or another step's."""
    for at in slots:
        digest = found.read[at] if at < len(found.read) else None
        values = found.values("input")
        if digest is None or values is None or _plain_content(values[at]):
            continue
        for rank in golden.ranks:
            theirs = golden.placed[rank].get(expected.place)
            if rank != found.rank and theirs is not None and at < len(theirs.read) and theirs.read[at] == digest:
                text = f"it reads what rank {rank} reads: another rank's shard"
                return Cause("shard", text, f"input.{at} has the bits of rank {rank}'s in the golden")
        for each in golden.timeline[found.rank]:
            if each.operator == expected.operator and each.iteration != found.iteration and digest in each.read:
                text = f"it reads the data of iteration {each.iteration}"
                return Cause("batch", text, f"input.{at} has the bits that it has there in the golden")
    return None


def of_seed_input(expected: Execution, found: Execution, slots: Sequence[int]) -> Cause | None:
    """A whole number that a random operator is given, and that is another one."""
    at = slots[0]
    if not draws(found) or len(slots) > 2 or max(len(expected.inputs), len(found.inputs)) <= at:
        return None
    a, b = (each.inputs[at].load() for each in (expected, found))
    if a is None or b is None or a.dtype.kind not in "iu" or a.size != 1 or b.size != 1:
        return None
    text = f"it draws with another seed: input.{at} {a.item()} -> {b.item()}"
    return Cause("seed", text, "the whole numbers that it is given were compared with the golden's")


def of_seed(golden: Run, expected: Execution, found: Execution) -> Cause | None:
    """Random numbers of another seed."""
    if not draws(found) or not found.made:
        return None
    for rank in golden.ranks:
        theirs = golden.placed[rank].get(expected.place)
        if rank != found.rank and theirs is not None and theirs.made == found.made:
            text = f"it draws the random numbers of rank {rank}: that rank's seed"
            return Cause("seed", text, f"its result has the bits of rank {rank}'s in the golden")
    a, b = expected.values(), found.values()
    if not a or not b or a[0].shape != b[0].shape or np.mean(plain(a[0]) == plain(b[0])) > 0.95:
        return None
    return Cause("seed", "it draws other random numbers: another seed or state",
                 "its arguments and inputs are the golden's, and its numbers are not")  # fmt: skip


def of_arguments(expected: Execution, found: Execution) -> list[tuple[str, str, str]]:
    """The arguments that are no tensors and differ: name, the golden's, the run's."""
    a, b = expected.settings, found.settings
    changed = [(name, a.get(name, "none"), b.get(name, "none")) for name in {**a, **b} if a.get(name) != b.get(name)]
    for mine, theirs in zip(expected.texts, found.texts, strict=False):
        numbers = [None if each.dtype == "UInt8" else each.load() for each in (mine, theirs)]
        said = [str(each.tolist()) for each in numbers if each is not None]
        if len(said) == len(numbers) and said[0] != said[1]:
            changed.append((theirs.key.slot_name, said[0], said[1]))
    return changed

"""What git runs of ours: a golden as text for ``git diff``, and the merge of two changes of one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.atomic import temporary_directory
from harness.cli.slots import numbers
from harness.dtypes import spelled
from harness.escape import line
from harness.recording.described import Described
from harness.records import Record
from harness.store import GoldenStore, RunId, StoredRun, update
from harness.store.layout.values import is_setting, text_of
from harness.suggest import command
from harness.words import counted

#: An array of so many elements is shown whole.
_WHOLE = 8
#: Characters of an attribute.
_LONGEST = 200
_NAMES = ("min", "max", "mean", "norm", "NaN", "Inf")


def textconv(path: Path) -> int:
    """Prints a golden for ``git diff``: a line a slot, in the order of execution, none aligned with another, so that
    only what moved differs. Of a tensor with at most 8 elements its values, of others their statistics; then the
    beginning of the digest, which differs wherever a bit does.

    Returns:
        0.

    Raises:
        StoreError: the file is no golden.
    """
    with GoldenStore.open(path) as store:
        print(line(f"network {store.network}"))
        for each in store.runs():
            run = store.run(*each)
            print(line(f"run {each}: level {run.level}, {counted(len(run), 'slot')}"))
            for record in run.records():
                print(line(f"{each} {_told(record)}"))
            for operator in run.operators.values():
                print(line(f"{each} {_operator(operator)}"))
            for gap in run.gaps:
                print(line(f"{each} not compared: {gap.key.operator} {gap.key.slot_name}: {gap.why}"))
            for name, text in run.artefacts().items():
                print(line(f"{each} {name}: {len(text)} bytes"))
    return 0


def _operator(operator: Described) -> str:
    """An operator with what makes it what it is."""
    settings = {**operator.attributes}
    for slot, edge in enumerate(operator.inputs):
        if is_setting(edge):
            named = operator.names[slot] if slot < len(operator.names) else ""
            settings[named or f"input.{slot}"] = edge.value
    told = ", ".join(f"{name} {text_of(value)[:_LONGEST]}" for name, value in sorted(settings.items()))
    return f"graph {operator.graph}, {operator.name}, {operator.type}" + (f": {told}" if told else "")


def _told(record: Record) -> str:
    key = record.key
    where = [f"rank {key.rank}"] * (key.rank > 0) + [f"graph {key.graph}"] * (key.graph > 0)
    where += [f"iteration {key.iteration}", key.operator + (f" ({key.execution})" if key.execution else "")]
    what = f"{spelled(record.dtype, record.format)}[{', '.join(map(str, record.shape))}]"
    digest = f"digest {record.digest.hex()[:8]}" if record.digest else ""
    parts = (*where, key.slot_name, what, *_values(record), digest, record.source or "")
    return ", ".join(each for each in parts if each)


def _values(record: Record) -> Iterator[str]:
    count = 1
    for size in record.shape:
        count *= size
    array = record.load() if count <= _WHOLE else None
    if array is not None:
        yield str(array.tolist())
        return
    found = zip(_NAMES, numbers(record), strict=True)
    yield " ".join(f"{name} {value}" for name, value in found if value not in ("", 0))


def merge(base: Path, ours: Path, theirs: Path, shown: str) -> int:
    """Merges two changes of a golden into ``ours``: a run that only one side changed is taken from that side.

    Args:
        base, ours, theirs: the golden before, here, and there; an empty file where there was none.
        shown: its path in the repository.

    Returns:
        0; 1 if both sides changed one run, each in its way: then ``ours`` stays as it is.

    Raises:
        StoreError: a side cannot be read; git then reports a conflict.
    """
    before, here = _checksums(base), _checksums(ours)
    with GoldenStore.open(theirs) as store:
        there = {each: store.run(*each) for each in store.runs()}
        taken: dict[RunId, StoredRun | None] = {}
        both = []
        for each in sorted({*before, *here, *there}):
            old, mine = before.get(each), here.get(each)
            other = there[each].checksum if each in there else None
            if other not in (old, mine):
                taken[each] = there.get(each)
                both += [each] * (mine != old)
        if both:
            what = (
                f"msdump: {shown}: both sides changed run {', '.join(map(str, both))}; the merged code may give a third"
            )
            regen = command("msdump", "regen")
            todo = f" result: take one side (git checkout --ours), then `{regen}` for its test, and git add"
            print(line(what) + todo, file=sys.stderr)
            return 1
        if taken:
            with temporary_directory("msdump-merge-") as folder:  # a lock beside ours would stay in the repository
                made = Path(folder, "merged.h5")
                if here:
                    shutil.copyfile(ours, made)
                update(made, store.network, taken)
                shutil.copyfile(made, ours)
    return 0


def _checksums(path: Path) -> dict[RunId, str]:
    if not path.exists() or not path.stat().st_size:
        return {}
    with GoldenStore.open(path) as store:
        return {each: store.run(*each).checksum for each in store.runs()}

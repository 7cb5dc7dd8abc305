"""The two ways to find a fault: the gate, which compares a run with a golden store, and ``msdump diff``, which reads
two dump trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.atomic import temporary_directory
from harness.backends import BACKENDS
from harness.backends.align import lay_beside
from harness.capture import Capture, read_tree
from harness.capture.keeping import declared_by
from harness.compare.identities import Identities
from harness.compare.policy import Judgement, Party, judge
from harness.dtypes import by_name
from harness.explain import Explanation, Subject, explained, settle, side_of
from harness.framework.runtime import session
from harness.framework.seed import seeded
from harness.records import Record
from harness.stats.printed import PrintedStatistics, host_texts, row_digest
from harness.store import GoldenStore, Level, RunData, RunId, update
from harness.testing.faults.kernels import Strike
from harness.testing.faults.networks import Network

#: a judgement, and its explanation if it does not hold
Judged = tuple[Judgement, Explanation | None]
_SUBJECT = Subject("the run with a fault", "the right run")


@dataclass(frozen=True, eq=False)
class Pair:
    """A right network and its wrong run.

    Attributes:
        network: the right network.
        changed: the network that ran; the same one if a kernel failed.
        strike: the fault of the kernel.
        run: the capture with the fault.
        backend: what both ran on.
    """

    network: Network
    changed: Network
    strike: Strike | None
    run: Capture
    backend: str = "cpu"


def captured(network: Network, strike: Strike | None = None, tree: Path | None = None, backend: str = "cpu") -> Capture:
    """Captures a run of a network on a backend that runs the harness's graphs, with or without a kernel fault.

    Args:
        backend: its name.
        tree: directory that also receives its dump tree.
    """

    def program() -> None:
        if strike is not None:
            session.current().faults.append(strike)
        network.train()

    # The same network gives the same masks, whatever seed the process has.
    with (
        seeded(network.seed % 2**32),
        BACKENDS.get(backend).open(network=f"{network.family}-{network.seed}") as process,
    ):
        if tree is not None:
            process.keep_tree(tree)
        process.execute(program)
        return process.capture()


def by_gate(golden: Capture, pair: Pair, level: Level = "tensors") -> Judged:
    """As ``pytest --msdump`` does: against a golden store, read from its file.

    Args:
        level: what the store keeps of a tensor.
    """
    with temporary_directory("msdump-faults-") as folder:
        path = Path(folder, "golden.h5")
        made, name = golden.emulated, RunId(pair.backend, "tensor")
        attrs = {"emulated": made, "rules": golden.rules}
        data = RunData(golden.records(), golden.artefacts, attrs, level, declared_by(golden))
        update(path, golden.network, {name: data})
        with GoldenStore.open(path) as store:
            expected = store.run(*name)
            found = Party(
                list(pair.run.records()), name.backend, name.mode, emulated=made, stored=True,
                identities=Identities.of(pair.run.operators),
            )  # fmt: skip
            judged = judge(Party.of_run(expected), found, lay=lay_beside, settle=settle)
            return judged, explained(judged, _SUBJECT, side_of(expected), side_of(pair.run))


def by_digests(golden: Capture, pair: Pair) -> Judged:
    """As ``pytest --msdump`` does against a golden store that kept digests and statistics only."""
    return by_gate(golden, pair, "digest")


#: what a ``statistic.csv`` says of a tensor
_ITEMS = ("max", "min", "avg", "l2norm", "nan count")


def by_statistics(golden: Capture, pair: Pair) -> Judged:
    """Compares with a golden of which statistics of six digits are known, as in a ``statistic.csv``."""
    kept = [_row_alone(record) for record in golden.records()]
    sides = (kept, list(pair.run.records()))
    one, other = (Party(side, pair.backend, "tensor", emulated=golden.emulated) for side in sides)
    judged = judge(one, other, "default", lay=lay_beside, settle=settle)
    return judged, explained(judged, _SUBJECT, side_of(golden, lambda: kept), side_of(pair.run))


def _row_alone(record: Record) -> Record:
    values = record.load()
    if values is None:
        return record
    texts = host_texts(values, by_name(record.dtype), _ITEMS)
    row = PrintedStatistics(zip(_ITEMS, texts, strict=True), record.dtype)
    digest = row_digest(record.dtype, record.shape, row)
    return replace(record, values=None, digest=digest, extra=replace(record.extra, row=row, statistics=row))


class _Right:
    """The dump tree of the right network that was asked for last: several faults in a row share it."""

    def __init__(self) -> None:
        self._kept: tuple[Network, TemporaryDirectory[str], str] | None = None

    def tree(self, network: Network, backend: str) -> Path:
        """Its dump tree, which stays until another network's, or another backend's, is asked for."""
        if self._kept is None or self._kept[0] is not network or self._kept[2] != backend:
            # Not under the prefix below: what is there and holds no lock counts as left by a killed process.
            if self._kept is not None:
                self._kept[1].cleanup()
            folder = TemporaryDirectory(prefix="right-of-msdump-")
            captured(network, None, Path(folder.name, "golden"), backend)
            self._kept = network, folder, backend
        return Path(self._kept[1].name, "golden")


_right = _Right()


def by_diff(_golden: Capture, pair: Pair) -> Judged:
    """Compares as ``msdump diff`` does: two dump trees, which do not say who computed them."""
    with temporary_directory("msdump-faults-") as folder:
        captured(pair.changed, pair.strike and pair.strike.fresh(), Path(folder, "run"), pair.backend)
        one, other = read_tree(_right.tree(pair.network, pair.backend)), read_tree(Path(folder, "run"))
        parties = [Party(tree, tree.backend, tree.mode, tree.emulated) for tree in (one, other)]
        judged = judge(*parties, lay=lay_beside, settle=settle)
        return judged, explained(judged, _SUBJECT, side_of(one), side_of(other))


#: compares a network's right capture with its wrong run
Road = Callable[[Capture, Pair], Judged]
ROADS: dict[str, Road] = {"gate": by_gate, "diff": by_diff, "digests": by_digests, "statistics": by_statistics}
#: those that are asked where nothing else is said
USUAL = ("gate", "diff")

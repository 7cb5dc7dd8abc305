"""Directories from elsewhere: dump trees of every layout, those of msprobe, those of the recorder."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from harness import dtypes, nn, ops
from harness.capture import read_tree
from harness.capture.recorder import read_recorder
from harness.devices import DEVICES
from harness.framework.runtime import session
from harness.rdr import RdrConfig, RdrObserver
from tests.dump.asynchronous.build import entry, write
from tests.dump.build import dumped, dumped_on, one_op, tensor
from tests.dump.msprobe.build import observer
from tests.framework.compile.build import floats, graph_mode
from tests.fuzz import repaired
from tests.fuzz.engine import Target
from tests.fuzz.mutations import SECRET

_REAL = Path(__file__).parents[1] / "data" / "real"
_NPY = {".npy": repaired.npy}


def made(make: Callable[[Path], object]) -> Mapping[str, bytes]:
    """What ``make`` leaves in a directory."""
    with TemporaryDirectory() as folder:
        make(Path(folder))
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }


def _read(folder: Path) -> object:
    """Everything of a tree; what was listed is read, or told as a problem."""
    capture = read_tree(folder / "tree")
    count = 0
    for record in capture.records():
        record.load()
        count += 1
    said = [*capture.artefacts.values(), *(problem.why.encode("utf-8", "replace") for problem in capture.problems)]
    if any(SECRET in each for each in said):
        raise AssertionError("escape: it shows a file outside")
    if not count and not capture.problems and any(folder.rglob("*.npy")):
        files = [path for path in folder.rglob("*.npy") if path.is_file()]
        assert not files or not capture.listed(), f"nothing was read of {len(files)} files, and nothing is told"
    return f"{count} slots"


def _recorder(folder: Path) -> object:
    texts = read_recorder(folder / "rdr")
    if any(SECRET in each for each in texts.values()):
        raise AssertionError("escape: it shows a file outside")
    return f"{len(texts)} texts"


def _mapped(folder: Path) -> None:
    name = "Default/" + "n" * 250 + "/Add-op0"
    dumped(folder / "tree", one_op(name, [tensor(dtypes.float32, (2, 3), k) for k in range(2)]))


def _statistics(folder: Path) -> None:
    dumped_on(folder / "tree", "gpu", one_op(), saved_data="full", statistic_category=["max", "md5"])


def _asynchronous(folder: Path) -> None:
    array = np.arange(6, dtype=np.float32)
    write(folder / "tree" / "20260101000000" / "0" / "Net" / "0" / "0", "Add.Default_Add-op0", [entry(array)],
          [entry(array)])  # fmt: skip
    write(folder / "tree" / "20260101000000" / "0" / "Net" / "0" / "0", "Mul.Default_Mul-op0", [entry(array)])


def _msprobe(task: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        net, watcher = one_op(), observer(folder / "tree", task=task)
        watcher.graph_declared(net.graph)
        net.run(watcher)
        watcher.closed()
        (folder / "tree-config.json").unlink()

    return make


def _recorded(folder: Path) -> None:
    watcher = RdrObserver(RdrConfig(True, 2, f"{folder}/rdr/"), DEVICES.get("cpu"), clock=lambda: "2" * 14)
    with graph_mode(), session.fresh([watcher], hooked=False):
        _Net()(floats(2, 2))
    watcher.closed()


class _Net(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(ops.sin(x))


@cache
def real(name: str) -> Mapping[str, bytes]:
    """A tree of the real MindSpore's, kept among the tests' data; of its tensors the first few."""
    with tarfile.open(_REAL / f"{name}.tar.gz") as packed:
        files = {each.name: packed.extractfile(each) for each in packed if each.isfile()}
        found = {f"tree/{path}": file.read() for path, file in files.items() if file is not None}
    tensors = [path for path in found if path.endswith(".npy")]
    for path in tensors[6:]:
        del found[path]
    return found


def graphs(suffix: str) -> list[bytes]:
    """Small graphs the real MindSpore wrote."""
    return [content for name, content in sorted(real("control").items()) if name.endswith(suffix)][:3]


def trees() -> dict[str, Target]:
    """By name."""
    plain = made(lambda folder: dumped(folder / "tree", one_op(), steps=2))
    return {
        "tree": Target((plain,), _read, _NPY, trees=True, weight=3, told="8 slots"),
        "tree-mapped": Target((made(_mapped),), _read, _NPY, trees=True, weight=3, told="3 slots"),
        "tree-statistics": Target((made(_statistics),), _read, _NPY, trees=True, weight=3, told="4 slots"),
        "tree-asynchronous": Target((made(_asynchronous),), _read, trees=True, weight=8, told="3 slots"),
        "tree-real": Target(
            (real("odd"), real("two_nets"), real("control")), _read, _NPY, trees=True, weight=1, told="6 slots"
        ),
        "tree-msprobe": Target(
            (made(_msprobe("tensor")), made(_msprobe("statistics"))), _read, _NPY, trees=True, weight=8, told="3 slots"
        ),
        "recorder": Target((made(_recorded),), _recorder, trees=True, weight=8, told="28 texts"),
    }  # fmt: skip

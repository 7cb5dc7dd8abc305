"""The commands whose every step is enumerated (``commands.every_step``)."""

from __future__ import annotations

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from harness import Parameter, Tensor, dtypes, float32, save_checkpoint
from harness.backends.dump_tree import dump_everything
from harness.backends.modes import MODES, modes_of
from harness.capture import read_tree
from harness.cli import main
from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.msprobe.configured import asked_for
from harness.framework.train.summary import records
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.listing import artefacts
from harness.store import RunData, manifest, update
from tests.dump.asynchronous.build import config as async_config
from tests.dump.build import config_text, dumped, one_op, tensor
from tests.dump.msprobe.build import config_text as msprobe_config
from tests.faults.commands import Command
from tests.store.helpers import ASCEND, CPU, record, run_data


def line(*arguments: str) -> Callable[[Path], None]:
    """``msdump ARGUMENTS`` in the directory."""

    def act(folder: Path) -> None:
        sys.exit(main([each.replace("@", f"{folder}/") for each in arguments]))

    return act


# -- goldens -----------------------------------------------------------------------------------------------------------
def _golden(folder: Path) -> None:
    update(folder / "x.h5", "net", {CPU: run_data(), ASCEND: run_data(1)})
    manifest.rebuild(folder)


def _regenerate(folder: Path) -> None:
    update(folder / "x.h5", "net", {CPU: run_data(2)})
    manifest.rebuild(folder)


def _with_tree(folder: Path) -> None:
    _golden(folder)
    (folder / "x.h5").unlink()
    dumped(folder / "tree", one_op(), steps=2)
    assert main(["import", str(folder / "tree"), str(folder / "x.h5"), "--run", "kept"]) == 0
    manifest.rebuild(folder)


def _with_bundle(folder: Path, packed: bool) -> None:
    _golden(folder)
    bundle = folder / "bundle"
    bundle.mkdir()
    update(bundle / "x.h5", "net", {CPU: run_data(3)})
    manifest.rebuild(bundle)
    if packed:
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in bundle.iterdir():
                archive.write(path, path.name)
        shutil.rmtree(bundle)
        (folder / "b.zip").write_bytes(data.getvalue())
    (folder / "golden").mkdir()
    for path in [*folder.glob("x.*"), *folder.glob(manifest.NAME)]:
        path.rename(folder / "golden" / path.name)


def _scattered(folder: Path) -> None:
    for name, shift in (("a.h5", 0.0), ("b.h5", 1e-6)):
        update(folder / name, "net", {CPU: RunData([record(np.float32([1 + shift, 2]))])})


# -- what a run leaves -------------------------------------------------------------------------------------------------
def _save(format: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        values = [{"name": "w", "data": Parameter(Tensor([1.0, 2.0], float32), name="w")}]
        save_checkpoint(values, str(folder / f"net.{format}"), format=format)

    return act


def _summary(folder: Path) -> None:
    file = records.RecordFile(folder, "_MS", 0)
    for number in range(3):
        file.add(b"x" * number)
    file.close()


def _records_are_whole(folder: Path) -> None:
    for path in folder.iterdir():
        found = list(records.read(path.read_bytes(), str(path)))
        assert found == [b"x" * number for number in range(len(found))]


def _dump(device: str, **changes: Any) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        observer = DumpObserver(
            parse(config_text(folder / "tree", {"enable": True}, **changes), device), DEVICES.get(device)
        )
        net = one_op("Default/" + "n" * 250 + "/Add-op0", [tensor(dtypes.float32, (2, 3), k) for k in range(3)])
        observer.graph_declared(net.graph)
        net.run(observer)
        net.run(observer)
        observer.closed()

    return act


def _dump_in(mode: str) -> Callable[[Path], None]:
    """Everything of two steps, in a mode of the gate's, on the first device that has it."""
    device = next(each for each in map(DEVICES.get, DEVICES) if mode in modes_of(each))
    infinite = np.float32([[np.inf, 1, 2], [3, 4, 5]])

    def act(folder: Path) -> None:
        net = one_op("Default/Add-op0", [tensor(dtypes.float32, (2, 3)), infinite, infinite])
        observer = dump_everything(folder / "tree", device, mode)
        observer.graph_declared(net.graph)
        net.run(observer)
        net.run(observer)
        observer.closed()

    return act


def _dump_asynchronously(folder: Path) -> None:
    began = datetime(2026, 1, 1, second=len(list(folder.glob("tree/*/*"))))  # the next run has another directory
    observer = AsyncDumpObserver(async_config(folder / "tree"), DEVICES.get("ascend-o2"), time=began)
    net = one_op()
    observer.graph_declared(net.graph)
    net.run(observer)
    observer.closed()


def _dump_as_msprobe(folder: Path) -> None:
    file = folder.parent / "msprobe.json"  # what is read is not a call of the dump
    file.write_text(msprobe_config(folder / "tree"))
    observer = asked_for(str(file), DEVICES.get("ascend-o2"), None, environ={})
    assert observer is not None
    net = one_op()
    observer.graph_declared(net.graph)
    net.run(observer)
    observer.closed()


def _tree_is_whole(folder: Path) -> None:
    """Whatever files there are can be read; what is missing may be named, what is damaged may not be."""
    tree = folder / "tree"
    if not any(path.is_file() and not path.name.startswith(".") for path in tree.rglob("*")):
        return
    for path in tree.rglob("*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError as error:
            raise AssertionError(f"{path.relative_to(folder)} is not whole") from error
    if not any(tree.rglob("*.npy")) and not any(tree.rglob("*.Add-op0.*")):
        return
    if (tree / "step0").exists() and not any(tree.rglob("dump.json")):
        return  # what describes the tensors comes last
    capture = read_tree(tree)
    for each in capture.records():
        each.load()
    assert not [problem for problem in capture.problems if problem.kind == "damaged"]


def _export(folder: Path) -> None:
    recorders = Recorders(RdrConfig(True, 2, f"{folder}/"), clock=lambda: "2" * 14)
    for number in range(2):
        recorders.record("text", "OPTIMIZER", f"plan.{number}", "row\n" * 50 + "end\n")
    recorders.trigger()


def _texts_are_whole(folder: Path) -> None:
    for each in artefacts(folder):
        data = each.read()
        assert data == (b"row\n" * 50 + b"end\n") * (len(data) // 204)


def _nothing(folder: Path) -> None:
    """No state before."""


_FULL = {"saved_data": "full", "statistic_category": ["max", "md5"]}
COMMANDS = {
    "update": Command(_golden, _regenerate),
    "import": Command(_with_tree, line("import", "@tree", "@x.h5", "--run", "new"), whole=("x.",)),
    "accept": Command(lambda folder: _with_bundle(folder, False), line("accept", "@bundle", "--golden", "@golden"),
                      whole=("golden/",)),
    "accept-zip": Command(lambda folder: _with_bundle(folder, True), line("accept", "@b.zip", "--golden", "@golden"),
                          whole=("golden/",)),
    "learn": Command(_scattered, line("learn", "@a.h5", "@b.h5", "--force"), whole=("a.", "b.")),
    "report": Command(
        lambda folder: update(folder / "a.h5", "net", {CPU: run_data()}) and None,
        line("diff", "@a.h5", "@a.h5", "--json", "@d.json", "--csv", "@d.csv", "--report", "@d.html"),
    ),
    "ckpt": Command(_nothing, _save("ckpt")),
    "safetensors": Command(_nothing, _save("safetensors")),
    "summary": Command(_nothing, _summary, _records_are_whole),
    "dump, long names": Command(_nothing, _dump("gpu", **_FULL), _tree_is_whole),
    **{f"dump, {mode}": Command(_nothing, _dump_in(mode), _tree_is_whole) for mode in MODES},
    "dump, asynchronous": Command(_nothing, _dump_asynchronously, _tree_is_whole),
    "dump, msprobe": Command(_nothing, _dump_as_msprobe, _tree_is_whole, refusal="holds the dump of another run"),
    "rdr": Command(_nothing, _export, _texts_are_whole, log=True),
}  # fmt: skip

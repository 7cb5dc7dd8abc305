"""Captures what the real MindSpore computes for the shipped networks, as their second golden.

``python tests/interop/capture_real.py [--python PYTHON] [NAME ...]``, where PYTHON has MindSpore 2.10.0 (default: the
environment variable the interop tests use). Each network runs in a process of its own; its dump tree becomes the run
``mindspore-tensor`` of the store that the gate keeps for the emulated backend. ``golden/MANIFEST.json`` says where it
comes from. The ``.ir`` texts are left out: they quote MindSpore's source.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from harness.capture import Capture, read_tree  # noqa: E402
from harness.records import Record  # noqa: E402
from harness.store import RunData, RunId, manifest, update  # noqa: E402
from pytest_msdump.keys import CaseId, golden_path  # noqa: E402
from tests.gate.networks import NETWORKS  # noqa: E402
from tests.interop.oracles import ORACLES  # noqa: E402
from tests.interop.trees import dumped  # noqa: E402

GOLDEN = ROOT / "golden"
RUN = RunId("mindspore", "tensor")
VERSIONS = (
    "import json, mindspore, numpy; print(json.dumps({'mindspore': mindspore.__version__, 'numpy': numpy.__version__}))"
)


def case(name: str) -> CaseId:
    """The gate's test of network ``name``."""
    return CaseId("tests/gate/test_networks.py", (f"test_{name}",))


def real_capture(python: str, name: str, out: Path) -> Capture:
    """Runs network ``name`` under the MindSpore of ``python``, dumping below ``out``."""
    return read_tree(dumped((python, str(ROOT / "tests" / "interop" / "real.py"), name), out))


def planned(capture: Capture) -> Iterator[Record]:
    """The records with independent operators in planned order; MindSpore launches those as its threads come to them."""
    place = {(graph, name): at for graph, names in capture.execution_order.items() for at, name in enumerate(names)}

    def group(record: Record) -> tuple[int, int, bool]:
        return record.key.graph, record.key.iteration, record.op_type == "Parameter"

    def rank(record: Record) -> tuple[int, int]:
        return record.key.execution, place.get((record.key.graph, record.key.operator), 0)

    for (_, _, is_parameter), together in groupby(capture.records(), group):
        records = list(together)
        yield from records if is_parameter else sorted(records, key=rank)


def versions(python: str) -> dict[str, Any]:
    """Versions of what computed; ``SystemExit`` where ``python`` has no MindSpore."""
    done = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{python} has no MindSpore: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def stored(name: str, capture: Capture) -> None:
    """Writes ``capture`` into the store of network ``name``; the other runs stay."""
    path = GOLDEN / golden_path(case(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = {key: text for key, text in capture.artefacts.items() if key.startswith("execution_order/")}
    data = RunData(planned(capture), texts, {"emulated": False, "rules": capture.rules})
    result = update(path, str(case(name)), {RUN: data})
    if capture.problems:
        raise SystemExit(f"{name}: the dump tree has problems: {capture.problems[:5]}")
    print(
        f"{name}: {result.runs[RUN].slots} slots, {result.size} bytes, {'changed' if result.changed else 'unchanged'}"
    )


def main() -> None:
    """Captures the networks named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    variable = ORACLES["mindspore"].variable
    parser.add_argument("--python", default=os.environ.get(variable), help=f"interpreter (default: ${variable})")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NETWORKS)}; default: all")
    given = parser.parse_args()
    if not given.python:
        parser.error(f"no interpreter: give --python, or set {variable}")
    unknown = [name for name in given.names if name not in NETWORKS]
    if unknown:
        parser.error(f"no network is called {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    provenance = {
        "tool": "tests/interop/capture_real.py",
        "device": f"CPU, {platform.machine()}",
        "versions": {"python": platform.python_version(), **versions(given.python)},
        "seed": 1,
    }
    updates = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.names or NETWORKS:
            stored(name, real_capture(given.python, name, Path(scratch) / name))
            updates[golden_path(case(name)), RUN] = provenance
    manifest.rebuild(GOLDEN, updates)


if __name__ == "__main__":
    main()

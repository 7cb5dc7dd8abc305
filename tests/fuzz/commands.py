"""Commands over files from elsewhere; their output is checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.cli import app as cli
from harness.store import update
from tests.dump.build import dumped, one_op
from tests.fuzz import repaired
from tests.fuzz.engine import Target, captured
from tests.fuzz.targets import golden_bytes
from tests.fuzz.trees import made, trees
from tests.store.helpers import CPU, run_data


def main(argv: Sequence[str]) -> int:
    """``msdump``, without what a process needs once."""
    chosen = cli.parser().main(args=list(argv), prog_name="msdump", standalone_mode=False)
    return cli._guarded(chosen) if callable(chosen) else int(chosen or 0)


def _said(*lines: str) -> Callable[[Path], str]:
    """What ``msdump`` prints for several lines of arguments; ``@`` stands for the directory."""

    def read(folder: Path) -> str:
        given = [[each.replace("@", f"{folder}/") for each in line.split()] for line in lines]
        return "\n".join(captured(lambda line=line: main(line)) for line in given)  # type: ignore[misc]

    return read


def _compared() -> bytes:
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "a.h5"), Path(folder, "b.h5")
        update(one, "net", {CPU: run_data()})
        update(other, "net", {CPU: run_data(1)})
        captured(lambda: main(["diff", str(one), str(other), "--json", f"{folder}/d.json"]))
        whole = json.loads(Path(folder, "d.json").read_bytes())
        whole["slots"] = whole["slots"][:3]
        return json.dumps(whole).encode()


def _dumped_and_imported(folder: Path) -> None:
    dumped(folder / "tree", one_op())
    captured(lambda: main(["import", str(folder / "tree"), str(folder / "x.h5")]))


def commands() -> dict[str, Target]:
    """By name."""
    held = {"x.h5": golden_bytes(), "y.h5": golden_bytes(seed=1)}
    known = trees()
    with_golden = made(_dumped_and_imported)
    store = {"x.h5": repaired.golden}
    judge = {"d.json": _compared(), "t.toml": b'[tolerance]\ndefault = "default"\n'}
    return {
        "msdump show": Target(
            (held,), _said("show @x.h5 --all", "show @x.h5 --text *"), store, weight=1, told="12 slots"
        ),
        "msdump diff": Target(
            (held,), _said("diff @x.h5::cpu/tensor @y.h5::cpu/tensor --csv -"), store, weight=1, told=",differs,"
        ),
        "msdump learn": Target(
            (held,), _said("learn @x.h5 @y.h5::cpu/tensor --run cpu/tensor --force --dry-run"), store, weight=1,
            told="12 scatter",
        ),
        "msdump check": Target(
            (with_golden,), _said("check @tree @x.h5"), store, trees=True, weight=1, told="agrees with"
        ),
        "msdump import": Target(
            known["tree-statistics"].seeds, _said("import @tree @new.h5"), trees=True, weight=1, told="4 new"
        ),
        "msdump judge": Target((judge,), _said("judge @d.json --tolerances @t.toml"), weight=1, told="3 differs"),
        "msdump show TREE": Target(
            known["tree-mapped"].seeds, _said("show @tree --all", "show @tree --text *"), trees=True, weight=1,
            told="3 slots",
        ),
        "msdump show RECORDER": Target(
            known["recorder"].seeds, _said("show @rdr --text *"), trees=True, weight=1, told="execution_order size",
        ),
    }  # fmt: skip

"""What ``msdump show --json`` says: the slots of runs, or the stores of a directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.cli.operands import open_side
from harness.cli.operator_details import Wanted, is_wanted, made_by_line
from harness.cli.slots import numbers
from harness.dtypes import spelled
from harness.errors import StoreError
from harness.records import Record
from harness.store import GoldenStore
from harness.store.manifest import store_paths

_NUMBERS = ("min", "max", "mean", "norm", "nan", "inf")


def as_json(path: str, run: str, wanted: Wanted) -> dict[str, Any]:
    """The document's own keys: ``stores`` of a directory of goldens, else ``runs`` with their ``slots``.

    Args:
        path, run: as of ``show_path``.
        wanted: the slots to give.

    Raises:
        HarnessError: the path cannot be read.
    """
    folder = Path(path)
    if folder.is_dir() and (names := store_paths(folder)):
        return {"stores": list(_stores(folder, names))}
    chosen = [run] if run else _runs(folder)
    return {"runs": [_run(path, each, wanted) for each in chosen]}


def _runs(path: Path) -> list[str]:
    """The runs of a golden store; one without a name for anything else."""
    if path.suffix != ".h5":
        return [""]
    with GoldenStore.open(path) as store:
        return [str(each) for each in store.runs()]


def _stores(folder: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        try:
            with GoldenStore.open(folder / name) as store:
                runs = [{"run": str(each), "slots": len(store.run(*each))} for each in store.runs()]
                size = (folder / name).stat().st_size
                yield {"store": name, "network": store.network, "bytes": size, "runs": runs}
        except StoreError as error:
            yield {"store": name, "problem": str(error)}


def _run(path: str, run: str, wanted: Wanted) -> dict[str, Any]:
    with open_side(f"{path}::{run}" if run else path) as side:
        records = list(side.records())
        made = made_by_line(side.artefacts, wanted)
        slots = [_slot(each) for each in records if is_wanted(each, wanted, made)]
    return {"run": run, "count": len(records), "slots": slots}


def _slot(record: Record) -> dict[str, Any]:
    key, found = record.key, dict(zip(_NUMBERS, numbers(record), strict=True))
    return {
        **{name: getattr(key, name) for name in ("rank", "graph", "iteration", "execution", "operator")},
        "slot": key.slot_name, "type": record.op_type, "dtype": spelled(record.dtype, record.format),
        "shape": list(record.shape), "digest": record.digest.hex() if record.digest else None,
        "source": record.source, **{name: _number(value) for name, value in found.items() if value != ""},
    }  # fmt: skip


def _number(value: object) -> object:
    """A number that a table prints; what is none, such as a setting, stays a text."""
    try:
        return float(str(value))
    except ValueError:
        return value
